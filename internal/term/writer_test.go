package term

import (
	"bytes"
	"strings"
	"testing"
)

// However a text is cut into writes, a terminal gets the same.
func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n",
		"größe 🏳\u200d🌈 می\u200cخواهم": "größe 🏳\u200d🌈 می\u200cخواهم",
		"a\r\nb\rc\n":                         "a\nb\\rc\n",
		"\x1b[2J\x1b]0;title\a\u009b2J\x7f\b": `\x1b[2J\x1b]0;title\a\u009b2J\x7f\b`,
		"gnp\u202egpj \u2066x\u2069 \u2028y":  `gnp\u202egpj \u2066x\u2069 \u2028y`,
		"\xe2\x82 \xff.":                      `\xe2\x82 \xff.`,
	} {
		for size := 1; size <= len(text); size++ {
			var shown bytes.Buffer
			w := NewWriter(&shown)
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				if m, err := w.Write(rest[:n]); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			if got := shown.String(); got != want {
				t.Errorf("%q, %d bytes at a time: %q, want %q", text, size, got, want)
			}
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func TestWriterError(t *testing.T) {
	if _, err := NewWriter(broken{}).Write([]byte(strings.Repeat("x", 10))); err != bytes.ErrTooLarge {
		t.Error(err)
	}
}
