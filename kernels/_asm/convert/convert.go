// Package convert generates what the conversion of an output head, in package formats, spends its time in.
package convert

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Generate writes all functions of simd_amd64.s.
func Generate(p *asm.Program) {
	g := generator{p}
	g.absMax()
	g.decodeF16()
	g.extremes()
	g.search()
	g.codes()
	g.weights()
}

type generator struct{ *asm.Program }

// pointer loads an argument that is one, or a count.
func (g generator) pointer(name string) reg.Register { return g.Load(g.Param(name), g.GP64()) }

// end ends a function.
func (g generator) end() {
	g.VZEROUPPER()
	g.RET()
}

// ones returns a register of ones.
func (g generator) ones() reg.VecVirtual {
	v := g.YMM()
	g.VPCMPEQD(v, v, v)
	return v
}

func (g generator) absMax() {
	g.Func("absMaxAVX2", "func(w *float32, n int) (bits uint32)", "absMaxAVX2 is absMaxGeneric, as bits, of a multiple of 8 floats.")
	w, n := g.pointer("w"), g.pointer("n")
	magnitude, one, two, v, u := g.ones(), g.YMM(), g.YMM(), g.YMM(), g.YMM()
	g.VPSRLD(operand.U8(1), magnitude, magnitude)
	g.Clear(one)
	g.Clear(two)
	g.Label("pair")
	g.CMPQ(n, operand.U8(16))
	g.JB(operand.LabelRef("one"))
	g.VPAND(asm.At(w, 0), magnitude, v)
	g.VPAND(asm.At(w, 32), magnitude, u)
	g.VPMAXUD(v, one, one)
	g.VPMAXUD(u, two, two)
	g.ADDQ(operand.U8(64), w)
	g.SUBQ(operand.U8(16), n)
	g.JMP(operand.LabelRef("pair"))
	g.Label("one")
	g.TESTQ(n, n)
	g.JEQ(operand.LabelRef("fold"))
	g.VPAND(asm.At(w, 0), magnitude, v)
	g.VPMAXUD(v, one, one)
	g.Label("fold")
	g.VPMAXUD(two, one, one)
	bits := g.GP32()
	g.VMOVD(g.FoldLanes(g.VPMAXUD, one), bits)
	g.Store(bits, g.Return("bits"))
	g.end()
}

func (g generator) decodeF16() {
	g.Func("decodeF16AVX2", "func(dst *float32, src *byte, n int) (nan bool)",
		"decodeF16AVX2 is half.Decode of a multiple of 8 floats, and reports a NaN among them,",
		"which it may have changed into another.")
	dst, src, n := g.pointer("dst"), g.pointer("src"), g.pointer("n")
	bad, v, unordered := g.YMM(), g.YMM(), g.YMM()
	g.Clear(bad)
	g.Label("eight")
	g.VCVTPH2PS(asm.At(src, 0), v)
	g.VMOVUPS(v, asm.At(dst, 0))
	g.VCMPPS(operand.U8(3), v, v, unordered)
	g.VORPS(unordered, bad, bad)
	g.ADDQ(operand.U8(16), src)
	g.ADDQ(operand.U8(32), dst)
	g.SUBQ(operand.U8(8), n)
	g.JNE(operand.LabelRef("eight"))
	lanes, nan := g.GP32(), g.GP8()
	g.VMOVMSKPS(bad, lanes)
	g.TESTL(lanes, lanes)
	g.SETNE(nan)
	g.Store(nan, g.Return("nan"))
	g.end()
}

// extremes finds, of floats compared as integers, the positive ones' largest and the largest magnitude of the
// negative ones, which are above all of these without sign.
func (g generator) extremes() {
	g.Func("q6ExtremesAVX2", "func(up, down *[16]uint32, w *[256]float32)", "q6ExtremesAVX2 is q6ExtremesGeneric.")
	up, down, w, left := g.pointer("up"), g.pointer("down"), g.pointer("w"), g.GP64()
	zero, minusZero := g.XMM(), g.XMM()
	g.MOVQ(operand.U32(16), left)
	g.Clear(zero)
	g.VPCMPEQD(minusZero, minusZero, minusZero)
	g.VPSLLD(operand.U8(31), minusZero, minusZero)
	g.Label("group")
	a, b := g.YMM(), g.YMM()
	g.VMOVDQU(asm.At(w, 0), a)
	g.VMOVDQU(asm.At(w, 32), b)
	for _, side := range []struct {
		largest func(...operand.Op)
		none    reg.VecVirtual // if none has the sign
		dst     reg.Register
	}{{g.VPMAXSD, zero, up}, {g.VPMAXUD, minusZero, down}} {
		v := g.YMM()
		side.largest(b, a, v)
		m := g.FoldLanes(side.largest, v)
		side.largest(side.none, m, m)
		g.VMOVD(m, asm.At(side.dst, 0))
		g.ADDQ(operand.U8(4), side.dst)
	}
	g.ADDQ(operand.U8(64), w)
	g.DECQ(left)
	g.JNE(operand.LabelRef("group"))
	g.end()
}

func (g generator) search() {
	g.Func("q6SearchAVX2", "func(w *[16]float32, id, steps float32, first, last int) (best int64)", "q6SearchAVX2 is q6SearchGeneric.")
	w, id, steps := g.pointer("w"), g.YMM(), g.XMM()
	g.VBROADCASTSS(g.Argument("id"), id)
	g.VMOVSS(g.Argument("steps"), steps)
	s, last, best := g.pointer("first"), g.pointer("last"), g.GP64()
	g.MOVQ(operand.U64(1<<63-1), best)
	fixed := [2]reg.VecVirtual{g.YMM(), g.YMM()}
	for i, v := range fixed {
		g.VMULPS(asm.At(w, 32*i), id, v)
		g.VCVTTPS2DQ(v, v)
	}
	number, most, factor := g.GP32(), g.ones(), g.XMM()
	g.MOVL(operand.U32(0x45800000), number) // 4096 = 2³²/q6Fixed
	g.VMOVD(number, factor)
	g.VPSRLW(operand.U8(6), most, most) // 1023

	g.Label("scale")
	g.CMPQ(s, last)
	g.JGT(operand.LabelRef("done"))
	code, codes := g.XMM(), g.YMM()
	g.VXORPS(code, code, code)
	g.VCVTSI2SSQ(s, code, code)
	g.VDIVSS(code, steps, code)
	g.VMULSS(factor, code, code)
	large := g.GP64()
	g.VCVTTSS2SIQ(code, large)
	g.VMOVD(large.As32(), code)
	g.VPBROADCASTD(code, codes)
	fractions, other := g.YMM(), g.YMM()
	for i, v := range []reg.VecVirtual{fractions, other} {
		g.VPMULLD(fixed[i], codes, v)
		g.VPSRLD(operand.U8(22), v, v)
	}
	g.VPACKUSDW(other, fractions, fractions) // 1024ths, in some order
	g.VPSUBW(fractions, most, other)
	g.VPMINUW(other, fractions, fractions) // to the nearest integer
	g.VPMADDWD(fractions, fractions, fractions)
	sum := g.GP64()
	g.VMOVD(g.FoldLanes(g.VPADDD, fractions), sum.As32())
	g.IMULQ(s, sum)
	g.IMULQ(s, sum)
	g.SHLQ(operand.U8(8), sum)
	g.ORQ(s, sum)
	g.CMPQ(sum, best)
	g.CMOVQLT(sum, best)
	g.INCQ(s)
	g.JMP(operand.LabelRef("scale"))
	g.Label("done")
	g.Store(best, g.Return("best"))
	g.end()
}

func (g generator) codes() {
	const order = "q6Order" // of two VPACKUSDW and a VPACKUSWB
	g.StaticGlobal(order)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, i := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		g.AppendDatum(operand.U32(i))
	}
	g.Func("q6CodesAVX2", "func(codes *[256]byte, w *[256]float32, ids *[16]float32)", "q6CodesAVX2 is q6CodesGeneric.")
	codes, w, ids, left := g.pointer("codes"), g.pointer("w"), g.pointer("ids"), g.GP64()
	zero, half, most, unpack := g.YMM(), g.YMM(), g.ones(), g.YMM()
	g.MOVQ(operand.U32(8), left)
	g.Clear(zero)
	g.VPSRLD(operand.U8(31), most, half)
	g.VPSLLD(operand.U8(5), half, half)  // 32
	g.VPSRLD(operand.U8(26), most, most) // 63
	g.VMOVDQU(asm.Declared(order), unpack)
	g.Label("groups")
	var v [4]reg.VecVirtual
	for i := range v {
		if i%2 == 0 {
			id := g.YMM()
			g.VBROADCASTSS(asm.At(ids, 2*i), id)
			v[i], v[i+1] = id, g.YMM()
			g.VMULPS(asm.At(w, 32*i+32), id, v[i+1])
			g.VMULPS(asm.At(w, 32*i), id, v[i])
		}
		g.VCVTPS2DQ(v[i], v[i])
		g.VPADDD(half, v[i], v[i])
		g.VPMAXSD(zero, v[i], v[i])
		g.VPMINSD(most, v[i], v[i])
	}
	g.VPACKUSDW(v[1], v[0], v[0])
	g.VPACKUSDW(v[3], v[2], v[2])
	g.VPACKUSWB(v[2], v[0], v[0])
	g.VPERMD(v[0], unpack, v[0])
	g.VMOVDQU(v[0], asm.At(codes, 0))
	g.ADDQ(operand.U32(128), w)
	g.ADDQ(operand.U8(8), ids)
	g.ADDQ(operand.U8(32), codes)
	g.DECQ(left)
	g.JNE(operand.LabelRef("groups"))
	g.end()
}

// weights takes a half of the block at a time, a quarter of which has the low or high nibbles of a register, and two
// of the bits of another.
func (g generator) weights() {
	g.Func("q6WeightsAVX2", "func(dst *[256]float32, bits *[192]byte, scales *[16]float32)", "q6WeightsAVX2 is q6WeightsGeneric.")
	dst, low, scales := g.pointer("dst"), g.pointer("bits"), g.pointer("scales")
	high, left := g.GP64(), g.GP64()
	g.LEAQ(asm.At(low, 128), high)
	g.MOVQ(operand.U32(2), left)
	one, middle, nibble, pair := g.YMM(), g.YMM(), g.YMM(), g.YMM()
	g.VPABSB(g.ones(), one)
	g.VPSLLW(operand.U8(5), one, middle) // 32
	g.VPSLLW(operand.U8(4), one, nibble)
	g.VPSUBB(one, nibble, nibble) // 15
	g.VPADDB(one, one, pair)
	g.VPADDB(one, pair, pair) // 3
	g.Label("half")
	lows, highs := [2]reg.VecVirtual{g.YMM(), g.YMM()}, g.YMM()
	g.VMOVDQU(asm.At(low, 0), lows[0])
	g.VMOVDQU(asm.At(low, 32), lows[1])
	g.VMOVDQU(asm.At(high, 0), highs)
	for q := range 4 {
		codes, top := lows[q%2], highs
		if q > 0 {
			top = g.YMM()
			g.VPSRLW(operand.U8(2*q), highs, top)
		}
		above := g.YMM()
		g.VPAND(pair, top, above)
		g.VPSLLW(operand.U8(4), above, above)
		if q >= 2 {
			codes = g.YMM()
			g.VPSRLW(operand.U8(4), lows[q%2], codes)
		}
		six := g.YMM()
		g.VPAND(nibble, codes, six)
		g.VPOR(above, six, six)
		g.VPSUBB(middle, six, six)
		g.decode(asm.At(dst, 128*q), asm.At(scales, 8*q), six)
	}
	g.ADDQ(operand.U8(64), low)
	g.ADDQ(operand.U8(32), high)
	g.ADDQ(operand.U8(32), scales)
	g.ADDQ(operand.U32(512), dst)
	g.DECQ(left)
	g.JNE(operand.LabelRef("half"))
	g.end()
}

// decode writes 32 weights with two scales.
func (g generator) decode(dst, scales operand.Mem, codes reg.VecVirtual) {
	upper := g.XMM()
	g.VEXTRACTI128(operand.U8(1), codes, upper)
	for i, part := range []reg.VecVirtual{codes.AsX().(reg.VecVirtual), upper} {
		scale, second := g.YMM(), g.XMM()
		g.VBROADCASTSS(scales.Offset(4*i), scale)
		g.VPSRLDQ(operand.U8(8), part, second)
		for j, eight := range []reg.VecVirtual{part, second} {
			v := g.YMM()
			g.VPMOVSXBD(eight, v)
			g.VCVTDQ2PS(v, v)
			g.VMULPS(scale, v, v)
			g.VMOVUPS(v, dst.Offset(64*i+32*j))
		}
	}
}
