package bench

import "testing"

func TestMedian(t *testing.T) {
	unsorted := []float64{3, 1, 2}
	if m := Median(unsorted); m != 2 || unsorted[0] != 3 {
		t.Errorf("median %v of %v, want 2 of [3 1 2]", m, unsorted)
	}
	if m := Median([]float64{1, 2, 4, 10}); m != 3 {
		t.Errorf("median of an even number: %v, want 3", m)
	}
}
