package figure

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"onebit/bench/results"
)

func TestTicks(t *testing.T) {
	ns := results.UnitOf(results.NsPerOp).Format
	tests := []struct {
		name   string
		axis   Axis
		lo, hi float64
		want   []string
	}{
		{"decades", Axis{Log: true, Labels: 4, Format: ns}, 5e4, 2e7, []string{"100 µs", "1 ms", "10 ms"}},
		{"within a decade", Axis{Log: true, Labels: 4, Format: ns}, 1.5e4, 1.2e5, []string{"20 µs", "50 µs", "100 µs"}},
		{"many decades", Axis{Log: true, Labels: 4, Format: results.UnitOf(results.NMSE).Format}, 1e-17, 1e-2,
			[]string{"1e-16", "1e-12", "1e-08", "0.0001"}},
		{"linear", Axis{Labels: 5, Format: ns}, 0, 1000, []string{"0 ns", "200 ns", "400 ns", "600 ns", "800 ns", "1 µs"}},
		{"binary", Axis{Labels: 4, Binary: true, Format: results.UnitOf(results.PackedBytes).Format}, 0, 18 << 20,
			[]string{"0 B", "5 MiB", "10 MiB", "15 MiB"}},
		{"less than two of a unit", Axis{Labels: 4, Binary: true, Format: results.UnitOf(results.PackedBytes).Format}, 0, 1.6 * (1 << 20),
			[]string{"0 B", "512 KiB", "1 MiB", "1.5 MiB"}},
		{"a range that is none beside its values", Axis{Labels: 5, Format: ns}, 1e18, 1e18 + 128, []string{"1e+09 s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, tick := range tt.axis.Ticks(tt.lo, tt.hi) {
				if tick.Value < tt.lo || tick.Value > tt.hi {
					t.Errorf("tick at %v, outside %v to %v", tick.Value, tt.lo, tt.hi)
				}
				if tick.Label != "" {
					got = append(got, tick.Label)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("labels %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPaletteIsReadable holds the series to a contrast of 3:1 with the paper (WCAG 2.1, 1.4.11) in
// both schemes, text colours to 4.5:1, and the light colours to being different.
func TestPaletteIsReadable(t *testing.T) {
	luminance := func(v uint32) float64 {
		part := func(c uint32) float64 {
			x := float64(c&0xFF) / 255
			if x <= 0.03928 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*part(v>>16) + 0.7152*part(v>>8) + 0.0722*part(v)
	}
	contrast := func(a, b uint32) float64 {
		x, y := luminance(a), luminance(b)
		return (max(x, y) + 0.05) / (min(x, y) + 0.05)
	}
	seen := make(map[uint32]Role)
	for i, tone := range Tones {
		if tone.Role != Role(i) {
			t.Errorf("tone %d is of role %d", i, tone.Role)
		}
		if other, dup := seen[tone.Light]; dup {
			t.Errorf("roles %d and %d share the colour %06X", other, tone.Role, tone.Light)
		}
		seen[tone.Light] = tone.Role
		least := 0.0
		switch {
		case tone.Role >= FirstSeries:
			least = 4.5 // names of points are written in them
		case tone.Role == Ink, tone.Role == Muted, tone.Role == Front:
			least = 4.5
		}
		for _, c := range []float64{contrast(tone.Light, Tones[Paper].Light), contrast(tone.Dark, Tones[Paper].Dark)} {
			if c < least {
				t.Errorf("--%s: contrast %.2f, want %v", tone.Css, c, least)
			}
		}
	}
	marks := make(map[string]bool)
	for i := range SeriesCount * len(Shapes) {
		key := fmt.Sprint(Series(i), SeriesShape(i))
		if marks[key] {
			t.Errorf("series %d looks like an earlier one", i)
		}
		marks[key] = true
	}
}
