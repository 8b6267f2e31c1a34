//go:build !purego

package q1

import (
	"onebit/internal/aligned"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
	"onebit/kernels/quantize"
)

// Batches take columns in panels of eight: each bit of weight becomes a byte
// once for many columns, and a byte of an activation meets two registers of
// rows. What fills no panel goes column by column.
const (
	q1PanelColumns = 8
	q1PanelBlock   = 32 * 33 // bytes of 128 columns of a panel: drawn at q1PanelAVX2
	// q1PanelsFrom is the fewest columns that are worth expanding weights for, where
	// there are kernels for a few columns.
	q1PanelsFrom = 16
	// q1BatchPanels is how many panels share one expansion of the weights. Their
	// sums and a block of them stay in the L1 cache.
	q1BatchPanels = 8
)

// q1PanelOrder has whole panels, one after the other, with −Σq of each block.
var q1PanelOrder = &kernels.Order{
	Name: "q1_panels", Panel: q1PanelColumns,
	Size: func(n, stride int) int { return n / q1PanelColumns * (stride / 128) * q1PanelBlock },
	Arrange: func(dst, q []int8, n, stride int) {
		size := stride / 128 * q1PanelBlock
		for p := range n / q1PanelColumns {
			out := dst[p*size:][:size]
			in := q[p*q1PanelColumns*stride:][:q1PanelColumns*stride]
			q1PanelAVX2(&out[0], &in[0], stride, stride/128)
		}
	},
}

// q1Scratch is what kernels of panels work in.
type q1Scratch struct {
	y     [q1BatchPanels * q1PanelColumns * 2 * bitplanesRows]float32
	codes [(64 + 16) * 64]byte // and, under q8_32, the totals of columns
}

var q1Scratches kernels.Scratch[aligned.Room[q1Scratch]]

// q1MatMul is matMul by the panels kernel and, for columns that fill no
// panel, the kernels for a few columns.
func q1MatMul(act kernels.Scheme, matVec kernels.MatVecFunc) kernels.MatMulFunc {
	scaleStep, fewColumns := q1ScaleStep(act), q1FewColumns
	if act == kernels.Q8Per32 {
		fewColumns = nil
	}
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		c := 0
		if len(fewColumns) == 0 && a.N >= q1PanelColumns || a.N >= q1PanelsFrom {
			c = a.N / q1PanelColumns * q1PanelColumns
			q1Batch(dst, m, a, r0, r1, scaleStep)
		}
		for _, few := range fewColumns {
			for ; a.N-c >= few.columns; c += few.columns {
				few.run(dst, m, a, c, r0, r1, scaleStep)
			}
		}
		for ; c < a.N; c++ {
			matVec(dst[c*m.Rows:][:r1], m, a, c, r0, r1)
		}
	}
}

// q1PackRoom is the bytes that a strip of native rows is packed into for panels.
const q1PackRoom = 64 << 10

// q1PackedStrips has the strips of threads. A strip is a matrix that says it has all rows,
// the distance of results of columns, and that holds a few.
var q1PackedStrips kernels.Scratch[kernels.Matrix]

// q1NativeMatMul packs strips of native rows as they are wanted, in so many bytes or
// those of a tile, and gives them to matMul, which multiplies packed ones.
func q1NativeMatMul(packed q1Tiles, stripBytes int, matMul kernels.MatMulFunc) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		blocks := m.Cols / 128
		tileBytes, rowBytes := blocks*packed.block, blocks*q1Block
		strip := q1PackedStrips.Of(a)
		data := aligned.Grow(strip.Data, max(stripBytes, tileBytes), nil)
		*strip = kernels.Matrix{Rows: m.Rows, Cols: m.Cols, Format: m.Format, Scale: m.Scale, Data: data}
		rows := len(data) / tileBytes * packed.rows
		for r := r0; r < r1; r += rows {
			n := min(rows, r1-r)
			packed.pack(data, m.Data[r*rowBytes:(r+n)*rowBytes], blocks)
			matMul(dst[r:], strip, a, 0, n)
		}
	}
}

// A q1ColumnsFunc multiplies rows with a few columns; see q1_stubs_amd64.go.
type q1ColumnsFunc func(dst *float32, dstStride int, data *byte, q *int8, qStride int, scales *float32, scaleStride, scaleStep int, sums *int32, blocks, rows int)

// q1Columns is a kernel for so many columns.
type q1Columns struct {
	columns int
	kernel  q1ColumnsFunc
}

var q1FewColumns = []q1Columns{{4, q1Columns4AVX512VNNI}, {2, q1Columns2AVX512VNNI}}

// run computes rows [r0, r1) of the columns from c on.
func (k q1Columns) run(dst []float32, m *kernels.Matrix, a *kernels.Activations, c, r0, r1, scaleStep int) {
	blocks, n := m.Cols/128, k.columns
	tiles := (r1 - r0 + bitplanesRows - 1) / bitplanesRows
	out := dst[c*m.Rows+r0:][:(n-1)*m.Rows+r1-r0]
	data := m.Data[r0/bitplanesRows*blocks*bitplanesBlock:][:tiles*blocks*bitplanesBlock]
	q, scales, sums := a.Columns(nil, c, n)
	k.kernel(&out[0], 4*m.Rows, &data[0], &q[0], a.Stride, &scales[0], 4*a.Groups, scaleStep, &sums[0], blocks, r1-r0)
}

// q1ScaleStride is the bytes from the scales, or spans, of a column to the next's.
func q1ScaleStride(a *kernels.Activations) int {
	if a.Scheme == kernels.Q8Per32 {
		return a.Stride / quantize.SpanLen * spanBytes
	}
	return 4 * a.Groups
}

func q1Batch(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1, scaleStep int) {
	blocks, panelBytes := m.Cols/128, a.Stride/128*q1PanelBlock
	x, scratch := a.In(q1PanelOrder), q1Scratches.Of(a).T()
	kernel := q1Panels128AVX512VNNI
	if a.Scheme == kernels.Q8Per32 {
		kernel = q1Panels32AVX512VNNI
	}
	for first := 0; first < len(x)/panelBytes; first += q1BatchPanels {
		panels := min(q1BatchPanels, len(x)/panelBytes-first)
		from, columns := first*q1PanelColumns, panels*q1PanelColumns
		in := x[first*panelBytes:][:panels*panelBytes]
		scales, scaleStride := q1Scales(a, from, columns), q1ScaleStride(a)
		bitplanesTiles.strips(dst, m, from, columns, r0, r1, scratch.y[:], func(y *float32, data *byte, next int) {
			kernel(y, data, next, &in[0], panelBytes, scales, scaleStride, scaleStep, blocks, panels, &scratch.codes[0])
		})
	}
}

// strips goes through the rows [r0, r1) two tiles at a time: add adds their products with so many
// columns, those from one on, to y, which is zero. The second tile lies next bytes behind the
// first; 0: it is the same once more.
func (q q1Tiles) strips(dst []float32, m *kernels.Matrix, from, columns, r0, r1 int, y []float32, add func(y *float32, data *byte, next int)) {
	strip, tileBytes := 2*q.rows, m.Cols/128*q.block
	y = y[:columns*strip]
	for r := r0; r < r1; r += strip {
		n := min(2, (r1-r+q.rows-1)/q.rows)
		clear(y)
		add(&y[0], &m.Data[r/q.rows*tileBytes:][:n*tileBytes][0], (n-1)*tileBytes)
		tiles.Store(dst, m.Rows, from, columns, r, min(strip, r1-r), y, strip, 0)
	}
}
