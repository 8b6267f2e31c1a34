package reports

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

// rankedFormats is three formats on two shapes: b is twice as fast as a, c is as fast as a. The variant
// that is the fastest of a on one shape did not run on the other.
func rankedFormats() string {
	var b strings.Builder
	at := func(format, variant string, rows, ns int) {
		b.WriteString(repeat(6, fmt.Sprintf("BenchmarkMatVec/format=%s/variant=%s/rows=%d/cols=64/threads=2/cache=cold 1 %d ns/op 75 %%roof %d packed-B 1e-4 nmse",
			format, variant, rows, ns, rows*16)))
	}
	at("a", "x", 64, 1000)
	at("a", "y", 64, 500)
	at("a", "x", 256, 4000)
	at("b", "x", 64, 500)
	at("b", "x", 256, 2000)
	at("b", "x", 512, 9000) // no other format ran it
	at("c", "x", 64, 1000)
	at("c", "x", 256, 4000)
	b.WriteString(repeat(6, "BenchmarkMatVec/format=c/variant=x/rows=64/cols=64/threads=2/cache=warm 1 1 ns/op"))
	return "cpu: Some CPU\nstarted: 2026-11-22T01:02:03Z\ncommit: 0123456789\n" + b.String()
}

func TestFormatsAreRanked(t *testing.T) {
	d := newDigest(fixture(t, []byte(rankedFormats())))
	screens := docOf(t, d.res).First
	if len(screens) != 1 {
		t.Fatalf("%d screens, want 1", len(screens))
	}
	// √(500 · 2000) = 1000 ns; 16 bytes for 64 weights are 2 bits.
	checkSheet(t, screens[0].Table, [][]string{
		{"format", "µs/op", "time", "by", "bits/weight", "error"},
		{"b", "1.00 ±0 %", "██████████", "x", "2", "−40 dB"},
		{"a", "2.00 ±0 %", "████████████████████", "x", "2", "−40 dB"},
		{"c", "2.00 ±0 %, tie", "████████████████████", "x", "2", "−40 dB"},
	})
	const want = "b is the fastest format here, 2.0 times ahead of a and c. 1.00 µs ±0 % for 2 shapes (geometric mean) by x with 2 threads, cold cache. " +
		"It is bound by memory: it reads its weights at 75.0 % (median) of what reading alone reaches. The noise is unknown: there are too few A/A pairs."
	if firstText(screens[0]) != want {
		t.Errorf("advice %q, want %q", firstText(screens[0]), want)
	}
	if got := d.title(); got != "onebit · Some CPU · 2026-11-22 · 0123456" {
		t.Errorf("title %q", got)
	}
}

func TestModelsAreRanked(t *testing.T) {
	const line = "BenchmarkModel/model=%s/variant=v/test=tg8/threads=2 1 5 ns/op %d tok/s 80 %%roof"
	d := newDigest(fixture(t, []byte(repeat(6, fmt.Sprintf(line, "slow", 50))+repeat(6, fmt.Sprintf(line, "quick", 100)))))
	want := "slow makes 50.0 tok/s here, quick 100 tok/s. 50.0 tok/s ±? in tg8 by v with 2 threads. Reading its weights alone would allow 62.5 tok/s: it is bound by memory."
	if got := firstText(docOf(t, d.res).First[0]); got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
}

// What is advised is the fastest of processor and GPU, and never what was emulated.
func TestAdviceOfGPUs(t *testing.T) {
	product := func(variant, where string, ns int) string {
		return repeat(6, fmt.Sprintf("BenchmarkMatVec/format=a/variant=%s/rows=64/cols=64%s/cache=cold 1 %d ns/op", variant, where, ns))
	}
	model := func(engine, where string, ns int) string {
		return repeat(6, fmt.Sprintf("BenchmarkModel/model=m/%s/test=tg8%s 1 %d ns/op %d tok/s", engine, where, ns, 1e9/ns))
	}
	products := func(gpu int) string {
		return product("x", "/threads=1", 3000) + product("x", "/threads=2", 2000) + product("metal-tiles", "", gpu)
	}
	models := func(gpu int) string {
		return model("variant=x", "/threads=1", 3000) + model("variant=x", "/threads=2", 2000) + model("engine=metal/variant=metal-tiles", "", gpu)
	}
	const played, qemu = "emulated: true\nemulator: softmetal\n", "emulated: true\nemulator: qemu\n"
	for _, c := range []struct{ name, text, want string }{
		{"a faster GPU", products(1000), "metal-tiles is the fastest kernel of a here, 2.0 times ahead of x. 1.00 µs ±0 % for 64×64 by metal-tiles with the GPU, cold cache."},
		{"a slower GPU", products(4000), "x is the fastest kernel of a here, 2.0 times ahead of metal-tiles. 2.00 µs ±0 % for 64×64 by x with 2 threads, cold cache."},
		{"a faster GPU that is played", played + products(1000), "x is the fastest kernel of a here. 2.00 µs ±0 % for 64×64 by x with 2 threads, cold cache."},
		{"a slower GPU that is played", played + products(4000), "x is the fastest kernel of a here. 2.00 µs ±0 % for 64×64 by x with 2 threads, cold cache."},
		{"only a GPU that is played", played + product("metal-tiles", "", 1000), "No advice: softmetal emulated"},
		{"an emulated processor", qemu + products(1000), "No advice: qemu emulated"},
		{"models on a faster GPU", models(1000), "m makes 1.00 M tok/s here. 1.00 M tok/s ±? in tg8 by metal-tiles with the GPU."},
		{"models on a slower GPU", models(4000), "m makes 500 k tok/s here. 500 k tok/s ±? in tg8 by x with 2 threads."},
		{"models on a faster GPU that is played", played + models(1000), "m makes 500 k tok/s here. 500 k tok/s ±? in tg8 by x with 2 threads."},
		{"models on nothing else", played + model("engine=metal/variant=metal-tiles", "", 1000), "No advice: softmetal emulated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := docOf(t, fixture(t, []byte(c.text))).First[0]
			if !strings.HasPrefix(firstText(s), c.want) {
				t.Errorf("advice %q, want %q", firstText(s), c.want)
			}
			by := s.Table.Rows[0][slices.IndexFunc(s.Table.Columns, func(c doc.Column) bool { return c.Label == "by" || c.Label == names.Variant })].Text
			if !strings.Contains(c.want, " by "+by+" ") && !strings.HasPrefix(c.want, "No advice") {
				t.Errorf("the table begins with %q, the advice is %q", by, firstText(s))
			}
		})
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

// TestFirstScreenOrder looks for the verdict first, warnings that may change it beside it, and the others
// after the table; and for times in a terminal of 60 columns.
func TestFirstScreenOrder(t *testing.T) {
	text := rankedFormats() + "# warning: this is a virtual machine\n# warning: a CPU was busy\n"
	page := renderAll(t, text)
	at := 0
	for _, want := range []string{`<h1>onebit · Some CPU`, `class="verdict">B is the fastest format here`, `class="number">1.00 µs`, `class="grave">a CPU was busy`, "Formats, ranked", "<summary>2 warnings", "this is a virtual machine"} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("the page lacks %q, or has it too early", want)
		}
		at += i
	}
	if !utf8.ValidString(page) || strings.ContainsRune(page, utf8.RuneError) {
		t.Error("the page is not valid UTF-8")
	}
	var b bytes.Buffer
	if err := WriteTable(&b, fixture(t, []byte(text)), TableOptions{Width: 60}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "µs/op") {
		t.Errorf("no times:\n%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 60 {
			t.Errorf("a line of %d columns: %q", n, line)
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
	parts, _ := tradeFigure(kernelReport{newDigest(fixture(t, []byte(text.String())))}.errorSpeed()).Split()
	if len(parts) != 3 {
		t.Fatalf("%d parts, want two panels and a legend", len(parts))
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
	d := newDigest(fixture(t, []byte("BenchmarkMatVec/format=f/variant=v/rows=2/cols=2/threads=1/cache=cold 1 5 ns/op 20 %roof 0.001 nmse\n"+
		"BenchmarkMatVec/format=f/variant=v/rows=4/cols=2/threads=1/cache=cold 1 9 ns/op 60 %roof 0.003 nmse\n")))
	all := docOf(t, d.res).First
	if len(all) != 1 || !strings.Contains(firstText(all[0]), "at 40.0 % (median)") {
		t.Fatalf("%d screens, the first %+v", len(all), all)
	}
	if row := all[0].Table.Rows[0]; row[len(row)-1].Text != "−27 dB" {
		t.Errorf("%+v, want an nmse of 0.002 in dB", row)
	}
}

// TestSpreadOfNothing: no share of 0 is shown, and no factor that nobody believes.
func TestSpreadOfNothing(t *testing.T) {
	estimate := func(center, lo, hi float64) string {
		return stat{noise.Estimate{Center: center, Lo: lo, Hi: hi}, []float64{lo, center, hi}}.spread(results.NsPerOp)
	}
	if got := estimate(0, 0, 2) + estimate(0, -1, 0); got != "" {
		t.Errorf("of 0: %q", got)
	}
	if got := estimate(1, 0.1, 1760); got != "±?" {
		t.Errorf("of 1 to 1760: %q", got)
	}
}
