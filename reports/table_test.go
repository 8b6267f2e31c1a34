package reports_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"onebit/bench/results"
	"onebit/reports/reportstest"
)

// tableOf is the closing table at a width.
func tableOf(t *testing.T, res *results.Set, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := reportstest.WriteTable(&b, res, reportstest.TableOptions{Width: width}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTableFitsTheTerminal: no line is wider than the terminal, and none of the columns that matter is
// lost.
func TestTableFitsTheTerminal(t *testing.T) {
	for _, file := range []string{"results.txt", "models.txt"} {
		res := reportstest.GoldenInput(t, file)
		for _, width := range []int{60, 80} {
			text := tableOf(t, res, width)
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s at %d columns: %d in %q", file, width, n, line)
				}
			}
			for _, want := range []string{"vs best", "tie", "µs"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s at %d columns lacks %q:\n%s", file, width, want, text)
				}
			}
		}
	}
	narrow := tableOf(t, reportstest.GoldenInput(t, "results.txt"), 60)
	if want := "i2_s 2048×2048, 2 threads, cold\n  avx2 "; !strings.Contains(narrow, want) {
		t.Errorf("no %q in\n%s", want, narrow)
	}
}

// TestTableExplainsItsTerms holds the table to a legend of the words that it uses, and of no others.
func TestTableExplainsItsTerms(t *testing.T) {
	text := tableOf(t, reportstest.GoldenInput(t, "models.txt"), 0)
	for _, want := range []string{"q8_128: 8 bits", "packed: weights", "native: weights", "kld: divergence"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// disturbed has a group with a warning and one without, and in the latter a machine of two states.
func disturbed() string {
	const line = "BenchmarkMatVec/format=%s/variant=%s/rows=2/cols=2/threads=2/cache=cold 1 %d ns/op %d roundtrip-ns %d %%roof\n"
	var b strings.Builder
	b.WriteString("cold-bytes: 268435456\n")
	b.WriteString("# warning: group f 2×2: other processes took 1 s of CPU time in 2 s, 50% of a CPU\n")
	for _, f := range []string{"f", "g"} {
		fmt.Fprintf(&b, "# group %s 2×2\n", f)
		for i := range 8 {
			trip := 50
			if f == "g" && i%2 == 1 {
				trip = 400
			}
			fmt.Fprintf(&b, line+line, f, "a", 1000+i, trip, 104, f, "b", 9000+i, 50, 50)
		}
	}
	return b.String()
}

// TestDoubtfulTimesAreMarked: of a disturbed group every time has a sign, of two states the cases in
// which they were; a legend tells what they mean.
func TestDoubtfulTimesAreMarked(t *testing.T) {
	res := reportstest.Set(t, []byte(disturbed()))
	var page, markdown bytes.Buffer
	if err := reportstest.Print(t.Context(), &page, "html", res); err != nil {
		t.Fatal(err)
	}
	if err := reportstest.Print(t.Context(), &markdown, "markdown", res); err != nil {
		t.Fatal(err)
	}
	for kind, tc := range map[string]struct {
		text string
		want []string
	}{
		"table":    {tableOf(t, res, 0), []string{"1.00 µs†", "9.00 µs†", "1.00 µs‡", "9.00 µs ", "1.00†", "1.00‡"}},
		"markdown": {markdown.String(), []string{"1.00 µs† ±", "9.00 µs† ±", "1.00 µs‡ ±", "9.00 µs ±", "| a | 1.00 µs† |", "| 1.00‡ ±0.3 %, tie |"}},
		"page":     {page.String(), []string{"1.00 µs† <small>", "1.00 µs‡ <small>", ">1.00‡ <small>"}},
	} {
		for _, want := range append(tc.want, "† a warning tells", "‡ the machine was in two states") {
			if !strings.Contains(tc.text, want) {
				t.Errorf("%s lacks %q:\n%s", kind, want, tc.text[:min(len(tc.text), 6000)])
			}
		}
		if kind != "table" {
			for _, want := range []string{"More than 100 % of the roof: part of the weights was in a cache", "Cold cases rotate over 256 MiB of weights."} {
				if !strings.Contains(tc.text, want) {
					t.Errorf("%s lacks %q", kind, want)
				}
			}
		}
	}
	var json bytes.Buffer
	if err := reportstest.Print(t.Context(), &json, "json", res); err != nil || strings.ContainsAny(json.String(), "†‡") {
		t.Errorf("JSON has signs, or fails: %v", err)
	}
}

// TestUselessFloorIsSaidBesideTheVerdict: too few pairs, too much noise, and neither.
func TestUselessFloorIsSaidBesideTheVerdict(t *testing.T) {
	const name = "MatVec/format=%s/variant=a/rows=2/cols=2/threads=1/cache=warm"
	for _, tc := range []struct {
		pairs, apart int
		want         string
	}{
		{4, 1, "The noise is unknown: there are too few A/A pairs."},
		{8, 40, "Too noisy to tell small leads: one comparison in twenty of identical code differs by more than"},
		{8, 1, ""},
	} {
		var b strings.Builder
		for pair := range tc.pairs {
			arm := fmt.Sprintf(name, fmt.Sprintf("f%d", pair))
			for range 6 {
				fmt.Fprintf(&b, "Benchmark%s 1 100 ns/op\nBenchmarkAA/%[1]s/arm=b 1 %d ns/op\n", arm, 100+(pair%2*2-1)*tc.apart)
			}
		}
		advice := reportstest.FirstText(reportstest.DocOf(t, reportstest.Set(t, []byte(b.String()))).First[0])
		if got := strings.Contains(advice, "nois"); got != (tc.want != "") || !strings.Contains(advice, tc.want) {
			t.Errorf("%+v: %q", tc, advice)
		}
	}
}

// TestWordsAreExplainedOnce: a page marks up a word where it first stands, and text of a file stays text.
func TestWordsAreExplainedOnce(t *testing.T) {
	var page bytes.Buffer
	if err := reportstest.Print(t.Context(), &page, "html", reportstest.GoldenInput(t, "models.txt")); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"q8_128", "packed", "native", "A/A", "kld", "nmse"} {
		if n := strings.Count(page.String(), ">"+word+"</abbr>"); n != 1 {
			t.Errorf("%s is explained %d times", word, n)
		}
	}
}
