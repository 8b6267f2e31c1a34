//go:build !purego

package twobit

import "onebit/kernels"

// Batches of the 2-bit formats with registers of 32 bytes: strips of two
// registers of weight rows with panels of four activation columns.

const (
	stripRows      = 16
	stripPanelCols = 4
	// stripCols is the columns that share a strip's expanded weights. Their
	// results stay in the L1 cache.
	stripCols = 64
)

// strips calls multiply for every strip of rows [r0, r1) with every stripCols
// columns: cols of them from column c on.
func (p panels) strips(a *kernels.Activations, order *kernels.Order, r0, r1 int, multiply func(panel *int8, c, cols, r, rows int)) {
	for c := 0; c < a.N; c += stripCols {
		panel := p.panel(a, order, c)
		for r := r0; r < r1; r += stripRows {
			multiply(&panel[0], c, min(stripCols, a.N-c), r, min(stripRows, r1-r))
		}
	}
}

// A ternaryStrip is one of the functions of that name.
type ternaryStrip func(dst *float32, dstStride int, w *byte, stride, rows, rowBytes int, panel *int8, panelStride int, scales *float32, scale float32, cols int)

// matMul is for formats with one scale per tensor.
func (kernel ternaryStrip) matMul(p panels, order *kernels.Order) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		n := wordRowBytes(m.Cols)
		p.strips(a, order, r0, r1, func(panel *int8, c, cols, r, rows int) {
			kernel(&dst[c*m.Rows+r], 4*m.Rows, &m.Data[r*n], n, rows, n, panel, p.length(a.Stride), &a.Scales[c], m.Scale, cols)
		})
	}
}

// A blocksStrip is one of the functions of that name.
type blocksStrip func(dst *float32, dstStride int, w *byte, stride, rows, blocks int, panel *int8, panelStride int, scales *float32, scaleStride, cols, groups, gap, scaleAt, scaleStep int)

// matMul is for rows of blocks.
func (kernel blocksStrip) matMul(p panels, order *kernels.Order, f twoBitRow) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		blocks := m.Cols / f.blockCols
		n := blocks * f.blockBytes
		p.strips(a, order, r0, r1, func(panel *int8, c, cols, r, rows int) {
			kernel(&dst[c*m.Rows+r], 4*m.Rows, &m.Data[r*n+f.data], n, rows, blocks, panel, p.length(a.Stride), &a.Scales[c*a.Groups], 4*a.Groups, cols,
				f.groups, f.gap, f.scaleAt, f.scaleStep)
		})
	}
}
