package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onebit/bench/gate"
	gatepage "onebit/reports/gate"
	"onebit/reports/render"
)

// A gate whose page cannot be written leaves its folder as it was, base.txt and
// head.txt too.
func TestGateFolderAllOrNone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"index.html", "base.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("another's"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	results := &gate.Results{Report: &gate.Report{}}
	if err := writeGateFolder(t.Context(), dir, results, gatepage.Document(results), render.FolderOptions{}); err == nil || !strings.Contains(err.Error(), "is not a report of onebit") {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if base, err := os.ReadFile(filepath.Join(dir, "base.txt")); err != nil || string(base) != "another's" || len(entries) != 2 {
		t.Errorf("base.txt is %q, of %d files, %v", base, len(entries), err)
	}
	if err := writeGateFolder(t.Context(), dir, results, gatepage.Document(results), render.FolderOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if base, err := os.ReadFile(filepath.Join(dir, "base.txt")); err != nil || string(base) == "another's" {
		t.Errorf("base.txt is %q, %v", base, err)
	}
}
