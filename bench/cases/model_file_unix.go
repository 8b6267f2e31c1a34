//go:build unix

package cases

import (
	"fmt"
	"os"
)

// withoutName takes the name from an open file, so that nothing is left of it
// however this process ends, and returns the path of its descriptor.
func withoutName(f *os.File) (path string, remove func() error, err error) {
	return fmt.Sprintf("/dev/fd/%d", f.Fd()), func() error { return nil }, os.Remove(f.Name())
}
