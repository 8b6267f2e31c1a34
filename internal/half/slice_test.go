package half

import (
	"math"
	"testing"
)

// Slices of every length give what single numbers do.
func TestSlices(t *testing.T) {
	for n := range 20 {
		src, got := make([]float32, n), make([]float32, n)
		for i := range src {
			src[i] = float32(math.Ldexp(float64(2*(i%2)-1)*1.2345, 3*i-24))
		}
		b := make([]byte, 2*n+1)
		b[2*n] = 0xa5
		Encode(b, src)
		Decode(got, b)
		for i, x := range src {
			if h := FromFloat32(x); At(b[2*i:]) != ToFloat32(h) || got[i] != ToFloat32(h) {
				t.Errorf("%d numbers: %v is %v and %v", n, x, At(b[2*i:]), got[i])
			}
		}
		if b[2*n] != 0xa5 {
			t.Errorf("%d numbers: a byte behind them was written", n)
		}
	}
}
