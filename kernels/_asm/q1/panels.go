package q1

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// A panel is eight columns of activations: for each block the four bytes of
// each of its 32 dwords, column by column, and −Σq of the columns.
const (
	panelColumns    = 8
	panelStepBytes  = 4 * panelColumns
	panelBlockBytes = (32 + 1) * panelStepBytes
	groupSteps      = 8 // of 32 columns of weights
)

// stripRegister is the bytes of a register of rows, of which a strip has two.
const stripRegister = 64

const panelsSignature = "func(y *float32, data *byte, nextRows int, x *int8, panelStride int, scales *float32, scaleStride, scaleStep, blocks, panels int, codes *byte)"

// codeRegisters is how many registers the bits of a strip's block are as bytes.
const codeRegisters = 64

func panels(p *asm.Program, t avx512vnni) {
	name := "q1Panels128" + t.name()
	p.Func(name, panelsSignature,
		name+" multiplies a strip of two registers of rows of the layout bitplanes,",
		"the second nextRows bytes behind the first, with panels of 8 columns. y has a strip",
		"for each column:",
		"",
		"\tfor c := range 8 * panels {",
		"\t\tfor i := range 2 * lanes {",
		"\t\t\tfor b := range blocks {",
		"\t\t\t\tS := int32(0)",
		"\t\t\t\tfor k := range 128 {",
		"\t\t\t\t\tS += (2*bit(i, 128*b+k) - 1) * q[c][128*b+k]",
		"\t\t\t\t}",
		"\t\t\t\ty[2*lanes*c+i] += float32(float32(scale(i, b)*scales[(c*scaleStride+b*scaleStep)/4]) * float32(S))",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"",
		"x has q in the order q1PanelOrder, a panel every panelStride bytes. codes has room for the bits of a strip's block as",
		"bytes: 64 registers.")
	newPanelsKernel(p, t).multiply(false)
}

// panels32 writes the kernel for q8_32.
func panels32(p *asm.Program, t avx512vnni) {
	name := "q1Panels32" + t.name()
	p.Func(name, panelsSignature,
		name+" is q1Panels128"+t.name()+" for columns under q8_32: what a block adds is",
		"float32(float32(scale(i, b)*Unit) * float32(Σ_g Shares[g]*S_g)), of its quantize.Span, of which scales is the",
		fmt.Sprintf("first of each column's. scaleStep is 32. codes has room for %d registers.", codeRegisters+2*panelColumns))
	newPanelsKernel(p, t).multiply(true)
}

func newPanelsKernel(p *asm.Program, t avx512vnni) *panelsKernel {
	k := &panelsKernel{Program: p, t: t}
	k.y = p.Load(p.Param("y"), p.GP64())
	k.data = p.Load(p.Param("data"), p.GP64())
	k.x = p.Load(p.Param("x"), p.GP64())
	k.scales = p.Load(p.Param("scales"), p.GP64())
	k.codes = p.Load(p.Param("codes"), p.GP64())
	k.stride = p.Stride(p.Load(p.Param("scaleStride"), p.GP64()))
	return k
}

// multiply goes through the blocks.
func (k *panelsKernel) multiply(per32 bool) {
	p := k.Program
	blocks := p.Argument("blocks")

	p.Label("block")
	k.expand()
	panels := p.Load(p.Param("panels"), p.GP64())
	left := operand.Op(panels)
	if per32 { // which has more pointers
		left = p.AllocLocal(8)
		p.MOVQ(panels, left)
	}
	xs, scales, y := p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(k.x, xs)
	p.MOVQ(k.scales, scales)
	p.MOVQ(k.y, y)
	p.Label("panel")
	if per32 {
		k.columns32(xs, scales, y)
	} else {
		k.columns(xs, scales, y)
	}
	panelStride := p.Load(p.Param("panelStride"), p.GP64())
	p.ADDQ(panelStride, xs)
	p.LEAQ(operand.Mem{Base: scales, Index: k.stride.One, Scale: 8}, scales)
	p.ADDQ(operand.U32(panelColumns*2*stripRegister), y)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("panel"))

	p.ADDQ(operand.U32(blockBytes), k.data)
	p.ADDQ(operand.U32(panelBlockBytes), k.x)
	step := p.Load(p.Param("scaleStep"), p.GP64())
	p.ADDQ(step, k.scales)
	p.DECQ(blocks)
	p.JNZ(operand.LabelRef("block"))
	p.VZEROUPPER()
	p.RET()
}

type panelsKernel struct {
	*asm.Program
	t                         avx512vnni
	y, data, x, scales, codes reg.Register // of the block in hand
	stride                    asm.Stride   // of scales
}

// rows returns the address of what lies disp bytes into the block, for each
// register of rows.
func (k *panelsKernel) rows(disp int) [2]operand.Mem {
	next := k.Load(k.Param("nextRows"), k.GP64())
	return [2]operand.Mem{{Base: k.data, Disp: disp}, {Base: k.data, Index: next, Scale: 1, Disp: disp}}
}

// expand writes the bits of a block as bytes 0 and 2, so that −Σq is all that
// their product with q lacks.
func (k *panelsKernel) expand() {
	twos := k.t.twos()
	from, to, left := k.GP64(), k.GP64(), k.GP64()
	next := k.Load(k.Param("nextRows"), k.GP64())
	k.MOVQ(k.data, from)
	k.MOVQ(k.codes, to)
	k.MOVQ(operand.U32(4), left)
	k.Label("expand")
	for h, bits := range []operand.Mem{{Base: from}, {Base: from, Index: next, Scale: 1}} {
		w := k.t.loadVector(bits)
		for j := range 8 {
			code := k.t.vector()
			switch j {
			case 0:
				k.VPADDB(w, w, code)
				k.VPANDD(twos, code, code)
			case 1:
				k.VPANDD(twos, w, code)
			default:
				k.VPSRLW(operand.Imm(uint64(j-1)), w, code)
				k.VPANDD(twos, code, code)
			}
			k.store(code, operand.Mem{Base: to, Disp: (2*j + h) * stripRegister})
		}
	}
	k.ADDQ(operand.Imm(vectorBytes), from)
	k.ADDQ(operand.U32(2*8*stripRegister), to)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("expand"))
}

func (k *panelsKernel) store(v reg.VecVirtual, m operand.Mem) { k.VMOVUPS(v, m) }

// sums is what columns of a panel have in a strip: two registers each.
type sums [][2]reg.VecVirtual

func (k *panelsKernel) newSums() sums {
	acc := make(sums, panelColumns)
	for c := range acc {
		for h := range acc[c] {
			acc[c][h] = k.t.vector()
		}
	}
	return acc
}

func (k *panelsKernel) clear(acc sums) {
	for c := range acc {
		for h := range acc[c] {
			k.Program.Clear(acc[c][h])
		}
	}
}

// columns adds the terms of a block for the columns of a panel.
func (k *panelsKernel) columns(xs, scales, y reg.Register) {
	acc := k.newSums()
	k.clear(acc)
	x := k.eachSteps(groupSteps/2, xs, k.GP64(), func(x, codes reg.Register) { k.steps(groupSteps/2, acc, x, codes) })
	k.addTerms(scales, y, operand.Mem{}, func(c, h int) reg.VecVirtual {
		return k.total(acc[c][h], operand.Mem{Base: x, Disp: 4 * c})
	})
}

// columns32 is columns under q8_32: the totals of all groups lie behind the codes.
func (k *panelsKernel) columns32(xs, scales, y reg.Register) {
	acc := k.newSums()
	spans, four := k.GP64(), k.GP64()
	k.MOVQ(scales, spans)
	k.LEAQ(operand.Mem{Base: scales, Index: k.stride.One, Scale: 4}, four)
	field := func(c int, m operand.Mem) operand.Mem {
		base := spans
		if c >= 4 {
			base = four
		}
		return k.stride.Row(base, c%4, m.Disp)
	}
	total := func(c, h int) operand.Mem {
		return operand.Mem{Base: k.codes, Disp: (codeRegisters + 2*c + h) * stripRegister}
	}
	for c := range acc {
		start := k.t.vector()
		k.VPBROADCASTD(field(c, span.minusSum(nil)), start)
		for h := range acc[c] {
			k.store(start, total(c, h))
		}
	}
	k.eachSteps(groupSteps, xs, k.AllocLocal(8), func(x, codes reg.Register) {
		k.clear(acc)
		k.steps(groupSteps, acc, x, codes)
		for c := range acc {
			for h := range acc[c] {
				sum := k.t.loadVector(total(c, h))
				k.t.addShare(sum, acc[c][h], field(c, span.share(nil, 0)))
				k.store(sum, total(c, h))
			}
		}
		k.ADDQ(operand.Imm(4), spans)
		k.ADDQ(operand.Imm(4), four)
	})
	k.addTerms(scales, y, span.unit(nil), func(c, h int) reg.VecVirtual { return k.t.loadVector(total(c, h)) })
}

// eachSteps calls body for each n steps of a block, counted by left, and returns
// where what is behind the last of the activations lies.
func (k *panelsKernel) eachSteps(n int, xs reg.Register, left operand.Op, body func(x, codes reg.Register)) reg.Register {
	x, codes := k.GP64(), k.GP64()
	k.MOVQ(xs, x)
	k.MOVQ(k.codes, codes)
	k.MOVQ(operand.U32(4*groupSteps/n), left)
	k.Label("steps")
	body(x, codes)
	k.ADDQ(operand.U32(n*panelStepBytes), x)
	k.ADDQ(operand.U32(n*2*stripRegister), codes)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("steps"))
	return x
}

// steps multiplies so many times four columns of weights with the columns.
func (k *panelsKernel) steps(n int, acc sums, x, codes reg.Register) {
	for s := range n {
		if s%2 == 0 {
			k.PREFETCHT0(operand.Mem{Base: x, Disp: panelBlockBytes + s*panelStepBytes})
		}
		var code [2]reg.VecVirtual
		for h := range code {
			code[h] = k.t.loadVector(operand.Mem{Base: codes, Disp: (2*s + h) * stripRegister})
		}
		for c := range acc {
			b := k.t.vector()
			k.VPBROADCASTD(operand.Mem{Base: x, Disp: s*panelStepBytes + 4*c}, b)
			for h := range code {
				k.VPDPBUSD(b, code[h], acc[c][h])
			}
		}
	}
}

// addTerms is y += float32(w·scale)·float32(sum) for the columns, whose scales
// are at so much behind scales.
func (k *panelsKernel) addTerms(scales, y reg.Register, at operand.Mem, sum func(c, h int) reg.VecVirtual) {
	var w [2]reg.VecVirtual
	for h, m := range k.rows(bitsBytes) {
		w[h] = k.t.vector()
		k.VCVTPH2PS(m, w[h])
	}
	four := k.GP64()
	k.LEAQ(operand.Mem{Base: scales, Index: k.stride.One, Scale: 4}, four)
	for c := range panelColumns {
		base := scales
		if c >= 4 {
			base = four
		}
		scale := k.stride.Row(base, c%4, at.Disp)
		for h := range w {
			out := operand.Mem{Base: y, Disp: (c*2 + h) * stripRegister}
			sum := sum(c, h)
			ws := k.t.mulBroadcast(w[h], scale)
			k.VCVTDQ2PS(sum, sum)
			k.VMULPS(ws, sum, sum)
			k.VADDPS(out, sum, sum)
			k.VMOVUPS(sum, out)
		}
	}
}

// total returns acc with minusSum added.
func (k *panelsKernel) total(acc reg.VecVirtual, minusSum operand.Mem) reg.VecVirtual {
	k.VPADDD_BCST(minusSum, acc, acc)
	return acc
}

// twos returns 2 in every byte.
func (t avx512vnni) twos() reg.VecVirtual {
	r, v := t.GP32(), t.ZMM()
	t.MOVL(operand.U32(0x02020202), r)
	t.VPBROADCASTD(r, v)
	return v
}
