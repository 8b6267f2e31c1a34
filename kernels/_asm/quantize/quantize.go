// Package quantize generates the quantizers of activations.
//
// They are written for AVX2 alone: they run at the speed of the caches, and a
// product takes ten times as long and more.
package quantize

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Generate writes all functions of quantize_amd64.s.
func Generate(p *asm.Program) {
	g := generator{p}
	g.declareConstants()
	g.groups(128)
	g.groups(32)
	g.maxAbsBits()
	g.round()
}

type generator struct{ *asm.Program }

// The constants, 32 bytes each.
var constants = []struct {
	name  string
	lanes [8]uint32
}{
	{"quantizeAbsMask", fill(0x7fffffff)},
	{"quantizeMaxFinite", fill(math.Float32bits(math.MaxFloat32))},
	{"quantizeNaN", fill(0x7fc00000)},
	{"quantizeOne", fill(math.Float32bits(1))},
	{"quantize127", fill(math.Float32bits(127))},
	{"quantizeMinNormal", fill(math.Float32bits(0x1p-126))},
	{"quantizeBias", fill(0x80808080)},
	{"quantizeUnpack", [8]uint32{0, 4, 1, 5, 2, 6, 3, 7}}, // of two VPACKSSDW and a VPACKSSWB
}

func fill(v uint32) (out [8]uint32) {
	for i := range out {
		out[i] = v
	}
	return out
}

func (g generator) declareConstants() {
	for _, c := range constants {
		g.StaticGlobal(c.name)
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for _, v := range c.lanes {
			g.AppendDatum(operand.U32(v))
		}
	}
}

func constant(name string) operand.Mem {
	return operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
}

// groups writes the quantizer of groups of n columns.
func (g generator) groups(n int) {
	name, scheme := "quantize128AVX2", "q8_128"
	if n == 32 {
		name, scheme = "quantize32AVX2", "q8_32"
	}
	g.Func(name, "func(q *int8, scales *float32, sums *int32, x *float32, groups int)",
		name+" quantizes whole groups under "+scheme+":",
		"",
		"\tfor i := range groups {",
		"\t\tmul, scales[i] = scales(maxAbsBits(x[n*i:n*i+n]))",
		"\t\tfor j := n * i; j < n*i+n; j++ {",
		"\t\t\tq[j] = roundToInt8(x[j], mul)",
		"\t\t\tsums[j/32] += q[j] // from 0",
		"\t\t}",
		"\t}")
	q := g.Load(g.Param("q"), g.GP64())
	scales := g.Load(g.Param("scales"), g.GP64())
	sums := g.Load(g.Param("sums"), g.GP64())
	x := g.Load(g.Param("x"), g.GP64())
	left := g.Load(g.Param("groups"), g.GP64())
	g.Label("group")
	mul, bad := g.scales(g.FoldLanes(g.VPMAXUD, g.maxOf(x, n)), scales, n == 32)
	for at := 0; at < n; at += 32 {
		g.round32(q, sums, x, at, mul, bad)
	}
	g.ADDQ(operand.U32(n), q)
	g.ADDQ(operand.Imm(4), scales)
	g.ADDQ(operand.Imm(uint64(n/8)), sums)
	g.ADDQ(operand.U32(4*n), x)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("group"))
	g.VZEROUPPER()
	g.RET()
}

// maxOf returns the largest |x| of every eighth of n, as bits.
func (g generator) maxOf(x reg.Register, n int) reg.VecVirtual {
	mask, max := g.YMM(), [2]reg.VecVirtual{g.YMM(), g.YMM()}
	g.VMOVDQU(constant("quantizeAbsMask"), mask)
	for i := 0; i < n/8; i++ {
		m := operand.Mem{Base: x, Disp: 32 * i}
		if i < 2 {
			g.VPAND(m, mask, max[i])
			continue
		}
		v := g.YMM()
		g.VPAND(m, mask, v)
		g.VPMAXUD(v, max[i%2], max[i%2])
	}
	g.VPMAXUD(max[1], max[0], max[0])
	return max[0]
}

// scales stores the scale that goes with the largest value max and returns the
// factor in every lane, and all ones in every lane if max is not finite.
func (g generator) scales(max reg.VecVirtual, dst reg.Register, half bool) (mul, bad reg.VecVirtual) {
	scale, tiny, inverse, notFinite, one := g.XMM(), g.XMM(), g.XMM(), g.XMM(), g.XMM()
	g.VDIVPS(constant("quantize127"), max, scale)
	g.VMOVUPS(constant("quantizeOne"), one)
	g.VDIVPS(scale, one, inverse)
	g.VCMPPS(operand.Imm(1), constant("quantizeMinNormal"), scale, tiny) // <
	g.VPCMPGTD(constant("quantizeMaxFinite"), max, notFinite)
	g.VPANDN(scale, tiny, scale)
	g.VPANDN(inverse, tiny, inverse)
	if half {
		g.VCVTPS2PH(operand.Imm(0), scale, scale) // to nearest even
		g.VCVTPH2PS(scale, scale)
	}
	g.VBLENDVPS(notFinite, constant("quantizeNaN"), scale, scale)
	g.VMOVSS(scale, operand.Mem{Base: dst})
	mul, bad = g.YMM(), g.YMM()
	g.VBROADCASTSS(inverse, mul)
	g.VPBROADCASTD(notFinite, bad)
	return mul, bad
}

// round32 quantizes x[at:at+32] and sums it. q is 0 where bad is all ones. No
// clamp is needed: |x·mul| ≤ 127·(1+2⁻²²).
func (g generator) round32(q, sums, x reg.Register, at int, mul, bad reg.VecVirtual) {
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = g.YMM()
		g.VMULPS(operand.Mem{Base: x, Disp: 4*at + 32*i}, mul, v[i])
		g.VCVTPS2DQ(v[i], v[i])
	}
	g.VPACKSSDW(v[1], v[0], v[0])
	g.VPACKSSDW(v[3], v[2], v[2])
	g.VPACKSSWB(v[2], v[0], v[0])
	order, bias, zero := g.YMM(), g.YMM(), g.YMM()
	g.VMOVDQU(constant("quantizeUnpack"), order)
	g.VPERMD(v[0], order, v[0])
	g.VPANDN(v[0], bad, v[0])
	g.VMOVDQU(v[0], operand.Mem{Base: q, Disp: at})

	g.Comment("VPSADBW sums bytes without sign: 128 more each.")
	g.VMOVDQU(constant("quantizeBias"), bias)
	g.VPXOR(v[0], bias, bias)
	g.VPXOR(zero, zero, zero)
	g.VPSADBW(zero, bias, bias)
	half, r := g.XMM(), g.GP32()
	g.VEXTRACTI128(operand.Imm(1), bias, half)
	g.VPADDD(half, bias.AsX(), half)
	upper := g.XMM()
	g.VPSHUFD(operand.Imm(0b01001110), half, upper)
	g.VPADDD(upper, half, half)
	g.VMOVD(half, r)
	g.SUBL(operand.U32(32*128), r)
	g.MOVL(r, operand.Mem{Base: sums, Disp: at / 8})
}

func (g generator) maxAbsBits() {
	g.Func("maxAbsBitsAVX2", "func(x *float32, n int) uint32",
		"maxAbsBitsAVX2 is maxAbsBits(x[:n]); n is a multiple of 32 and not 0.")
	x := g.Load(g.Param("x"), g.GP64())
	n := g.Load(g.Param("n"), g.GP64())
	max := g.YMM()
	g.VPXOR(max, max, max)
	g.Label("loop")
	g.VPMAXUD(g.maxOf(x, 32), max, max)
	g.ADDQ(operand.U32(128), x)
	g.SUBQ(operand.Imm(32), n)
	g.JNZ(operand.LabelRef("loop"))
	r := g.GP32()
	g.VMOVD(g.FoldLanes(g.VPMAXUD, max), r)
	g.Store(r, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}

func (g generator) round() {
	g.Func("roundToInt8AVX2", "func(q *int8, sums *int32, x *float32, mul float32, n int)",
		"roundToInt8AVX2 quantizes n columns, a multiple of 32 and not 0, all finite:",
		"",
		"\tfor j := range n {",
		"\t\tq[j] = roundToInt8(x[j], mul)",
		"\t\tsums[j/32] += q[j] // from 0",
		"\t}")
	q := g.Load(g.Param("q"), g.GP64())
	sums := g.Load(g.Param("sums"), g.GP64())
	x := g.Load(g.Param("x"), g.GP64())
	m := g.Load(g.Param("mul"), g.XMM())
	n := g.Load(g.Param("n"), g.GP64())
	mul, bad := g.YMM(), g.YMM()
	g.VBROADCASTSS(m, mul)
	g.VPXOR(bad, bad, bad)
	g.Label("loop")
	g.round32(q, sums, x, 0, mul, bad)
	g.ADDQ(operand.Imm(32), q)
	g.ADDQ(operand.Imm(4), sums)
	g.ADDQ(operand.U32(128), x)
	g.SUBQ(operand.Imm(32), n)
	g.JNZ(operand.LabelRef("loop"))
	g.VZEROUPPER()
	g.RET()
}
