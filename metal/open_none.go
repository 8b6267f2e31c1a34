//go:build !darwin

package metal

import (
	"fmt"
	"runtime"
)

// provided returns the frameworks of a program that plays them.
var provided func() (Frameworks, error)

// Provide makes Open open the device of these frameworks, where the system has
// none of its own. A program that plays them calls it once, before Open.
func Provide(frameworks func() (Frameworks, error)) { provided = frameworks }

// Open returns an error that wraps [ErrNoDevice], for only macOS has Metal; or
// the device of the frameworks that the program provides.
func Open() (*Device, error) {
	if provided == nil {
		return nil, fmt.Errorf("metal: %w: Metal is a part of macOS, and this is %s/%s", ErrNoDevice, runtime.GOOS, runtime.GOARCH)
	}
	f, err := provided()
	if err != nil {
		return nil, fmt.Errorf("metal: %w: %w", ErrNoDevice, err)
	}
	return OpenFrameworks(f)
}
