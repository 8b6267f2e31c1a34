package asm

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const sizeZMM = 64

// Like returns a new register as wide as v.
func (p *Program) Like(v reg.VecVirtual) reg.VecVirtual {
	switch v.Size() {
	case sizeZMM:
		return p.ZMM()
	case 16:
		return p.XMM()
	}
	return p.YMM()
}

// Clear sets v to zero.
func (p *Program) Clear(v reg.VecVirtual) {
	if v.Size() == sizeZMM {
		p.VPXORD(v, v, v)
		return
	}
	p.VPXOR(v, v, v)
}

// FoldLanes folds the eight dwords of v into each of an XMM register, by an operation such as VPADDD.
func (p *Program) FoldLanes(fold func(...operand.Op), v reg.VecVirtual) reg.VecVirtual {
	m, s := p.XMM(), p.XMM()
	p.VEXTRACTI128(operand.Imm(1), v, m)
	fold(m, v.AsX(), m)
	for _, swap := range []uint64{0b01001110, 0b10110001} {
		p.VPSHUFD(operand.Imm(swap), m, s)
		fold(s, m, m)
	}
	return m
}

// Transpose returns the 4 × 4 dwords that the same 128-bit lane of four vectors
// makes, columns as vectors.
func (p *Program) Transpose(v [4]reg.VecVirtual) (out [4]reg.VecVirtual) {
	var half [4]reg.VecVirtual
	for i := range half {
		half[i], out[i] = p.Like(v[i]), p.Like(v[i])
	}
	p.VPUNPCKLDQ(v[1], v[0], half[0])
	p.VPUNPCKLDQ(v[3], v[2], half[1])
	p.VPUNPCKHDQ(v[1], v[0], half[2])
	p.VPUNPCKHDQ(v[3], v[2], half[3])
	p.VPUNPCKLQDQ(half[1], half[0], out[0])
	p.VPUNPCKHQDQ(half[1], half[0], out[1])
	p.VPUNPCKLQDQ(half[3], half[2], out[2])
	p.VPUNPCKHQDQ(half[3], half[2], out[3])
	return out
}

// TransposeAdd returns the sums of four vectors of dwords: dword i of each 128-bit
// lane is the sum of that lane of v[i].
func (p *Program) TransposeAdd(v [4]reg.VecVirtual) reg.VecVirtual {
	x, y := p.addPairs(v[0], v[1]), p.addPairs(v[2], v[3])
	return p.addHalves(p.VPUNPCKLQDQ, p.VPUNPCKHQDQ, x, y)
}

// addPairs interleaves sums: the dwords of each 128-bit lane are a0+a2, b0+b2,
// a1+a3 and b1+b3.
func (p *Program) addPairs(a, b reg.VecVirtual) reg.VecVirtual {
	return p.addHalves(p.VPUNPCKLDQ, p.VPUNPCKHDQ, a, b)
}

func (p *Program) addHalves(low, high func(...operand.Op), a, b reg.VecVirtual) reg.VecVirtual {
	lo, hi := p.Like(a), p.Like(a)
	low(b, a, lo)
	high(b, a, hi)
	p.VPADDD(hi, lo, lo)
	return lo
}
