//go:build !unix

package cases

import "os"

// withoutName is for systems on which an open file can't lose its name: remove
// does it at the end.
func withoutName(f *os.File) (path string, remove func() error, err error) {
	return f.Name(), func() error { return os.Remove(f.Name()) }, nil
}
