package reports

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnitsWorkIsLinear counts allocations: samples of each unit were looked for among those of all others.
func TestUnitsWorkIsLinear(t *testing.T) {
	text := func(units int) []byte {
		var b strings.Builder
		for i := range units {
			fmt.Fprintf(&b, "BenchmarkX 1 %d u%[1]d\n", i+1)
		}
		return []byte(b.String())
	}
	for _, units := range []int{500, 4000} {
		res := fixture(t, text(units))
		if n := testing.AllocsPerRun(1, func() { newDigest(res) }); n > 80*float64(units) {
			t.Errorf("%.0f allocations for %d units", n, units)
		}
	}
	byUnit := samplesByUnit(fixture(t, text(300)).Samples)
	for unit, samples := range byUnit {
		if len(samples) != 1 {
			t.Errorf("%d samples are looked at for %s, which one has", len(samples), unit)
		}
	}
}

// TestAdviceNamesItsScheme: a variant's name alone may mean another scheme to run.
func TestAdviceNamesItsScheme(t *testing.T) {
	d := newDigest(fixture(t, []byte("BenchmarkMatVec/format=f/variant=v/act=q8_row/rows=2/cols=2/threads=1 1 5 ns/op\n")))
	if s := docOf(t, d.res).First; len(s) != 1 || !strings.Contains(firstText(s[0]), "by v under q8_row with") {
		t.Errorf("%+v", s)
	}
}
