package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte("12345678"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(path, 8); err != nil || string(data) != "12345678" {
		t.Errorf("ReadFile of as much as allowed = %q, %v", data, err)
	}
	var at *fs.PathError
	if data, err := ReadFile(path, 7); data != nil || !errors.As(err, &at) || at.Path != path {
		t.Errorf("ReadFile of more than allowed = %q, %v; want a *fs.PathError", data, err)
	}
	if _, err := ReadFile(path+"x", 8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of no file: %v", err)
	}
}

// endless is a pipe whose other end never stops.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRead(t *testing.T) {
	if data, err := Read(endless{}, 1000); data != nil || err == nil || err.Error() != "is larger than 1000 bytes, more than any of its kind" {
		t.Errorf("Read of what does not end = %d bytes, %v", len(data), err)
	}
	if data, err := Read(strings.NewReader("12"), 2); err != nil || string(data) != "12" {
		t.Errorf("Read of as much as allowed = %q, %v", data, err)
	}
	if _, err := Read(iotest.ErrReader(fs.ErrClosed), 2); err != fs.ErrClosed {
		t.Errorf("Read of what fails: %v", err)
	}
}
