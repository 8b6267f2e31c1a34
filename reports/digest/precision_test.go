package digest

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"onebit/reports/reportstest"
)

// TestLooseRatios: of a real run fewer ratios are loose the less is asked of them, none is if next to nothing is,
// and what each is said to lack is what its interval lacks.
func TestLooseRatios(t *testing.T) {
	run := reportstest.Recordings(t, "calm")[0]
	last := math.MaxInt
	for _, precision := range []float64{0.001, 0.02, 0.05, 10} {
		loose, of := LooseRatios(run, precision)
		if len(loose) > last || of != 28 {
			t.Errorf("to ±%v: %d of %d are loose, %d before", precision, len(loose), of, last)
		}
		last = len(loose)
		if !slices.IsSortedFunc(loose, func(a, b LooseRatio) int { return cmp.Compare(b.Spread, a.Spread) }) {
			t.Errorf("to ±%v: %v", precision, loose)
		}
		for _, r := range loose {
			if r.Spread <= precision || r.Factor <= 1 || r.Group == "" {
				t.Errorf("to ±%v: %+v", precision, r)
			}
		}
	}
	if last != 0 {
		t.Errorf("%d ratios are not known to a factor of ten", last)
	}
	for precision, want := range map[float64]string{
		0.02: `^\d+ of 28 ratios known to ±2 %; not .* \(±[\d.]+ %\), .* and \d+ more\. Half of these would take \d+m?\d*s in all \(--budget\), if they narrow with the root of the time$`,
		10:   `^28 of 28 ratios known to ±1000 %$`,
	} {
		if got := PrecisionText(run, precision, 20*time.Second); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("to ±%v: %s", precision, got)
		}
	}
}
