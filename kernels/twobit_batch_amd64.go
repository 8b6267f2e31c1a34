//go:build !purego

package kernels

// Batches of tensors with one scale, on AVX-512 VNNI: panels of 16 columns.

const (
	panelCols    = 16
	panelQ       = 4 * panelCols // bytes: 4 activations of each column
	batchRowTile = 16
	// batchFrom is the number of columns from which a panel is worth while.
	// Fewer are done one by one while the weights are in the cache.
	batchFrom = 4
)

// batchKernel takes up to as many columns of a panel as its name says.
type batchKernel func(dst *float32, dstStride int, w *byte, stride, rowBytes int, panel *int8, scales *float32, scale float32, cols, tiles int)

// batchOrder is a row order and, behind all columns, their panels.
func batchOrder(arrange func(dst, q *int8, units int)) *Order {
	return &Order{
		Name: "panels",
		Size: func(n, stride int) int {
			return n*rowOrderLen(stride) + (n+panelCols-1)/panelCols*panelLen(stride)
		},
		Arrange: func(dst, q []int8, n, stride int) {
			arrangeRows(dst[:n*rowOrderLen(stride)], q, n, stride, arrange)
			panels := dst[n*rowOrderLen(stride):]
			for c := 0; c < n; c += panelCols {
				panel := panels[:panelLen(stride)]
				panelAVX512(&panel[0], &dst[c*rowOrderLen(stride)], rowOrderLen(stride), min(panelCols, n-c), stride/unitCols)
				panels = panels[len(panel):]
			}
		},
	}
}

// panelLen is the bytes of a panel: -Σq of each column, and the columns.
func panelLen(stride int) int { return panelQ + panelCols*stride }

// ternaryMatMul is matMul for rows of rowBytes(cols) bytes.
func ternaryMatMul(order *Order, rowBytes func(cols int) int) func(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	return func(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
		n := rowBytes(m.Cols)
		w := m.Data[r0*n : r1*n]
		panels := a.In(order)[a.N*rowOrderLen(a.Stride):]
		for c := 0; c < a.N; c += panelCols {
			cols := min(panelCols, a.N-c)
			panel, scales := panels[:panelLen(a.Stride)], a.Scales[c:c+cols]
			panels = panels[len(panel):]
			kernel := batchKernelFor(cols)
			out := dst[c*m.Rows+r0 : (c+cols-1)*m.Rows+r1]
			multiplyTiles(batchRowTile, out[:r1-r0], w, n, func(y *float32, w *byte, stride, tiles int) {
				kernel(y, 4*m.Rows, w, stride, n, &panel[0], &scales[0], m.Scale, cols, tiles)
			})
		}
	}
}

func batchKernelFor(cols int) batchKernel {
	switch {
	case cols <= 4:
		return ternaryBatch4AVX512VNNI
	case cols <= 8:
		return ternaryBatch8AVX512VNNI
	}
	return ternaryBatch16AVX512VNNI
}
