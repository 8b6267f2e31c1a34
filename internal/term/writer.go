package term

import (
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"
)

// NewWriter returns a writer of text as it comes, such as a model's, to a terminal:
// what would command it or show text in another order is escaped as by Text. What
// joins letters, or hides, stays: scripts and emoji need it. A character in parts is
// written when it is whole.
func NewWriter(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	w    io.Writer
	held []byte // the beginning of a character, or of a line end
}

func (t *writer) Write(p []byte) (int, error) {
	text := append(t.held, p...)
	whole := len(text) - unfinished(text)
	t.held = bytes.Clone(text[whole:])
	text = bytes.ReplaceAll(text[:whole], []byte("\r\n"), []byte("\n"))
	if _, err := t.w.Write(rewrite(text, onlyShown, escaped)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished is how many bytes at the end of a text are the beginning of a character
// or of a line end.
func unfinished(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// onlyShown reports whether a character of a text is only ever shown.
func onlyShown(r rune) bool {
	return !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) && r != '\u2028' && r != '\u2029'
}
