package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// segmentUnits is after how many units the four sums of a row are folded into
// one. Sum 3 of a lane grows by up to 4·192·127 = 97,536 per 4 codes; a unit
// adds that once to 16 lanes or twice to 8: 4096 units stay below 2³¹ twice
// over.
const segmentUnits = 4096

// rowsArgs are the arguments of all kernels with one scale per tensor.
const rowsSignature = "func(dst *float32, w *byte, stride, rowBytes int, q *int8, tiles int, scale float32)"

func rowsDoc(name string, tile int) []string {
	return []string{
		fmt.Sprintf("%s multiplies tiles of %d rows of rowBytes bytes, a multiple of 4, that", name, tile),
		"start stride bytes apart. q is in row order: 64 bytes with -Σq in the first",
		"int32 and zeros, then units of 256.",
		"",
		fmt.Sprintf("\tfor r := range %d * tiles {", tile),
		"\t\tsum := -Σq",
		"\t\tfor i := range rowBytes {",
		"\t\t\tfor j := range 4 {",
		"\t\t\t\tsum += int32(w[r*stride+i]>>(2*j)&3) * int32(q[64+i/64*256+j*64+i%64])",
		"\t\t\t}",
		"\t\t}",
		"\t\tdst[r] = float32(scale*float32(sum)) + 0",
		"\t}",
	}
}

// rowsAVX512VNNI takes 4 rows at a time: each vector of activations is loaded
// once for 4 vectors of weights, and 16 sums hide VPDPBUSD's latency. Per 64
// bytes 4 VPANDD and 4 VPDPBUSD, on two ports: 16 bytes per cycle.
func (g *generator) rowsAVX512VNNI() {
	const name = "ternaryRowsAVX512VNNI"
	g.Func(name, rowsSignature, rowsDoc(name, 4)...)
	dst := g.Load(g.Param("dst"), g.GP64())
	w := g.Load(g.Param("w"), g.GP64())
	stride := g.Load(g.Param("stride"), g.GP64())
	rowBytes := g.Load(g.Param("rowBytes"), g.GP64())
	q := g.Load(g.Param("q"), g.GP64())
	tiles := g.Load(g.Param("tiles"), g.GP64())
	scale := g.XMM()
	g.VBROADCASTSS(g.param("scale"), scale)

	stride3, tileBytes := g.GP64(), g.GP64()
	g.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	g.MOVQ(stride, tileBytes)
	g.SHLQ(operand.U8(2), tileBytes)
	units, tail := g.GP64(), g.tailMask(rowBytes)
	g.MOVQ(rowBytes, units)
	g.SHRQ(operand.U8(6), units)
	var masks [4]reg.VecVirtual
	for j := range masks {
		masks[j] = g.ZMM()
		g.VMOVDQU64(g.masks[j], masks[j])
	}

	var acc [4][4]reg.VecVirtual // [row][j]
	for r := range acc {
		for j := range acc[r] {
			acc[r][j] = g.ZMM()
			g.VPXORD(acc[r][j], acc[r][j], acc[r][j])
		}
	}

	g.Label("tile")
	for r := range acc {
		g.VMOVDQU32(at(q, 0), acc[r][0])
	}
	src, qp, left, ahead := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(w, src)
	g.LEAQ(at(q, 64), qp)
	g.MOVQ(units, left)
	// The tile's bytes are read in four streams, prefetched as one.
	g.LEAQ(operand.Mem{Base: w, Index: tileBytes, Scale: 1, Disp: prefetchBytes}, ahead)

	unit := func(load func(r int, from operand.Mem, to reg.VecVirtual)) {
		rows := [4]operand.Mem{{Base: src}, {Base: src, Index: stride, Scale: 1}, {Base: src, Index: stride, Scale: 2}, {Base: src, Index: stride3, Scale: 1}}
		var qv [4]reg.VecVirtual
		for j := range qv {
			qv[j] = g.ZMM()
			g.VMOVDQU64(at(qp, 64*j), qv[j])
		}
		for r := range rows {
			wv := g.ZMM()
			load(r, rows[r], wv)
			for j := range masks {
				t := g.ZMM()
				g.VPANDD(masks[j], wv, t)
				g.VPDPBUSD(qv[j], t, acc[r][j])
			}
		}
	}

	segment := g.GP64()
	g.Label("segment")
	g.MOVQ(operand.I32(segmentUnits), segment)
	g.CMPQ(left, segment)
	g.CMOVQLT(left, segment)
	g.SUBQ(segment, left)
	g.TESTQ(segment, segment)
	g.JZ(operand.LabelRef("last"))
	g.Label("unit")
	unit(func(r int, from operand.Mem, to reg.VecVirtual) {
		g.VMOVDQU64(from, to)
		g.PREFETCHT0(at(ahead, 64*r))
	})
	g.ADDQ(operand.I32(unitBytes), src)
	g.ADDQ(operand.I32(unitQ), qp)
	g.ADDQ(operand.I32(4*unitBytes), ahead)
	g.DECQ(segment)
	g.JNZ(operand.LabelRef("unit"))
	g.TESTQ(left, left)
	g.JNZ(operand.LabelRef("fold"))

	g.Label("last")
	g.KTESTW(tail, tail)
	g.JZ(operand.LabelRef("fold"))
	unit(func(r int, from operand.Mem, to reg.VecVirtual) { g.VMOVDQU32_Z(from, tail, to) })

	g.Label("fold")
	for r := range acc {
		for j := 1; j < 4; j++ {
			g.VPSRAD(operand.U8(2*j), acc[r][j], acc[r][j])
			g.VPADDD(acc[r][j], acc[r][0], acc[r][0])
			g.VPXORD(acc[r][j], acc[r][j], acc[r][j])
		}
	}
	g.TESTQ(left, left)
	g.JNZ(operand.LabelRef("segment"))

	sum := g.transposeAdd([4]reg.VecVirtual{acc[0][0], acc[1][0], acc[2][0], acc[3][0]})
	g.finish(g.foldLanes(sum), scale, dst)
	g.ADDQ(tileBytes, w)
	g.ADDQ(operand.I32(16), dst)
	g.DECQ(tiles)
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// prefetchBytes is how far behind the tile that follows the prefetches run.
const prefetchBytes = 4096

// tailMask returns a mask with a bit for each dword of the last, incomplete
// unit of a row.
func (g *generator) tailMask(rowBytes reg.Register) reg.OpmaskVirtual {
	bits, mask := g.GP64(), g.K()
	g.MOVQ(rowBytes, reg.RCX)
	g.SHRQ(operand.U8(2), reg.RCX)
	g.ANDQ(operand.I32(15), reg.RCX)
	g.MOVQ(operand.I32(1), bits)
	g.SHLQ(reg.CL, bits)
	g.DECQ(bits)
	g.KMOVW(bits.As32(), mask)
	return mask
}

// transposeAdd returns the sums of four vectors: dword i of each 128-bit lane
// is the sum of that lane of a[i].
func (g *generator) transposeAdd(a [4]reg.VecVirtual) reg.VecVirtual {
	pair := func(x, y reg.VecVirtual) reg.VecVirtual {
		lo, hi := g.like(x), g.like(x)
		g.VPUNPCKLDQ(y, x, lo)
		g.VPUNPCKHDQ(y, x, hi)
		g.VPADDD(hi, lo, lo)
		return lo
	}
	x, y := pair(a[0], a[1]), pair(a[2], a[3])
	lo, hi := g.like(x), g.like(x)
	g.VPUNPCKLQDQ(y, x, lo)
	g.VPUNPCKHQDQ(y, x, hi)
	g.VPADDD(hi, lo, lo)
	return lo
}

// like returns a new register as wide as v.
func (g *generator) like(v reg.VecVirtual) reg.VecVirtual {
	if v.Size() == 64 {
		return g.ZMM()
	}
	return g.YMM()
}

// foldLanes returns the sum of the 128-bit lanes of v.
func (g *generator) foldLanes(v reg.VecVirtual) reg.VecVirtual {
	y := v
	if v.Size() == 64 {
		y = g.YMM()
		g.VEXTRACTI64X4(operand.U8(1), v, y)
		g.VPADDD(v.AsY(), y, y)
	}
	x := g.XMM()
	g.VEXTRACTI128(operand.U8(1), y, x)
	g.VPADDD(y.AsX(), x, x)
	return x
}

// finish stores scale·sum of four rows. The generic path adds its only term
// to 0, which makes a -0 of it +0.
func (g *generator) finish(sum, scale reg.VecVirtual, dst reg.Register) {
	zero := g.XMM()
	g.VCVTDQ2PS(sum, sum)
	g.VMULPS(scale, sum, sum)
	g.VXORPS(zero, zero, zero)
	g.VADDPS(zero, sum, sum)
	g.VMOVUPS(sum, operand.Mem{Base: dst})
}
