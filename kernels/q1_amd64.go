//go:build !purego

package kernels

import "onebit/formats"

// A bitplanesFunc multiplies rows of the layout bitplanes with one column; see q1_stubs_amd64.go.
type bitplanesFunc func(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

func init() {
	for _, v := range []struct {
		isa     *ISA
		summary string
		per128  bitplanesFunc
		per32   bitplanesFunc
	}{
		{AVX2, "bit planes, VPMADDUBSW, 8 rows in a register", q1Bitplanes128AVX2, q1Bitplanes32AVX2},
		{AVXVNNI, "bit planes, VPDPBUSD, 8 rows in a register", q1Bitplanes128AVXVNNI, q1Bitplanes32AVXVNNI},
		{AVX512VNNI, "bit planes, VPDPBUSD, 16 rows in a register", q1Bitplanes128AVX512VNNI, q1Bitplanes32AVX512VNNI},
	} {
		for _, act := range []Scheme{Q8Per128, Q8Row, Q8Per32} {
			variant := &Variant{
				Name: v.isa.Name, Summary: v.summary, Format: formats.Q1_0_g128, Scheme: act,
				ISA: v.isa, Layout: bitplanes, quantize: quantizeAVX2, preference: 3,
				matVec: bitplanesMatVec(act, v.per128, v.per32),
			}
			if act != Q8Per32 {
				variant.BatchOrder, variant.matMul = q1PanelOrder, q1MatMul(v.isa, act, variant.matVec)
			}
			register(variant)
		}
	}
}

// q1ScaleStep is the bytes by which a kernel advances in the scales at each block.
func q1ScaleStep(act Scheme) int {
	switch act {
	case Q8Row:
		return 0
	case Q8Per32:
		return 16
	}
	return 4
}

// bitplanesMatVec is matVec by the kernel of the scheme.
func bitplanesMatVec(act Scheme, per128, per32 bitplanesFunc) func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	kernel, scaleStep := per128, q1ScaleStep(act)
	if act == Q8Per32 {
		kernel = per32
	}
	return func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
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
