// Package vectors generates the loops over float32s that training runs: of blocks of 32 numbers.
package vectors

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Generate writes all functions of vectors_amd64.s.
func Generate(p *asm.Program) {
	declareConstants(p)
	for _, t := range []target{
		{p, "AVX512", 16, p.ZMM},
		{p, "AVX2", 8, p.YMM},
	} {
		t.sums()
		t.maps()
	}
}

// block is how many numbers a loop takes at a time: one for each lane of a sum.
const block = 32

// target is what the instruction sets differ in.
type target struct {
	*asm.Program
	isa      string
	lanes    int
	register func() reg.VecVirtual
}

// The constants, in every lane of a ZMM register.
var constants = []struct {
	name  string
	value uint32
}{
	{"vectorsSign", 1 << 31},
	{"vectorsMagnitude", math.MaxInt32},
	{"vectorsOne", math.Float32bits(1)},
	{"vectorsTwo", math.Float32bits(2)},
	{"vectorsLeast", math.Float32bits(-87)},
	{"vectorsMost", math.Float32bits(88)},
	{"vectorsLog2E", math.Float32bits(math.Log2E)},
	{"vectorsMagic", math.Float32bits(0x1.8p23)},
	{"vectorsLn2Hi", math.Float32bits(0x1.62ep-1)},
	{"vectorsLn2Lo", math.Float32bits(0x1.0bfbe8p-15)},
	{"vectorsTerm7", math.Float32bits(1.0 / 5040)},
	{"vectorsTerm6", math.Float32bits(1.0 / 720)},
	{"vectorsTerm5", math.Float32bits(1.0 / 120)},
	{"vectorsTerm4", math.Float32bits(1.0 / 24)},
	{"vectorsTerm3", math.Float32bits(1.0 / 6)},
	{"vectorsTerm2", math.Float32bits(0.5)},
}

func declareConstants(p *asm.Program) {
	for _, c := range constants {
		p.StaticGlobal(c.name)
		p.DataAttributes(attr.RODATA | attr.NOPTR)
		for range 16 {
			p.AppendDatum(operand.U32(c.value))
		}
	}
}

func constant(name string) operand.Mem {
	return operand.NewDataAddr(operand.NewStaticSymbol("vectors"+name), 0)
}

// loop writes a function over n ≥ 1 blocks of the slices whose first numbers the named
// arguments point to. The doc says what it does for each i. In body, at gives an argument's address
// in a part of a block, of as many numbers as a register has; finish comes after the last block.
func (t target) loop(name, signature string, slices []string, doc string, prepare func() (body func(part int, at func(slice int) operand.Mem), finish func())) {
	t.Func(name+t.isa, signature, name+t.isa+" does n ≥ 1 blocks.",
		"",
		"\tfor i := range 32 * n {",
		"\t\t"+doc,
		"\t}")
	var pointers []reg.GPVirtual
	for _, s := range slices {
		r := t.GP64()
		t.Load(t.Param(s), r)
		pointers = append(pointers, r)
	}
	n := t.Load(t.Param("n"), t.GP64())
	body, finish := prepare()
	t.Label("block")
	for part := range block / t.lanes {
		body(part, func(slice int) operand.Mem { return asm.At(pointers[slice], part*4*t.lanes) })
	}
	for _, r := range pointers {
		t.ADDQ(operand.U32(4*block), r)
	}
	t.DECQ(n)
	t.JNZ(operand.LabelRef("block"))
	finish()
	t.VZEROUPPER()
	t.RET()
}

// broadcast returns an argument in every lane.
func (t target) broadcast(argument string) reg.VecVirtual {
	v := t.register()
	t.VBROADCASTSS(t.Argument(argument), v)
	return v
}

func (t target) load(m operand.Mem) reg.VecVirtual {
	v := t.register()
	t.VMOVUPS(m, v)
	return v
}

// exp replaces x by its exponential, as math32.Exp does.
func (t target) exp(x reg.VecVirtual) {
	shifted, n, p := t.register(), t.register(), t.register()
	bound := t.load(constant("Least"))
	t.VMAXPS(x, bound, x) // NaN stays: the first is what is kept if one is
	t.VMOVUPS(constant("Most"), bound)
	t.VMINPS(x, bound, x)
	t.VMULPS(constant("Log2E"), x, shifted)
	t.VADDPS(constant("Magic"), shifted, shifted)
	t.VSUBPS(constant("Magic"), shifted, n)
	t.VMULPS(constant("Ln2Hi"), n, p)
	t.VSUBPS(p, x, x)
	t.VMULPS(constant("Ln2Lo"), n, p)
	t.VSUBPS(p, x, x)
	t.VMULPS(constant("Term7"), x, p)
	for i, term := range []string{"Term6", "Term5", "Term4", "Term3", "Term2", "One", "One"} {
		if i > 0 {
			t.VMULPS(x, p, p)
		}
		t.VADDPS(constant(term), p, p)
	}
	t.VPSLLD(operand.U8(23), shifted, shifted)
	t.VPADDD(constant("One"), shifted, shifted)
	t.VMULPS(shifted, p, x)
}

// sigmoid returns that of x.
func (t target) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	e, one := t.register(), t.load(constant("One"))
	t.VXORPS(constant("Sign"), x, e)
	t.exp(e)
	t.VADDPS(one, e, e)
	t.VDIVPS(e, one, e)
	return e
}
