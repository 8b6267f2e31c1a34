//go:build !darwin && !linux

package dl

import (
	"errors"
	"runtime"
)

var errUnavailable = errors.New("dl: libraries are opened on macOS and Linux only, and this is " + runtime.GOOS)

// Libraries are shared libraries.
type Libraries struct{}

// Open returns an error: libraries are opened on macOS and Linux only.
func Open(...string) (*Libraries, error) { return nil, errUnavailable }

// Symbol returns an error.
func (*Libraries) Symbol(string) (uintptr, error) { return 0, errUnavailable }

// Bind does nothing.
func (*Libraries) Bind(any, uintptr) {}

// BindAll returns an error.
func (*Libraries) BindAll(map[string]any) error { return errUnavailable }

// Call returns 0.
func (*Libraries) Call(uintptr, ...uintptr) uintptr { return 0 }
