package cpu

import "math"

// rmsNorm is engine.Stream.Norm of one column's runs, the sum in float64. dst
// may be x.
func (v *Vectors) rmsNorm(dst, x, gain []float32, eps float32) {
	n := len(gain)
	for ; len(x) >= n; dst, x = dst[n:], x[n:] {
		root := math.Sqrt(v.squares(lanes{}, x[:n]).fold()/float64(n) + float64(eps))
		v.scale(dst, x, gain, float32(1/root))
	}
}
