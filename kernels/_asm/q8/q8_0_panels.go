package q8

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	panelColumns = 8
	// What a kernel works in: the codes of a block of 8 rows, and its scales.
	roomScales = tile * 2 * 32
)

// A panelEngine multiplies the codes of rows, which are a broadcast of some, with
// as many activations of 8 columns.
type panelEngine struct {
	isa string
	// codeBytes is what expand makes of a code, which it loads from w and stores
	// in the room; a step multiplies 4 bytes of codes with 32 of activations.
	codeBytes int
	expand    func(w, room operand.Mem)
	// start is the bytes of a panel's block before its activations: what the sums begin with.
	start int
	dot   func(x, codes, acc reg.VecVirtual)
}

// wordPanels multiplies in int16: four instructions for 32 products, as with
// VPMADDUBSW, whose operands would have to exchange their signs first.
func (g *generator) wordPanels() panelEngine {
	return panelEngine{
		isa: "AVX2", codeBytes: 2,
		expand: func(w, room operand.Mem) {
			for i := range 2 {
				v := g.YMM()
				g.VPMOVSXBW(w.Offset(16*i), v)
				g.VMOVDQA(v, room.Offset(32*i))
			}
		},
		dot: func(x, codes, acc reg.VecVirtual) {
			g.VPMADDWD(x, codes, codes)
			g.VPADDD(codes, acc, acc)
		},
	}
}

// bytePanels multiplies codes that are 128 too large, and begins with what that
// adds: -128·Σq.
func (g *generator) bytePanels(bias operand.Mem) panelEngine {
	return panelEngine{
		isa: "AVXVNNI", codeBytes: 1, start: 4 * panelColumns,
		expand: func(w, room operand.Mem) {
			v := g.YMM()
			g.VMOVDQU(w, v)
			g.VPXOR(bias, v, v)
			g.VMOVDQA(v, room)
		},
		dot: g.VEXDPBUSD,
	}
}

// q8Panels multiplies 8 rows with panels of 8 columns, which lie in the lanes:
// nothing is added across lanes. Codes become what is multiplied once for all
// panels, in the L1 cache.
func (g *generator) q8Panels(e panelEngine) {
	name := "q8Panels" + e.isa
	g.Func(name, "func(y *float32, w *byte, stride int, x *int8, panelStride int, scales *float32, scaleStride, shift, blocks, panels int, room *byte)",
		name+" multiplies 8 rows, which start stride bytes apart and have blocks of 34 bytes",
		"each, with panels of 8 columns of activations, of panelStride bytes, and of scales, of scaleStride.",
		"y has 8 rows of 8 columns for each panel, to which it adds:",
		"",
		"\tfor p := range panels {",
		"\t\tfor r := range 8 {",
		"\t\t\tfor c := range 8 {",
		"\t\t\t\tfor b := range blocks {",
		"\t\t\t\t\tvar sum int32",
		"\t\t\t\t\tfor i := range 32 {",
		"\t\t\t\t\t\tsum += int32(int8(w[r*stride+34*b+2+i])) * int32(q[8*p+c][32*b+i])",
		"\t\t\t\t\t}",
		"\t\t\t\t\ty[64*p+8*r+c] += term(fp16At(w, r*stride+34*b), scales[p*scaleStride/4+8*(b>>shift)+c], sum)",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"",
		"x has q in the order that the variant says. It works in 544 bytes of room, which begins",
		"with a cache line.")
	g.Load(g.Param("shift"), reg.RCX)
	rows := g.newRows()
	ahead := g.another(rows)
	w := g.Load(g.Param("w"), g.GP64())
	g.start(rows, w)
	g.LEAQ(operand.Mem{Base: w, Index: rows.One, Scale: 8}, w)
	g.start(ahead, w)
	room := g.Load(g.Param("room"), g.GP64())
	x, block := g.Load(g.Param("x"), g.GP64()), g.GP64()
	g.XORQ(block, block)
	panelBytes := e.start + 32*panelColumns*e.codeBytes

	g.Label("block")
	g.prefetch(ahead)
	for r := range tile {
		e.expand(rows.At(r, 2), asm.At(room, r*32*e.codeBytes))
	}
	g.VMOVUPS(g.scales(rows, 0), asm.At(room, roomScales))
	panel, y, left := g.GP64(), g.Load(g.Param("y"), g.GP64()), g.Load(g.Param("panels"), g.GP64())
	g.MOVQ(x, panel)
	scales := g.GP64()
	g.MOVQ(block, scales)
	g.SHRQ(reg.CL, scales)
	g.SHLQ(operand.U8(5), scales)
	g.ADDQ(g.Load(g.Param("scales"), g.GP64()), scales)

	g.Label("panel")
	acc := make([]reg.VecVirtual, tile)
	for r := range acc {
		acc[r] = g.YMM()
		if e.start > 0 {
			g.VMOVDQU(asm.At(panel, 0), acc[r])
		} else {
			g.VPXOR(acc[r], acc[r], acc[r])
		}
	}
	for step := range 8 * e.codeBytes {
		xv := g.YMM()
		g.VMOVDQU(asm.At(panel, e.start+32*step), xv)
		for r := range acc {
			codes := g.YMM()
			g.VPBROADCASTD(asm.At(room, r*32*e.codeBytes+4*step), codes)
			e.dot(xv, codes, acc[r])
		}
	}
	scale := g.YMM()
	g.VMOVUPS(asm.At(scales, 0), scale)
	for r, sum := range acc {
		d := g.YMM()
		g.VBROADCASTSS(asm.At(room, roomScales+4*r), d)
		g.VCVTDQ2PS(sum, sum)
		g.VMULPS(scale, d, d)
		g.VMULPS(sum, d, d)
		g.VADDPS(asm.At(y, 32*r), d, d)
		g.VMOVUPS(d, asm.At(y, 32*r))
	}
	g.ADDQ(g.Load(g.Param("panelStride"), g.GP64()), panel)
	g.ADDQ(g.Load(g.Param("scaleStride"), g.GP64()), scales)
	g.ADDQ(operand.U32(4*tile*panelColumns), y)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))

	g.Advance(rows, operand.I32(q8Block))
	g.Advance(ahead, operand.I32(q8Block))
	g.ADDQ(operand.U32(panelBytes), x)
	g.INCQ(block)
	blocks := g.Load(g.Param("blocks"), g.GP64())
	g.CMPQ(block, blocks)
	g.JNE(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}
