package kernels

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/reportstest"
)

func TestFormatsAreRanked(t *testing.T) {
	d := digest.Of(reportstest.Set(t, []byte(reportstest.RankedFormats())))
	screens := reportstest.DocOf(t, d.Results).First
	if len(screens) != 1 {
		t.Fatalf("%d screens, want 1", len(screens))
	}
	// √(500 · 2000) = 1000 ns; 16 bytes for 64 weights are 2 bits.
	reportstest.CheckSheet(t, screens[0].Table, [][]string{
		{"format", "µs/op", "time", "by", "bits/weight", "error"},
		{"b", "1.00 ±0 %", "██████████", "x", "2", "−40 dB"},
		{"a", "2.00 ±0 %", "████████████████████", "x", "2", "−40 dB"},
		{"c", "2.00 ±0 %, tie", "████████████████████", "x", "2", "−40 dB"},
	})
	const want = "b is the fastest format here, 2.0 times ahead of a and c. 1.00 µs ±0 % for 2 shapes (geometric mean) by x with 2 threads, cold cache. " +
		"It is bound by memory: it reads its weights at 75.0 % (median) of what reading alone reaches. The noise is unknown: there are too few A/A pairs."
	if reportstest.FirstText(screens[0]) != want {
		t.Errorf("advice %q, want %q", reportstest.FirstText(screens[0]), want)
	}
	if got := d.Title(); got != "onebit · Some CPU · 2026-11-22 · 0123456" {
		t.Errorf("title %q", got)
	}
}

func TestBoundText(t *testing.T) {
	for roof, want := range map[float64]string{
		120: "It reads its weights at 120.0 % of what reading alone reaches: the reading loop was disturbed, or found less of them in a cache.",
		75:  "It is bound by memory: it reads its weights at 75.0 % of what reading alone reaches.",
		20:  "It is not bound by memory: it reads its weights at 20.0 % of what reading alone reaches.",
	} {
		if got := boundText(roof, ""); got != want {
			t.Errorf("%v: %q, want %q", roof, got, want)
		}
	}
}

// TestNamesStayInTheirPanels: on a page each condition of error against speed is drawn for a phone, with no name cut.
func TestNamesStayInTheirPanels(t *testing.T) {
	var text strings.Builder
	for _, condition := range []string{"threads=1/cache=cold", "threads=2/cache=warm"} {
		for i, format := range []string{"q1_0_g128", "ternary_u32", "i2_s"} {
			fmt.Fprintf(&text, "BenchmarkMatVec/format=%s/variant=v/act=q8_row/rows=100/cols=80/%s 1 %d ns/op 1e-4 nmse 1e-4 act-nmse 2000 packed-B\n", format, condition, 20+i)
		}
	}
	parts, _ := charts.Draw(report{digest.Of(reportstest.Set(t, []byte(text.String())))}.errorSpeed()).Split()
	if len(parts) != 2 {
		t.Fatalf("%d parts, want two panels", len(parts))
	}
	for _, f := range parts {
		svg, err := f.SVG()
		if err != nil || !strings.Contains(svg, `viewBox="0 0 440 `) {
			t.Fatalf("%v; not narrow: %.200s", err, svg)
		}
		for _, m := range regexp.MustCompile(`<text x="([0-9.]+)"[^>]* textLength="([0-9.]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(svg, -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			width, _ := strconv.ParseFloat(m[2], 64)
			if !strings.Contains(m[0], "rotate") && x+width > figure.NarrowWidth {
				t.Errorf("%q ends at %.0f of %d", m[3], x+width, figure.NarrowWidth)
			}
		}
	}
}

// TestFirstScreenMedian: of two shapes, the middle is between them, and not the larger.
func TestFirstScreenMedian(t *testing.T) {
	d := digest.Of(reportstest.Set(t, []byte("BenchmarkMatVec/format=f/variant=v/rows=2/cols=2/threads=1/cache=cold 1 5 ns/op 20 %roof 0.001 nmse\n"+
		"BenchmarkMatVec/format=f/variant=v/rows=4/cols=2/threads=1/cache=cold 1 9 ns/op 60 %roof 0.003 nmse\n")))
	all := reportstest.DocOf(t, d.Results).First
	if len(all) != 1 || !strings.Contains(reportstest.FirstText(all[0]), "at 40.0 % (median)") {
		t.Fatalf("%d screens, the first %+v", len(all), all)
	}
	if row := all[0].Table.Rows[0]; row[len(row)-1].Text != "−27 dB" {
		t.Errorf("%+v, want an nmse of 0.002 in dB", row)
	}
}

// TestAdviceOfRecordedRuns: the first sentences of all runs of one program on one calm machine are the same, but for
// how many times and microseconds they say.
func TestAdviceOfRecordedRuns(t *testing.T) {
	said := make(map[string]int)
	for _, run := range reportstest.Recordings(t, "calm") {
		said[numbers.ReplaceAllString(reportstest.FirstText(reportstest.DocOf(t, run).First[0]), "N")]++
	}
	if len(said) != 1 {
		t.Errorf("the advice differs from run to run: %v", said)
	}
}

var numbers = regexp.MustCompile(`[0-9.]*[0-9]( µs| %| times)`)
