//go:build !purego

package twobit

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

func init() {
	spans := blockOrders{blockOrder(arrangeBlocksTQ232AVX2), blockOrder(arrangeBlocksTQ264AVX2)}
	bytes := blockOrders{blockOrder(arrangeBlocksQ232AVX2), blockOrder(arrangeBlocksQ264AVX2)}
	tq2Kernels := []blocksKernel{
		{kernels.AVX2, spans.ymm, blocksTQ2AVX2},
		{kernels.AVXVNNI, spans.ymm, blocksTQ2AVXVNNI},
		{kernels.AVX512VNNI, spans.zmm, blocksTQ2AVX512VNNI},
	}
	blocksFormat{formats.TQ2_0, tq2, kernels.Q8Row, kernels.Native, arrangeRowsTQ2AVX2}.register(tq2Kernels)
	blocksFormat{formats.TQ1_0, tq2, kernels.Q8Row, tq2Rows, arrangeRowsTQ2AVX2}.register(tq2Kernels)
	blocksFormat{formats.Q2_0, q2, kernels.Q8Per128, kernels.Native, arrangeRowsU32AVX2}.register([]blocksKernel{
		{kernels.AVX2, bytes.ymm, blocksQ2AVX2},
		{kernels.AVXVNNI, bytes.ymm, blocksQ2AVXVNNI},
		{kernels.AVX512VNNI, bytes.zmm, blocksQ2AVX512VNNI},
	})
	blocksFormat{formats.Q2_0_g128, q2G128, kernels.Q8Per128, kernels.Native, arrangeRowsU32AVX2}.register([]blocksKernel{
		{kernels.AVX2, bytes.ymm, blocksQ2G128AVX2},
		{kernels.AVXVNNI, bytes.ymm, blocksQ2G128AVXVNNI},
		{kernels.AVX512VNNI, bytes.zmm, blocksQ2G128AVX512VNNI},
	})
}

// blocksFormat is a format with a scale per block.
type blocksFormat struct {
	format     *formats.Type
	codes      *twoBit // of the layout
	activation kernels.Scheme
	layout     *kernels.Layout
	arrange    func(dst, q *int8, units int) // to row order
}

func (f blocksFormat) register(list []blocksKernel) {
	row := f.codes.row(f.activation)
	tiles, strips := wide(f.arrange, row.blockCols), narrow(f.arrange, row.blockCols)
	tilesOrder, stripsOrder := tiles.order(), strips.order()
	for _, k := range list {
		v := &kernels.Variant{
			Name: k.isa.Name, Summary: blocksSummary[k.isa], Format: f.format, Scheme: f.activation, ISA: k.isa,
			Layout: f.layout, Order: k.order, MatVec: k.matVec(row.blockBytes),
		}
		if strip := blocksStrips[k.isa]; strip != nil {
			v.BatchOrder, v.BatchFrom, v.MatMul = stripsOrder, blocksBatchFrom, strip.matMul(strips, stripsOrder, row)
		} else {
			v.BatchOrder, v.MatMul = tilesOrder, blocksMatMul(tiles, tilesOrder, row)
		}
		kernels.Register(v)
	}
}

// blocksStrips multiply batches on ISAs that have no tiles of 16 columns.
var blocksStrips = map[*kernels.ISA]blocksStrip{kernels.AVX2: blocksStripAVX2, kernels.AVXVNNI: blocksStripAVXVNNI}

var blocksSummary = map[*kernels.ISA]string{
	kernels.AVX2:       "VPMADDUBSW on codes masked in place, tiles of 4 rows × 2 blocks",
	kernels.AVXVNNI:    "VPDPBUSD (VEX) on codes masked in place, tiles of 4 rows × 2 blocks",
	kernels.AVX512VNNI: "VPDPBUSD on codes masked in place, tiles of 4 rows × 4 blocks",
}

// blockOrders are those for registers of 32 and of 64 bytes.
type blockOrders struct{ ymm, zmm *kernels.Order }

// blockOrder is for kernels with a scale per block. For each register of
// codes there are four of activations, vector j for the codes at shift 2j,
// and one with -64 times the sums of what a dword has in all four: the start
// of a sum of codes less one.
func blockOrder(arrange func(dst, q *int8, units int)) *kernels.Order {
	return &kernels.Order{
		Name: "blocks",
		Size: func(n, stride int) int { return n * blockOrderLen(stride) },
		Arrange: func(dst, q []int8, n, stride int) {
			for c := range n {
				d, s := dst[c*blockOrderLen(stride):][:blockOrderLen(stride)], q[c*stride:][:stride]
				arrange(&d[0], &s[0], stride/unitCols)
			}
		},
	}
}

// blockOrderLen makes room for whole tiles, of 4 blocks of 256 columns at the
// most. What lies behind the activations is read, and masked away.
func blockOrderLen(stride int) int {
	const tileCols = 4 * unitCols
	return (stride + tileCols - 1) / tileCols * tileCols / 4 * 5
}

// blocksKernel is one of the functions blocks*, which take 4 rows at a time.
type blocksKernel struct {
	isa   *kernels.ISA
	order *kernels.Order
	rows  func(dst *float32, w *byte, stride, blocks int, q *int8, scales *float32, tiles int)
}

func (k blocksKernel) matVec(blockBytes int) func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks := m.Cols / m.Format.BlockLen
		n := blocks * blockBytes
		q := a.In(k.order)[col*blockOrderLen(a.Stride):][:blockOrderLen(a.Stride)]
		scales := a.Scales[col*a.Groups:][:a.Groups]
		tiles.Multiply(4, dst[r0:r1], m.Data[r0*n:r1*n], n, func(y *float32, w *byte, stride, tiles int) {
			k.rows(y, w, stride, blocks, &q[0], &scales[0], tiles)
		})
	}
}
