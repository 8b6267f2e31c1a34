package quantize

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Spans are the scales: exactly down to a sixteenth of the largest, to half a unit
// below; and none where a scale is not finite.
func TestSpans(t *testing.T) {
	const cols = 3 * 160 // the last span has three groups
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		x := make([]float32, cols)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * math.Exp2(float64(i/32*13%24-20)))
		}
		var a Quantized
		a.Reset(Q8Per32, 1, cols)
		a.Generic(x, 0, 1)
		for i, s := range a.SpansOf(0, 1) {
			scales := a.Scales[min(4*i, a.Groups):min(4*i+4, a.Groups)]
			var most float32
			for _, scale := range scales {
				most = max(most, scale)
			}
			if fraction, _ := math.Frexp(float64(s.Unit)); most > 0 && (fraction != 0.5 || most < s.Unit*(1<<14) || most >= s.Unit*(1<<15)) {
				t.Fatalf("unit %v of scales %v: want a power of two, of which the largest is 2¹⁴ to 2¹⁵", s.Unit, scales)
			}
			var total, minusSum, half int32
			for g, share := range s.Shares {
				total += share
				minusSum -= share * a.Sums[4*i+g]
				if g < 2 {
					half -= share * a.Sums[4*i+g]
				}
				var scale float32
				if g < len(scales) {
					scale = scales[g]
				}
				off := math.Abs(float64(scale) - float64(s.Unit)*float64(share))
				if off > float64(s.Unit)/2 || off > 0 && scale >= most/16 {
					t.Errorf("share %d of %v is %v, want %v", share, s.Unit, s.Unit*float32(share), scale)
				}
			}
			if total != s.Total || minusSum != s.MinusSum || half != s.HalfSum {
				t.Errorf("total %d, sum %d and half of it %d, want %d, %d and %d", s.Total, s.MinusSum, s.HalfSum, total, minusSum, half)
			}
		}
		x[33] = float32(math.Inf(1))
		a.Generic(x, 0, 1)
		if s := a.SpansOf(0, 1); s[0].Unit == s[0].Unit || s[1].Unit != s[1].Unit {
			t.Errorf("units %v and %v, want NaN for an infinity in the first alone", s[0].Unit, s[1].Unit)
		}
	}
}
