// Package twobit generates the kernels of the formats with 2-bit codes.
//
// All of them mask the four codes of every byte where they lie, with 0x03,
// 0x0c, 0x30 and 0xc0, and never shift them down: what a mask leaves is the
// code times 4^j, and one shift of the sums makes up for it. The activations
// have been arranged (arrange.go) so that byte i of vector j of a unit
// belongs to the code that mask j leaves of byte i of the weights. A unit is
// 64 bytes of weights and 256 activations.
package twobit

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	unitBytes = 64  // of weights
	unitQ     = 256 // activations of a unit
)

// Generate writes all functions of twobit_amd64.s.
func Generate(p *asm.Program) {
	g := &generator{Program: p}
	g.constants()
	g.rowsAVX512VNNI()
}

type generator struct {
	*asm.Program
	masks   [4]operand.Mem // 64 bytes of 0x03 << 2j
	offsets operand.Mem    // 16 dwords of ones, then 16 of zeros
}

// constants writes the read-only data.
func (g *generator) constants() {
	g.masks = [4]operand.Mem{
		g.repeat("twobitMask0", 0x0303030303030303), g.repeat("twobitMask1", 0x0c0c0c0c0c0c0c0c),
		g.repeat("twobitMask2", 0x3030303030303030), g.repeat("twobitMask3", 0xc0c0c0c0c0c0c0c0),
	}
}

func (g *generator) repeat(name string, v uint64) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for range unitBytes / 8 {
		g.AppendDatum(operand.U64(v))
	}
	return m
}

// param is the argument of that name, in memory.
func (g *generator) param(name string) operand.Mem {
	b, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// at is disp bytes behind base.
func at(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }
