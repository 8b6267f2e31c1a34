package charts

import (
	"slices"
	"testing"
)

func TestFront(t *testing.T) {
	var drawn []Point
	for _, q := range []struct {
		name         string
		speed, error float64
	}{
		{"slow, exact", 1, 1e-15}, {"slower, exact", 0.5, 1e-16}, {"fast, bad", 10, 1e-3}, {"fast, worse", 9, 1e-2},
		{"middle", 5, 1e-5}, {"middle's last bits", 4, 1e-5 * 0.999}, {"same speed, worse", 5, 1e-4},
	} {
		drawn = append(drawn, Point{Variant: q.name, Speed: q.speed, Error: q.error})
	}
	var got []string
	for _, q := range front(drawn) {
		got = append(got, q.Variant)
	}
	if want := []string{"fast, bad", "middle", "slow, exact"}; !slices.Equal(got, want) {
		t.Errorf("front %q, want %q", got, want)
	}
}
