package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	panelCols  = 16            // activation columns of a panel
	panelRow   = 4 * panelCols // bytes: 4 activations of each column
	groupBytes = 16            // of a row's codes, expanded together
	batchRows  = 16            // weight rows of a tile
)

// panel writes the function that makes panels of columns in row order.
func (g *generator) panel() {
	g.Func("panelAVX512VNNI", "func(dst, columns *int8, stride, cols, groups, blocks int)",
		"panelAVX512VNNI makes a panel of up to 16 columns in row order, stride bytes",
		"apart. Each block of groups of 64 activations begins with -Σq of its columns; then",
		"come 64 bytes for each 4 activations, in the order in which tiles of weights have",
		"their codes: 16 bytes, within them 4, and of these the 4 shifts. Columns that are",
		"not there repeat the last.",
		"",
		"\tfor c := range 16 {",
		"\t\tfrom := int32s(columns[min(c, cols-1)*stride+64:])",
		"\t\tfor b := range blocks {",
		"\t\t\tto := int32s(dst)[16*b*(1+16*groups):]",
		"\t\t\tto[c] = -Σq of block b",
		"\t\t\tfor i := range 4 * groups {",
		"\t\t\t\tfor j := range 4 {",
		"\t\t\t\t\tk := 4*groups*b + i",
		"\t\t\t\t\tto[16*(1+4*i+j)+c] = from[k/16*64+16*j+k%16]",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	offsets := g.AllocLocal(8 * panelCols) // the addresses of the columns
	column, next, last, stride := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Load(g.Param("columns"), column)
	g.Load(g.Param("stride"), stride)
	g.Load(g.Param("cols"), last)
	g.ADDQ(operand.I32(64), column)
	for c := range panelCols {
		g.MOVQ(column, offsets.Offset(8*c))
		g.LEAQ(operand.Mem{Base: column, Index: stride, Scale: 1}, next)
		g.CMPQ(last, operand.I32(c+1))
		g.CMOVQGT(next, column)
	}
	dst := g.Load(g.Param("dst"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	from, groups, sums, position := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	ones, sum := g.ZMM(), g.ZMM()
	g.VMOVDQU64(g.byteOnes, ones)
	g.XORQ(position, position)

	g.Label("block")
	g.clear(sum)
	g.MOVQ(dst, sums)
	g.ADDQ(operand.I32(panelRow), dst)
	g.MOVQ(g.param("groups"), groups)
	g.Label("group")
	// A group is 16 bytes at each shift, of the 64 that a unit has.
	for j := range 4 {
		var v [4]reg.VecVirtual
		for i := range v {
			v[i] = g.ZMM()
			for l := range 4 {
				g.MOVQ(offsets.Offset(8*(4*l+i)), from)
				m := operand.Mem{Base: from, Index: position, Scale: 1, Disp: 64 * j}
				if l == 0 {
					g.VMOVDQU32(m, v[i].AsX())
				} else {
					g.VINSERTI32X4(operand.U8(l), m, v[i].AsZ(), v[i].AsZ())
				}
			}
		}
		for d, row := range g.transposeQuads(v) {
			g.VMOVDQU64(row, at(dst, panelRow*(4*d+j)))
			g.VPDPBUSD(row, ones, sum)
		}
	}
	g.ADDQ(operand.I32(16*panelRow), dst)
	// The next group of this unit, or the first of the next.
	g.ADDQ(operand.I32(groupBytes), position)
	g.TESTQ(operand.I32(unitBytes-1), position)
	g.JNZ(operand.LabelRef("counted"))
	g.ADDQ(operand.I32(unitQ-unitBytes), position)
	g.Label("counted")
	g.DECQ(groups)
	g.JNZ(operand.LabelRef("group"))
	negated := g.ZMM()
	g.clear(negated)
	g.VPSUBD(sum, negated, negated)
	g.VMOVDQU64(negated, at(sums, 0))
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}

// transposeQuads transposes the 4 × 4 dwords that the same 128-bit lane of
// four vectors makes.
func (g *generator) transposeQuads(v [4]reg.VecVirtual) (out [4]reg.VecVirtual) {
	var half [4]reg.VecVirtual
	for i := range half {
		half[i], out[i] = g.like(v[i]), g.like(v[i])
	}
	g.VPUNPCKLDQ(v[1], v[0], half[0])
	g.VPUNPCKLDQ(v[3], v[2], half[1])
	g.VPUNPCKHDQ(v[1], v[0], half[2])
	g.VPUNPCKHDQ(v[3], v[2], half[3])
	g.VPUNPCKLQDQ(half[1], half[0], out[0])
	g.VPUNPCKHQDQ(half[1], half[0], out[1])
	g.VPUNPCKLQDQ(half[3], half[2], out[2])
	g.VPUNPCKHQDQ(half[3], half[2], out[3])
	return out
}

// batch is the state of a kernel for panels of cols columns.
//
// 16 rows lie in the lanes of a register, 4 codes of each; an activation dword
// is broadcast from memory. So there are no horizontal sums, and what it costs
// to bring 16 rows together and to expand their codes, 48 instructions per 16
// bytes of each, is shared by 16 VPDPBUSD per column.
type batch struct {
	*generator
	cols            int
	stride, stride3 reg.GPVirtual
	quarter         [4]reg.GPVirtual // the first of every 4 rows
	q, groups       reg.GPVirtual
	ahead           reg.GPVirtual // what is prefetched
	mask            reg.VecVirtual
	codes           [4]reg.VecVirtual // of 16 rows, 4 of each 4
	// sums of columns: column i%cols. Few columns get several sums each, to
	// hide VPDPBUSD's latency.
	sums []reg.VecVirtual
}

// newBatch begins a kernel's code.
func (g *generator) newBatch(cols int) *batch {
	b := &batch{generator: g, cols: cols}
	b.stride, b.stride3, b.q, b.groups, b.ahead = g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	for i := range b.quarter {
		b.quarter[i] = g.GP64()
	}
	g.Load(g.Param("stride"), b.stride)
	g.LEAQ(operand.Mem{Base: b.stride, Index: b.stride, Scale: 2}, b.stride3)
	b.mask = g.ZMM()
	g.VMOVDQU64(g.masks[0], b.mask)
	for i := range b.codes {
		b.codes[i] = g.ZMM()
	}
	for range panelCols / cols * cols {
		b.sums = append(b.sums, g.ZMM())
	}
	return b
}

// startTile points to the first bytes of 16 rows and of the panel.
func (b *batch) startTile() {
	b.MOVQ(b.param("panel"), b.q)
	b.MOVQ(b.param("w"), b.quarter[0])
	for i := range 3 {
		b.LEAQ(operand.Mem{Base: b.quarter[i], Index: b.stride, Scale: 4}, b.quarter[i+1])
	}
	b.LEAQ(operand.Mem{Base: b.quarter[3], Index: b.stride, Scale: 4}, b.ahead)
}

// startSums makes -Σq the sum of each column.
func (b *batch) startSums() {
	for i, v := range b.sums {
		if i < b.cols {
			b.VPBROADCASTD(at(b.q, 4*i), v)
		} else {
			b.clear(v)
		}
	}
	b.ADDQ(operand.I32(panelRow), b.q)
}

// row is where row r is read.
func (b *batch) row(r int) operand.Mem {
	m := at(b.quarter[r/4], 0)
	switch r % 4 {
	case 1, 2:
		m.Index, m.Scale = b.stride, uint8(r%4)
	case 3:
		m.Index, m.Scale = b.stride3, 1
	}
	return m
}

// group adds 16 bytes of each row.
func (b *batch) group() {
	for i, v := range b.codes {
		b.VMOVDQU32(b.row(i), v.AsX())
		for l := 1; l < 4; l++ {
			b.VINSERTI32X4(operand.U8(l), b.row(4*l+i), v, v)
		}
		b.PREFETCHT0(at(b.ahead, 64*i))
	}
	b.multiply()
	b.ADDQ(operand.I32(groupBytes*panelRow), b.q)
	b.ADDQ(operand.I32(batchRows*groupBytes), b.ahead)
}

// lastGroup adds the dwords of last.
func (b *batch) lastGroup(last reg.OpmaskVirtual) {
	for i, v := range b.codes {
		b.VMOVDQU32_Z(b.row(i), last, v.AsX())
		for l := 1; l < 4; l++ {
			x := b.XMM()
			b.VMOVDQU32_Z(b.row(4*l+i), last, x)
			b.VINSERTI32X4(operand.U8(l), x, v, v)
		}
	}
	b.multiply()
}

// multiply adds the products of what is in codes.
func (b *batch) multiply() {
	for d, codes := range b.transposeQuads(b.codes) {
		for j := range 4 {
			t := b.ZMM()
			if j == 0 {
				b.VPANDD(b.mask, codes, t)
			} else {
				b.VPSRLD(operand.U8(2*j), codes, t)
				b.VPANDD(b.mask, t, t)
			}
			for c := range b.cols {
				b.VPDPBUSD_BCST(at(b.q, panelRow*(4*d+j)+4*c), t, b.sums[(d*b.cols+c)%len(b.sums)])
			}
		}
	}
}

func (b *batch) advance(bytes operand.Op) {
	for _, p := range b.quarter {
		b.ADDQ(bytes, p)
	}
}

// endSums leaves one sum of each column, as float32.
func (b *batch) endSums() []reg.VecVirtual {
	for i := b.cols; i < len(b.sums); i++ {
		b.VPADDD(b.sums[i], b.sums[i%b.cols], b.sums[i%b.cols])
	}
	for _, v := range b.sums[:b.cols] {
		b.VCVTDQ2PS(v, v)
	}
	return b.sums[:b.cols]
}

// storeColumns stores what value gives for the columns that there are. If
// stride is 0 all rows are the same, and only the first is stored.
func (b *batch) storeColumns(value func(c int) reg.VecVirtual) {
	dst, dstStride, cols := b.GP64(), b.GP64(), b.GP64()
	b.MOVQ(b.param("dst"), dst)
	b.MOVQ(b.param("dstStride"), dstStride)
	b.MOVQ(b.param("cols"), cols)
	lanes, one, all := b.K(), b.GP64(), b.GP64()
	b.MOVQ(operand.I32(1), one)
	b.MOVQ(operand.I32(1<<batchRows-1), all)
	b.TESTQ(b.stride, b.stride)
	b.CMOVQNE(all, one)
	b.KMOVW(one.As32(), lanes)
	for c := range b.cols {
		if c > 0 {
			b.CMPQ(cols, operand.I32(c))
			b.JLE(operand.LabelRef("stored"))
			b.ADDQ(dstStride, dst)
		}
		b.VMOVUPS(value(c), lanes, at(dst, 0))
	}
	b.Label("stored")
}

// endTile goes to the next tile, or returns.
func (b *batch) endTile() {
	b.MOVQ(b.stride, b.q)
	b.SHLQ(operand.U8(4), b.q)
	b.ADDQ(b.q, b.param("w"))
	b.ADDQ(operand.I32(4*batchRows), b.param("dst"))
	b.DECQ(b.param("tiles"))
	b.JNZ(operand.LabelRef("tile"))
	b.VZEROUPPER()
	b.RET()
}

// ternaryBatch writes a kernel of formats with one scale per tensor.
func (g *generator) ternaryBatch(cols int) {
	name := fmt.Sprintf("ternaryBatch%dAVX512VNNI", cols)
	g.Func(name, "func(dst *float32, dstStride int, w *byte, stride, rowBytes int, panel *int8, scales *float32, scale float32, cols, tiles int)",
		fmt.Sprintf("%s multiplies tiles of 16 rows of rowBytes bytes, a multiple", name),
		fmt.Sprintf("of 4, with the first cols of a panel's columns, up to %d. Rows start stride", cols),
		"bytes apart; if stride is 0 they are one row, and one result is stored. Columns",
		"of dst are dstStride bytes apart.",
		"",
		"\tfor c := range cols {",
		"\t\tfor r := range 16 * tiles {",
		"\t\t\tsum := -Σq[c] + Σ code[r]·q[c]",
		"\t\t\tdst[c*dstStride/4+r] = float32(float32(scale*scales[c])*float32(sum)) + 0",
		"\t\t}",
		"\t}")
	b := g.newBatch(cols)
	last := g.K()
	g.MOVQ(g.param("rowBytes"), b.q)
	g.SHRQ(operand.U8(2), b.q)
	g.ANDQ(operand.I32(3), b.q)
	g.prefixMask(b.q, 0, last)

	g.Label("tile")
	b.startTile()
	b.startSums()
	g.MOVQ(g.param("rowBytes"), b.groups)
	g.SHRQ(operand.U8(4), b.groups)
	g.JZ(operand.LabelRef("last"))
	g.Label("group")
	b.group()
	b.advance(operand.I32(groupBytes))
	g.DECQ(b.groups)
	g.JNZ(operand.LabelRef("group"))
	g.Label("last")
	g.KTESTW(last, last)
	g.JZ(operand.LabelRef("finish"))
	b.lastGroup(last)

	g.Label("finish")
	sums := b.endSums()
	scales, weight, scale, zero := g.GP64(), g.XMM(), g.ZMM(), g.ZMM()
	g.MOVQ(g.param("scales"), scales)
	g.VMOVSS(g.param("scale"), weight)
	g.clear(zero)
	b.storeColumns(func(c int) reg.VecVirtual {
		g.VMULSS(at(scales, 4*c), weight, scale.AsX())
		g.VBROADCASTSS(scale.AsX(), scale)
		g.VMULPS(scale, sums[c], sums[c])
		g.VADDPS(zero, sums[c], sums[c])
		return sums[c]
	})
	b.endTile()
}

// blocksBatch writes a kernel of formats with a scale per block. The sums of
// a block become a term, which is added to results in the frame: there are no
// registers left for them.
func (g *generator) blocksBatch(cols int) {
	name := fmt.Sprintf("blocksBatch%dAVX512VNNI", cols)
	doc := append([]string{
		fmt.Sprintf("%s multiplies tiles of 16 rows of blocks with the first", name),
		fmt.Sprintf("cols of a panel's columns, up to %d. Rows start stride bytes apart; if stride is", cols),
		"0 they are one row, and one result is stored. Columns of dst are dstStride bytes",
		"apart, those of activation scales scaleStride.",
	}, blocksDoc...)
	g.Func(name, "func(dst *float32, dstStride int, w *byte, stride, blocks int, panel *int8, scales *float32, scaleStride, cols, tiles, "+blocksArguments+" int)",
		append(doc, blocksLoops("16 * tiles")...)...)
	g.Attributes(0) // the frame is too large for NOSPLIT
	b := g.newBatch(cols)
	frame := g.AllocLocal(64 * (cols + 2))
	results := g.GP64() // 64-byte aligned, so that no result straddles cache lines
	g.LEAQ(frame.Offset(63), results)
	g.ANDQ(operand.I32(-64), results)
	halves := at(results, 64*cols)
	g.ADDQ(operand.I32(groupBytes), g.param("gap")) // from the last group's codes on

	g.Label("tile")
	b.startTile()
	zero := g.ZMM()
	g.clear(zero)
	for c := range cols {
		g.VMOVUPS(zero, at(results, 64*c))
	}
	scaleAt := g.GP64()
	g.XORQ(scaleAt, scaleAt)
	g.MOVQ(g.param("blocks"), b.groups)

	g.Label("block")
	b.startSums()
	b.copyHalves(halves)
	left := g.GP64()
	g.MOVQ(g.param("groups"), left)
	g.Label("group")
	b.group()
	g.DECQ(left)
	g.JNZ(operand.LabelRef("more"))
	weight, gap := g.ZMM(), g.GP64()
	g.VCVTPH2PS(halves, weight)
	g.MOVQ(g.param("gap"), gap)
	b.advance(gap)
	sums := b.endSums()
	at0 := g.GP64()
	g.MOVQ(scaleAt, at0)
	g.ANDQ(operand.I32(-4), at0)
	g.ADDQ(g.param("scales"), at0)
	g.ADDQ(g.param("scaleStep"), scaleAt)
	g.MOVQ(g.param("cols"), left)
	g.MOVQ(g.param("scaleStride"), gap)
	for c, sum := range sums {
		t := g.ZMM()
		g.VMULPS_BCST(at(at0, 0), weight, t)
		g.VMULPS(t, sum, sum)
		g.VADDPS(at(results, 64*c), sum, sum)
		g.VMOVUPS(sum, at(results, 64*c))
		if c < cols-1 {
			g.DECQ(left)
			g.JZ(operand.LabelRef("added"))
			g.ADDQ(gap, at0)
		}
	}
	g.Label("added")
	g.DECQ(b.groups)
	g.JNZ(operand.LabelRef("block"))

	b.storeColumns(func(c int) reg.VecVirtual {
		y := g.ZMM()
		g.VMOVUPS(at(results, 64*c), y)
		return y
	})
	b.endTile()

	g.Label("more")
	b.advance(operand.I32(groupBytes))
	g.JMP(operand.LabelRef("group"))
}

// copyHalves brings together the fp16 scales, scaleAt behind where the rows are
// read. They go through memory, and not through the ports of the products.
func (b *batch) copyHalves(to operand.Mem) {
	index, half := b.GP64(), b.GP32() // of row i, from the first of 4 rows on
	b.MOVQ(b.param("scaleAt"), index)
	for i := range 4 {
		if i > 0 {
			b.ADDQ(b.stride, index)
		}
		for q, quarter := range b.quarter {
			b.MOVWLZX(operand.Mem{Base: quarter, Index: index, Scale: 1}, half)
			b.MOVW(half.As16(), to.Offset(2*(4*q+i)))
		}
	}
}
