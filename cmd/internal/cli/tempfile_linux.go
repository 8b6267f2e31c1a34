package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A tempFile is a file that becomes another's content. It has no name until it
// is complete: however the process ends, nothing is left of it.
type tempFile struct {
	*os.File
	unnamed bool
}

// openTemp opens a file that name puts at path. On file systems without
// unnamed files it is there from the start.
func openTemp(path string) (tempFile, error) {
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return openNamed(path)
	}
	f := tempFile{os.NewFile(uintptr(fd), path), true}
	if _, err := os.Stat(f.descriptor()); err != nil { // no /proc to name it through
		f.Close()
		return openNamed(path)
	}
	return f, nil
}

// name gives the file its name.
func (f tempFile) name() error {
	if !f.unnamed {
		return nil
	}
	if err := unix.Linkat(unix.AT_FDCWD, f.descriptor(), unix.AT_FDCWD, f.Name(), unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.PathError{Op: "link", Path: f.Name(), Err: err}
	}
	return nil
}

func (f tempFile) descriptor() string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
