package metal

import (
	"fmt"

	"onebit/metal/dl"
)

// Open opens the default device of this Mac. The error wraps [ErrNoDevice] if
// it has none.
func Open() (*Device, error) {
	f, err := dl.Open(
		"/System/Library/Frameworks/Foundation.framework/Foundation",
		"/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics", // without it, there is no default device
		"/usr/lib/libobjc.A.dylib",
		"/System/Library/Frameworks/Metal.framework/Metal",
	)
	if err != nil {
		return nil, fmt.Errorf("metal: %w", err)
	}
	return openDevice(f)
}

// Provide does nothing: a Mac has Metal.
func Provide(func() (Frameworks, error)) {}
