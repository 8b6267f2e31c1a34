package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
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
	g.Clear(sum)
	g.MOVQ(dst, sums)
	g.ADDQ(operand.I32(panelRow), dst)
	g.MOVQ(g.Argument("groups"), groups)
	g.Label("group")
	// A group is 16 bytes at each shift, of the 64 that a unit has.
	shift := g.GP64()
	g.MOVQ(operand.I32(4), shift)
	g.Label("shift")
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = g.ZMM()
		for l := range 4 {
			g.MOVQ(offsets.Offset(8*(4*l+i)), from)
			m := operand.Mem{Base: from, Index: position, Scale: 1}
			if l == 0 {
				g.VMOVDQU32(m, v[i].AsX())
			} else {
				g.VINSERTI32X4(operand.U8(l), m, v[i].AsZ(), v[i].AsZ())
			}
		}
	}
	for d, row := range g.Transpose(v) {
		g.VMOVDQU64(row, asm.At(dst, 4*panelRow*d))
		g.VPDPBUSD(row, ones, sum)
	}
	g.ADDQ(operand.I32(unitBytes), position)
	g.ADDQ(operand.I32(panelRow), dst)
	g.DECQ(shift)
	g.JNZ(operand.LabelRef("shift"))
	g.SUBQ(operand.I32(4*unitBytes), position)
	g.ADDQ(operand.I32(12*panelRow), dst)
	// The next group of this unit, or the first of the next.
	g.ADDQ(operand.I32(groupBytes), position)
	g.TESTQ(operand.I32(unitBytes-1), position)
	g.JNZ(operand.LabelRef("counted"))
	g.ADDQ(operand.I32(unitQ-unitBytes), position)
	g.Label("counted")
	g.DECQ(groups)
	g.JNZ(operand.LabelRef("group"))
	negated := g.ZMM()
	g.Clear(negated)
	g.VPSUBD(sum, negated, negated)
	g.VMOVDQU64(negated, asm.At(sums, 0))
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}

// batch is the state of a kernel for panels of cols columns.
//
// 16 rows lie in the lanes of a register, 4 codes of each; an activation dword
// is broadcast from memory. So there are no horizontal sums, and what it costs
// to bring 16 rows together and to expand their codes, 48 instructions per 16
// bytes of each, is shared by 16 VPDPBUSD per column.
type batch struct {
	g         *generator
	cols      int
	tile      asm.Rows
	q, groups reg.GPVirtual
	ahead     reg.GPVirtual // what is prefetched
	back      reg.GPVirtual // bytes from codes of a tile's row to its scale that are less
	mask      reg.VecVirtual
	codes     [4]reg.VecVirtual // of 16 rows, 4 of each 4
	// sums of columns: column i%cols. Few columns get several sums each, to
	// hide VPDPBUSD's latency.
	sums []reg.VecVirtual
}

// newBatch begins the code of a kernel of rows that lie apart.
func (g *generator) newBatch(cols int) *batch {
	b := g.newSums(cols)
	stride := g.Stride(g.Load(g.Param("stride"), g.GP64()))
	b.tile = g.Rows(stride, batchRows/4)
	for i := range b.codes {
		b.codes[i] = g.ZMM()
	}
	return b
}

// newSums begins a kernel's code.
func (g *generator) newSums(cols int) *batch {
	b := &batch{g: g, cols: cols}
	b.q, b.groups, b.ahead = g.GP64(), g.GP64(), g.GP64()
	b.mask = g.ZMM()
	g.VMOVDQU64(g.masks[0], b.mask)
	for range panelCols / cols * cols {
		b.sums = append(b.sums, g.ZMM())
	}
	return b
}

// startTile points to the first bytes of 16 rows and of the panel.
func (b *batch) startTile() {
	b.g.MOVQ(b.g.Argument("panel"), b.q)
	b.g.MOVQ(b.g.Argument("w"), b.tile.Fourth[0])
	b.g.StartRows(b.tile)
	b.g.LEAQ(operand.Mem{Base: b.tile.Fourth[3], Index: b.tile.One, Scale: 4}, b.ahead)
}

// startSums makes -Σq the sum of each column.
func (b *batch) startSums() {
	for i, v := range b.sums {
		if i < b.cols {
			b.g.VPBROADCASTD(asm.At(b.q, 4*i), v)
		} else {
			b.g.Clear(v)
		}
	}
	b.g.ADDQ(operand.I32(panelRow), b.q)
}

// loadGroup loads 16 bytes of each row.
func (b *batch) loadGroup() {
	for i, v := range b.codes {
		b.g.VMOVDQU32(b.tile.At(i, 0), v.AsX())
		for l := 1; l < 4; l++ {
			b.g.VINSERTI32X4(operand.U8(l), b.tile.At(4*l+i, 0), v, v)
		}
		b.g.PREFETCHT0(asm.At(b.ahead, 64*i))
	}
}

// loadLast loads the dwords of last.
func (b *batch) loadLast(last reg.OpmaskVirtual) {
	for i, v := range b.codes {
		b.g.VMOVDQU32_Z(b.tile.At(i, 0), last, v.AsX())
		for l := 1; l < 4; l++ {
			x := b.g.XMM()
			b.g.VMOVDQU32_Z(b.tile.At(4*l+i, 0), last, x)
			b.g.VINSERTI32X4(operand.U8(l), x, v, v)
		}
	}
}

// multiply adds the products of what is in codes, and goes on to the next group. Of many columns a shift
// is work enough for a loop.
func (b *batch) multiply() {
	written := max(1, 4/max(1, b.cols/3))
	dwords, left := b.g.Transpose(b.codes), b.g.GP64()
	if written < 4 {
		b.g.MOVQ(operand.I32(4/written), left)
		b.g.Label("shift")
	}
	for d, codes := range dwords {
		for j := range written {
			b.multiplyBytes(b.shifted(codes, j), 4*d+j, d)
		}
		if written < 4 {
			b.g.VPSRLD(operand.U8(2*written), codes, codes)
		}
	}
	if written < 4 {
		b.g.ADDQ(operand.I32(written*panelRow), b.q)
		b.g.DECQ(left)
		b.g.JNZ(operand.LabelRef("shift"))
		b.g.ADDQ(operand.I32((groupBytes-4)*panelRow), b.q)
	} else {
		b.g.ADDQ(operand.I32(groupBytes*panelRow), b.q)
	}
	b.g.ADDQ(operand.I32(batchRows*groupBytes), b.ahead)
}

// shifted returns codes 4i+j of a dword as bytes.
func (b *batch) shifted(codes reg.VecVirtual, j int) reg.VecVirtual {
	t := b.g.ZMM()
	if j == 0 {
		b.g.VPANDD(b.mask, codes, t)
	} else {
		b.g.VPSRLD(operand.U8(2*j), codes, t)
		b.g.VPANDD(b.mask, t, t)
	}
	return t
}

// multiplyBytes adds the products of 4 bytes of 16 rows and dword i of the activations of each
// column, to the sums of a turn.
func (b *batch) multiplyBytes(bytes reg.VecVirtual, i, turn int) {
	b.multiplyAt(bytes, asm.At(b.q, panelRow*i), turn)
}

// multiplyAt is multiplyBytes for a dword at an address.
func (b *batch) multiplyAt(bytes reg.VecVirtual, q operand.Mem, turn int) {
	for c := range b.cols {
		b.g.VPDPBUSD_BCST(q.Offset(4*c), bytes, b.sums[(turn*b.cols+c)%len(b.sums)])
	}
}

// endSums leaves one sum of each column, as float32.
func (b *batch) endSums() []reg.VecVirtual {
	for i := b.cols; i < len(b.sums); i++ {
		b.g.VPADDD(b.sums[i], b.sums[i%b.cols], b.sums[i%b.cols])
	}
	for _, v := range b.sums[:b.cols] {
		b.g.VCVTDQ2PS(v, v)
	}
	return b.sums[:b.cols]
}

// tileLanes says which rows are stored: if stride is 0 all are the same, and only
// the first is.
func (b *batch) tileLanes() reg.OpmaskVirtual {
	lanes, one, all := b.g.K(), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(operand.I32(1), one)
	b.g.MOVQ(operand.I32(1<<batchRows-1), all)
	b.g.TESTQ(b.tile.One, b.tile.One)
	b.g.CMOVQNE(all, one)
	b.g.KMOVW(one.As32(), lanes)
	return lanes
}

// storeColumns stores what value gives for the columns that there are.
func (b *batch) storeColumns(lanes reg.OpmaskVirtual, value func(c int) reg.VecVirtual) {
	dst, dstStride, cols := b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(b.g.Argument("dst"), dst)
	b.g.MOVQ(b.g.Argument("dstStride"), dstStride)
	b.g.MOVQ(b.g.Argument("cols"), cols)
	for c := range b.cols {
		if c > 0 {
			b.g.CMPQ(cols, operand.I32(c))
			b.g.JLE(operand.LabelRef("stored"))
			b.g.ADDQ(dstStride, dst)
		}
		b.g.VMOVUPS(value(c), lanes, asm.At(dst, 0))
	}
	b.g.Label("stored")
}

// endTile goes to the next tile, or returns.
func (b *batch) endTile() {
	b.g.MOVQ(b.tile.One, b.q)
	b.g.SHLQ(operand.U8(4), b.q)
	b.g.ADDQ(b.q, b.g.Argument("w"))
	b.g.ADDQ(operand.I32(4*batchRows), b.g.Argument("dst"))
	b.g.DECQ(b.g.Argument("tiles"))
	b.g.JNZ(operand.LabelRef("tile"))
	b.g.VZEROUPPER()
	b.g.RET()
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
	g.MOVQ(g.Argument("rowBytes"), b.q)
	g.SHRQ(operand.U8(2), b.q)
	g.ANDQ(operand.I32(3), b.q)
	g.prefixMask(b.q, 0, last)

	g.Label("tile")
	b.startTile()
	b.startSums()
	g.MOVQ(g.Argument("rowBytes"), b.groups)
	g.SHRQ(operand.U8(4), b.groups)
	g.Label("group")
	g.DECQ(b.groups)
	g.JS(operand.LabelRef("last"))
	b.loadGroup()
	g.Label("loaded")
	b.multiply()
	b.g.Advance(b.tile, operand.I32(groupBytes))
	g.JMP(operand.LabelRef("group"))
	g.Label("last")
	g.CMPQ(b.groups, operand.I8(-1)) // once
	g.JNE(operand.LabelRef("finish"))
	g.KTESTW(last, last)
	g.JZ(operand.LabelRef("finish"))
	b.loadLast(last)
	g.JMP(operand.LabelRef("loaded"))

	g.Label("finish")
	sums := b.endSums()
	scales, weight, scale, zero := g.GP64(), g.XMM(), g.ZMM(), g.ZMM()
	g.MOVQ(g.Argument("scales"), scales)
	g.VMOVSS(g.Argument("scale"), weight)
	g.Clear(zero)
	b.storeColumns(b.tileLanes(), func(c int) reg.VecVirtual {
		g.VMULSS(asm.At(scales, 4*c), weight, scale.AsX())
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
	b := g.newBatch(cols)
	results := b.results(64)
	halves := asm.At(results, 64*cols)
	g.ADDQ(operand.I32(groupBytes), g.Argument("gap")) // from the last group's codes on

	g.Label("tile")
	b.startTile()
	b.clearResults(results)
	scaleAt := g.GP64()
	g.XORQ(scaleAt, scaleAt)
	g.MOVQ(g.Argument("blocks"), b.groups)

	g.Label("block")
	b.startSums()
	b.copyHalves(halves)
	left := g.GP64()
	g.MOVQ(g.Argument("groups"), left)
	g.Label("group")
	b.loadGroup()
	b.multiply()
	g.DECQ(left)
	g.JNZ(operand.LabelRef("more"))
	weight, gap := g.ZMM(), g.GP64()
	g.VCVTPH2PS(halves, weight)
	g.MOVQ(g.Argument("gap"), gap)
	b.g.Advance(b.tile, gap)
	b.addTerms(weight, scaleAt, results)
	g.DECQ(b.groups)
	g.JNZ(operand.LabelRef("block"))

	b.storeColumns(b.tileLanes(), b.resultsOf(results))
	b.endTile()

	g.Label("more")
	b.g.Advance(b.tile, operand.I32(groupBytes))
	g.JMP(operand.LabelRef("group"))
}

// addTerms adds the terms of a block to the results of its columns, as many as there
// are. scaleAt is the sum of scaleStep so far.
func (b *batch) addTerms(weight reg.VecVirtual, scaleAt, results reg.GPVirtual) {
	sums := b.endSums()
	at, left, stride := b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(scaleAt, at)
	b.g.ANDQ(operand.I32(-4), at)
	b.g.ADDQ(b.g.Argument("scales"), at)
	b.g.ADDQ(b.g.Argument("scaleStep"), scaleAt)
	b.g.MOVQ(b.g.Argument("cols"), left)
	b.g.MOVQ(b.g.Argument("scaleStride"), stride)
	for c, sum := range sums {
		t := b.g.ZMM()
		b.g.VMULPS_BCST(asm.At(at, 0), weight, t)
		b.g.VMULPS(t, sum, sum)
		b.g.VADDPS(asm.At(results, 64*c), sum, sum)
		b.g.VMOVUPS(sum, asm.At(results, 64*c))
		if c < b.cols-1 {
			b.g.DECQ(left)
			b.g.JZ(operand.LabelRef("added"))
			b.g.ADDQ(stride, at)
		}
	}
	b.g.Label("added")
}

// results makes room in the frame for those of the columns, and so much behind them,
// aligned, so that no result straddles cache lines.
func (b *batch) results(behind int) reg.GPVirtual {
	b.g.Attributes(0) // the frame is too large for NOSPLIT
	frame, results := b.g.AllocLocal(64*(b.cols+1)+behind), b.g.GP64()
	b.g.LEAQ(frame.Offset(63), results)
	b.g.ANDQ(operand.I32(-64), results)
	return results
}

// clearResults sets them to 0.
func (b *batch) clearResults(results reg.GPVirtual) {
	zero := b.g.ZMM()
	b.g.Clear(zero)
	for c := range b.cols {
		b.g.VMOVUPS(zero, asm.At(results, 64*c))
	}
}

// resultsOf loads those of a column.
func (b *batch) resultsOf(results reg.GPVirtual) func(c int) reg.VecVirtual {
	return func(c int) reg.VecVirtual {
		y := b.g.ZMM()
		b.g.VMOVUPS(asm.At(results, 64*c), y)
		return y
	}
}

// copyHalves brings together the fp16 scales, scaleAt behind where the rows are
// read. They go through memory, and not through the ports of the products.
func (b *batch) copyHalves(to operand.Mem) {
	index, half := b.g.GP64(), b.g.GP32() // of row i, from the first of 4 rows on
	b.g.MOVQ(b.g.Argument("scaleAt"), index)
	for i := range 4 {
		if i > 0 {
			b.g.ADDQ(b.tile.One, index)
		}
		for q, quarter := range b.tile.Fourth {
			b.g.MOVWLZX(operand.Mem{Base: quarter, Index: index, Scale: 1}, half)
			b.g.MOVW(half.As16(), to.Offset(2*(4*q+i)))
		}
	}
}
