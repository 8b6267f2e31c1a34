package pack

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tq1 writes the packer of tq1_0. A byte stands for the fraction b/256, whose
// first base-3 digit is how many of 86/256 and 171/256 it reaches; three times
// the byte, without what exceeds 8 bits, has the next digit.
func (g *generator) tq1() {
	g.Func("unpackTQ1AVX2", "func(dst, src *byte, blocks int)",
		"unpackTQ1AVX2 writes blocks of 54 bytes as tq2_0 has them, in 66.",
		"",
		"\tfor b := range blocks {",
		"\t\tunpackTQ1(dst[66*b:], src[54*b:])",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	src := g.Load(g.Param("src"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	d := digits{g, g.bytes("packThird", 86), g.bytes("packTwoThirds", 171)}

	g.Label("block")
	first := g.YMM()
	g.VMOVDQU(operand.Mem{Base: src}, first)
	digit := []reg.VecVirtual{first}
	for range 4 {
		digit = append(digit, g.tripled(digit[len(digit)-1]))
	}
	g.VMOVDQU(d.codes(digit[3], digit[2], digit[1], digit[0]), operand.Mem{Base: dst})

	// The halves of these registers are digits of two groups of 16 columns.
	even, odd := g.YMM(), g.YMM()
	g.VBROADCASTI128(operand.Mem{Base: src, Disp: 32}, even)
	g.VINSERTI128(operand.U8(1), g.tripled(even).AsX(), even, even)
	middle := g.tripled(g.tripled(even))
	g.VINSERTI128(operand.U8(1), g.lastDigits(operand.Mem{Base: src, Disp: 48}).AsX(), g.tripled(g.tripled(middle)), odd)
	g.VMOVDQU(d.codes(odd, middle, even, digit[4]), operand.Mem{Base: dst, Disp: 32})

	scale := g.GP32()
	g.MOVWLZX(operand.Mem{Base: src, Disp: 52}, scale)
	g.MOVW(scale.As16(), operand.Mem{Base: dst, Disp: 64})
	g.ADDQ(operand.I32(54), src)
	g.ADDQ(operand.I32(66), dst)
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}

// tripled returns 3·v of every byte.
func (g *generator) tripled(v reg.VecVirtual) reg.VecVirtual {
	t := g.YMM()
	g.VPADDB(v, v, t)
	g.VPADDB(v, t, t)
	return t
}

// lastDigits returns the four bytes at m times 1, 3, 9 and 27.
func (g *generator) lastDigits(m operand.Mem) reg.VecVirtual {
	all, power := g.YMM(), g.YMM()
	g.VPBROADCASTD(m, all)
	g.VMOVDQA(all, power)
	for i := 1; i < 4; i++ {
		power = g.tripled(power)
		g.VPBLENDD(operand.U8(1<<i), power, all, all)
	}
	return all
}

type digits struct {
	*generator
	third, twoThirds reg.VecVirtual
}

// codes returns the first digits of four registers of bytes, those of the first
// in the highest two bits.
func (d digits) codes(high ...reg.VecVirtual) reg.VecVirtual {
	codes := d.YMM()
	d.VPXOR(codes, codes, codes)
	for i, v := range high {
		if i > 0 {
			d.VPSLLW(operand.U8(2), codes, codes)
		}
		for _, bound := range []reg.VecVirtual{d.third, d.twoThirds} {
			reached := d.YMM()
			d.VPMAXUB(bound, v, reached)
			d.VPCMPEQB(v, reached, reached)
			d.VPSUBB(reached, codes, codes)
		}
	}
	return codes
}
