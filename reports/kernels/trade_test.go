package kernels

import (
	"math"
	"strings"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/reportstest"
)

// TestErrorSpeedIsOnePlot: all formats and schemes are on one plot, with their bits and a yardstick;
// variants of equal error share the point of the fastest. It was a figure per format, of equal points.
func TestErrorSpeedIsOnePlot(t *testing.T) {
	const text = `BenchmarkMatVec/format=f/variant=slow/act=q8_row/rows=10/cols=8/threads=1 1 20 ns/op 1e-4 nmse 1e-4 act-nmse 20 packed-B
BenchmarkMatVec/format=f/variant=fast/act=q8_row/rows=10/cols=8/threads=1 1 10 ns/op 1e-4 nmse 1e-4 act-nmse 20 packed-B
BenchmarkMatVec/format=f/variant=fast/act=q8_32/rows=10/cols=8/threads=1 1 12 ns/op 1e-5 nmse 1e-5 act-nmse 20 packed-B
BenchmarkMatVec/format=g/variant=fast/act=q8_32/rows=10/cols=8/threads=1 1 15 ns/op 1e-5 nmse 1e-5 act-nmse 10 packed-B
BenchmarkMatVec/format=g/variant=reference/act=f32/rows=10/cols=8/threads=1 1 900 ns/op 0 nmse 10 packed-B
`
	figures := paretoFigures(report{digest.Of(reportstest.Set(t, []byte(text)))})
	if len(figures) != 1 {
		t.Fatalf("%d figures, want 1", len(figures))
	}
	f := figures[0]
	want := "Front with 1 thread, fastest first: f, 2 bits, q8_row, fast (8.00 G/s, nmse 0.0001); f, 2 bits, q8_32, fast (6.67 G/s, nmse 1e-05)."
	if f.Reading != want {
		t.Errorf("reading %q, want %q", f.Reading, want)
	}
	notes := strings.Join(f.Notes, "\n")
	for _, part := range []string{
		"q8_32 1e-05 (50.0 dB), q8_row 0.0001 (40.0 dB)",
		"Not drawn where more than 20 times slower than the fastest: reference.",
	} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %q: %s", part, notes)
		}
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(svg, ">f, q8_row<"); n != 1 {
		t.Errorf("%d points of format f and scheme q8_row, want 1", n)
	}
}

// TestMuchSlowerStandsAtTheEdge: the axis of times leaves out what would squeeze the others, and says so.
func TestMuchSlowerStandsAtTheEdge(t *testing.T) {
	line := func(variant, ns string) string {
		return reportstest.Repeat(6, "BenchmarkMatVec/format=f/variant="+variant+"/rows=10/cols=8/threads=1 1 "+ns+" ns/op")
	}
	for slow, cut := range map[string]bool{"1100": false, "900000": true} {
		f := latencyFigures(report{digest.Of(reportstest.Set(t, []byte(line("a", "100")+line("b", "150")+line("c", slow))))})[0]
		if most := f.Panels[0][0].X.Max; (most < 300) != cut {
			t.Errorf("%s ns: the axis ends at %v ns", slow, most)
		}
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(svg, ">900 µs →<") && strings.Contains(strings.Join(f.Notes, ""), "times as long as the fastest"); said != cut {
			t.Errorf("%s ns: said %v", slow, said)
		}
	}
}

// TestErrorAxisIsBroken: variants that are exact do not squeeze the others into a corner, and the picture
// says what it leaves out.
func TestErrorAxisIsBroken(t *testing.T) {
	a := figure.NewErrorAxis([]float64{1e-5, 0, 1e-4, 3e-14}, "nmse")
	if decades := math.Log10(a.Max / a.Min); decades > 3 {
		t.Errorf("an axis of %.1f decades for errors of one", decades)
	}
	at := a.At(0)
	if at != a.At(3e-14) || !(at > a.Min && at < a.Broken && a.Broken < a.At(1e-5)) {
		t.Errorf("an exact variant stands at %v, the break at %v, on an axis from %v", at, a.Broken, a.Min)
	}
	for _, tick := range a.Ticks(a.Min, a.Max) {
		if tick.Value < a.Broken && (tick.Value != at || tick.Label != "≤ 1e-09, 90 dB") {
			t.Errorf("a tick %q at %v, below the break", tick.Label, tick.Value)
		}
	}
	for _, whole := range [][]float64{{1e-5, 1e-4}, {0, 0}, {2e-9, 0}} {
		if a := figure.NewErrorAxis(whole, "nmse"); a.Broken != 0 {
			t.Errorf("%v: the axis is broken at %v", whole, a.Broken)
		}
	}
	const text = `BenchmarkMatVec/format=f/variant=fast/act=q8_row/rows=10/cols=8/threads=1 1 10 ns/op 1e-4 nmse
BenchmarkMatVec/format=f/variant=exact/act=f32/rows=10/cols=8/threads=1 1 20 ns/op 0 nmse
`
	f := paretoFigures(report{digest.Of(reportstest.Set(t, []byte(text)))})[0]
	if !strings.Contains(strings.Join(f.Notes, "\n"), "axis of errors is broken") {
		t.Errorf("the figure does not say that its axis is broken: %q", f.Notes)
	}
}
