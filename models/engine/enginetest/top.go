package enginetest

import (
	"math"
	"slices"
	"testing"

	"onebit/models/engine"
)

// top says that Top finds what its definition does, of results as of values that
// are equal or no numbers.
func (s Subject) top(t *testing.T) {
	r := s.fixture(t)
	const width = 5000
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	plain := random(width, 31, 1)
	equal, bad := make([]float32, width), slices.Clone(plain)
	for i := range equal {
		equal[i] = float32(i % 7 / 3)
	}
	bad[4321], bad[17], bad[4999], bad[0] = nan, inf, -inf, nan
	for i, values := range [][]float32{plain, equal, bad} {
		for _, k := range []int{1, 40, 600, width + 1} {
			b := r.buffer("values", width)
			r.Begin(1)
			r.Write(b, values)
			got, err := r.Top(b, k)
			if err != nil {
				t.Fatal(err)
			}
			if want := engine.Top(nil, values, k); !slices.EqualFunc(got, want, same) {
				t.Errorf("the %d largest of %s are not those of the definition", k, []string{"any values", "many equals", "bad numbers"}[i])
			}
			r.End()
		}
	}
}

func same(a, b engine.Ranked) bool {
	return a.Index == b.Index && (a.Value == b.Value || a.Value != a.Value && b.Value != b.Value)
}
