package render

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A page is read by people who don't have onebit's module: go doc finds its packages in
// the repository alone, by their folders.
func TestPagesNameNoModule(t *testing.T) {
	files, err := filepath.Glob("assets/*")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("go doc onebit")) {
			t.Errorf("%s has a go doc that works in onebit's module alone", file)
		}
	}
}
