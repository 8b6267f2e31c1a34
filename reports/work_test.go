package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
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
	if s := d.screens(); len(s) != 1 || !strings.Contains(s[0].text(), "by v under q8_row with") {
		t.Errorf("%+v", s)
	}
}
