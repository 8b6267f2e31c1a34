//go:build !purego

package q1

import (
	"onebit/formats"
	"onebit/kernels"
)

func init() {
	for _, v := range []struct {
		isa     *kernels.ISA
		summary string
		per128  bitplanesFunc
		per32   bitplanesFunc
	}{
		{kernels.AVX2, "bit planes, VPMADDUBSW, 8 rows in a register", q1Bitplanes128AVX2, q1Bitplanes32AVX2},
		{kernels.AVXVNNI, "bit planes, VPDPBUSD, 8 rows in a register", q1Bitplanes128AVXVNNI, q1Bitplanes32AVXVNNI},
		{kernels.AVX512VNNI, "bit planes, VPDPBUSD, 16 rows in a register", q1Bitplanes128AVX512VNNI, q1Bitplanes32AVX512VNNI},
	} {
		for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row, kernels.Q8Per32} {
			matVec := bitplanesMatVec(act, v.per128, v.per32)
			variant := &kernels.Variant{
				Name: v.isa.Name, Summary: v.summary, Format: formats.Q1_0_g128, Scheme: act,
				ISA: v.isa, Layout: bitplanes, Preference: 3,
				MatVec: matVec, BatchOrder: q1PanelOrder, MatMul: q1MatMul(v.isa, act, matVec),
			}
			kernels.Register(variant)
			if v.isa == kernels.AVX512VNNI && act != kernels.Q8Per32 {
				kernels.Register(amxBitplanes(variant))
			}
		}
	}
}
