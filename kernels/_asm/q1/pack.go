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
	for v, w := range transposedRows(p, avx2{t}, rows.at) {
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
		p.MOVWLZX(rows.at(i, 0), r)
		p.MOVW(r.As16(), operand.Mem{Base: scales, Disp: 2 * i})
	}
	rows.advance(operand.Imm(rowBlockBytes))
	p.ADDQ(operand.U32(blockBytes), dst)
	p.ADDQ(operand.U32(blockBytes), scales)
	p.DECQ(blocks)
	p.JNZ(operand.LabelRef("packBlock"))
	p.VZEROUPPER()
	p.RET()
}

// A rowSet is the addresses of rows that lie stride bytes apart: pointers to
// every fourth, and one and three strides for those between.
type rowSet struct {
	*asm.Program
	fourth          []reg.Register
	stride, stride3 reg.Register
}

// rowAddresses begins 4·fourths rows at the parameter data.
func rowAddresses(p *asm.Program, stride reg.Register, fourths int) *rowSet {
	s := &rowSet{Program: p, fourth: make([]reg.Register, fourths), stride: stride, stride3: p.GP64()}
	p.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, s.stride3)
	s.fourth[0] = p.Load(p.Param("data"), p.GP64())
	for i := 1; i < fourths; i++ {
		s.fourth[i] = p.GP64()
		p.LEAQ(operand.Mem{Base: s.fourth[i-1], Index: stride, Scale: 4}, s.fourth[i])
	}
	return s
}

// at returns the address disp bytes behind the pointer of row i.
func (s *rowSet) at(i, disp int) operand.Mem {
	return strided(s.fourth[i/4], s.stride, s.stride3, i%4, disp)
}

// advance moves all rows.
func (s *rowSet) advance(by operand.Op) {
	for _, r := range s.fourth {
		s.ADDQ(by, r)
	}
}

// strided returns the address disp bytes behind base and 0 to 3 strides.
func strided(base, stride, stride3 reg.Register, strides, disp int) operand.Mem {
	m := operand.Mem{Base: base, Disp: disp}
	switch strides {
	case 1:
		m.Index, m.Scale = stride, 1
	case 2:
		m.Index, m.Scale = stride, 2
	case 3:
		m.Index, m.Scale = stride3, 1
	}
	return m
}
