package twobit

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Batches multiply tiles of 64 rows as the layout codes64 has them, the layout's own or
// those that rows are packed to in scratch, with panels of activations.
const (
	panelCols  = 4             // activation columns of a panel
	stepBytes  = 4 * panelCols // of a panel: 4 activations, or a sum, of each column
	groupSteps = groupBytes
	groupBytes = 16 // of a row's codes, packed together
	vectorRows = 16 // rows of a tile whose dwords are 64 bytes
)

// batchArguments are those of all kernels for batches.
const batchArguments = "dst *float32, dstStride int, tile *byte, rows, blocks, groups int, weight *float32, panel *int8, panelStride int, scales *float32, scaleStride, scaleStep, cols int, ahead *byte"

// batchDoc says what they do.
func batchDoc(name, layout, columns string) []string {
	return []string{
		name + " multiplies the first rows of a tile of the layout " + layout + ", blocks of groups",
		"times 64 columns, with " + columns + " in panels of 4. Strides are in bytes.",
		"Activation scales go on by scaleStep bytes a block, 4, 2 or 0. Cache lines from ahead on are",
		"fetched, as many as the tile has.",
		"",
	}
}

// panel writes the function that makes panels of columns in row order.
func (g *generator) panel() {
	g.Func("panelAVX2", "func(dst, columns *int8, stride, cols, groups, blocks int)",
		"panelAVX2 makes a panel of up to 4 columns in row order, stride bytes apart. Each",
		"block of groups of 64 activations begins with -Σq of its columns; then come 16",
		"bytes for each 4 activations, in the order in which strips of weights have their",
		"codes: 16 bytes, within them 4, and of these the 4 shifts. Columns that are not",
		"there repeat the last.",
		"",
		"\tfor c := range 4 {",
		"\t\tfrom := int32s(columns[min(c, cols-1)*stride+64:])",
		"\t\tfor b := range blocks {",
		"\t\t\tto := int32s(dst)[4*b*(1+16*groups):]",
		"\t\t\tto[c] = -Σq of block b",
		"\t\t\tfor i := range 4 * groups {",
		"\t\t\t\tfor j := range 4 {",
		"\t\t\t\t\tk := 4*groups*b + i",
		"\t\t\t\t\tto[4*(1+4*i+j)+c] = from[k/16*64+16*j+k%16]",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	var column [panelCols]reg.GPVirtual
	last, stride := g.GP64(), g.GP64()
	g.Load(g.Param("stride"), stride)
	g.Load(g.Param("cols"), last)
	for c := range column {
		column[c] = g.GP64()
		if c == 0 {
			g.Load(g.Param("columns"), column[0])
			g.ADDQ(operand.I32(64), column[0])
			continue
		}
		next := g.GP64()
		g.MOVQ(column[c-1], column[c])
		g.LEAQ(operand.Mem{Base: column[c], Index: stride, Scale: 1}, next)
		g.CMPQ(last, operand.I32(c))
		g.CMOVQGT(next, column[c])
	}
	dst := g.Load(g.Param("dst"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	groups, sums, position := g.GP64(), g.GP64(), g.GP64()
	ones, minus, sum := g.XMM(), g.XMM(), g.XMM()
	g.VMOVDQU(g.byteOnes, ones)
	g.VPCMPEQD(minus, minus, minus)
	g.XORQ(position, position)

	g.Label("block")
	g.Clear(sum)
	g.MOVQ(dst, sums)
	g.ADDQ(operand.I32(stepBytes), dst)
	g.MOVQ(g.Argument("groups"), groups)
	g.Label("group")
	// A group is 16 bytes at each shift, of the 64 that a unit has.
	words := g.XMM() // sums of 32 activations
	g.Clear(words)
	shift := g.GP64()
	g.MOVQ(operand.I32(4), shift)
	g.Label("shift")
	var v [4]reg.VecVirtual
	for c := range v {
		v[c] = g.XMM()
		g.VMOVDQU(operand.Mem{Base: column[c], Index: position, Scale: 1}, v[c])
	}
	for d, row := range g.Transpose(v) {
		g.VMOVDQU(row, asm.At(dst, 4*stepBytes*d))
		g.VPMADDUBSW(row, ones, row)
		g.VPADDW(row, words, words)
	}
	g.ADDQ(operand.I32(unitBytes), position)
	g.ADDQ(operand.I32(stepBytes), dst)
	g.DECQ(shift)
	g.JNZ(operand.LabelRef("shift"))
	g.SUBQ(operand.I32(4*unitBytes), position)
	g.VPMADDWD(minus, words, words)
	g.VPADDD(words, sum, sum)
	g.ADDQ(operand.I32((groupSteps-4)*stepBytes), dst)
	// The next group of this unit, or the first of the next.
	g.ADDQ(operand.I32(groupBytes), position)
	g.TESTQ(operand.I32(unitBytes-1), position)
	g.JNZ(operand.LabelRef("counted"))
	g.ADDQ(operand.I32(unitQ-unitBytes), position)
	g.Label("counted")
	g.DECQ(groups)
	g.JNZ(operand.LabelRef("group"))
	g.VMOVDQU(sum, asm.At(sums, 0))
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.RET()
}

// batch is the state of a kernel for up to so many columns. Each dword of activations meets several
// vectors of a tile, so that products do not wait for loads, nor for sums if columns are few.
type batch struct {
	g            *generator
	cols         int
	vectors      int
	codes, ahead reg.GPVirtual
	q            []reg.GPVirtual    // in each panel
	sums         [][]reg.VecVirtual // by column, then vector
}

// registers returns one for each vector.
func (b *batch) registers() (v []reg.VecVirtual) {
	for range b.vectors {
		v = append(v, b.g.ZMM())
	}
	return v
}

// column returns dword i of the activations of column c.
func (b *batch) column(c, i int) operand.Mem {
	return asm.At(b.q[c/panelCols], stepBytes*i+4*(c%panelCols))
}

// advance moves all panels on.
func (b *batch) advance(by operand.Op) {
	for _, q := range b.q {
		b.g.ADDQ(by, q)
	}
}

// batch writes a kernel for tiles of a layout. block adds the products of a block to sums, and moves
// codes to its scales, or for later vectors back bytes behind: codes are 64 bytes further, scales 32.
func (g *generator) batch(prefix, layout string, vectors, cols int, prepare func(b *batch), block func(b *batch, back reg.GPVirtual)) {
	name := fmt.Sprintf("%sBatch%dAVX512VNNI", prefix, cols)
	g.Func(name, "func("+batchArguments+")", append(batchDoc(name, layout, fmt.Sprintf("up to %d columns", cols)),
		"\tfor c := range cols {",
		"\t\tfor r := range rows {",
		"\t\t\tvar y float32",
		"\t\t\tfor k := range blocks {",
		"\t\t\t\tsum := -Σq[c] of block k + Σ code[r]·q[c] of block k",
		"\t\t\t\tscale := fp16 scale of row r and block k, or *weight",
		"\t\t\t\ty += float32(float32(scale*scales[(c*scaleStride+k*scaleStep)/4]) * float32(sum))",
		"\t\t\t}",
		"\t\t\tdst[c*dstStride/4+r] = y",
		"\t\t}",
		"\t}")...)
	b := &batch{g: g, cols: cols, vectors: vectors, codes: g.GP64(), ahead: g.GP64()}
	for range (cols + panelCols - 1) / panelCols {
		b.q = append(b.q, g.GP64())
	}
	for range cols {
		b.sums = append(b.sums, b.registers())
	}
	prepare(b)
	results, rows, scaleAt, back, left := b.results(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Load(g.Param("rows"), rows)
	g.Load(g.Param("ahead"), b.ahead)
	g.XORQ(back, back)

	g.Label("rows")
	g.MOVQ(g.Argument("tile"), b.codes)
	g.MOVQ(g.Argument("panel"), b.q[0])
	for i := range b.q[1:] {
		g.MOVQ(b.q[i], b.q[i+1])
		g.ADDQ(g.Argument("panelStride"), b.q[i+1])
	}
	b.clearResults(results)
	g.XORQ(scaleAt, scaleAt)
	g.MOVQ(g.Argument("blocks"), left)
	g.Label("block")
	b.startSums()
	block(b, back)
	b.addTerms(b.weights(back), scaleAt, results)
	g.fetch(b.ahead, tileScales*b.vectors/tileVectors)
	g.ADDQ(operand.I32(tileScales), b.codes)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))

	b.store(results, rows)
	bytes := 64 * b.vectors // of a dword, and of results
	g.ADDQ(operand.I32(bytes), g.Argument("dst"))
	g.ADDQ(operand.I32(bytes), g.Argument("tile"))
	g.ADDQ(operand.I32(bytes/2), back)
	g.SUBQ(operand.I32(vectorRows*b.vectors), rows)
	g.JG(operand.LabelRef("rows"))
	g.VZEROUPPER()
	g.RET()
}

// tileBatch writes the kernel of the layout codes64.
func (g *generator) tileBatch(cols int) {
	var mask reg.VecVirtual
	vectors := 2
	if cols == panelCols {
		vectors = tileVectors
	}
	g.batch("tile", "codes64", vectors, cols, func(*batch) { mask = g.loadMasks(g.ZMM, 1)[0] }, func(b *batch, _ reg.GPVirtual) {
		left := g.GP64()
		g.MOVQ(g.Argument("groups"), left)
		g.SHLQ(operand.U8(bits.TrailingZeros(quadDwords)), left)
		g.Label("dword")
		codes := b.loadDword()
		for j := range 4 {
			b.multiply(b.shifted(codes, mask, j), func(c int) operand.Mem { return b.column(c, j) })
		}
		b.advance(operand.I32(4 * stepBytes))
		g.DECQ(left)
		g.JNZ(operand.LabelRef("dword"))
	})
}

// startSums makes -Σq the sum of each column.
func (b *batch) startSums() {
	for c, sums := range b.sums {
		b.g.VPBROADCASTD(b.column(c, 0), sums[0])
		for _, v := range sums[1:] {
			b.g.VMOVDQA64(sums[0], v)
		}
	}
	b.advance(operand.I32(stepBytes))
}

// loadDword loads a dword of the rows, and goes to the next.
func (b *batch) loadDword() []reg.VecVirtual {
	w := b.registers()
	for v, w := range w {
		b.g.VMOVDQU64(asm.At(b.codes, 64*v), w)
	}
	b.g.ADDQ(operand.I32(dwordBytes), b.codes)
	b.g.fetch(b.ahead, 64*b.vectors)
	return w
}

// shifted returns codes 4i+j of dwords as bytes.
func (b *batch) shifted(codes []reg.VecVirtual, mask reg.VecVirtual, j int) []reg.VecVirtual {
	bytes := b.registers()
	for v, w := range codes {
		if j == 0 {
			b.g.VPANDD(mask, w, bytes[v])
			continue
		}
		b.g.VPSRLD(operand.U8(2*j), w, bytes[v])
		b.g.VPANDD(mask, bytes[v], bytes[v])
	}
	return bytes
}

// multiply adds the products of 4 bytes of the rows and a dword of the activations of each column.
func (b *batch) multiply(bytes []reg.VecVirtual, column func(c int) operand.Mem) {
	for c, sums := range b.sums {
		q := b.g.ZMM()
		b.g.VPBROADCASTD(column(c), q)
		for v, w := range bytes {
			b.g.VPDPBUSD(q, w, sums[v])
		}
	}
}

// weights returns the scales of the rows.
func (b *batch) weights(back reg.GPVirtual) []reg.VecVirtual {
	w, at := b.registers(), b.g.GP64()
	b.g.MOVQ(b.g.Argument("weight"), at)
	b.g.TESTQ(at, at)
	b.g.JNZ(operand.LabelRef("tensor"))
	b.g.MOVQ(b.codes, at)
	b.g.SUBQ(back, at)
	for v, w := range w {
		b.g.VCVTPH2PS(asm.At(at, 2*vectorRows*v), w)
	}
	b.g.JMP(operand.LabelRef("weighed"))
	b.g.Label("tensor")
	for _, w := range w {
		b.g.VBROADCASTSS(asm.At(at, 0), w)
	}
	b.g.Label("weighed")
	return w
}

// addTerms adds the terms of a block to the results of its columns, as many as there
// are. scaleAt is the sum of scaleStep so far.
func (b *batch) addTerms(weights []reg.VecVirtual, scaleAt, results reg.GPVirtual) {
	at, left, stride := b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(scaleAt, at)
	b.g.ANDQ(operand.I32(-4), at)
	b.g.ADDQ(b.g.Argument("scales"), at)
	b.g.ADDQ(b.g.Argument("scaleStep"), scaleAt)
	b.g.MOVQ(b.g.Argument("cols"), left)
	b.g.MOVQ(b.g.Argument("scaleStride"), stride)
	for c, sums := range b.sums {
		for v, sum := range sums {
			t, y := b.g.ZMM(), asm.At(results, 64*(b.vectors*c+v))
			b.g.VCVTDQ2PS(sum, sum)
			b.g.VMULPS_BCST(asm.At(at, 0), weights[v], t)
			b.g.VMULPS(t, sum, sum)
			b.g.VADDPS(y, sum, sum)
			b.g.VMOVUPS(sum, y)
		}
		if c < b.cols-1 {
			b.g.DECQ(left)
			b.g.JZ(operand.LabelRef("added"))
			b.g.ADDQ(stride, at)
		}
	}
	b.g.Label("added")
}

// results makes room in the frame for those of the columns, aligned, so that none straddles
// cache lines: there are no registers left for them.
func (b *batch) results() reg.GPVirtual {
	b.g.Attributes(0) // the frame is too large for NOSPLIT
	frame, results := b.g.AllocLocal(64*(b.vectors*b.cols+1)), b.g.GP64()
	b.g.LEAQ(frame.Offset(63), results)
	b.g.ANDQ(operand.I32(-64), results)
	return results
}

// clearResults sets them to 0.
func (b *batch) clearResults(results reg.GPVirtual) {
	zero := b.g.ZMM()
	b.g.Clear(zero)
	for i := range b.vectors * b.cols {
		b.g.VMOVUPS(zero, asm.At(results, 64*i))
	}
}

// store stores the results of the columns that there are, and of so many rows.
func (b *batch) store(results, rows reg.GPVirtual) {
	from, dst, stride, left, more := b.g.GP64(), b.g.GP64(), b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(results, from)
	b.g.MOVQ(b.g.Argument("dst"), dst)
	b.g.MOVQ(b.g.Argument("dstStride"), stride)
	b.g.MOVQ(b.g.Argument("cols"), left)
	b.g.MOVQ(rows, more)
	lanes := make([]reg.OpmaskVirtual, b.vectors)
	for v := range lanes {
		lanes[v] = b.g.firstLanes(more)
		b.g.SUBQ(operand.I32(vectorRows), more)
	}
	b.g.Label("store")
	for v, lanes := range lanes {
		y := b.g.ZMM()
		b.g.VMOVUPS(asm.At(from, 64*v), y)
		b.g.VMOVUPS(y, lanes, asm.At(dst, 64*v))
	}
	b.g.ADDQ(operand.I32(64*b.vectors), from)
	b.g.ADDQ(stride, dst)
	b.g.DECQ(left)
	b.g.JNZ(operand.LabelRef("store"))
}
