package models

import "math"

// rmsNorm is RMSNorm (Zhang and Sennrich, arXiv:1910.07467, equation 4) of
// every run of len(gain) values, the sum in float64:
//
//	y = x / √(mean(x²) + ε) · gain
//
// dst may be x.
func rmsNorm(dst, x, gain []float32, eps float32) {
	n := len(gain)
	for ; len(x) >= n; dst, x = dst[n:], x[n:] {
		var sum lanes
		squares(&sum, x[:n])
		root := math.Sqrt(sum.fold()/float64(n) + float64(eps))
		scale(dst, x, gain, float32(1/root))
	}
}
