package charts

import (
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"onebit/reports/figure"
)

// TestFiguresAreEnough: neither many figures nor high ones make a page long.
func TestFiguresAreEnough(t *testing.T) {
	figures := func(n int, height vg.Length) []*figure.Figure {
		return slices.Repeat([]*figure.Figure{{Height: height}}, n)
	}
	for _, tt := range []struct{ n, height, want int }{{3, 100, 3}, {40, 100, MaxFigures}, {12, maxHeight / 3, 3}, {2, 2 * maxHeight, 1}} {
		if got := len(enough(figures(tt.n, vg.Length(tt.height)))); got != tt.want {
			t.Errorf("%d figures of %d points: %d are drawn, want %d", tt.n, tt.height, got, tt.want)
		}
	}
	if got := figure.SpreadOver([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 3); !slices.Equal(got, []int{0, 4, 8}) {
		t.Errorf("spreadOver kept %v", got)
	}
}
