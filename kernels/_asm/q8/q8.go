// Package q8 generates the products of the formats q8_0 and q6_k.
//
// Terms of a row are added in the order of its groups, so rows lie in the
// lanes: the groups of 8 rows are multiplied, each in a register of its own,
// and their sums gathered in one, dword r that of row r.
package q8

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const tile = 8 // rows

type generator struct{ *asm.Program }

// at is disp bytes behind base.
func at(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

// constant writes n times v as read-only data.
func (g *generator) constant(name string, v uint64, n int) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for range n {
		g.AppendDatum(operand.U64(v))
	}
	return m
}

// A rowSet addresses the same byte of 8 rows.
type rowSet struct {
	base            [2]reg.GPVirtual
	stride, stride3 reg.GPVirtual
}

// newRows takes the stride from the arguments.
func (g *generator) newRows() *rowSet {
	s := &rowSet{base: [2]reg.GPVirtual{g.GP64(), g.GP64()}, stride: g.GP64(), stride3: g.GP64()}
	g.Load(g.Param("stride"), s.stride)
	g.LEAQ(operand.Mem{Base: s.stride, Index: s.stride, Scale: 2}, s.stride3)
	return s
}

// another addresses 8 other rows at the same stride.
func (g *generator) another(s *rowSet) *rowSet {
	return &rowSet{base: [2]reg.GPVirtual{g.GP64(), g.GP64()}, stride: s.stride, stride3: s.stride3}
}

// start sets the rows to a tile whose first is at w.
func (g *generator) start(s *rowSet, w reg.Register) {
	g.MOVQ(w, s.base[0])
	g.LEAQ(operand.Mem{Base: w, Index: s.stride, Scale: 4}, s.base[1])
}

func (g *generator) advance(s *rowSet, bytes int) {
	for _, b := range s.base {
		g.ADDQ(operand.I32(bytes), b)
	}
}

func (s *rowSet) at(r, disp int) operand.Mem {
	m := operand.Mem{Base: s.base[r/4], Disp: disp}
	switch r % 4 {
	case 1, 2:
		m.Index, m.Scale = s.stride, uint8(r%4)
	case 3:
		m.Index, m.Scale = s.stride3, 1
	}
	return m
}

// prefetch fetches a line of each row of ahead, the tile that follows.
func (g *generator) prefetch(ahead *rowSet) {
	var lines []operand.Mem
	for r := range tile {
		lines = append(lines, ahead.at(r, 0))
	}
	g.Prefetch(0, lines...)
}

// quad returns the sums of four vectors of dwords: dword i of each 128-bit
// lane is the sum of that lane of a[i].
func (g *generator) quad(a [4]reg.VecVirtual) reg.VecVirtual {
	register := g.YMM
	if a[0].Size() == 64 {
		register = g.ZMM
	}
	pair := func(x, y reg.VecVirtual) reg.VecVirtual {
		lo, hi := register(), register()
		g.VPUNPCKLDQ(y, x, lo)
		g.VPUNPCKHDQ(y, x, hi)
		g.VPADDD(hi, lo, lo)
		return lo
	}
	x, y := pair(a[0], a[1]), pair(a[2], a[3])
	lo, hi := register(), register()
	g.VPUNPCKLQDQ(y, x, lo)
	g.VPUNPCKHQDQ(y, x, hi)
	g.VPADDD(hi, lo, lo)
	return lo
}

// join adds the halves of a, of which it makes the lower half of the result,
// and those of b, the upper half.
func (g *generator) join(a, b reg.VecVirtual) reg.VecVirtual {
	lo, hi := g.YMM(), g.YMM()
	g.VPERM2I128(operand.U8(0x20), b, a, lo)
	g.VPERM2I128(operand.U8(0x31), b, a, hi)
	g.VPADDD(hi, lo, lo)
	return lo
}

// scales returns the fp16 that lies disp bytes behind the start of each row's
// block, as float32.
func (g *generator) scales(s *rowSet, disp int) reg.VecVirtual {
	x, y := g.XMM(), g.YMM()
	g.VPXOR(x, x, x)
	for r := range tile {
		g.VPINSRW(operand.U8(r), s.at(r, disp), x, x)
	}
	g.VCVTPH2PS(x, y)
	return y
}
