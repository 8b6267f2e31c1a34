package pack

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	rows128Group = 256              // bytes of 16 columns of 128 rows
	rows128Bits  = 8 * rows128Group // of 128 columns
	rows128Block = rows128Bits + 2*128
)

// rows128 writes the packer of a vector of each group of the layout rows128.
// Eight rows, and the 16 behind them in the other half of the registers, are
// transposed, and put side by side.
func (g *generator) rows128() {
	g.Func("packRows128AVX2", "func(dst, scales, rows *byte, stride, blocks int)",
		"packRows128AVX2 packs 32 rows of stride bytes, blocks of 18 bytes each: the bits to",
		"dst, 64 bytes of every 256, the scales to scales:",
		"",
		"\tfor b := range blocks {",
		"\t\tfor i := range 32 {",
		"\t\t\tblock, place := rows[stride*i+18*b:][:18], 2*(i%16) + i/16",
		"\t\t\tfor g := range 8 {",
		"\t\t\t\tcopy(dst[2304*b+256*g+2*place:], block[2+2*g:][:2])",
		"\t\t\t}",
		"\t\t\tcopy(scales[2304*b+2*i:], block[:2])",
		"\t\t}",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	scales := g.Load(g.Param("scales"), g.GP64())
	block := g.Load(g.Param("rows"), g.GP64())
	stride := g.Load(g.Param("stride"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	rows, stride16 := g.Stride(stride), g.GP64()
	g.MOVQ(stride, stride16)
	g.SHLQ(operand.U8(4), stride16)
	ahead := g.GP64()
	g.LEAQ(operand.Mem{Base: block, Index: stride16, Scale: 2}, ahead)

	g.Label("block")
	g.Comment("The next 32 rows, as many bytes a block as a block takes.")
	g.Prefetch(0, asm.Lines(operand.Mem{Base: ahead}, 32*q1Block)...)
	g.ADDQ(operand.I32(32*q1Block), ahead)
	row := g.GP64()
	g.MOVQ(block, row)
	for eight := range 2 {
		v := g.loadRows(row, stride16, rows, func(i, half int) operand.Mem {
			return operand.Mem{Base: scales, Disp: 2 * (8*eight + 16*half + i)}
		})
		for group, w := range g.transposeWords(v) {
			odd := g.XMM()
			g.VEXTRACTI128(operand.U8(1), w, odd)
			for i, interleave := range []func(ops ...operand.Op){g.VPUNPCKLWD, g.VPUNPCKHWD} {
				pairs := g.XMM()
				interleave(odd, w.AsX(), pairs)
				g.VMOVDQU(pairs, operand.Mem{Base: dst, Disp: rows128Group*group + 32*eight + 16*i})
			}
		}
		g.LEAQ(operand.Mem{Base: row, Index: stride, Scale: 8}, row)
	}
	for _, r := range []reg.Register{dst, scales} {
		g.ADDQ(operand.I32(rows128Block), r)
	}
	g.ADDQ(operand.I32(q1Block), block)
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}
