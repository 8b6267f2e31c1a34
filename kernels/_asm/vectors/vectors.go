// Package vectors generates the loops over float32s that models and training run: of blocks of 32 numbers.
package vectors

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Generate writes all functions of vectors_amd64.s.
func Generate(p *asm.Program) {
	p.Declare("vectors", constants...)
	for _, t := range []target{
		{p, "AVX512", 16, p.ZMM},
		{p, "AVX2", 8, p.YMM},
	} {
		t.sums()
		t.maps()
		t.rotate()
	}
	target{p, "AVX2", 8, p.YMM}.rotateAdjacent()
	halves(p)
	hadamard(p)
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

// constants are those of all functions.
var constants = append([]asm.Constant{
	{Name: "Sign", Value: 1 << 31},
	{Name: "Magnitude", Value: math.MaxInt32},
	asm.One,
	{Name: "Two", Value: math.Float32bits(2)},
}, asm.ExpConstants...)

func constant(name string) operand.Mem {
	return asm.Declared("vectors" + name)
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

func (t target) exp(x reg.VecVirtual) { t.Exp("vectors", x) }

// onePlusExp returns 1 + exp(-x).
func (t target) onePlusExp(x reg.VecVirtual) reg.VecVirtual {
	e := t.register()
	t.VXORPS(constant("Sign"), x, e)
	t.exp(e)
	t.VADDPS(constant("One"), e, e)
	return e
}

// sigmoid returns that of x.
func (t target) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	e, one := t.onePlusExp(x), t.load(constant("One"))
	t.VDIVPS(e, one, e)
	return e
}
