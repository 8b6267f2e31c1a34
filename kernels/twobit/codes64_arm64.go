//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// packTile packs as many rows as a tile has.
func (f *twoBit) packTile(tile, rows []byte) { f.packTileGo(tile, rows, tileRows) }

// registerCodes64 registers the variants that multiply the layout.
func (f twoBitFormat) registerCodes64() {
	layout, scaleStep := f.codes64(), f.codes.scaleStep(f.Scheme)
	batch := newTwoBitBatch(f.codes, dwordOrder)
	for _, k := range []struct {
		isa     *kernels.ISA
		summary string
		column  codes64Kernel
	}{
		{kernels.NEON, "SMLAL on codes shifted down, 64 rows at a time", codes64NEON},
		{kernels.NEONDot, "SDOT on codes masked in place, 64 rows at a time", codes64NEONDot},
	} {
		v := &kernels.Variant{
			Name: k.isa.Name, Summary: k.summary, Format: f.Type, Scheme: f.Scheme,
			ISA: k.isa, Layout: layout, Preference: 4, Kernels: []kernels.Kernel{kernels.ByColumn(nil, k.column.matVec(f.codes, scaleStep))},
		}
		if k.isa == kernels.NEONDot {
			v.Kernels = append(v.Kernels, kernels.Kernel{From: ternaryBatchFrom, Order: batch.order, Rows: batch.tilesMatMul})
		}
		kernels.Register(v)
	}
}

// dwordOrder is the step order of codes64, whose dwords have four neighbouring columns at
// each shift.
var dwordOrder = &kernels.Order{
	Name: "dwords",
	Size: func(n, stride int) int { return n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		for at := 0; at < n*stride; at += stepCols {
			to, from := (*[stepCols]int8)(dst[at:]), (*[stepCols]int8)(q[at:])
			for d := range 4 {
				for j := range 4 {
					*(*[4]int8)(to[16*j+4*d:]) = *(*[4]int8)(from[16*d+4*j:])
				}
			}
		}
	},
}

// tilesMatMul multiplies tiles of codes64.
func (b *twoBitBatch) tilesMatMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	f := b.codes
	blocks, dwords, tileBytes, scaleShift := m.Cols/f.blockLen, f.blockLen/16, f.tileBytes(m.Cols), 63
	if a.Scheme == kernels.Q8Per128 {
		scaleShift = 128/f.blockLen - 1
	}
	var out [64]float32 // of a column, 4 rows
	var scales [16]*float32
	for c, cols := 0, 0; c < a.N; c += cols {
		cols = batchPanel(a.N - c)
		q := &a.In(b.order)[c*b.columnLen(a.Stride)]
		for i := range cols {
			scales[i] = &a.Scales[min(c+i, a.N-1)*a.Groups]
		}
		for r := r0; r < r1; r += 4 {
			n, in := min(4, r1-r), r%tileRows/4
			data := &tilesOf(m, r-r%tileRows, r+n, tileBytes)[16*in]
			switch cols {
			case 16:
				codes64Batch16NEONDot(&out[0], data, 8*in, blocks, dwords, q, &scales, scaleShift)
			case 8:
				codes64Batch8NEONDot(&out[0], data, 8*in, blocks, dwords, q, &scales, scaleShift)
			default:
				codes64Batch4NEONDot(&out[0], data, 8*in, blocks, dwords, q, &scales, scaleShift)
			}
			tiles.Store(dst, m.Rows, c, min(cols, a.N-c), r, n, out[:], 4, 0)
		}
	}
}

// codes64NEONDot multiplies rows of the layout codes64, blocks of pairs times 32
// columns, with one column of activations in their natural order.
//
//	for r := range rows {
//		dst[r] = 0
//		for b := range blocks {
//			sum := int32(0)
//			for k := range 32*pairs {
//				sum += (code(r, 32*pairs*b+k) - 1) * q[32*pairs*b+k]
//			}
//			dst[r] += float32(float32(fp16(scale(r, b))*scales[b*scaleStep/4]) * float32(sum))
//		}
//	}
//
// sums has the sums of every 32 activations.
//
//go:noescape
func codes64NEONDot(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, pairs, scaleStep, rows int)

// codes64NEON is codes64NEONDot without dot products.
//
//go:noescape
func codes64NEON(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, pairs, scaleStep, rows int)

// codes64Batch16NEONDot multiplies 4 rows of a tile of the layout codes64, blocks of
// dwords times 16 columns, with a panel of 16 columns. data is the first of the rows'
// codes; their scales lie back bytes before where the next block's codes, without those
// of the tile, would be. scales are those of the columns.
//
//	for c := range 16 {
//		for i := range 4 {
//			dst[4*c+i] = 0
//			for b := range blocks {
//				sum := -Σq[c] of block b + Σ code(i)·q[c] of block b
//				dst[4*c+i] += float32(float32(weight(i, b)*scales[c][b>>scaleShift]) * float32(sum))
//			}
//		}
//	}
//
//go:noescape
func codes64Batch16NEONDot(dst *float32, data *byte, back, blocks, dwords int, q *int8, scales *[16]*float32, scaleShift int)

// codes64Batch8NEONDot is codes64Batch16NEONDot for 8 columns.
//
//go:noescape
func codes64Batch8NEONDot(dst *float32, data *byte, back, blocks, dwords int, q *int8, scales *[16]*float32, scaleShift int)

// codes64Batch4NEONDot is codes64Batch16NEONDot for 4 columns.
//
//go:noescape
func codes64Batch4NEONDot(dst *float32, data *byte, back, blocks, dwords int, q *int8, scales *[16]*float32, scaleShift int)
