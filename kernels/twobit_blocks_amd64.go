//go:build !purego

package kernels

import "onebit/formats"

func init() {
	tq2 := blockOrders{blockOrder(arrangeBlocksTQ232AVX2), blockOrder(arrangeBlocksTQ264AVX2)}
	q2 := blockOrders{blockOrder(arrangeBlocksQ232AVX2), blockOrder(arrangeBlocksQ264AVX2)}
	for _, k := range []blocksKernel{
		{AVX2, formats.TQ2_0, Q8Row, tq2.ymm, blocksTQ2AVX2},
		{AVXVNNI, formats.TQ2_0, Q8Row, tq2.ymm, blocksTQ2AVXVNNI},
		{AVX512VNNI, formats.TQ2_0, Q8Row, tq2.zmm, blocksTQ2AVX512VNNI},
		{AVX2, formats.Q2_0, Q8Per128, q2.ymm, blocksQ2AVX2},
		{AVXVNNI, formats.Q2_0, Q8Per128, q2.ymm, blocksQ2AVXVNNI},
		{AVX512VNNI, formats.Q2_0, Q8Per128, q2.zmm, blocksQ2AVX512VNNI},
		{AVX2, formats.Q2_0_g128, Q8Per128, q2.ymm, blocksQ2G128AVX2},
		{AVXVNNI, formats.Q2_0_g128, Q8Per128, q2.ymm, blocksQ2G128AVXVNNI},
		{AVX512VNNI, formats.Q2_0_g128, Q8Per128, q2.zmm, blocksQ2G128AVX512VNNI},
	} {
		register(&Variant{
			Name: k.isa.Name, Summary: blocksSummary[k.isa], Format: k.format, Activation: k.activation, ISA: k.isa,
			Layout: Native, Order: k.order, matVec: k.matVec,
		})
	}
}

var blocksSummary = map[*ISA]string{
	AVX2:       "VPMADDUBSW on codes masked in place, tiles of 4 rows × 2 blocks",
	AVXVNNI:    "VPDPBUSD (VEX) on codes masked in place, tiles of 4 rows × 2 blocks",
	AVX512VNNI: "VPDPBUSD on codes masked in place, tiles of 4 rows × 4 blocks",
}

// blockOrders are those for registers of 32 and of 64 bytes.
type blockOrders struct{ ymm, zmm *Order }

// blockOrder is for kernels with a scale per block. For each register of
// codes there are four of activations, vector j for the codes at shift 2j,
// and one with -64 times the sums of what a dword has in all four: the start
// of a sum of codes less one.
func blockOrder(arrange func(dst, q *int8, units int)) *Order {
	return &Order{
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
	isa        *ISA
	format     *formats.Type
	activation Activation
	order      *Order
	rows       func(dst *float32, w *byte, stride, blocks int, q *int8, scales *float32, tiles int)
}

func (k blocksKernel) matVec(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	n, blocks := rowBytes(k.format, m.Cols), m.Cols/k.format.BlockLen
	q := a.In(k.order)[col*blockOrderLen(a.Stride):][:blockOrderLen(a.Stride)]
	scales := a.Scales[col*a.Groups:][:a.Groups]
	multiplyTiles(4, dst[r0:r1], m.Data[r0*n:r1*n], n, func(y *float32, w *byte, stride, tiles int) {
		k.rows(y, w, stride, blocks, &q[0], &scales[0], tiles)
	})
}
