package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
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
