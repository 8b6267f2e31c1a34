package q8

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// q8Batch multiplies 8 rows with up to 16 columns of activations, which lie in
// the lanes: nothing is added across lanes, and 4 codes of a row, broadcast,
// serve all columns. Per 512 products 8 VPXORD, 8 VPDPBUSD and 8 instructions
// for the scales.
func (g *generator) q8Batch() {
	g.Func("q8BatchAVX512VNNI", "func(dst *float32, dstStride int, w *byte, stride int, q *int8, scales *float32, groups, shift, blocks, tiles, columns int)",
		"q8BatchAVX512VNNI multiplies tiles of 8 rows, which start stride bytes apart and",
		"have blocks of 34 bytes each, with 1 to 16 columns of a panel that q8Panels",
		"arranged.",
		"",
		"\tfor c := range columns {",
		"\t\tfor r := range 8 * tiles {",
		"\t\t\ty := float32(0)",
		"\t\t\tfor b := range blocks {",
		"\t\t\t\tsum := int32At(q, 576*b+4*c) // -128·Σq",
		"\t\t\t\tfor i := range 32 {",
		"\t\t\t\t\tsum += int32(w[r*stride+34*b+2+i]^0x80) * int32(q[576*b+64+i/4*64+4*c+i%4])",
		"\t\t\t\t}",
		"\t\t\t\ty += term(fp16At(w, r*stride+34*b), scales[c*groups+b>>shift], sum)",
		"\t\t\t}",
		"\t\t\tdst[c*dstStride+r] = y",
		"\t\t}",
		"\t}")
	rows := g.newRows()
	ahead := g.another(rows)
	g.Load(g.Param("columns"), reg.RCX)
	mask := g.GP64()
	g.MOVQ(operand.I32(1), mask)
	g.SHLQ(reg.CL, mask)
	g.DECQ(mask)
	g.Load(g.Param("shift"), reg.RCX)
	lane := g.StaticGlobal("q8Lane")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		g.AppendDatum(operand.U32(i))
	}
	scaleAt, dstAt := g.multiples(lane, "groups"), g.multiples(lane, "dstStride")
	bias := g.ZMM()
	g.VMOVDQU64(g.constant("q8BatchBias", 0x8080808080808080, 8), bias)
	y := make([]reg.VecVirtual, tile)
	for r := range y {
		y[r] = g.ZMM()
	}

	g.Label("tile")
	w := g.Load(g.Param("w"), g.GP64())
	g.start(rows, w)
	g.LEAQ(operand.Mem{Base: w, Index: rows.One, Scale: 8}, w)
	g.start(ahead, w)
	q, block := g.Load(g.Param("q"), g.GP64()), g.GP64()
	g.XORQ(block, block)
	for _, v := range y {
		g.VPXORD(v, v, v)
	}

	g.Label("block")
	g.prefetch(ahead)
	dots := make([]reg.VecVirtual, tile)
	for r := range dots {
		dots[r] = g.ZMM()
		g.VMOVDQU32(asm.At(q, 0), dots[r])
	}
	for step := range 8 {
		qv := g.ZMM()
		g.VMOVDQU32(asm.At(q, 64+64*step), qv)
		for r, acc := range dots {
			codes := g.ZMM()
			g.VPXORD_BCST(rows.At(r, 2+4*step), bias, codes)
			g.VPDPBUSD(qv, codes, acc)
		}
	}
	activation := g.gather(scaleAt, mask, block)
	for r, sum := range dots {
		d := g.ZMM()
		g.VPBROADCASTW(rows.At(r, 0), d.AsY())
		g.VCVTPH2PS(d.AsY(), d)
		g.VCVTDQ2PS(sum, sum)
		g.VMULPS(activation, d, d)
		g.VMULPS(sum, d, d)
		g.VADDPS(d, y[r], y[r])
	}
	g.Advance(rows, operand.I32(q8Block))
	g.Advance(ahead, operand.I32(q8Block))
	g.ADDQ(operand.I32(q8PanelBlock), q)
	g.INCQ(block)
	blocks := g.Load(g.Param("blocks"), g.GP64())
	g.CMPQ(block, blocks)
	g.JNE(operand.LabelRef("block"))

	dst := g.Load(g.Param("dst"), g.GP64())
	for r, v := range y {
		k := g.K()
		g.KMOVW(mask.As32(), k)
		g.VSCATTERDPS(v, k, operand.Mem{Base: dst, Index: dstAt, Scale: 4, Disp: 4 * r})
	}
	g.ADDQ(operand.I32(4*tile), dst)
	g.Store(dst, g.Param("dst"))
	w = g.Load(g.Param("w"), g.GP64())
	g.LEAQ(operand.Mem{Base: w, Index: rows.One, Scale: 8}, w)
	g.Store(w, g.Param("w"))
	tiles := g.Load(g.Param("tiles"), g.GP64())
	g.DECQ(tiles)
	g.Store(tiles, g.Param("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// q8PanelBlock is the bytes that a panel has for 32 columns of the weights:
// 16 int32 and 32 × 16 int8.
const q8PanelBlock = 64 + 32*16

// multiples returns the numbers of the lanes, times the argument of that name.
func (g *generator) multiples(lane operand.Mem, param string) reg.VecVirtual {
	v, n := g.ZMM(), g.Load(g.Param(param), g.GP64())
	g.VPBROADCASTD(n.(reg.GP).As32(), v)
	g.VPMULLD(lane, v, v)
	return v
}

// gather returns the scales of the columns for a block.
func (g *generator) gather(scaleAt reg.VecVirtual, mask, block reg.GPVirtual) reg.VecVirtual {
	v, k, group := g.ZMM(), g.K(), g.GP64()
	scales := g.Load(g.Param("scales"), g.GP64())
	g.MOVQ(block, group)
	g.SHRQ(reg.CL, group)
	g.LEAQ(operand.Mem{Base: scales, Index: group, Scale: 4}, group)
	g.KMOVW(mask.As32(), k)
	g.VPXORD(v, v, v)
	g.VGATHERDPS(operand.Mem{Base: group, Index: scaleAt, Scale: 4}, k, v)
	return v
}
