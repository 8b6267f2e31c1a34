package cli

import (
	"io"
	"os"
	"testing"
)

// A process may be killed at any point of the writing: nothing of it has a
// name until it is complete.
func TestWriteFileWithoutName(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/out"
	probe, err := openTemp(dir + "/probe")
	if err != nil {
		t.Fatal(err)
	}
	probe.Close()
	if !probe.unnamed {
		t.Skip("the file system has no unnamed files")
	}
	err = WriteFile(t.Context(), path, false, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		entries, err := os.ReadDir(dir)
		if len(entries) != 0 {
			t.Errorf("directory holds %v during the writing, want nothing", entries)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	onlyFile(t, dir, "out", "half")
}
