package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// exchanges are the steps of interleaveBits, on dwords.
var exchanges = []struct {
	distance uint64
	mask     uint32
}{{14, 0x0000cccc}, {7, 0x00aa00aa}, {2, 0x0c0c0c0c}, {1, 0x22222222}}

// pack writes the packer of half a tile.
func pack(p *asm.Program) {
	p.Func("q1PackAVX2", "func(dst, scales, data *byte, stride, blocks int)",
		"q1PackAVX2 packs eight rows of stride bytes into half a tile of the layout",
		"bitplanes, whose bits are at dst and scales at scales:",
		"",
		"\tfor b := range blocks {",
		"\t\tfor r := range 8 {",
		"\t\t\tblock := data[stride*r+18*b:][:18]",
		"\t\t\tfor v := range 4 {",
		"\t\t\t\tcopy(dst[288*b+64*v+4*r:], interleaveBits(block[2+4*v:][:4]))",
		"\t\t\t}",
		"\t\t\tcopy(scales[288*b+2*r:], block[:2])",
		"\t\t}",
		"\t}")
	t := ymmTarget{p}
	dst := p.Load(p.Param("dst"), p.GP64())
	stride := p.Load(p.Param("stride"), p.GP64())
	blocks := p.Load(p.Param("blocks"), p.GP64())
	rows := rowAddresses(p, stride, 2)
	scales := p.Load(p.Param("scales"), p.GP64())
	masks := make([]reg.VecVirtual, len(exchanges))
	for i, e := range exchanges {
		masks[i] = t.broadcast(e.mask)
	}
	p.Label("packBlock")
	for v, w := range transposedRows(p, avx2{t}, rows.At) {
		for i, e := range exchanges {
			d := p.YMM()
			p.VPSRLD(operand.Imm(e.distance), w, d)
			p.VPXOR(w, d, d)
			p.VPAND(masks[i], d, d)
			p.VPXOR(d, w, w)
			p.VPSLLD(operand.Imm(e.distance), d, d)
			p.VPXOR(d, w, w)
		}
		p.VMOVDQU(w, operand.Mem{Base: dst, Disp: v * vectorBytes})
	}
	for i := range t.lanes() {
		r := p.GP32()
		p.MOVWLZX(rows.At(i, 0), r)
		p.MOVW(r.As16(), operand.Mem{Base: scales, Disp: 2 * i})
	}
	p.Advance(rows, operand.Imm(rowBlockBytes))
	p.ADDQ(operand.U32(blockBytes), dst)
	p.ADDQ(operand.U32(blockBytes), scales)
	p.DECQ(blocks)
	p.JNZ(operand.LabelRef("packBlock"))
	p.VZEROUPPER()
	p.RET()
}

// rowAddresses begins 4·fourths rows at the parameter data.
func rowAddresses(p *asm.Program, stride reg.Register, fourths int) asm.Rows {
	rows := p.Rows(p.Stride(stride), fourths)
	p.Load(p.Param("data"), rows.Fourth[0])
	p.StartRows(rows)
	return rows
}
