package metal

import "fmt"

// Frameworks are the shared libraries that Metal is called through: the runtime
// of Objective-C and Metal.framework, or one that plays both.
type Frameworks interface {
	// Symbol returns the address of a C function.
	Symbol(name string) (address uintptr, err error)
	// Bind makes the Go function that fn points to, which calls the C function at
	// address.
	Bind(fn any, address uintptr)
	// Call calls the C function at address with integers and pointers.
	Call(address uintptr, args ...uintptr) uintptr
}

// OpenFrameworks opens the default device of frameworks that play Metal: it is
// [Device.Emulated]. [Open] is for the system's own.
func OpenFrameworks(f Frameworks) (*Device, error) {
	d, err := openDevice(f)
	if err != nil {
		return nil, err
	}
	d.emulated = true
	return d, nil
}

func openDevice(f Frameworks) (*Device, error) {
	o, err := newObjC(f)
	if err != nil {
		return nil, fmt.Errorf("metal: %w", err)
	}
	return newDevice(o)
}
