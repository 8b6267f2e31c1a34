// Package bounded opens and reads files that nobody has checked yet. It waits
// for no other process, and reads no more than the caller allows.
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Read reads all of r. It returns an error, and stops reading, if r has more
// bytes than most.
func Read(r io.Reader, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("is larger than %d bytes, more than any of its kind", most)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// ReadFile reads a regular file of at most that many bytes. It returns a
// *fs.PathError if the file is larger.
func ReadFile(path string, most int) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := Read(f, most)
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, err
}
