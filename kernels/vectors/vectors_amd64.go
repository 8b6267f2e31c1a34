//go:build !purego

package vectors

import "onebit/kernels"

var archVariants = []*Variant{
	{kernels.AVX2, loops{
		sum:    func(x *float32, n int) (s sums) { sumAVX2(&s, x, n); return s },
		sumAbs: func(x *float32, center float32, n int) (s sums) { sumAbsAVX2(&s, x, center, n); return s },
		dot:    func(x, y *float32, n int) (s sums) { dotAVX2(&s, x, y, n); return s },
		max:    func(most [lanes]float32, x *float32, n int) [lanes]float32 { maxAVX2(&most, x, n); return most },
		expSum: func(dst, x *float32, shift, scale float32, n int) (s sums) {
			expSumAVX2(&s, dst, x, shift, scale, n)
			return s
		},
		add:         addAVX2,
		axpy:        axpyAVX2,
		scale:       scaleAVX2,
		mul:         mulAVX2,
		mulAdd:      mulAddAVX2,
		mulShifted:  mulShiftedAVX2,
		combine:     combineAVX2,
		silu:        siluAVX2,
		sigmoid:     sigmoidAVX2,
		siluGrad:    siluGradAVX2,
		squaredReLU: squaredReLUAVX2,
		squaredGrad: squaredGradAVX2,
		ternarize:   ternarizeAVX2,
		adamW:       func(w, grad, first, second *float32, c [9]float32, n int) { adamWAVX2(w, grad, first, second, &c, n) },

		rotate:         rotateAVX2,
		rotateAdjacent: rotateAdjacentAVX2,
		encodeF16:      encodeF16AVX2,
		decodeF16:      decodeF16AVX2,
		hadamard:       hadamardAVX2,
	}},
	{kernels.AVX512, loops{
		sum:    func(x *float32, n int) (s sums) { sumAVX512(&s, x, n); return s },
		sumAbs: func(x *float32, center float32, n int) (s sums) { sumAbsAVX512(&s, x, center, n); return s },
		dot:    func(x, y *float32, n int) (s sums) { dotAVX512(&s, x, y, n); return s },
		max:    func(most [lanes]float32, x *float32, n int) [lanes]float32 { maxAVX512(&most, x, n); return most },
		expSum: func(dst, x *float32, shift, scale float32, n int) (s sums) {
			expSumAVX512(&s, dst, x, shift, scale, n)
			return s
		},
		add:         addAVX512,
		axpy:        axpyAVX512,
		scale:       scaleAVX512,
		mul:         mulAVX512,
		mulAdd:      mulAddAVX512,
		mulShifted:  mulShiftedAVX512,
		combine:     combineAVX512,
		silu:        siluAVX512,
		sigmoid:     sigmoidAVX512,
		siluGrad:    siluGradAVX512,
		squaredReLU: squaredReLUAVX512,
		squaredGrad: squaredGradAVX512,
		ternarize:   ternarizeAVX512,
		adamW:       func(w, grad, first, second *float32, c [9]float32, n int) { adamWAVX512(w, grad, first, second, &c, n) },

		rotate:         rotateAVX512,
		rotateAdjacent: rotateAdjacentAVX2,
		encodeF16:      encodeF16AVX2,
		decodeF16:      decodeF16AVX2,
		hadamard:       hadamardAVX2,
	}},
}
