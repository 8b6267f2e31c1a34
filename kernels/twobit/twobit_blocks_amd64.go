//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// registerBlocks registers the variants that multiply a format with a scale per block
// in place.
func (f twoBitFormat) registerBlocks(a arrangement) {
	c := f.codes
	rowBytes := func(cols int) int { return cols / c.blockLen * c.blockBytes }
	order32, order64 := blockOrder(a.block32), blockOrder(a.block64)
	for isa, rows := range blocksKernels[c] {
		order, from := order32, blocksBatchFrom
		if isa == kernels.AVX512VNNI {
			order, from = order64, 2
		}
		batch := batch{
			kernels: tileBatches[isa], arrange: a.rows, blockCols: c.blockLen, scaleStep: c.scaleStep(f.Scheme), bytes: rowBytes,
			rows: &blockRows{pack: rowPackers[isa], data: c.data, gap: c.blockBytes - c.blockLen/4, scaleAt: c.scale - c.data},
		}
		kernels.Register(&kernels.Variant{
			Name: isa.Name + "-native", Summary: blocksSummary[isa], Format: f.Type, Scheme: f.Scheme, ISA: isa, Layout: kernels.Native,
			Kernels: []kernels.Kernel{kernels.ByColumn(order, rows.matVec(order, c)), batch.kernel(from, 0)},
		})
	}
}

// A blocksKernel is one of the functions blocks*, which take 4 rows at a time.
type blocksKernel func(dst *float32, w *byte, stride, blocks int, q *int8, scales *float32, tiles int)

var blocksKernels = map[*twoBit]map[*kernels.ISA]blocksKernel{
	tq2:    {kernels.AVX2: blocksTQ2AVX2, kernels.AVXVNNI: blocksTQ2AVXVNNI, kernels.AVX512VNNI: blocksTQ2AVX512VNNI},
	q2:     {kernels.AVX2: blocksQ2AVX2, kernels.AVXVNNI: blocksQ2AVXVNNI, kernels.AVX512VNNI: blocksQ2AVX512VNNI},
	q2G128: {kernels.AVX2: blocksQ2G128AVX2, kernels.AVXVNNI: blocksQ2G128AVXVNNI, kernels.AVX512VNNI: blocksQ2G128AVX512VNNI},
}

var blocksSummary = map[*kernels.ISA]string{
	kernels.AVX2:       "VPMADDUBSW on codes masked in place, tiles of 4 rows × 2 blocks",
	kernels.AVXVNNI:    "VPDPBUSD (VEX) on codes masked in place, tiles of 4 rows × 2 blocks",
	kernels.AVX512VNNI: "VPDPBUSD on codes masked in place, tiles of 4 rows × 4 blocks",
}

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

func (rows blocksKernel) matVec(order *kernels.Order, codes *twoBit) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks := m.Cols / codes.blockLen
		n := blocks * codes.blockBytes
		q, scales, _ := a.Columns(order, col, 1)
		tiles.Multiply(4, dst[r0:r1], m.Span(r0, r1, n), n, func(y *float32, w *byte, stride, tiles int) {
			rows(y, w, stride, blocks, &q[0], &scales[0], tiles)
		})
	}
}
