package render

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"onebit/reports/doc"
)

// TestRenderingIsAbandoned ends what never would.
func TestRenderingIsAbandoned(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan bool)
	defer close(never)
	var b strings.Builder
	err := until(ctx, &b, func(w io.Writer) error { cancel(); <-never; return nil })
	if !errors.Is(err, context.Canceled) || b.Len() > 0 {
		t.Errorf("%v, %q written", err, b.String())
	}
}

var someWords = []doc.Word{
	{Text: "native", About: "weights read as the file holds them"}, {Text: "packed", About: "weights repacked on loading"},
	{Text: "nmse", About: "squared error over squared result"}, {Text: "%roof", About: "share of what reading alone reached"},
	{Text: "q8_128", About: "8 bits"}, {Text: "A/A", About: "the same code measured as if it were two"}, {Text: "†", About: "disturbed.", Sign: true},
}

func TestWordsOfATextAreExplained(t *testing.T) {
	const text = "A/A-native of x_packed, unpacked, q8_1280 and 40 %roof†"
	want := "native: weights read as the file holds them; %roof: share of what reading alone reached; A/A: the same code measured as if it were two"
	if got := explained(someWords, text, false); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := explained(someWords, text, true); got != "† disturbed." {
		t.Errorf("signs: %q", got)
	}
}

// A page marks up a word where it first stands, and text of a file stays text.
func TestWordsAreExplainedOnce(t *testing.T) {
	a := newAbbreviator(someWords)
	got := string(a.html("<nmse> of native, avx2-native")) + string(a.html("nmse & more"))
	want := `&lt;<abbr title="squared error over squared result">nmse</abbr>&gt; of <abbr title="weights read as the file holds them">native</abbr>, avx2-native` +
		`nmse &amp; more`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Names are shortened before a number is left out, and what is left out is named.
func TestNamesAreShortenedFirst(t *testing.T) {
	table := &doc.Table{Columns: []doc.Column{{Label: "name"}, {Label: "time", Number: true}, {Label: "±", Number: true, Drop: 1}},
		Rows: [][]doc.Cell{{{Text: strings.Repeat("abc", 20) + "end"}, {Text: "5 ns"}, {Text: "3 %"}}}}
	narrow := &terminal{width: 60}
	narrow.table(table)
	if got := narrow.String(); !strings.Contains(got, "3 %") || !strings.Contains(got, "…") || !strings.Contains(got, "end") || strings.Contains(got, "No room") {
		t.Errorf("at 60 columns:\n%s", got)
	}
	narrower := &terminal{width: 30}
	narrower.table(table)
	if got := narrower.String(); strings.Contains(got, "3 %") || !strings.Contains(got, "5 ns") || !strings.Contains(got, "No room for: ±") {
		t.Errorf("at 30 columns:\n%s", got)
	}
}

// Names that differ stay apart where they are cut.
func TestShortNamesStayApart(t *testing.T) {
	names := []string{"AMD EPYC (2 CPUs, linux/amd64)", "AMD EPYC (2 CPUs, linux/arm64, without avx2 and 10 more)", "AMD EPYC (2 CPUs, linux/riscv, without avx2 and 10 more)"}
	for _, room := range []int{14, 24, 50} {
		short := shortNames(names, room)
		if distinct(short) != 3 && room > 30 || distinct(short) < 2 {
			t.Errorf("in %d characters: %q", room, short)
		}
	}
	if got := shortNames([]string{"the same beginning a", "the same beginning b"}, 8); distinct(got) != 2 {
		t.Errorf("%q", got)
	}
}
