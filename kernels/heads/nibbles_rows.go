//go:build !purego && (amd64 || arm64)

package heads

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// A nibblesKernel is one of the functions of that name.
type nibblesKernel func(dst *float32, dstStride int, w *byte, q *int8, qStride int, sums *int32, sumStride int, scales *float32, scaleStride, shift, groups, tiles, columns, inBlocks int)

// nibblesMost is the columns that a kernel takes at most.
const nibblesMost = 16

// nibblesResults are those of a tile that has fewer rows.
type nibblesResults [16 * nibblesMost]float32

var nibblesScratch kernels.Scratch[nibblesResults]

// register registers the variants of n under the integer schemes.
func (n nibbles) register(isa *kernels.ISA, summary string, rows int, kernel nibblesKernel) {
	l := n.layout(rows)
	multiply := func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		for c := 0; c < a.N; c += nibblesMost {
			n.multiply(kernel, dst[c*m.Rows:], m, a, c, min(nibblesMost, a.N-c), r0, r1)
		}
	}
	for _, scheme := range []kernels.Scheme{kernels.Q8Per32, kernels.Q8Per128, kernels.Q8Row} {
		kernels.Register(&kernels.Variant{
			Name: isa.Name, Summary: summary, Format: n.format, Scheme: scheme, ISA: isa, Layout: l,
			Kernels: []kernels.Kernel{{From: 1, Rows: multiply}},
		})
	}
}

// multiply is for columns from c on, the results of the first of which begin dst.
func (n nibbles) multiply(kernel nibblesKernel, dst []float32, m *kernels.Matrix, a *kernels.Activations, c, columns, r0, r1 int) {
	q, scales, sums := a.Columns(nil, c, columns)
	rows := m.Layout.RowTile
	tile := m.Layout.PackedBytes(rows, m.Cols)
	run := func(y *float32, stride, r, tiles int) {
		kernel(y, 4*stride, &m.Span(r/rows, r/rows+tiles, tile)[0], &q[0], a.Stride, &sums[0], a.Stride/8, &scales[0], 4*a.Groups,
			blockShift(a.Scheme), m.Cols/32, tiles, columns, n.inBlocks)
	}
	whole := (r1 - r0) / rows
	if whole > 0 {
		run(&dst[r0], m.Rows, r0, whole)
	}
	if rest := (r1 - r0) % rows; rest > 0 {
		y := nibblesScratch.Of(a)
		run(&y[0], rows, r1-rest, 1)
		tiles.Store(dst, m.Rows, 0, columns, r1-rest, rest, y[:], rows, 0)
	}
}
