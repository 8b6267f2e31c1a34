package vectors

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// rotate writes the rotation of pairs that lie in two slices.
func (t target) rotate() {
	t.loop("rotate", "func(a, b, cos, sin *float32, n int)", []string{"a", "b", "cos", "sin"},
		"a[i], b[i] = float32(a[i]*cos[i])-float32(b[i]*sin[i]), float32(a[i]*sin[i])+float32(b[i]*cos[i])",
		func() (func(int, func(int) operand.Mem), func()) {
			return func(_ int, at func(int) operand.Mem) {
				a, b, cos, sin := t.load(at(0)), t.load(at(1)), t.load(at(2)), t.load(at(3))
				u, v := t.register(), t.register()
				t.VMULPS(cos, a, u)
				t.VMULPS(sin, b, v)
				t.VSUBPS(v, u, u)
				t.VMOVUPS(u, at(0))
				t.VMULPS(sin, a, a)
				t.VMULPS(cos, b, b)
				t.VADDPS(b, a, a)
				t.VMOVUPS(a, at(1))
			}, nothing
		})
}

// rotateAdjacent writes the rotation of pairs that lie in one slice: a register of cosines is for two of pairs.
func (t target) rotateAdjacent() {
	t.Func("rotateAdjacentAVX2", "func(x, cos, sin *float32, n int)", "rotateAdjacentAVX2 does n ≥ 1 blocks of pairs.",
		"",
		"\tfor i := range 32 * n {",
		"\t\tu, v := x[2*i], x[2*i+1]",
		"\t\tx[2*i], x[2*i+1] = float32(u*cos[i])-float32(v*sin[i]), float32(u*sin[i])+float32(v*cos[i])",
		"\t}")
	x, cos, sin := t.Load(t.Param("x"), t.GP64()), t.Load(t.Param("cos"), t.GP64()), t.Load(t.Param("sin"), t.GP64())
	n := t.Load(t.Param("n"), t.GP64())
	t.SHLQ(operand.U8(3), n) // four pairs at a time
	twice := func(from reg.Register) reg.VecVirtual {
		v := t.YMM()
		t.VPMOVZXDQ(asm.At(from, 0), v)
		t.VMOVSLDUP(v, v)
		return v
	}
	t.Label("pairs")
	c, s, v, other := twice(cos), twice(sin), t.load(asm.At(x, 0)), t.YMM()
	t.VPERMILPS(operand.U8(0xb1), v, other)
	t.VMULPS(c, v, v)
	t.VMULPS(s, other, other)
	t.VADDSUBPS(other, v, v)
	t.VMOVUPS(v, asm.At(x, 0))
	t.ADDQ(operand.U32(32), x)
	t.ADDQ(operand.U32(16), cos)
	t.ADDQ(operand.U32(16), sin)
	t.DECQ(n)
	t.JNZ(operand.LabelRef("pairs"))
	t.VZEROUPPER()
	t.RET()
}

// halves writes the conversions from and to fp16.
func halves(p *asm.Program) {
	convert := func(name, signature, loop string, from, to int, one func(from, to operand.Mem)) {
		p.Func(name, signature, name+" does n ≥ 1 blocks: "+loop+".")
		src, dst, n := p.Load(p.Param("src"), p.GP64()), p.Load(p.Param("dst"), p.GP64()), p.Load(p.Param("n"), p.GP64())
		p.Label("block")
		for i := range block / 8 {
			one(asm.At(src, i*from), asm.At(dst, i*to))
		}
		p.ADDQ(operand.U32(block/8*from), src)
		p.ADDQ(operand.U32(block/8*to), dst)
		p.DECQ(n)
		p.JNZ(operand.LabelRef("block"))
		p.VZEROUPPER()
		p.RET()
	}
	convert("encodeF16AVX2", "func(dst *byte, src *float32, n int)", "half.Encode", 32, 16, func(from, to operand.Mem) {
		v := p.YMM()
		p.VMOVUPS(from, v)
		p.VCVTPS2PH(operand.U8(0), v, to)
	})
	convert("decodeF16AVX2", "func(dst *float32, src *byte, n int)", "half.Decode", 16, 32, func(from, to operand.Mem) {
		v := p.YMM()
		p.VCVTPH2PS(from, v)
		p.VMOVUPS(v, to)
	})
}

// seconds have the sign of lanes that are the second of numbers 1, 2 and 4 apart.
func seconds(p *asm.Program) (masks []reg.VecVirtual) {
	const high, both = 1 << 63, 1<<31 | 1<<63
	name := "vectorsSeconds"
	data := operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
	p.StaticGlobal(name)
	p.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, word := range []uint64{high, high, high, high, 0, both, 0, both, 0, 0, both, both} {
		p.AppendDatum(operand.U64(word))
	}
	for i := range 3 {
		v := p.YMM()
		p.VMOVUPS(data.Offset(32*i), v)
		masks = append(masks, v)
	}
	return masks
}

// hadamard takes a register through the steps of numbers 1, 2 and 4 apart, then pairs of registers through those
// further apart.
func hadamard(p *asm.Program) {
	p.Func("hadamardAVX2", "func(x *float32, n int, by float32)", "hadamardAVX2 is Variant.Hadamard of a power of two of numbers, 8 or more.")
	x, bytes := p.Load(p.Param("x"), p.GP64()), p.Load(p.Param("n"), p.GP64())
	masks := seconds(p)
	p.SHLQ(operand.U8(2), bytes)
	end, at := p.GP64(), p.GP64()
	p.LEAQ(operand.Mem{Base: x, Index: bytes, Scale: 1}, end)
	next := func(at reg.Register, label string) {
		p.ADDQ(operand.U32(32), at)
		p.CMPQ(at, end)
		p.JLT(operand.LabelRef(label))
	}
	p.MOVQ(x, at)
	p.Label("within")
	v, other := p.YMM(), p.YMM()
	p.VMOVUPS(asm.At(at, 0), v)
	for i, swap := range []func(){
		func() { p.VPERMILPS(operand.U8(0xb1), v, other) },
		func() { p.VPERMILPS(operand.U8(0x4e), v, other) },
		func() { p.VPERM2F128(operand.U8(1), v, v, other) },
	} {
		swap()
		p.VXORPS(masks[i], v, v)
		p.VADDPS(v, other, v)
	}
	p.VMOVUPS(v, asm.At(at, 0))
	next(at, "within")

	half, second, turned := p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(operand.U32(32), half)
	p.Label("step")
	p.CMPQ(half, bytes)
	p.JGE(operand.LabelRef("scale"))
	p.MOVQ(x, at)
	p.Label("pair")
	p.LEAQ(operand.Mem{Base: at, Index: half, Scale: 1}, second)
	p.MOVQ(second, turned)
	p.Label("turn")
	sum, difference := p.YMM(), p.YMM()
	p.VMOVUPS(asm.At(at, 0), v)
	p.VMOVUPS(asm.At(second, 0), other)
	p.VADDPS(other, v, sum)
	p.VSUBPS(other, v, difference)
	p.VMOVUPS(sum, asm.At(at, 0))
	p.VMOVUPS(difference, asm.At(second, 0))
	p.ADDQ(operand.U32(32), second)
	p.ADDQ(operand.U32(32), at)
	p.CMPQ(at, turned)
	p.JLT(operand.LabelRef("turn"))
	p.MOVQ(second, at)
	p.CMPQ(at, end)
	p.JLT(operand.LabelRef("pair"))
	p.SHLQ(operand.U8(1), half)
	p.JMP(operand.LabelRef("step"))

	p.Label("scale")
	by := p.YMM()
	p.VBROADCASTSS(p.Argument("by"), by)
	p.Label("scaling")
	p.VMULPS(asm.At(x, 0), by, v)
	p.VMOVUPS(v, asm.At(x, 0))
	next(x, "scaling")
	p.VZEROUPPER()
	p.RET()
}
