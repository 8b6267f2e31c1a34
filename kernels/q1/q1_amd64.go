//go:build !purego

package q1

import (
	"onebit/formats"
	"onebit/kernels"
)

// A bitplanesFunc multiplies rows of the layout bitplanes with one column; see q1_stubs_amd64.go.
type bitplanesFunc func(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

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
			variant := &kernels.Variant{
				Name: v.isa.Name, Summary: v.summary, Format: formats.Q1_0_g128, Scheme: act,
				ISA: v.isa, Layout: bitplanes, Preference: 3,
				MatVec: bitplanesMatVec(act, v.per128, v.per32),
			}
			if act != kernels.Q8Per32 {
				variant.BatchOrder, variant.MatMul = q1PanelOrder, q1MatMul(v.isa, act, variant.MatVec)
			}
			kernels.Register(variant)
		}
	}
}

// q1ScaleStep is the bytes by which a kernel advances in the scales at each block.
func q1ScaleStep(act kernels.Scheme) int {
	switch act {
	case kernels.Q8Row:
		return 0
	case kernels.Q8Per32:
		return 16
	}
	return 4
}

// bitplanesMatVec is matVec by the kernel of the scheme.
func bitplanesMatVec(act kernels.Scheme, per128, per32 bitplanesFunc) func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	kernel, scaleStep := per128, q1ScaleStep(act)
	if act == kernels.Q8Per32 {
		kernel = per32
	}
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks := m.Cols / 128
		tiles := (r1 - r0 + bitplanesRows - 1) / bitplanesRows
		// The slices hold the kernel to its buffers.
		out := dst[r0:r1]
		data := m.Data[r0/bitplanesRows*blocks*bitplanesBlock:][:tiles*blocks*bitplanesBlock]
		q := a.Q[col*a.Stride:][:m.Cols]
		scales := a.Scales[col*a.Groups:][:a.Groups]
		sums := a.Sums[col*a.Stride/32:][:m.Cols/32]
		kernel(&out[0], &data[0], &q[0], &scales[0], scaleStep, &sums[0], blocks, len(out))
	}
}
