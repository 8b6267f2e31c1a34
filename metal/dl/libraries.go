//go:build darwin || linux

package dl

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Libraries are shared libraries, which stay open.
type Libraries struct{ handles []uintptr }

// Open opens libraries, one after another.
func Open(paths ...string) (*Libraries, error) {
	l := new(Libraries)
	for _, path := range paths {
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("dl: %w", err)
		}
		l.handles = append(l.handles, handle)
	}
	return l, nil
}

// Symbol returns the address of a function, of the first library that has it.
func (l *Libraries) Symbol(name string) (address uintptr, err error) {
	for _, handle := range l.handles {
		if address, err = purego.Dlsym(handle, name); err == nil {
			return address, nil
		}
	}
	return 0, fmt.Errorf("dl: %w", err)
}

// Bind makes the Go function that fn points to: it calls the C function at
// address, which must have the types of fn.
func (l *Libraries) Bind(fn any, address uintptr) { purego.RegisterFunc(fn, address) }

// BindAll binds functions by their names.
func (l *Libraries) BindAll(functions map[string]any) error {
	for name, fn := range functions {
		address, err := l.Symbol(name)
		if err != nil {
			return err
		}
		l.Bind(fn, address)
	}
	return nil
}

// Call calls the C function at address with integers and pointers. It does not
// keep memory of Go alive or in its place: the caller does.
func (l *Libraries) Call(address uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(address, args...)
	return result
}
