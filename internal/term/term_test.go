package term_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"onebit/internal/term"
)

// hostile is one of each kind, with how Go writes it: controls of C0 and C1,
// DEL, bidirectional controls, line and paragraph separators, no width, BOM,
// a tag, no UTF-8.
var hostile = map[string]string{
	"\x1b[2J": `\x1b[2J`, "\r": `\r`, "\n": `\n`, "\x00": `\x00`, "\x7f": `\x7f`, "\u009b": `\u009b`,
	"\u202a": `\u202a`, "\u202e": `\u202e`, "\u2066": `\u2066`, "\u2069": `\u2069`,
	"\u200e": `\u200e`, "\u200f": `\u200f`, "\u061c": `\u061c`,
	"\u2028": `\u2028`, "\u2029": `\u2029`, "\u200b": `\u200b`, "\ufeff": `\ufeff`,
	"\U000e0041": `\U000e0041`, "\xff": `\xff`,
}

func TestHostile(t *testing.T) {
	for s, want := range hostile {
		if got := term.Quote("a" + s + "b"); got != `"a`+want+`b"` {
			t.Errorf("Quote(%+q) = %+q", s, got)
		}
		if s == "\n" {
			want = " "
		}
		if got := term.Text(`"a` + s + `\b"`); got != `"a`+want+`\b"` {
			t.Errorf("Text(%+q) = %+q", s, got)
		}
	}
}

func TestHarmless(t *testing.T) {
	for _, s := range []string{"", "blk.0.attn_q.weight", "größe", "模型", `C:\models\b.gguf`, "a b", "1 000", "\ufffd", `say "x"`} {
		if got := term.Quote(s); got != s {
			t.Errorf("Quote(%q) = %s", s, got)
		}
		if got := term.Text(s); got != s {
			t.Errorf("Text(%q) = %s", s, got)
		}
	}
	// A name that looks as if it were quoted is.
	if got := term.Quote(`"a"`); got != `"\"a\""` {
		t.Errorf("Quote = %s", got)
	}
	if got := term.QuoteAlways(`a\"b`); got != `"a\\\"b"` {
		t.Errorf("QuoteAlways = %s", got)
	}
}

func TestLong(t *testing.T) {
	long := strings.Repeat("é", 1<<19) + "!"
	want := strings.Repeat("é", 40) + `"… (1048577 bytes)`
	if got := term.Quote(long); got != `"`+want {
		t.Errorf("Quote = %.300s", got)
	}
	if got := term.Quote("x" + long[1:]); strings.HasSuffix(strings.Split(got, `"… `)[0], `\xc3`) {
		t.Errorf("half a character: %.300s", got)
	}
	if got := term.Text(long); len(got) > 2100 || !strings.HasSuffix(got, "é… (1048577 bytes)") {
		t.Errorf("Text: %d bytes, %.20s", len(got), got)
	}
	// Bytes that are no UTF-8 have no beginnings of characters.
	if got := term.QuoteAlways(strings.Repeat("\x80", 1000)); !strings.HasSuffix(got, `\x80"… (1000 bytes)`) {
		t.Errorf("QuoteAlways = %s", got)
	}
}

func TestLines(t *testing.T) {
	if got := term.Lines("first \x1b\nsecond"); got != "first \\x1b\nsecond" {
		t.Errorf("Lines = %q", got)
	}
	many := strings.Repeat("x\n", 1000)
	if got := term.Lines(many); strings.Count(got, "\n") != 25 || !strings.HasSuffix(got, "\n… (2000 bytes)") {
		t.Errorf("Lines = %q", got)
	}
}

// The document means what it meant, and every character of it is graphic.
func TestJSON(t *testing.T) {
	was := map[string]string{}
	for s := range hostile {
		if utf8.ValidString(s) {
			was["a"+s] = s + "b"
		}
	}
	document, err := json.MarshalIndent(was, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	safe := term.JSON(document)
	for _, r := range string(safe) {
		if !unicode.IsGraphic(r) && r != '\n' && r != '\t' {
			t.Errorf("%U stays", r)
		}
	}
	var is map[string]string
	if err := json.Unmarshal(safe, &is); err != nil {
		t.Fatal(err)
	}
	for k, v := range was {
		if is[k] != v {
			t.Errorf("%+q: %+q, want %+q", k, is[k], v)
		}
	}
}

// Lines and columns of a document stay; of what would harm, all is replaced.
func TestClean(t *testing.T) {
	for s, want := range hostile {
		if s == "\n" {
			want = s
		}
		document := "name: a\tb" + s + "c\r\nnext: µ" + s
		if got := term.Clean([]byte(document)); string(got) != "name: a\tb"+want+"c\nnext: µ"+want {
			t.Errorf("Clean(%+q) = %+q", document, got)
		}
	}
}

func FuzzText(f *testing.F) {
	for s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{term.Quote(s), term.QuoteAlways(s), term.Text(s)} {
			for _, r := range got {
				if !unicode.IsGraphic(r) {
					t.Errorf("%U stays of %+q", r, s)
				}
			}
			if !utf8.ValidString(got) || len(got) > 10*2000 {
				t.Errorf("%d bytes of %d", len(got), len(s))
			}
		}
	})
}
