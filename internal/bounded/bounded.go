// Package bounded opens and reads files that nobody has checked yet: without
// waiting for another process, and no more than what there should be.
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Read is io.ReadAll of at most that many bytes. Of more it reads no more and
// returns an error.
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

// ReadFile is os.ReadFile for regular files of at most that many bytes. Its
// error for a larger one is a *fs.PathError.
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
