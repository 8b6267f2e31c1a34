package noise

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

func TestPercentile(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	for percent, want := range map[float64]float64{50: 2.5, 75: 3.25, 100: 4, 0: 1} {
		if got := Percentile(values, percent); got != want {
			t.Errorf("the percentile %v is %v, want %v", percent, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("nothing has a percentile")
		}
	}()
	Percentile(nil, 50)
}
