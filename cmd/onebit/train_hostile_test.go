package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"onebit/models/train/lm"
)

// A run's recipe comes from a checkpoint, its folder from another's listing: neither
// commands a terminal.
func TestTrainResultIsHarmless(t *testing.T) {
	var b bytes.Buffer
	r := trainResult{path: hostileName + "/model.gguf", trainer: &lm.Trainer{Recipe: lm.Recipe{Name: hostileName}}}
	if err := r.print(&b); err != nil {
		t.Fatal(err)
	}
	if at := strings.IndexFunc(b.String(), func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' }); at >= 0 {
		t.Errorf("%+q", b.String())
	}
	if n := strings.Count(b.String(), `"evil\x1b`); n != 2 {
		t.Errorf("%d names are quoted, want 2: %s", n, b.String())
	}
}
