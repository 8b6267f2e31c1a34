package bounded

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Open opens a regular file for reading. Opening anything else might never
// return (a named pipe waits for its writer) or reading it never end: that is a
// *fs.PathError that says what the path names. Whatever takes the file's place
// in the meantime, Open does not wait.
func Open(path string) (*os.File, error) {
	// Looked at before it is opened: to open some devices is to make them do
	// something.
	if err := mustBeRegular(path, func() (fs.FileInfo, error) { return os.Stat(path) }); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	err = mustBeRegular(path, f.Stat)
	// The kernel's logs are regular files by their mode, and reading one waits for the
	// next line: what can be waited for has deadlines.
	if err == nil && f.SetReadDeadline(time.Time{}) == nil {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is a file that the system writes as it is read, want a regular file")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func mustBeRegular(path string, stat func() (fs.FileInfo, error)) error {
	info, err := stat()
	if err != nil || info.Mode().IsRegular() {
		return err
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("is a " + kind(info.Mode()) + ", want a regular file")}
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
