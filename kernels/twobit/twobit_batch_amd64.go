//go:build !purego

package twobit

import (
	"onebit/internal/aligned"
	"onebit/kernels"
)

// Batches multiply one tile of 64 rows after another with all columns. Packed layouts have
// such tiles. The rows of other layouts are packed to a tile in scratch, which stays in the
// caches while columns meet it.

const (
	panelCols  = 4
	vectorRows = 16 // that are packed together
	// ternaryColumns is how many columns are arranged at a time: with 2560
	// activations each, rows and panels take 160 KiB of L2.
	ternaryColumns = 32
)

// A batchKernel multiplies the first rows of a tile with some columns; see tileBatch8AVX512VNNI.
type batchKernel struct {
	columns  int // at most
	rows     int // that it takes together
	multiply func(dst *float32, dstStride int, tile *byte, rows, blocks, groups int, weight *float32, panel *int8, panelStride int, scales *float32, scaleStride, scaleStep, cols int, ahead *byte)
}

// tileBatches multiply tiles as codes64 has them. Those for few columns come first.
var tileBatches = map[*kernels.ISA][]batchKernel{
	kernels.AVX2:       {{64, 64, tileStripAVX2}},
	kernels.AVXVNNI:    {{64, 64, tileStripAVXVNNI}},
	kernels.AVX512VNNI: {{4, 64, tileBatch4AVX512VNNI}, {6, 32, tileBatch6AVX512VNNI}, {8, 32, tileBatch8AVX512VNNI}},
}

// A rowPacker packs 16 rows of a tile; see packRowsAVX2.
type rowPacker func(dst, scales, rows *byte, stride, blocks, groups, gap, scaleAt int)

var rowPackers = map[*kernels.ISA]rowPacker{kernels.AVX2: packRowsAVX2, kernels.AVXVNNI: packRowsAVX2, kernels.AVX512VNNI: packRowsAVX512}

// A batch is what a variant's kernels for batches want to know of weights and activations.
type batch struct {
	kernels   []batchKernel
	arrange   func(dst, q *int8, units int)
	blockCols int // 0: the whole row is one block
	scaleStep int
	oneScale  bool               // for the tensor
	bytes     func(cols int) int // of a row; of a tile, if the layout has tiles
	rows      *blockRows         // nil: the layout has tiles
}

// blockRows is how rows that lie apart have their blocks.
type blockRows struct {
	pack    rowPacker
	data    int // the first code
	gap     int // bytes from a block's last code to the first of the next
	scaleAt int // a block's scale, seen from its first code
}

// kernel takes from so many columns on; atOnce of them are arranged at a time, or all if it is 0.
func (b batch) kernel(from, atOnce int) kernels.Kernel {
	order := b.order()
	order.Columns = atOnce
	k := kernels.Kernel{From: from, Order: order, Rows: func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		panels := a.In(order)[a.N*rowOrderLen(a.Stride):]
		step := b.rowsOf(a.N)
		for r := r0; r < r1; r += step {
			b.multiply(dst, m, a, panels, r, min(step, r1-r))
		}
	}}
	if b.rows != nil {
		k.TaskRows = taskRows
	}
	return k
}

// taskRows is how many rows of m a task packs: whole tiles, or half a tile if threads would go without.
func taskRows(m *kernels.Matrix, threads int) int {
	rows := m.Rows / (4 * threads)
	if rows < tileRows {
		return tileRows / 2
	}
	return max(tileRows, min(rows, kernels.ChunkBytes*m.Rows/len(m.Data))/tileRows*tileRows)
}

// multiply multiplies a tile with all columns.
func (b batch) multiply(dst []float32, m *kernels.Matrix, a *kernels.Activations, panels []int8, r, rows int) {
	var weight *float32
	if b.oneScale {
		weight = &m.Scale
	}
	tile, next := b.tile(m, a, r, rows)
	ahead := &m.Data[min(next, len(m.Data)-1)]
	blocks, groups := b.blocks(m.Cols)
	length := b.panelBytes(a.Stride)
	for c := 0; c < a.N; {
		k := b.kernelFor(a.N - c)
		cols := min(k.columns, a.N-c)
		k.multiply(&dst[c*m.Rows+r], 4*m.Rows, &tile[0], rows, blocks, groups, weight,
			&panels[c/panelCols*length], length, &a.Scales[c*a.Groups], 4*a.Groups, b.scaleStep, cols, ahead)
		c += cols
	}
}

// rowsOf is how many rows meet all columns before the next do. They are those of a tile; where rows are packed for
// one call, they are as few as it takes together, which are still in level 1 then.
func (b batch) rowsOf(columns int) int {
	if k := b.kernelFor(columns); b.rows != nil && columns <= k.columns {
		return k.rows
	}
	return tileRows
}

// kernelFor returns the first kernel that takes so many columns, or the last.
func (b batch) kernelFor(columns int) batchKernel {
	for _, k := range b.kernels {
		if k.columns >= columns {
			return k
		}
	}
	return b.kernels[len(b.kernels)-1]
}

// tile returns a tile with the rows from r on, and where the next rows begin in the matrix.
func (b batch) tile(m *kernels.Matrix, a *kernels.Activations, r, rows int) (tile []byte, next int) {
	n := b.bytes(m.Cols)
	if b.rows == nil {
		return m.Data[r/tileRows*n:], (r + rows) / tileRows * n
	}
	s := batchScratches.Of(a)
	blocks, groups := b.blocks(m.Cols)
	codes := groups * 4 * dwordBytes
	s.tile = aligned.Grow(s.tile, blocks*(codes+tileScales), nil)
	last := max(n, blocks*groups*16) // what is read of the last of 16 rows
	for v := 0; v < rows; v += vectorRows {
		from, stride := m.Data[(r+v)*n:], n
		if len(from) < (vectorRows-1)*n+last {
			from, stride = s.padded(from, n, last), last
		}
		b.rows.pack(&s.tile[4*v], &s.tile[codes+2*v], &from[b.rows.data], stride, blocks, groups, b.rows.gap, b.rows.scaleAt)
	}
	return s.tile, (r + rows) * n
}

// blocks returns those of a row, and the groups of 64 columns of each.
func (b batch) blocks(cols int) (blocks, groups int) {
	if b.blockCols == 0 {
		return 1, (cols + 63) / 64
	}
	return (cols + b.blockCols - 1) / b.blockCols, b.blockCols / 64
}

// batchScratch is a thread's.
type batchScratch struct{ tile, rows []byte }

var batchScratches kernels.Scratch[batchScratch]

// padded copies the last rows of a matrix to as many as the packer takes, of so many bytes.
func (s *batchScratch) padded(rows []byte, n, bytes int) []byte {
	s.rows = aligned.Grow(s.rows, vectorRows*bytes, nil)
	clear(s.rows)
	for r := range min(vectorRows, len(rows)/n) {
		copy(s.rows[r*bytes:], rows[r*n:][:n])
	}
	return s.rows
}

// order arranges all columns in row order and, behind them, in panels. Each block of a panel begins
// with -Σq of its columns.
func (b batch) order() *kernels.Order {
	return &kernels.Order{
		Name: "panels",
		Size: func(n, stride int) int {
			return n*rowOrderLen(stride) + (n+panelCols-1)/panelCols*b.panelBytes(stride)
		},
		Arrange: func(dst, q []int8, n, stride int) {
			arrangeRows(dst[:n*rowOrderLen(stride)], q, n, stride, b.arrange)
			blocks, groups := b.blocks(stride)
			to := dst[n*rowOrderLen(stride):]
			for c := 0; c < n; c += panelCols {
				panel := to[:b.panelBytes(stride)]
				panelAVX2(&panel[0], &dst[c*rowOrderLen(stride)], rowOrderLen(stride), min(panelCols, n-c), groups, blocks)
				to = to[len(panel):]
			}
		},
	}
}

// panelBytes is the length of a panel.
func (b batch) panelBytes(stride int) int {
	blocks, _ := b.blocks(stride)
	return panelCols * (4*blocks + stride)
}
