// Package bounded reads files whose size nobody has checked yet.
package bounded

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile is os.ReadFile for files of at most that many bytes. Of a larger one
// it reads no more, also if it has no size of its own, such as a pipe, and
// returns a *fs.PathError.
func ReadFile(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is larger than %d bytes, which no such file is", most)}
	}
	return data, nil
}
