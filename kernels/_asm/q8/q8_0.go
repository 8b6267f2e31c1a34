package q8

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const q8Block = 34 // bytes: an fp16 scale and 32 int8

// GenerateQ8_0 writes all functions of q8_0_amd64.s.
func GenerateQ8_0(p *asm.Program) {
	g := &generator{p}
	bias := g.constant("q8Bias", 0x8080808080808080, 4)
	ones := g.constant("q8Ones", 0x0001000100010001, 4)
	g.q8Rows("AVX512VNNI", g.biased(bias, func(q, codes, acc reg.VecVirtual) { g.VPDPBUSD(q, codes, acc) }))
	g.q8Rows("AVXVNNI", g.biased(bias, g.VEXDPBUSD))
	g.q8Rows("AVX2", g.signed(ones))
	g.q8Columns()
	g.q8Panels(g.bytePanels(bias))
	g.q8Panels(g.wordPanels())
}

// An engine multiplies the codes of a block with activations.
type engine struct {
	doc   []string
	setup func()
	// dot returns 8 sums of 4 products each.
	dot func(codes operand.Mem, q reg.VecVirtual) reg.VecVirtual
	// correct takes from the sums of 8 rows what dot has too much. sum is
	// where Σq is.
	correct func(sums reg.VecVirtual, sum operand.Mem)
}

// biased flips the codes' sign bits, which makes them unsigned, 128 too large.
func (g *generator) biased(bias operand.Mem, dpbusd func(q, codes, acc reg.VecVirtual)) engine {
	var b reg.VecVirtual
	return engine{
		doc:   []string{"It multiplies codes+128, which are unsigned, and takes 128·sums[b] off."},
		setup: func() { b = g.YMM(); g.VMOVDQU(bias, b) },
		dot: func(codes operand.Mem, q reg.VecVirtual) reg.VecVirtual {
			t, acc := g.YMM(), g.YMM()
			g.VPXOR(codes, b, t)
			g.VPXOR(acc, acc, acc)
			dpbusd(q, t, acc)
			return acc
		},
		correct: func(sums reg.VecVirtual, sum operand.Mem) {
			t := g.YMM()
			g.VPBROADCASTD(sum, t)
			g.VPSLLD(operand.U8(7), t, t)
			g.VPSUBD(t, sums, sums)
		},
	}
}

// signed gives the codes' signs to the activations. Two products stay below
// 2·128·127 = 32,512, so that VPMADDUBSW never saturates.
func (g *generator) signed(ones operand.Mem) engine {
	var one reg.VecVirtual
	return engine{
		doc:   []string{"It multiplies |codes| with activations that have got the codes' signs."},
		setup: func() { one = g.YMM(); g.VMOVDQU(ones, one) },
		dot: func(codes operand.Mem, q reg.VecVirtual) reg.VecVirtual {
			magnitude, s := g.YMM(), g.YMM()
			g.VPABSB(codes, magnitude)
			g.VPSIGNB(codes, q, s)
			g.VPMADDUBSW(s, magnitude, s)
			g.VPMADDWD(one, s, s)
			return s
		},
		correct: func(reg.VecVirtual, operand.Mem) {},
	}
}

func (g *generator) q8Rows(isa string, e engine) {
	g.Func("q8Rows"+isa, "func(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)", append([]string{
		"q8Rows" + isa + " multiplies tiles of 8 rows, which start stride bytes apart and have",
		"blocks of 34 bytes each. sums[b] is the sum of the 32 q of block b.",
		"",
		"\tfor r := range 8 * tiles {",
		"\t\tdst[r] = 0",
		"\t\tfor b := range blocks {",
		"\t\t\tvar sum int32",
		"\t\t\tfor i := range 32 {",
		"\t\t\t\tsum += int32(int8(w[r*stride+34*b+2+i])) * int32(q[32*b+i])",
		"\t\t\t}",
		"\t\t\tdst[r] += term(fp16At(w, r*stride+34*b), scales[b>>shift], sum)",
		"\t\t}",
		"\t}",
		""}, e.doc...)...)
	sums := g.Load(g.Param("sums"), g.GP64())
	g.Load(g.Param("shift"), reg.RCX)
	rows := g.newRows()
	ahead := g.another(rows)
	e.setup()

	g.Label("tile")
	w, block := g.Load(g.Param("w"), g.GP64()), g.GP64()
	g.start(rows, w)
	g.LEAQ(operand.Mem{Base: w, Index: rows.One, Scale: 8}, w)
	g.start(ahead, w)
	qp := g.Load(g.Param("q"), g.GP64())
	g.XORQ(block, block)
	y := g.YMM()
	g.VPXOR(y, y, y)

	g.Label("block")
	qv := g.YMM()
	g.VMOVDQU(asm.At(qp, 0), qv)
	g.prefetch(ahead)
	var half [2]reg.VecVirtual
	for h := range half {
		var dots [4]reg.VecVirtual
		for r := range dots {
			dots[r] = e.dot(rows.At(4*h+r, 2), qv)
		}
		half[h] = g.TransposeAdd(dots)
	}
	sum := g.join(half[0], half[1])
	e.correct(sum, operand.Mem{Base: sums, Index: block, Scale: 4})
	g.VCVTDQ2PS(sum, sum)

	scale, group, scalesPtr := g.YMM(), g.GP64(), g.GP64()
	g.MOVQ(block, group)
	g.SHRQ(reg.CL, group)
	g.Load(g.Param("scales"), scalesPtr)
	g.VBROADCASTSS(operand.Mem{Base: scalesPtr, Index: group, Scale: 4}, scale)
	g.VMULPS(g.scales(rows, 0), scale, scale)
	g.VMULPS(sum, scale, sum)
	g.VADDPS(sum, y, y)

	g.Advance(rows, operand.I32(q8Block))
	g.ADDQ(operand.I32(32), qp)
	g.Advance(ahead, operand.I32(q8Block))
	g.INCQ(block)
	blocks := g.Load(g.Param("blocks"), g.GP64())
	g.CMPQ(block, blocks)
	g.JNE(operand.LabelRef("block"))

	dst := g.Load(g.Param("dst"), g.GP64())
	g.VMOVUPS(y, asm.At(dst, 0))
	g.ADDQ(operand.I32(4*tile), dst)
	g.Store(dst, g.Param("dst"))
	w = g.Load(g.Param("w"), g.GP64())
	g.LEAQ(operand.Mem{Base: w, Index: rows.One, Scale: 8}, w)
	g.Store(w, g.Param("w"))
	tiles := g.Load(g.Param("tiles"), g.GP64())
	g.DECQ(tiles)
	g.Store(tiles, g.Param("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}
