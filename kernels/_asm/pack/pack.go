// Package pack generates what brings weights from a file's layout into a packed
// one, where package q1 does not.
package pack

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// GenerateQ1 writes all functions of q1/pack_amd64.s.
func GenerateQ1(p *asm.Program) {
	g := &generator{p}
	g.rows64()
	g.rows128()
}

// GenerateTwoBit writes all functions of twobit/pack_amd64.s.
func GenerateTwoBit(p *asm.Program) {
	g := &generator{p}
	g.words()
	g.tq1()
}

type generator struct{ *asm.Program }

// constant writes v as 32 bytes of read-only data.
func (g *generator) constant(name string, v [4]uint64) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, u := range v {
		g.AppendDatum(operand.U64(u))
	}
	return m
}

// bytes loads a register of bytes b.
func (g *generator) bytes(name string, b byte) reg.VecVirtual {
	u, y := uint64(b)*0x0101010101010101, g.YMM()
	g.VMOVDQU(g.constant(name, [4]uint64{u, u, u, u}), y)
	return y
}
