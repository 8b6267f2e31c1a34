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

// constant writes n times v as read-only data.
func (g *generator) constant(name string, v uint64, n int) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for range n {
		g.AppendDatum(operand.U64(v))
	}
	return m
}

// newRows addresses the same byte of 8 rows; the stride is an argument.
func (g *generator) newRows() asm.Rows {
	return g.Rows(g.Stride(g.Load(g.Param("stride"), g.GP64())), tile/4)
}

// another addresses 8 other rows at the same stride.
func (g *generator) another(s asm.Rows) asm.Rows { return g.Rows(s.Stride, tile/4) }

// start sets the rows to a tile whose first is at w.
func (g *generator) start(s asm.Rows, w reg.Register) {
	g.MOVQ(w, s.Fourth[0])
	g.StartRows(s)
}

// prefetch fetches a line of each row of ahead, the tile that follows.
func (g *generator) prefetch(ahead asm.Rows) {
	var lines []operand.Mem
	for r := range tile {
		lines = append(lines, ahead.At(r, 0))
	}
	g.Prefetch(0, lines...)
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
func (g *generator) scales(s asm.Rows, disp int) reg.VecVirtual {
	x, y := g.XMM(), g.YMM()
	g.VPXOR(x, x, x)
	for r := range tile {
		g.VPINSRW(operand.U8(r), s.At(r, disp), x, x)
	}
	g.VCVTPH2PS(x, y)
	return y
}
