package asm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Operations of AVX-VNNI by their opcodes, marked with vexPrefix until registers are
// allocated.
var vexOpcodes = map[string]byte{"VPDPBUSD": 0x50, "VPDPWSSD": 0x52}

const vexPrefix = "VEX_"

// VEXDPBUSD is VPDPBUSD s8, u8, acc on YMM registers in the VEX encoding: for
// CPUs with AVX-VNNI and without AVX-512. Go's assembler knows the EVEX one
// only, so it is written as bytes.
//
//	acc.int32[i] += Σ_{t<4} int32(u8.uint8[4i+t]) · int32(s8.int8[4i+t])
func (p *Program) VEXDPBUSD(s8, u8, acc reg.VecVirtual) { p.vex("VPDPBUSD", s8, u8, acc) }

// VEXDPWSSD is VPDPWSSD a, b, acc likewise:
//
//	acc.int32[i] += Σ_{t<2} int32(a.int16[2i+t]) · int32(b.int16[2i+t])
func (p *Program) VEXDPWSSD(a, b, acc reg.VecVirtual) { p.vex("VPDPWSSD", a, b, acc) }

func (p *Program) vex(op string, a, b, acc reg.VecVirtual) {
	p.Instruction(&ir.Instruction{
		Opcode:   vexPrefix + op,
		Operands: []operand.Op{a, b, acc},
		Inputs:   []operand.Op{a, b, acc},
		Outputs:  []operand.Op{acc},
		ISA:      []string{"AVX_VNNI"},
	})
}

// bytesOp is an instruction written as bytes, with the instruction it is in a
// comment, which a test compares with what a disassembler says.
type bytesOp struct {
	code    []byte
	comment string
}

func (b bytesOp) Asm() string {
	parts := make([]string, len(b.code))
	for i, v := range b.code {
		parts[i] = fmt.Sprintf("$0x%02x", v)
	}
	return strings.Join(parts, "; BYTE ") + " // " + b.comment
}

// checkVEX refuses registers 16 to 31 in a function that uses no AVX-512
// instruction: they would silently turn its instructions into AVX-512 ones.
func checkVEX(fn *ir.Function) error {
	if slices.ContainsFunc(fn.ISA, func(isa string) bool { return strings.HasPrefix(isa, "AVX512") }) {
		return nil
	}
	for _, i := range fn.Instructions() {
		for _, r := range i.Registers() {
			if r.Kind() == reg.KindVector && r.(reg.Physical).PhysicalIndex() > 15 {
				return fmt.Errorf("%s uses %s: too many registers for VEX encodings", fn.Name, r.Asm())
			}
		}
	}
	return nil
}

// encodeVEX writes out what vex marked: VEX.256.66.0F38.W0 opcode /r, the
// accumulator in reg, b in vvvv, a in r/m.
func encodeVEX(i *ir.Instruction) error {
	name, marked := strings.CutPrefix(i.Opcode, vexPrefix)
	if !marked {
		return nil
	}
	var id [3]byte
	for k, op := range i.Operands {
		id[k] = byte(op.(reg.Physical).PhysicalIndex())
	}
	a, b, acc := id[0], id[1], id[2]
	code := []byte{
		0xc4,
		(acc>>3^1)<<7 | 1<<6 | (a>>3^1)<<5 | 0x02, // R̄ X̄ B̄, map 0F38
		(^b&15)<<3 | 1<<2 | 0x01,                  // W0, v̄v̄v̄v̄, L=256, prefix 66
		vexOpcodes[name],
		3<<6 | (acc&7)<<3 | a&7,
	}
	comment := fmt.Sprintf("%s %s, %s, %s", name, i.Operands[0].Asm(), i.Operands[1].Asm(), i.Operands[2].Asm())
	i.Opcode, i.Operands = "BYTE", []operand.Op{bytesOp{code, comment}}
	return nil
}
