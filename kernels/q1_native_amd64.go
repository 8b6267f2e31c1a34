//go:build !purego

package kernels

import "onebit/formats"

// A q1NativeFunc multiplies tiles of native rows with one column; see
// q1_stubs_amd64.go.
type q1NativeFunc func(dst *float32, data *byte, stride int, q *int8, scales *float32, scaleStep int, sums *int32, blocks, tiles, skip int)

// q1ByteOrder has the activations of each 32 columns in the order in which the
// bits of a file's dword meet them: bit j of its four bytes, j = 0 … 7.
var q1ByteOrder = &Order{
	Name: "q1_bytes",
	Size: func(n, stride int) int { return n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		dst, q = dst[:n*stride], q[:n*stride]
		q1ByteOrderAVX2(&dst[0], &q[0], len(q))
	},
}

// q1NativeLeastBatch is the fewest columns that are worth packing the weights
// for.
const q1NativeLeastBatch = 10

func init() {
	for _, v := range []struct {
		isa    *ISA
		lanes  int
		kernel q1NativeFunc
		packed bitplanesFunc // for what is left of a batch
	}{
		{AVX2, 8, q1NativeAVX2, q1Bitplanes128AVX2},
		{AVXVNNI, 8, q1NativeAVXVNNI, q1Bitplanes128AVXVNNI},
		{AVX512VNNI, 16, q1NativeAVX512VNNI, q1Bitplanes128AVX512VNNI},
	} {
		for _, act := range []Activation{Q8Per128, Q8Row} {
			register(&Variant{
				Name: v.isa.Name + "-native", Summary: "the file's rows, transposed in registers", Format: formats.Q1_0_g128,
				Activation: act, ISA: v.isa, Layout: Native, Order: q1ByteOrder,
				quantize: quantizeAVX2, preference: 1,
				matVec:     q1NativeMatVec(act, v.kernel, v.lanes),
				BatchOrder: q1PanelOrder, batchFrom: q1NativeLeastBatch,
				matMul: q1NativeMatMul(q1MatMul(v.isa, act, bitplanesMatVec(act, v.packed, nil))),
			})
		}
	}
}

// q1NativeMatVec is matVec by a kernel that takes lanes rows together. Rows
// that fill no tile are computed with some before them, which are not stored;
// a matrix of fewer rows than lanes is left to Go.
func q1NativeMatVec(act Activation, kernel q1NativeFunc, lanes int) func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	scaleStep := 4
	if act == Q8Row {
		scaleStep = 0
	}
	generic := &codec{
		format: formats.Q1_0_g128, groupLen: 128,
		scale: func(m *Matrix, row []byte, g int) float32 { return fp16At(row, g*q1Block) },
	}
	few := generic.matVec(q1DotUnrolled)
	return func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
		if r1 < lanes {
			few(dst, m, a, col, r0, r1)
			return
		}
		blocks := m.Cols / 128
		stride := blocks * q1Block
		q := a.In(q1ByteOrder)[col*a.Stride:][:m.Cols]
		scales := a.Scales[col*a.Groups:][:a.Groups]
		sums := a.Sums[col*a.Stride/32:][:m.Cols/32]
		tiles, rest := (r1-r0)/lanes, (r1-r0)%lanes
		run := func(r, tiles, skip int) {
			out := dst[r:][:tiles*lanes]
			data := m.Data[r*stride:][:tiles*lanes*stride]
			kernel(&out[0], &data[0], stride, &q[0], &scales[0], scaleStep, &sums[0], blocks, tiles, skip)
		}
		if tiles > 0 {
			run(r0, tiles, 0)
		}
		if rest > 0 {
			run(r1-lanes, 1, lanes-rest)
		}
	}
}
