package metal

import "fmt"

// Frameworks are the shared libraries that Metal is called through, by path.
type Frameworks struct {
	ObjC  string // the runtime of Objective-C
	Metal string
	// Also are opened first: without CoreGraphics, macOS has no default device.
	Also []string
}

// OpenFrameworks opens the default device of these libraries. [Open] is for the
// system's own. Libraries that were opened stay so.
func OpenFrameworks(f Frameworks) (*Device, error) {
	for _, path := range f.Also {
		if _, err := openLibrary(path); err != nil {
			return nil, fmt.Errorf("metal: %w", err)
		}
	}
	var libraries []uintptr
	for _, path := range []string{f.ObjC, f.Metal} {
		lib, err := openLibrary(path)
		if err != nil {
			return nil, fmt.Errorf("metal: %w", err)
		}
		libraries = append(libraries, lib)
	}
	o, err := newObjC(func(name string) (address uintptr, err error) {
		for _, lib := range libraries {
			if address, err = findSymbol(lib, name); err == nil {
				break
			}
		}
		return address, err
	})
	if err != nil {
		return nil, fmt.Errorf("metal: %w", err)
	}
	return newDevice(o)
}
