package reports

import (
	"bytes"
	"fmt"
	"onebit/reports/figure"
	"slices"
	"strings"
	"testing"
)

// manyShapes is a run of two variants of two formats on 8 shapes: y is 4 times faster than x, but on
// one shape of format b it is twice as slow.
func manyShapes() string {
	var b strings.Builder
	for _, format := range []string{"a", "b"} {
		for i := range 8 {
			x, y := 400.0, 100.0
			if format == "b" && i == 0 {
				x, y = 100, 200
			}
			name := fmt.Sprintf("BenchmarkMatVec/format=%s/variant=%%s/rows=%d/cols=16/threads=1/cache=warm 1 %%v ns/op %d %%%%roof 32 packed-B %de-6 nmse", format, 16*(i+1), 40+i, i+1)
			b.WriteString(repeat(6, fmt.Sprintf(name, "scalar", x)) + repeat(6, fmt.Sprintf(name, "y", y)))
			fmt.Fprintf(&b, "# warning: group %s %d×16: the loop ran %d%% slower\n", format, 16*(i+1), 10*(i+1))
		}
	}
	b.WriteString("# warning: the governor is powersave\n")
	return b.String()
}

func TestSummaryTable(t *testing.T) {
	res := fixture(t, []byte(manyShapes()))
	table := func(opt TableOptions) []string {
		var b bytes.Buffer
		if err := WriteTable(&b, res, opt); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(b.String()) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return lines
	}
	got := table(TableOptions{})
	// On b the geometric mean is (4^7 × ½)^⅛ = 3.08. The median of %roof is that of 40 to 47, of bits per
	// weight there are 256 for 256 to 2048 weights.
	for _, want := range []string{
		"matvec threads cache variant fastest in vs scalar %roof nmse bits/weight",
		"a 1 warm y 8 of 8 4.00× 43.5 % 1e-06 to 8e-06 0.125 to 1",
		"b 1 warm y 7 of 8 3.08× 43.5 % 1e-06 to 8e-06 0.125 to 1",
		"warning: 16 of 16 groups: the loop ran 10 to 80% slower",
		"warning: the governor is powersave",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the summary lacks %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if all := table(TableOptions{Top: -1}); len(all) < 32 || slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "fastest in") }) {
		t.Errorf("asked for all variants, the table has %d lines:\n%s", len(all), strings.Join(all, "\n"))
	}
}

// TestManyShapesInPageAndMarkdown looks for a row per format, and for the shapes folded below.
func TestManyShapesInPageAndMarkdown(t *testing.T) {
	page := renderAll(t, manyShapes())
	var markdown bytes.Buffer
	if err := WriteMarkdown(&markdown, fixture(t, []byte(manyShapes()))); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"page": {page, []string{
			"<td>7 of 8", "<td>3.08×", ">MatVec: the fastest variants</summary>", `<th scope="row">b 128×16`, "16 of 16 groups: the loop ran 10 to 80% slower",
			"<summary>All 16</summary>", "<li>group b 128×16: the loop ran 80% slower</li>", "17 warnings", "<summary>b: 16×16 to 128×16</summary>",
		}},
		"markdown": {markdown.String(), []string{
			"| b | 1 | warm | y | 7 of 8 | 3.08× | 43.5 % |", "<details><summary>MatVec: the fastest variants</summary>", "| b 128×16 | 1 | warm | y | 100 ns |",
			"- 16 of 16 groups: the loop ran 10 to 80% slower\n", "<details><summary>all 16</summary>\n\n- group a 16×16: the loop ran 10% slower\n",
		}},
	} {
		for _, want := range tt.want {
			if !strings.Contains(tt.text, want) {
				t.Errorf("the %s lacks %q", name, want)
			}
		}
	}
}

func TestDoubts(t *testing.T) {
	tests := []struct {
		name     string
		warnings []string
		want     []string
	}{
		{"two of a kind", []string{"group g: 7% slower", "group h: 9% slower"}, []string{"group g: 7% slower", "group h: 9% slower"}},
		{"groups that are no tasks", []string{"group g: 7% slower", "group h: 9.5% slower", "group h: 8% slower"}, []string{"2 groups: 7 to 9.5% slower"}},
		{"times in several units",
			[]string{"group g: took 53.5 ms of 796 ms, 7%", "group h: took 810 ms of 1.00 s, 81%", "group h: took 1.07 s of 1.03 s, 104%"},
			[]string{"2 groups: took 53.5 ms to 1.07 s of 796 ms to 1.03 s, 7 to 104%"}},
		{"times in one unit", []string{"took 53.5 ms", "took 47 ms", "took 99 ms"}, []string{"3 times: took 47 to 99 ms"}},
		{"without groups", []string{"round 4 of 9", "clock?", "round 5 of 9", "round 2 of 9"}, []string{"3 times: round 2 to 5 of 9", "clock?"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "BenchmarkB 1 5 ns/op\n"
			for _, w := range tt.warnings {
				text += "# warning: " + w + "\n"
			}
			var got []string
			all := 0
			for _, w := range newDigest(fixture(t, []byte(text))).doubts() {
				got = append(got, w.Text)
				all += max(1, len(w.All))
			}
			if !slices.Equal(got, tt.want) || all != len(tt.warnings) {
				t.Errorf("%q for %d warnings, want %q for %d", got, all, tt.want, len(tt.warnings))
			}
		})
	}
}

// TestSlowestRival summarizes a run without a baseline variant.
func TestSlowestRival(t *testing.T) {
	at := func(variant string, cols, ns int) string {
		return repeat(6, fmt.Sprintf("BenchmarkMatVec/format=f/variant=%s/rows=16/cols=%d 1 %d ns/op", variant, cols, ns))
	}
	// z is slower than y, but did not run everywhere.
	text := at("x", 16, 100) + at("y", 16, 300) + at("z", 16, 900) + at("x", 32, 100) + at("y", 32, 300) + at("w", 32, 200) + at("w", 16, 200)
	s := kernelReport{newDigest(fixture(t, []byte(text)))}.matrices()[0].sections()[0]
	v := judge(s.subject, s.rankings())
	if v.winner != "x" || v.baseline != "y" || v.speedup < 2.999 || v.speedup > 3.001 {
		t.Errorf("%s is %v times as fast as %q, want x, 3 and y", v.winner, v.speedup, v.baseline)
	}
}

func TestCompactSVG(t *testing.T) {
	const grid, fill = `fill:none;stroke:var(--grid);stroke-width:0.7`, `fill:var(--s0)`
	path := func(d, style string) string { return `<path d="` + d + `" style="` + style + `" />` + "\n" }
	tests := []struct{ name, body, want string }{
		{"strokes join", path("M1.26,2L1.26,9", grid) + path("M1,4.04L7.55,4.04", grid),
			`<path d="M1.3,2V9M1,4H7.6" style="` + grid + `"/>` + "\n"},
		{"fills don't", path("M1,2L5,6L1,6Z", fill) + path("M1,2L5,6L1,6Z", fill),
			strings.Repeat(`<path d="M1,2L5,6H1Z" style="`+fill+`"/>`+"\n", 2)},
		{"arcs", path("M8.04,5A4,4 0 1 1 0,5.06L0,5.06Z", fill), `<path d="M8,5A4,4 0 1 1 0,5.1L0,5.1Z" style="` + fill + `"/>` + "\n"},
		{"exponents", path("M1e-07,2L1,2e+01", grid), `<path d="M0,2L1,20" style="` + grid + `"/>` + "\n"},
		{"a tick without a label", `<text x="1" y="2" style="s"> </text>` + "\n", ""},
		{"words keep their numbers", `<text x="1.234" y="-5.678" style="s">1.2345 ms</text>` + "\n", `<text x="1.2" y="-5.7" textLength="56.0" style="s">1.2345 ms</text>` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { compareText(t, "SVG", tt.want, figure.CompactSVG(tt.body)) })
	}
}
