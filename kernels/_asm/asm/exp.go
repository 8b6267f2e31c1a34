package asm

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Constant is a 32-bit number in every lane of a ZMM register.
type Constant struct {
	Name  string
	Value uint32
}

// ExpConstants are those of Exp.
var ExpConstants = []Constant{
	{"Least", math.Float32bits(-87)},
	{"Most", math.Float32bits(88)},
	{"Log2E", math.Float32bits(math.Log2E)},
	{"Magic", math.Float32bits(0x1.8p23)},
	{"Ln2Hi", math.Float32bits(0x1.62ep-1)},
	{"Ln2Lo", math.Float32bits(0x1.0bfbe8p-15)},
	{"Term7", math.Float32bits(1.0 / 5040)},
	{"Term6", math.Float32bits(1.0 / 720)},
	{"Term5", math.Float32bits(1.0 / 120)},
	{"Term4", math.Float32bits(1.0 / 24)},
	{"Term3", math.Float32bits(1.0 / 6)},
	{"Term2", math.Float32bits(0.5)},
}

// One is the constant 1, which Exp takes too.
var One = Constant{"One", math.Float32bits(1)}

// Declare adds constants to the file, under names that begin with a prefix.
func (p *Program) Declare(prefix string, constants ...Constant) {
	for _, c := range constants {
		p.StaticGlobal(prefix + c.Name)
		p.DataAttributes(attr.RODATA | attr.NOPTR)
		for range 8 {
			p.AppendDatum(operand.U64(uint64(c.Value)<<32 | uint64(c.Value)))
		}
	}
}

// Declared is where a declared constant is.
func Declared(name string) operand.Mem {
	return operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
}

// Exp replaces x by its exponential, as math32.Exp does, with One and ExpConstants
// that were declared under a prefix.
func (p *Program) Exp(prefix string, x reg.VecVirtual) {
	constant := func(name string) operand.Mem { return Declared(prefix + name) }
	shifted, n, sum, bound := p.Like(x), p.Like(x), p.Like(x), p.Like(x)
	p.VMOVUPS(constant("Least"), bound)
	p.VMAXPS(x, bound, x) // NaN stays: the first is what is kept if one is
	p.VMOVUPS(constant("Most"), bound)
	p.VMINPS(x, bound, x)
	p.VMULPS(constant("Log2E"), x, shifted)
	p.VADDPS(constant("Magic"), shifted, shifted)
	p.VSUBPS(constant("Magic"), shifted, n)
	p.VMULPS(constant("Ln2Hi"), n, sum)
	p.VSUBPS(sum, x, x)
	p.VMULPS(constant("Ln2Lo"), n, sum)
	p.VSUBPS(sum, x, x)
	p.VMULPS(constant("Term7"), x, sum)
	for i, term := range []string{"Term6", "Term5", "Term4", "Term3", "Term2", "One", "One"} {
		if i > 0 {
			p.VMULPS(x, sum, sum)
		}
		p.VADDPS(constant(term), sum, sum)
	}
	p.VPSLLD(operand.U8(23), shifted, shifted)
	p.VPADDD(constant("One"), shifted, shifted)
	p.VMULPS(shifted, sum, x)
}
