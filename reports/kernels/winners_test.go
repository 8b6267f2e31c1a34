package kernels

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

func TestVerdict(t *testing.T) {
	var b strings.Builder
	line := func(variant, act, cols string, ns, nmse float64) {
		b.WriteString(reportstest.Repeat(6, fmt.Sprintf(
			"BenchmarkMatVec/format=f/variant=%s/act=%s/rows=16/cols=%s 1 %v ns/op 40 %%roof 32 packed-B %v nmse", variant, act, cols, ns, nmse)))
	}
	line("scalar", "f32", "16", 900, 0)
	line("scalar", "q8_128", "16", 800, 2e-5)
	line("avx2", "q8_128", "16", 100, 2e-5)
	line("vnni", "q8_row", "16", 50, 9e-5)
	line("avx2", "q8_128", "32", 100, 2e-5)
	line("vnni", "q8_row", "32", 200, 9e-5)
	line("avx2", "q8_128", "64", 100, 2e-5)
	line("vnni", "q8_row", "64", 110, 9e-5)

	s := report{digest.Of(reportstest.Set(t, []byte(b.String())))}.matrices()[0].sections()[0]
	v := judge(s.subject, s.rankings())
	if v.winner != "avx2" || v.leads != 2 || v.rankings != 3 {
		t.Errorf("winner %s leads %d of %d", v.winner, v.leads, v.rankings)
	}
	// Of the two scalars, the one with the winner's activations; they met once, at 800 to 100.
	if v.baseline != "scalar q8_128" || math.Abs(v.speedup-8) > 1e-9 {
		t.Errorf("%v × %q, want 8 × scalar q8_128", v.speedup, v.baseline)
	}
	if want := (digest.Extent{Lo: 32.0 / 1024, Hi: 32.0 / 256, Any: true}); v.weight != want {
		t.Errorf("bytes per weight %+v, want %+v", v.weight, want)
	}
}
