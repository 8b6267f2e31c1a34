//go:build !purego

package vectors

import "onebit/kernels"

var archVariants = []*Variant{
	{kernels.AVX2, loops{
		sum:         sumAVX2,
		sumAbs:      sumAbsAVX2,
		dot:         dotAVX2,
		max:         maxAVX2,
		expSum:      expSumAVX2,
		add:         addAVX2,
		axpy:        axpyAVX2,
		scale:       scaleAVX2,
		mul:         mulAVX2,
		mulAdd:      mulAddAVX2,
		mulShifted:  mulShiftedAVX2,
		combine:     combineAVX2,
		silu:        siluAVX2,
		siluGrad:    siluGradAVX2,
		squaredReLU: squaredReLUAVX2,
		squaredGrad: squaredGradAVX2,
		ternarize:   ternarizeAVX2,
		adamW:       adamWAVX2,
	}},
	{kernels.AVX512, loops{
		sum:         sumAVX512,
		sumAbs:      sumAbsAVX512,
		dot:         dotAVX512,
		max:         maxAVX512,
		expSum:      expSumAVX512,
		add:         addAVX512,
		axpy:        axpyAVX512,
		scale:       scaleAVX512,
		mul:         mulAVX512,
		mulAdd:      mulAddAVX512,
		mulShifted:  mulShiftedAVX512,
		combine:     combineAVX512,
		silu:        siluAVX512,
		siluGrad:    siluGradAVX512,
		squaredReLU: squaredReLUAVX512,
		squaredGrad: squaredGradAVX512,
		ternarize:   ternarizeAVX512,
		adamW:       adamWAVX512,
	}},
}
