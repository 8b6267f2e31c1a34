//go:build !purego

package q1

import (
	"onebit/formats"
	"onebit/kernels"
)

func init() {
	for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row, kernels.Q8Per32} {
		matVec := bitplanesMatVec(act, q1Bitplanes128AVX512VNNI, q1Bitplanes32AVX512VNNI)
		kernels.Register(&kernels.Variant{
			Name: kernels.AVX512VNNI.Name, Summary: "bit planes, VPDPBUSD, 16 rows in a register", Format: formats.Q1_0_g128, Scheme: act,
			ISA: kernels.AVX512VNNI, Layout: bitplanes, Preference: 3,
			Kernels: []kernels.Kernel{kernels.ByColumn(nil, matVec), {From: 2, Order: q1PanelOrder, Rows: q1MatMul(act, matVec)}},
		})
	}
}
