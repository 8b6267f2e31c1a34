package cli

import (
	"slices"
	"strings"
	"testing"
)

// Paragraphs are filled, and what is indented stays as it is.
func TestFilled(t *testing.T) {
	got := filled("Words "+strings.Repeat("that fill a line ", 9)+"\nand go on:\n  onebit run  x \\\n\ta list\nafter it\nmore\n\n\nlast", 80)
	want := []string{
		"Words that fill a line that fill a line that fill a line that fill a line that",
		"fill a line that fill a line that fill a line that fill a line that fill a line",
		"and go on:",
		`  onebit run  x \`,
		"	a list",
		"after it more",
		"",
		"",
		"last",
	}
	if lines := strings.Split(got, "\n"); !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}
