package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTop(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(0)
	for _, c := range []struct {
		values []float32
		want   []int // by rank
	}{
		{nil, nil},
		{[]float32{3, 1, 2}, []int{0, 2, 1}},
		{[]float32{1, 2, 2, 1, 2}, []int{1, 2, 4, 0, 3}},
		{[]float32{zero, -zero, 0}, []int{0, 1, 2}},
		{[]float32{-inf, 5, inf, -5}, []int{2, 1, 3, 0}},
		{[]float32{1, nan, inf, nan}, []int{1, 3, 2, 0}},
		{[]float32{nan, nan, 7}, []int{0, 1, 2}},
	} {
		for k := 1; k <= len(c.values)+1; k++ {
			var got []int
			for _, r := range Top(nil, c.values, k) {
				if x := c.values[r.Index]; math.Float32bits(x) != math.Float32bits(r.Value) {
					t.Errorf("%v: value %d is %v, not %v", c.values, r.Index, x, r.Value)
				}
				got = append(got, r.Index)
			}
			if want := c.want[:min(k, len(c.want))]; !slices.Equal(got, want) {
				t.Errorf("the %d largest of %v are %v, want %v", k, c.values, got, want)
			}
		}
	}
}

// Insertion and sorting find the same.
func TestTopOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float32, 3000)
	for i := range values {
		values[i] = float32(rng.IntN(500))
	}
	all := Top(nil, values, len(values))
	if len(all) != len(values) || !slices.IsSortedFunc(all, compare) {
		t.Fatal("all values are not in order")
	}
	for _, k := range []int{1, 40, 1024} {
		if got := Top(nil, values, k); !slices.Equal(got, all[:k]) {
			t.Errorf("the %d largest are not the first of all in order", k)
		}
	}
}
