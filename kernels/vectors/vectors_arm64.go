//go:build !purego

package vectors

import "onebit/kernels"

// Of the loops that only training runs there is none for arm64.
var archVariants = []*Variant{
	{kernels.NEON, loops{
		dot: func(x, y *float32, n int) (s sums) { dotNEON(&s, x, y, n); return s },
		max: func(most [lanes]float32, x *float32, n int) [lanes]float32 { maxNEON(&most, x, n); return most },
		expSum: func(dst, x *float32, shift, scale float32, n int) (s sums) {
			expSumNEON(&s, dst, x, shift, scale, n)
			return s
		},
		add:            addNEON,
		scale:          scaleNEON,
		mul:            mulNEON,
		mulAdd:         mulAddNEON,
		silu:           siluNEON,
		sigmoid:        sigmoidNEON,
		squaredReLU:    squaredReLUNEON,
		rotate:         rotateNEON,
		rotateAdjacent: rotateAdjacentNEON,
		encodeF16:      encodeF16NEON,
		decodeF16:      decodeF16NEON,
		hadamard:       hadamardNEON,
	}},
}

// Each function does n ≥ 1 blocks as the method of its name, hadamardNEON n numbers.

//go:noescape
func dotNEON(sums *[32]float64, x, y *float32, n int)

//go:noescape
func maxNEON(most *[32]float32, x *float32, n int)

//go:noescape
func expSumNEON(sums *[32]float64, dst, x *float32, shift, scale float32, n int)

//go:noescape
func addNEON(dst, x *float32, n int)

//go:noescape
func scaleNEON(dst *float32, a float32, x *float32, n int)

//go:noescape
func mulNEON(dst, x, y *float32, n int)

//go:noescape
func mulAddNEON(dst, x, y *float32, n int)

//go:noescape
func siluNEON(dst, x *float32, n int)

//go:noescape
func sigmoidNEON(dst, x *float32, n int)

//go:noescape
func squaredReLUNEON(dst, x *float32, n int)

//go:noescape
func rotateNEON(a, b, cos, sin *float32, n int)

//go:noescape
func rotateAdjacentNEON(x, cos, sin *float32, n int)

//go:noescape
func encodeF16NEON(dst *byte, src *float32, n int)

//go:noescape
func decodeF16NEON(dst *float32, src *byte, n int)

//go:noescape
func hadamardNEON(x *float32, n int, by float32)
