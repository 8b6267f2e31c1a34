//go:build !purego

package q1

import (
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// A q1NativeFunc multiplies tiles of native rows with one column; see
// q1_stubs_amd64.go.
type q1NativeFunc func(dst *float32, data *byte, stride int, q *int8, scales *float32, scaleStep int, sums *int32, blocks, tiles, skip int)

// q1ByteOrder has the activations of each 32 columns in the order in which the
// bits of a file's dword meet them: bit j of its four bytes, j = 0 … 7.
var q1ByteOrder = &kernels.Order{
	Name: "q1_bytes",
	Size: func(n, stride int) int { return n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		dst, q = dst[:n*stride], q[:n*stride]
		q1ByteOrderAVX2(&dst[0], &q[0], len(q))
	},
}

// A q1NativeColumnsFunc multiplies tiles of native rows with a few columns; see
// q1_stubs_amd64.go.
type q1NativeColumnsFunc func(dst *float32, dstStride int, data *byte, stride int, q *int8, qStride int, scales *float32, scaleStride, scaleStep int, sums *int32, blocks, tiles, skip int)

// q1NativeColumns is a kernel for so many columns.
type q1NativeColumns struct {
	columns int
	kernel  q1NativeColumnsFunc
}

// q1NativeFewAVX512VNNI: 16 YMM registers have no room for the sums of two columns.
var q1NativeFewAVX512VNNI = []q1NativeColumns{
	{4, q1NativeColumns4AVX512VNNI}, {3, q1NativeColumns3AVX512VNNI}, {2, q1NativeColumns2AVX512VNNI},
}

// q1NativePanelsFrom is the fewest columns that are worth packing native rows as bit
// planes for, where several are multiplied at a time without.
const q1NativePanelsFrom = 40

func init() {
	for _, v := range []struct {
		name    string
		isa     *kernels.ISA
		lanes   int
		kernel  q1NativeFunc
		few     []q1NativeColumns
		summary string // of its batches
		batches func(kernels.Scheme) kernels.Kernel
		prefers func(cpu.Machine) int
	}{
		{"avx2-native", kernels.AVX2, 8, q1NativeAVX2, nil, "are looked up", q1NibbleLookup.strips, nil},
		{"avxvnni-native", kernels.AVXVNNI, 8, q1NativeAVXVNNI, nil, "are looked up", q1NibbleLookup.strips, nil},
		{
			"avx512vnni-native", kernels.AVX512VNNI, 16, q1NativeAVX512VNNI, q1NativeFewAVX512VNNI,
			"are bit planes", q1PanelStrips, nil,
		},
		{
			"avx512vnni-native-lookup", kernels.AVX512VNNI, 16, q1NativeAVX512VNNI, q1NativeFewAVX512VNNI,
			"are looked up", q1WordLookup.strips, q1NativePrefersLookups,
		},
	} {
		for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row} {
			kernels.Register(&kernels.Variant{
				Name: v.name, Summary: "the file's rows, transposed in registers; batches " + v.summary, Format: formats.Q1_0_g128,
				Scheme: act, ISA: v.isa, Layout: kernels.Native, Preference: 1, Prefers: v.prefers,
				Kernels: []kernels.Kernel{
					{Order: q1ByteOrder, Rows: q1NativeMatFew(act, v.few, v.lanes, q1NativeMatVec(act, v.kernel, v.lanes))},
					v.batches(act),
				},
			})
		}
	}
}

// q1NativePrefersLookups ranks a variant above or below its twin, and both below those
// that pack.
func q1NativePrefersLookups(m cpu.Machine) int {
	if q1PrefersLookups(m) > 0 {
		return 1
	}
	return -1
}

// q1PanelStrips packs native rows by strips as bit planes, and multiplies these with panels.
func q1PanelStrips(act kernels.Scheme) kernels.Kernel {
	matMul := q1MatMul(act, bitplanesMatVec(act, q1Bitplanes128AVX512VNNI, nil))
	return kernels.Kernel{From: q1NativePanelsFrom, Order: q1PanelOrder, Rows: q1NativeMatMul(bitplanesTiles, q1PackRoom, matMul)}
}

// q1NativeMatVec is matVec by a kernel that takes lanes rows together. Rows
// that fill no tile are computed with some before them, which are not stored;
// a matrix of fewer rows than lanes is left to Go.
func q1NativeMatVec(act kernels.Scheme, kernel q1NativeFunc, lanes int) kernels.MatVecFunc {
	scaleStep := q1ScaleStep(act)
	few := q1Codec.MatVec(q1DotUnrolled)
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		if r1 < lanes {
			few(dst, m, a, col, r0, r1)
			return
		}
		blocks := m.Cols / 128
		stride := blocks * q1Block
		q, scales, sums := a.Columns(q1ByteOrder, col, 1)
		tiles.Cover(lanes, r0, r1, func(r, tiles, skip int) {
			out := dst[r:][:tiles*lanes]
			data := m.Span(r, r+tiles*lanes, stride)
			kernel(&out[0], &data[0], stride, &q[0], &scales[0], scaleStep, &sums[0], blocks, tiles, skip)
		})
	}
}

// q1NativeMatFew is matVec for all columns, as many at a time as a kernel takes.
func q1NativeMatFew(act kernels.Scheme, few []q1NativeColumns, lanes int, matVec kernels.MatVecFunc) kernels.MatMulFunc {
	scaleStep := q1ScaleStep(act)
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		c := 0
		for _, k := range few {
			// Three columns and two take less time than four and one.
			for ; r1 >= lanes && a.N-c >= k.columns && a.N-c != k.columns+1; c += k.columns {
				k.run(dst, m, a, c, r0, r1, scaleStep, lanes)
			}
		}
		for ; c < a.N; c++ {
			matVec(dst[c*m.Rows:][:m.Rows], m, a, c, r0, r1)
		}
	}
}

// run computes rows [r0, r1) of the columns from c on.
func (k q1NativeColumns) run(dst []float32, m *kernels.Matrix, a *kernels.Activations, c, r0, r1, scaleStep, lanes int) {
	blocks, n := m.Cols/128, k.columns
	stride := blocks * q1Block
	q, scales, sums := a.Columns(q1ByteOrder, c, n)
	tiles.Cover(lanes, r0, r1, func(r, tiles, skip int) {
		out := dst[c*m.Rows+r:][:(n-1)*m.Rows+tiles*lanes]
		data := m.Span(r, r+tiles*lanes, stride)
		k.kernel(&out[0], 4*m.Rows, &data[0], stride, &q[0], a.Stride, &scales[0], 4*a.Groups, scaleStep, &sums[0], blocks, tiles, skip)
	})
}
