//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// Batches on AVX-512 VNNI: 16 rows of weights with panels of 16 columns. Those
// of the other instruction sets are strips.

const (
	panelCols    = 16
	batchRowTile = 16
	// ternaryColumns is how many columns are arranged at a time: with 2560
	// activations each, rows and panels take 160 KiB of L2.
	ternaryColumns = 32
)

// panels arranges batches: all columns in row order, and behind them their
// panels, of which each block begins with -Σq of the columns.
type panels struct {
	arrange   func(dst, q *int8, units int)
	fill      func(dst, columns *int8, stride, cols, groups, blocks int)
	cols      int // of a panel
	blockCols int // 0: the whole row is one block
}

// wide makes panels for AVX-512 VNNI, narrow those for strips.
func wide(arrange func(dst, q *int8, units int), blockCols int) panels {
	return panels{arrange, panelAVX512VNNI, panelCols, blockCols}
}

func narrow(arrange func(dst, q *int8, units int), blockCols int) panels {
	return panels{arrange, stripPanelAVX2, stripPanelCols, blockCols}
}

// blocks returns the blocks of a row and the groups, of 16 bytes of codes, of
// each.
func (p panels) blocks(stride int) (blocks, groups int) {
	if p.blockCols == 0 {
		return 1, stride / 64
	}
	return stride / p.blockCols, p.blockCols / 64
}

// length is the bytes of a panel.
func (p panels) length(stride int) int {
	blocks, _ := p.blocks(stride)
	return p.cols * (4*blocks + stride)
}

func (p panels) order() *kernels.Order {
	return &kernels.Order{
		Name: "panels",
		Size: func(n, stride int) int {
			return n*rowOrderLen(stride) + (n+p.cols-1)/p.cols*p.length(stride)
		},
		Arrange: func(dst, q []int8, n, stride int) {
			arrangeRows(dst[:n*rowOrderLen(stride)], q, n, stride, p.arrange)
			blocks, groups := p.blocks(stride)
			to := dst[n*rowOrderLen(stride):]
			for c := 0; c < n; c += p.cols {
				panel := to[:p.length(stride)]
				p.fill(&panel[0], &dst[c*rowOrderLen(stride)], rowOrderLen(stride), min(p.cols, n-c), groups, blocks)
				to = to[len(panel):]
			}
		},
	}
}

// panel returns those from the one that begins with column c on.
func (p panels) panel(a *kernels.Activations, order *kernels.Order, c int) []int8 {
	return a.In(order)[a.N*rowOrderLen(a.Stride)+c/p.cols*p.length(a.Stride):]
}

// batchCols is how many columns kernels take.
var batchCols = [...]int{4, 6, 8, 12, panelCols}

// forCols picks the kernel for cols columns.
func forCols[T any](list [len(batchCols)]T, cols int) T {
	i := 0
	for batchCols[i] < cols {
		i++
	}
	return list[i]
}

var ternaryBatch = [len(batchCols)]func(dst *float32, dstStride int, w *byte, stride, rowBytes int, panel *int8, scales *float32, scale float32, cols, tiles int){
	ternaryBatch4AVX512VNNI, ternaryBatch6AVX512VNNI, ternaryBatch8AVX512VNNI, ternaryBatch12AVX512VNNI, ternaryBatch16AVX512VNNI,
}

// ternaryMatMul is for formats with one scale per tensor.
func ternaryMatMul(p panels, order *kernels.Order) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		n := wordRowBytes(m.Cols)
		w := m.Span(r0, r1, n)
		for c := 0; c < a.N; c += panelCols {
			panel, cols := p.panel(a, order, c), min(panelCols, a.N-c)
			scales := a.Scales[c : c+cols]
			kernel := forCols(ternaryBatch, cols)
			out := dst[c*m.Rows+r0 : (c+cols-1)*m.Rows+r1]
			tiles.Multiply(batchRowTile, out[:r1-r0], w, n, func(y *float32, w *byte, stride, tiles int) {
				kernel(y, 4*m.Rows, w, stride, n, &panel[0], &scales[0], m.Scale, cols, tiles)
			})
		}
	}
}

// twoBitRow is how rows of a format with a scale per block lie: what kernels of
// batches want to know of it.
type twoBitRow struct {
	blockCols, blockBytes int
	data                  int // a block's first code
	groups                int // of 16 bytes of codes in a block
	gap                   int // bytes from its last code to the next block's first
	scaleAt               int // its scale, seen from its first code
	scaleStep             int
}

func (f *twoBit) row(scheme kernels.Scheme) twoBitRow {
	codes := f.blockLen / 4
	return twoBitRow{f.blockLen, f.blockBytes, f.data, codes / 16, f.blockBytes - codes, f.scale - f.data, f.scaleStep(scheme)}
}

var blocksBatch = [len(batchCols)]func(dst *float32, dstStride int, w *byte, stride, blocks int, panel *int8, scales *float32, scaleStride, cols, tiles, groups, gap, scaleAt, scaleStep int){
	blocksBatch4AVX512VNNI, blocksBatch6AVX512VNNI, blocksBatch8AVX512VNNI, blocksBatch12AVX512VNNI, blocksBatch16AVX512VNNI,
}

// blocksMatMul is for formats with a scale per block.
func blocksMatMul(p panels, order *kernels.Order, f twoBitRow) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		blocks := m.Cols / f.blockCols
		n := blocks * f.blockBytes
		w := m.Span(r0, r1, n)
		for c := 0; c < a.N; c += panelCols {
			panel, cols := p.panel(a, order, c), min(panelCols, a.N-c)
			scales := a.Scales[c*a.Groups : (c+cols)*a.Groups]
			kernel := forCols(blocksBatch, cols)
			out := dst[c*m.Rows+r0 : (c+cols-1)*m.Rows+r1]
			tiles.Multiply(batchRowTile, out[:r1-r0], w[f.data:], n, func(y *float32, w *byte, stride, tiles int) {
				kernel(y, 4*m.Rows, w, stride, blocks, &panel[0], &scales[0], 4*a.Groups, cols, tiles, f.groups, f.gap, f.scaleAt, f.scaleStep)
			})
		}
	}
}
