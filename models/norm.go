package models

import "math"

// rmsNorm is RMSNorm (Zhang and Sennrich, arXiv:1910.07467, equation 4) of
// every run of len(gain) values:
//
//	y = x / √(mean(x²) + ε) · gain
//
// dst may be x. The square of a float32 is exact in float64, so that a
// machine that fuses multiplication and addition gets the same sum; four sums
// because one would wait for itself.
func rmsNorm(dst, x, gain []float32, eps float32) {
	n := len(gain)
	for ; len(x) >= n; dst, x = dst[n:], x[n:] {
		var s0, s1, s2, s3 float64
		row := x[:n]
		for ; len(row) >= 4; row = row[4:] {
			a, b, c, d := float64(row[0]), float64(row[1]), float64(row[2]), float64(row[3])
			s0 += a * a
			s1 += b * b
			s2 += c * c
			s3 += d * d
		}
		for _, v := range row {
			s0 += float64(v) * float64(v)
		}
		scale := float32(1 / math.Sqrt(((s0+s1)+(s2+s3))/float64(n)+float64(eps)))
		y, row := dst[:n], x[:n]
		for i, g := range gain {
			y[i] = float32(row[i]*scale) * g
		}
	}
}
