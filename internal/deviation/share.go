package deviation

import "math"

// Share returns the 95% interval of a chance that came true in a share of n trials:
// Wilson's (JASA 22:209, 1927), which stays within 0 and 1, and which has a width where
// all trials agree.
func Share(share float64, n int) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054 // the quantile 0.975 of the normal distribution
	trials := float64(n)
	center := (share + z*z/(2*trials)) / (1 + z*z/trials)
	half := z / (1 + z*z/trials) * math.Sqrt(max(0, share*(1-share)/trials+z*z/(4*trials*trials)))
	return max(0, center-half), min(1, center+half)
}
