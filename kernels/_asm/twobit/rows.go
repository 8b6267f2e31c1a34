package twobit

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// prefetchBytes is how far behind the start of the tile that follows the
// prefetches run. Time for 8 × 256 MiB of DRAM, medians in ms of CPU time on a
// busy two-core Emerald Rapids, none being no prefetch at all:
//
//	                          none     0  2048  4096  8192
//	i2_s       AVX-512 VNNI    302   242   245   237   257
//	           AVX-VNNI        327   254   251   238   269
//	           AVX2            312   245   257   250   244
//	tq2_0      AVX-512 VNNI    280               164   146
//	q2_0       AVX-512 VNNI    310               203   209
//	q2_0_g128  AVX-512 VNNI    278               181   184
const prefetchBytes = 4096

// A rowsEngine is what kernels with one scale per tensor do not share: how
// the codes of a unit are multiplied, and which registers hold the sums.
type rowsEngine interface {
	// spec returns the function's name, a sentence on how it works, and the
	// number of units, besides an incomplete one, after which the sums must be
	// folded.
	spec() (name, doc string, segment int)
	// prepare loads constants, makes a mask of the last, incomplete unit of
	// rows of n bytes, and clears the sums that fold clears.
	prepare(n reg.Register)
	// start sets the sum of each row to what m has in its first lane.
	start(m operand.Mem)
	// prefetch fetches lines ahead of their use.
	prefetch(lines []operand.Mem)
	// unit adds a unit of every row, which load puts into registers.
	unit(q reg.Register, load func(row, disp int, to reg.VecVirtual))
	// tail adds the incomplete unit, or jumps to none.
	tail(q reg.Register, row func(r int) operand.Mem, none operand.Op)
	// fold makes one sum of the sums of each row, and clears the others.
	fold()
	// sums returns the sums of the rows of a tile.
	sums() reg.VecVirtual
}

// rows writes the kernel of an engine.
func (g *generator) rows(e rowsEngine) {
	name, doc, segmentUnits := e.spec()
	g.Func(name, "func(dst *float32, w *byte, stride, rowBytes int, q *int8, tiles int, scale float32)", append([]string{
		name + " multiplies tiles of 4 rows of rowBytes bytes, a multiple of 4, that",
		"start stride bytes apart; if stride is 0 they are one row, and one result is",
		"stored. q is in row order: 64 bytes with -Σq in the first int32 and zeros, then",
		"units of 256.",
		"",
		"\tfor r := range 4 * tiles {",
		"\t\tsum := -Σq",
		"\t\tfor i := range rowBytes {",
		"\t\t\tfor j := range 4 {",
		"\t\t\t\tsum += int32(w[r*stride+i]>>(2*j)&3) * int32(q[64+i/64*256+j*64+i%64])",
		"\t\t\t}",
		"\t\t}",
		"\t\tdst[r] = float32(scale*float32(sum)) + 0",
		"\t}",
		""}, doc)...)
	dst := g.Load(g.Param("dst"), g.GP64())
	w := g.Load(g.Param("w"), g.GP64())
	stride := g.Load(g.Param("stride"), g.GP64())
	units := g.Load(g.Param("rowBytes"), g.GP64())
	q := g.Load(g.Param("q"), g.GP64())
	tiles := g.Load(g.Param("tiles"), g.GP64())
	rows, tileBytes := g.Stride(stride), g.GP64()
	g.MOVQ(stride, tileBytes)
	g.SHLQ(operand.U8(2), tileBytes)
	e.prepare(units)
	g.SHRQ(operand.U8(6), units)

	g.Label("tile")
	e.start(asm.At(q, 0))
	src, qp, left, ahead, segment := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	row := func(r int) operand.Mem { return rows.Row(src, r, 0) }
	g.MOVQ(w, src)
	g.LEAQ(asm.At(q, 64), qp)
	g.MOVQ(units, left)
	// A tile is read in four streams and prefetched as one.
	g.LEAQ(operand.Mem{Base: w, Index: tileBytes, Scale: 1, Disp: prefetchBytes}, ahead)

	g.Label("segment")
	g.MOVQ(operand.I32(segmentUnits), segment)
	g.CMPQ(left, segment)
	g.CMOVQLT(left, segment)
	g.SUBQ(segment, left)
	g.TESTQ(segment, segment)
	g.JZ(operand.LabelRef("last"))
	g.Label("unit")
	e.prefetch(asm.Lines(asm.At(ahead, 0), 4*unitBytes))
	e.unit(qp, func(r, disp int, to reg.VecVirtual) { g.load(row(r).Offset(disp), to) })
	g.ADDQ(operand.I32(unitBytes), src)
	g.ADDQ(operand.I32(unitQ), qp)
	g.ADDQ(operand.I32(4*unitBytes), ahead)
	g.DECQ(segment)
	g.JNZ(operand.LabelRef("unit"))
	g.TESTQ(left, left)
	g.JNZ(operand.LabelRef("fold"))

	g.Label("last")
	e.tail(qp, row, operand.LabelRef("fold"))

	g.Label("fold")
	e.fold()
	g.TESTQ(left, left)
	g.JNZ(operand.LabelRef("segment"))

	g.finish(e.sums(), dst, stride)
	g.ADDQ(tileBytes, w)
	g.ADDQ(operand.I32(16), dst)
	g.DECQ(tiles)
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// finish stores scale·sum. The generic path adds its only term to 0, which
// makes a -0 of it +0.
func (g *generator) finish(sum reg.VecVirtual, dst, stride reg.Register) {
	x := g.XMM()
	g.VCVTDQ2PS(sum, sum)
	g.VBROADCASTSS(g.Argument("scale"), x)
	g.VMULPS(x, sum, sum)
	g.VXORPS(x, x, x)
	g.VADDPS(x, sum, sum)
	g.storeTile(sum, dst, stride)
}

// storeTile stores the results of a tile, or of its first row only if all its
// rows are the same.
func (g *generator) storeTile(y reg.VecVirtual, dst, stride reg.Register) {
	g.TESTQ(stride, stride)
	g.JZ(operand.LabelRef("single"))
	g.VMOVUPS(y, asm.At(dst, 0))
	g.JMP(operand.LabelRef("stored"))
	g.Label("single")
	g.VMOVSS(y, asm.At(dst, 0))
	g.Label("stored")
}

// rowsAVX512VNNI loads each vector of activations once for the 4 vectors of
// weights of a tile; 16 sums hide VPDPBUSD's latency. Per 64 bytes 4 VPANDD
// and 4 VPDPBUSD, on two ports: 16 bytes per cycle.
type rowsAVX512VNNI struct {
	g          *generator
	masks, acc []reg.VecVirtual // acc[4·row + j]
	last       reg.OpmaskVirtual
}

// dpSegment bounds what VPDPBUSD adds up in int32. Sum 3 of a lane grows by up
// to 4·192·127 = 97,536 with each, of which a unit has one or two: 4096 units
// stay below 2³¹ twice over. So does the folded sum, which grows by a 16th.
const dpSegment = 4096

func (e *rowsAVX512VNNI) spec() (name, doc string, segment int) {
	return "ternaryRowsAVX512VNNI", "Sum j of 4 per row is over the codes at shift 2j, left there.", dpSegment
}

func (e *rowsAVX512VNNI) prepare(n reg.Register) {
	e.masks, e.acc, e.last = e.g.loadMasks(e.g.ZMM, 4), e.g.zeros(e.g.ZMM, 16), e.g.K()
	bits := e.g.GP64()
	e.g.MOVQ(n, reg.RCX)
	e.g.SHRQ(operand.U8(2), reg.RCX)
	e.g.ANDQ(operand.I32(15), reg.RCX)
	e.g.MOVQ(operand.I32(1), bits)
	e.g.SHLQ(reg.CL, bits)
	e.g.DECQ(bits)
	e.g.KMOVW(bits.As32(), e.last)
}

func (e *rowsAVX512VNNI) start(m operand.Mem) {
	for r := range 4 {
		e.g.VMOVDQU32(m, e.acc[4*r])
	}
}

func (e *rowsAVX512VNNI) prefetch(lines []operand.Mem) { e.g.Prefetch(0, lines...) }

func (e *rowsAVX512VNNI) unit(q reg.Register, load func(row, disp int, to reg.VecVirtual)) {
	var qv [4]reg.VecVirtual
	for j := range qv {
		qv[j] = e.g.ZMM()
		e.g.VMOVDQU64(asm.At(q, 64*j), qv[j])
	}
	for r := range 4 {
		w := e.g.ZMM()
		load(r, 0, w)
		for j, mask := range e.masks {
			t := e.g.ZMM()
			e.g.VPANDD(mask, w, t)
			e.g.VPDPBUSD(qv[j], t, e.acc[4*r+j])
		}
	}
}

func (e *rowsAVX512VNNI) tail(q reg.Register, row func(r int) operand.Mem, none operand.Op) {
	e.g.KTESTW(e.last, e.last)
	e.g.JZ(none)
	e.unit(q, func(r, disp int, to reg.VecVirtual) { e.g.VMOVDQU32_Z(row(r), e.last, to) })
}

func (e *rowsAVX512VNNI) fold() { e.g.foldShifted(e.acc) }

func (e *rowsAVX512VNNI) sums() reg.VecVirtual {
	return e.g.foldLanes(e.g.TransposeAdd([4]reg.VecVirtual{e.acc[0], e.acc[4], e.acc[8], e.acc[12]}))
}

// foldShifted adds sums 1 to 3 of each row, shifted, to sum 0, and clears
// them.
func (g *generator) foldShifted(acc []reg.VecVirtual) {
	for i, v := range acc {
		if j := i % 4; j > 0 {
			g.VPSRAD(operand.U8(2*j), v, v)
			g.VPADDD(v, acc[i-j], acc[i-j])
			g.Clear(v)
		}
	}
}

// rowsAVXVNNI makes do with 16 registers: 4 rows have 2 sums each, of codes at
// shifts 0 and 4 and of those at 2 and 6, and the weights are shifted by 4
// once. 4 sums of 2 rows each, without the shift, are as fast from L2 and a
// fifth slower from DRAM. Per 32 bytes a shift, 4 VPAND and 4 VPDPBUSD, on
// three ports.
type rowsAVXVNNI struct {
	g          *generator
	masks, acc []reg.VecVirtual // acc[2·row + j%2]
	last       ymmTail
}

func (e *rowsAVXVNNI) spec() (name, doc string, segment int) {
	return "ternaryRowsAVXVNNI", "Sum 0 of 2 per row is over the codes at shifts 0 and 4, sum 1 over the others.", dpSegment
}

func (e *rowsAVXVNNI) prepare(n reg.Register) {
	e.masks, e.acc, e.last = e.g.loadMasks(e.g.YMM, 2), e.g.zeros(e.g.YMM, 8), e.g.ymmTail(n)
}

func (e *rowsAVXVNNI) start(m operand.Mem) {
	for r := range 4 {
		e.g.VMOVDQU(m, e.acc[2*r])
	}
}

func (e *rowsAVXVNNI) prefetch(lines []operand.Mem) { e.g.Prefetch(0, lines...) }

func (e *rowsAVXVNNI) unit(q reg.Register, load func(row, disp int, to reg.VecVirtual)) {
	for disp := 0; disp < unitBytes; disp += 32 {
		var qv [4]reg.VecVirtual
		for j := range qv {
			qv[j] = e.g.YMM()
			e.g.VMOVDQU(asm.At(q, 64*j+disp), qv[j])
		}
		for r := range 4 {
			w := e.g.YMM()
			load(r, disp, w)
			for j := range 4 {
				if j == 2 {
					e.g.VPSRLW(operand.U8(4), w, w)
				}
				t := e.g.YMM()
				e.g.VPAND(e.masks[j%2], w, t)
				e.g.VEXDPBUSD(qv[j], t, e.acc[2*r+j%2])
			}
		}
	}
}

func (e *rowsAVXVNNI) tail(q reg.Register, row func(r int) operand.Mem, none operand.Op) {
	e.last.test(none)
	e.unit(q, func(r, disp int, to reg.VecVirtual) { e.last.load(row(r), disp, to) })
}

func (e *rowsAVXVNNI) fold() {
	for r := range 4 {
		v := e.acc[2*r+1]
		e.g.VPSRAD(operand.U8(2), v, v)
		e.g.VPADDD(v, e.acc[2*r], e.acc[2*r])
		e.g.Clear(v)
	}
}

func (e *rowsAVXVNNI) sums() reg.VecVirtual {
	return e.g.foldLanes(e.g.TransposeAdd([4]reg.VecVirtual{e.acc[0], e.acc[2], e.acc[4], e.acc[6]}))
}

// rowsAVX2 adds products in int16, those of shifts 0 and 4 in one sum per row
// and those of 2 and 6, four times as large, in another: a shift of the
// weights by 4 costs less than sums too large to add to. Per 32 bytes a shift,
// 4 VPAND, 4 VPMADDUBSW and 4 VPADDW, on three ports.
type rowsAVX2 struct {
	g          *generator
	masks, acc []reg.VecVirtual // acc[3·row + …]: int16, int16 times 4, and 4·Σ in int32
	last       ymmTail
}

// wordSegment bounds what VPMADDUBSW adds up in int16. Its pairs of products
// are at most 2·8·127 in the sums of codes times 4, and a unit adds 4 of them:
// 3 units and an incomplete one make 32,512. Codes are 2 at most, which Pack
// has checked.
const wordSegment = 3

func (e *rowsAVX2) spec() (name, doc string, segment int) {
	return "ternaryRowsAVX2", "Products are added in int16 over 3 units, or 4 at the end of a row.", wordSegment
}

func (e *rowsAVX2) prepare(n reg.Register) {
	e.masks, e.acc, e.last = e.g.loadMasks(e.g.YMM, 2), e.g.zeros(e.g.YMM, 12), e.g.ymmTail(n)
}

func (e *rowsAVX2) start(m operand.Mem) {
	for r := range 4 {
		e.g.VMOVDQU(m, e.acc[3*r+2])
		e.g.VPSLLD(operand.U8(2), e.acc[3*r+2], e.acc[3*r+2])
	}
}

// prefetch fetches into level 1 everywhere: with 25 GB/s from L2 it leaves
// level 1 the time, and is a tenth slower if it has to fetch from level 2.
func (e *rowsAVX2) prefetch(lines []operand.Mem) {
	for _, m := range lines {
		e.g.PREFETCHT0(m)
	}
}

func (e *rowsAVX2) unit(q reg.Register, load func(row, disp int, to reg.VecVirtual)) {
	for disp := 0; disp < unitBytes; disp += 32 {
		for r := range 4 {
			w := e.g.YMM()
			load(r, disp, w)
			for j := range 4 {
				if j == 2 {
					e.g.VPSRLW(operand.U8(4), w, w)
				}
				t := e.g.YMM()
				e.g.VPAND(e.masks[j%2], w, t)
				e.g.VPMADDUBSW(asm.At(q, 64*j+disp), t, t)
				e.g.VPADDW(t, e.acc[3*r+j%2], e.acc[3*r+j%2])
			}
		}
	}
}

func (e *rowsAVX2) tail(q reg.Register, row func(r int) operand.Mem, none operand.Op) {
	e.last.test(none)
	e.unit(q, func(r, disp int, to reg.VecVirtual) { e.last.load(row(r), disp, to) })
}

func (e *rowsAVX2) fold() {
	for r := range 4 {
		acc := e.acc[3*r:]
		for j, factor := range []operand.Mem{e.g.wordFours, e.g.wordOnes} {
			e.g.VPMADDWD(factor, acc[j], acc[j])
			e.g.VPADDD(acc[j], acc[2], acc[2])
			e.g.Clear(acc[j])
		}
	}
}

func (e *rowsAVX2) sums() reg.VecVirtual {
	x := e.g.foldLanes(e.g.TransposeAdd([4]reg.VecVirtual{e.acc[2], e.acc[5], e.acc[8], e.acc[11]}))
	e.g.VPSRAD(operand.U8(2), x, x)
	return x
}

// A ymmTail loads the incomplete unit at the end of a row.
type ymmTail struct {
	g     *generator
	mask  reg.GPVirtual // where 64 bytes of mask are
	bytes reg.GPVirtual
}

func (g *generator) ymmTail(n reg.Register) ymmTail {
	t := ymmTail{g, g.GP64(), g.GP64()}
	g.MOVQ(n, t.bytes)
	g.ANDQ(operand.I32(unitBytes-1), t.bytes)
	g.LEAQ(g.prefix.Offset(unitBytes), t.mask)
	g.SUBQ(t.bytes, t.mask)
	return t
}

func (t ymmTail) test(none operand.Op) {
	t.g.TESTQ(t.bytes, t.bytes)
	t.g.JZ(none)
}

func (t ymmTail) load(from operand.Mem, disp int, to reg.VecVirtual) {
	t.g.VMOVDQU(asm.At(t.mask, disp), to)
	t.g.VPMASKMOVD(from.Offset(disp), to, to)
}
