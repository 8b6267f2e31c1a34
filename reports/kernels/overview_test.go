package kernels

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
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
			b.WriteString(reportstest.Repeat(6, fmt.Sprintf(name, "scalar", x)) + reportstest.Repeat(6, fmt.Sprintf(name, "y", y)))
			fmt.Fprintf(&b, "# warning: group %s %d×16: the loop ran %d%% slower\n", format, 16*(i+1), 10*(i+1))
		}
	}
	b.WriteString("# warning: the governor is powersave\n")
	return b.String()
}

func TestSummaryTable(t *testing.T) {
	res := reportstest.Set(t, []byte(manyShapes()))
	table := func(opt reportstest.TableOptions) []string {
		var b bytes.Buffer
		if err := reportstest.WriteTable(&b, res, opt); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(b.String()) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return lines
	}
	got := table(reportstest.TableOptions{})
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
	if all := table(reportstest.TableOptions{Top: -1}); len(all) < 32 || slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "fastest in") }) {
		t.Errorf("asked for all variants, the table has %d lines:\n%s", len(all), strings.Join(all, "\n"))
	}
}

// TestManyShapesInPageAndMarkdown looks for a row per format, and for the shapes folded below.
func TestManyShapesInPageAndMarkdown(t *testing.T) {
	page := reportstest.RenderAll(t, manyShapes())
	var markdown bytes.Buffer
	if err := reportstest.Print(t.Context(), &markdown, "markdown", reportstest.Set(t, []byte(manyShapes()))); err != nil {
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

// TestSlowestRival summarizes a run without a baseline variant.
func TestSlowestRival(t *testing.T) {
	at := func(variant string, cols, ns int) string {
		return reportstest.Repeat(6, fmt.Sprintf("BenchmarkMatVec/format=f/variant=%s/rows=16/cols=%d 1 %d ns/op", variant, cols, ns))
	}
	// z is slower than y, but did not run everywhere.
	text := at("x", 16, 100) + at("y", 16, 300) + at("z", 16, 900) + at("x", 32, 100) + at("y", 32, 300) + at("w", 32, 200) + at("w", 16, 200)
	s := report{digest.Of(reportstest.Set(t, []byte(text)))}.matrices()[0].sections()[0]
	v := judge(s.subject, s.rankings())
	if v.winner != "x" || v.baseline != "y" || v.speedup < 2.999 || v.speedup > 3.001 {
		t.Errorf("%s is %v times as fast as %q, want x, 3 and y", v.winner, v.speedup, v.baseline)
	}
}
