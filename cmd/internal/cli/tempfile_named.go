//go:build !linux

package cli

import "os"

// A tempFile is a file that becomes another's content.
type tempFile struct{ *os.File }

// openTemp opens a file at path.
func openTemp(path string) (tempFile, error) { return openNamed(path) }

// name has nothing to do: the file is at its path from the start.
func (f tempFile) name() error { return nil }
