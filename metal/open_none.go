//go:build !darwin

package metal

import (
	"fmt"
	"runtime"
)

var errSystem = fmt.Errorf("metal: %w: Metal is a part of macOS, and this is %s/%s", ErrNoDevice, runtime.GOOS, runtime.GOARCH)

// Open returns an error that wraps [ErrNoDevice]: only macOS has Metal.
func Open() (*Device, error) { return nil, errSystem }
