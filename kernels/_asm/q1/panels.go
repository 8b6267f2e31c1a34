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
	unrolledSteps   = 8
)

// A panelsTarget is an instruction set for batches. A strip is two registers
// of rows: 32 rows with AVX-512, 16 without.
type panelsTarget interface {
	name() string
	lanes() int
	vector() reg.VecVirtual
	loadVector(m operand.Mem) reg.VecVirtual
	mulBroadcast(a reg.VecVirtual, m operand.Mem) reg.VecVirtual
	// columns is how many the registers hold sums of at a time.
	columns() int
	// twos returns 2 in every byte.
	twos() reg.VecVirtual
	// dot adds the products of four codes and four activations to acc.
	dot(x, code, acc reg.VecVirtual)
	// addPanelShare adds to total what a panel has of 32 columns, acc, times its share.
	addPanelShare(total, acc reg.VecVirtual, share operand.Mem)
	// total returns acc as int32, with minusSum added.
	total(acc reg.VecVirtual, minusSum operand.Mem) reg.VecVirtual
}

const panelsSignature = "func(y *float32, data *byte, nextRows int, x *int8, panelStride int, scales *float32, scaleStride, scaleStep, blocks, panels int, codes *byte)"

// codeRegisters is how many registers the bits of a strip's block are as bytes.
const codeRegisters = 64

func panels(p *asm.Program, t panelsTarget) {
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
func panels32(p *asm.Program, t panelsTarget) {
	name := "q1Panels32" + t.name()
	p.Func(name, panelsSignature,
		name+" is q1Panels128"+t.name()+" for columns under q8_32: what a block adds is",
		"float32(float32(scale(i, b)*Unit) * float32(Σ_g Shares[g]*S_g)), of its kernels.Span, of which scales is the",
		fmt.Sprintf("first of each column's. scaleStep is 32. codes has room for %d registers.", codeRegisters+2*t.columns()))
	newPanelsKernel(p, t).multiply(true)
}

func newPanelsKernel(p *asm.Program, t panelsTarget) *panelsKernel {
	k := &panelsKernel{Program: p, t: t, registerBytes: 4 * t.lanes()}
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
	p, t := k.Program, k.t
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
	for from := 0; from < panelColumns; from += t.columns() {
		if per32 {
			k.columns32(from, xs, scales, y)
		} else {
			k.columns(from, xs, scales, y)
		}
	}
	panelStride := p.Load(p.Param("panelStride"), p.GP64())
	p.ADDQ(panelStride, xs)
	p.LEAQ(operand.Mem{Base: scales, Index: k.stride.One, Scale: 8}, scales)
	p.ADDQ(operand.U32(panelColumns*2*k.registerBytes), y)
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
	t                         panelsTarget
	registerBytes             int
	y, data, x, scales, codes reg.Register // of the block in hand
	stride                    asm.Stride   // of scales
}

// rows returns the address of what lies disp bytes into the block, for each
// register of rows.
func (k *panelsKernel) rows(disp [2]int) [2]operand.Mem {
	next := k.Load(k.Param("nextRows"), k.GP64())
	return [2]operand.Mem{
		{Base: k.data, Disp: disp[0]},
		{Base: k.data, Index: next, Scale: 1, Disp: disp[1]},
	}
}

// expand writes the bits of a block as bytes 0 and 2, so that −Σq is all that
// their product with q lacks.
func (k *panelsKernel) expand() {
	twos := k.t.twos()
	bits := k.rows([2]int{})
	for v := range 4 {
		for h := range 2 {
			w := k.t.loadVector(at(bits[h], v*vectorBytes))
			for j := range 8 {
				code := k.t.vector()
				switch j {
				case 0:
					k.VPADDB(w, w, code)
					k.and(twos, code, code)
				case 1:
					k.and(twos, w, code)
				default:
					k.VPSRLW(operand.Imm(uint64(j-1)), w, code)
					k.and(twos, code, code)
				}
				k.store(code, operand.Mem{Base: k.codes, Disp: ((8*v+j)*2 + h) * k.registerBytes})
			}
		}
	}
}

func (k *panelsKernel) and(a, b, dst reg.VecVirtual) {
	if k.t.lanes() == 16 {
		k.VPANDD(a, b, dst)
		return
	}
	k.VPAND(a, b, dst)
}

func (k *panelsKernel) store(v reg.VecVirtual, m operand.Mem) { k.VMOVUPS(v, m) }

// sums is what columns of a panel have in a strip: two registers each.
type sums [][2]reg.VecVirtual

func (k *panelsKernel) newSums() sums {
	acc := make(sums, k.t.columns())
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

// columns adds the terms of a block for some columns of a panel.
func (k *panelsKernel) columns(from int, xs, scales, y reg.Register) {
	acc := k.newSums()
	k.clear(acc)
	x := k.eachStep(from, xs, k.GP64(), func(x, codes reg.Register) { k.steps(acc, from, x, codes) })
	k.addTerms(from, scales, y, operand.Mem{}, func(c, h int) reg.VecVirtual {
		return k.t.total(acc[c][h], operand.Mem{Base: x, Disp: 4 * c})
	})
}

// columns32 is columns under q8_32: the totals of all groups lie behind the codes.
func (k *panelsKernel) columns32(from int, xs, scales, y reg.Register) {
	acc := k.newSums()
	spans, four := k.GP64(), k.GP64()
	k.MOVQ(scales, spans)
	k.LEAQ(operand.Mem{Base: scales, Index: k.stride.One, Scale: 4}, four)
	field := func(c int, m operand.Mem) operand.Mem {
		base := spans
		if from+c >= 4 {
			base = four
		}
		return k.stride.Row(base, (from+c)%4, m.Disp)
	}
	total := func(c, h int) operand.Mem {
		return operand.Mem{Base: k.codes, Disp: (codeRegisters + 2*c + h) * k.registerBytes}
	}
	for c := range acc {
		start := k.t.vector()
		k.VPBROADCASTD(field(c, span.minusSum(nil)), start)
		for h := range acc[c] {
			k.store(start, total(c, h))
		}
	}
	k.eachStep(from, xs, k.AllocLocal(8), func(x, codes reg.Register) {
		k.clear(acc)
		k.steps(acc, from, x, codes)
		for c := range acc {
			for h := range acc[c] {
				sum := k.t.loadVector(total(c, h))
				k.t.addPanelShare(sum, acc[c][h], field(c, span.share(nil, 0)))
				k.store(sum, total(c, h))
			}
		}
		k.ADDQ(operand.Imm(4), spans)
		k.ADDQ(operand.Imm(4), four)
	})
	k.addTerms(from, scales, y, span.unit(nil), func(c, h int) reg.VecVirtual { return k.t.loadVector(total(c, h)) })
}

// eachStep calls body for each 32 columns of weights, counted by left, and returns
// where what is behind the last of the activations lies.
func (k *panelsKernel) eachStep(from int, xs reg.Register, left operand.Op, body func(x, codes reg.Register)) reg.Register {
	x, codes := k.GP64(), k.GP64()
	k.LEAQ(operand.Mem{Base: xs, Disp: 4 * from}, x)
	k.MOVQ(k.codes, codes)
	k.MOVQ(operand.U32(32/unrolledSteps), left)
	label := "steps" + string(rune('0'+from))
	k.Label(label)
	body(x, codes)
	k.ADDQ(operand.U32(unrolledSteps*panelStepBytes), x)
	k.ADDQ(operand.U32(unrolledSteps*2*k.registerBytes), codes)
	k.DECQ(left)
	k.JNZ(operand.LabelRef(label))
	return x
}

// steps multiplies 32 columns of weights with the columns from on.
func (k *panelsKernel) steps(acc sums, from int, x, codes reg.Register) {
	for s := range unrolledSteps {
		if from == 0 && s%2 == 0 {
			k.PREFETCHT0(operand.Mem{Base: x, Disp: panelBlockBytes + s*panelStepBytes})
		}
		var code [2]reg.VecVirtual
		for h := range code {
			code[h] = k.t.loadVector(operand.Mem{Base: codes, Disp: (2*s + h) * k.registerBytes})
		}
		for c := range acc {
			b := k.t.vector()
			k.VPBROADCASTD(operand.Mem{Base: x, Disp: s*panelStepBytes + 4*c}, b)
			for h := range code {
				k.t.dot(b, code[h], acc[c][h])
			}
		}
	}
}

// addTerms is y += float32(w·scale)·float32(sum) for the columns from on, whose scales
// are at so much behind scales.
func (k *panelsKernel) addTerms(from int, scales, y reg.Register, at operand.Mem, sum func(c, h int) reg.VecVirtual) {
	disp := [2]int{bitsBytes, bitsBytes}
	if k.t.lanes() < 16 { // nextRows leads to the other half of the signs; the scales are half as long
		disp[1] += 2*k.t.lanes() - k.registerBytes
	}
	var w [2]reg.VecVirtual
	for h, m := range k.rows(disp) {
		w[h] = k.t.vector()
		k.VCVTPH2PS(m, w[h])
	}
	four := k.GP64()
	k.LEAQ(operand.Mem{Base: scales, Index: k.stride.One, Scale: 4}, four)
	for c := range k.t.columns() {
		base := scales
		if from+c >= 4 {
			base = four
		}
		scale := k.stride.Row(base, (from+c)%4, at.Disp)
		for h := range w {
			out := operand.Mem{Base: y, Disp: ((from+c)*2 + h) * k.registerBytes}
			sum := sum(c, h)
			ws := k.t.mulBroadcast(w[h], scale)
			k.VCVTDQ2PS(sum, sum)
			k.VMULPS(ws, sum, sum)
			k.VADDPS(out, sum, sum)
			k.VMOVUPS(sum, out)
		}
	}
}

func (avx512vnni) columns() int { return 8 }

func (t avx512vnni) addPanelShare(total, acc reg.VecVirtual, share operand.Mem) {
	t.addShare(total, acc, share)
}

func (t avxvnni) addPanelShare(total, acc reg.VecVirtual, share operand.Mem) {
	t.addShare(total, acc, share)
}

// addPanelShare has int16, two for each row.
func (t avx2) addPanelShare(total, acc reg.VecVirtual, share operand.Mem) {
	x := t.YMM()
	t.VPBROADCASTW(share, x)
	t.VPMADDWD(x, acc, x)
	t.VPADDD(x, total, total)
}

func (t avx512vnni) twos() reg.VecVirtual {
	r, v := t.GP32(), t.ZMM()
	t.MOVL(operand.U32(0x02020202), r)
	t.VPBROADCASTD(r, v)
	return v
}

func (t avx512vnni) dot(x, code, acc reg.VecVirtual) { t.VPDPBUSD(x, code, acc) }

func (t avx512vnni) total(acc reg.VecVirtual, minusSum operand.Mem) reg.VecVirtual {
	t.VPADDD_BCST(minusSum, acc, acc)
	return acc
}

func (ymmTarget) columns() int           { return 4 }
func (t ymmTarget) twos() reg.VecVirtual { return t.broadcast(0x02020202) }

func (t avxvnni) dot(x, code, acc reg.VecVirtual) { t.VEXDPBUSD(x, code, acc) }

func (t avxvnni) total(acc reg.VecVirtual, minusSum operand.Mem) reg.VecVirtual {
	less := t.YMM()
	t.VPBROADCASTD(minusSum, less)
	t.VPADDD(less, acc, acc)
	return acc
}

// dot adds in int16: 32 steps of two codes of 2 and |q| ≤ 127 stay below 2^14.
func (t avx2) dot(x, code, acc reg.VecVirtual) {
	product := t.YMM()
	t.VPMADDUBSW(x, code, product)
	t.VPADDW(product, acc, acc)
}

func (t avx2) total(acc reg.VecVirtual, minusSum operand.Mem) reg.VecVirtual {
	ones, less := t.YMM(), t.YMM()
	t.VPCMPEQW(ones, ones, ones)
	t.VPSRLW(operand.Imm(15), ones, ones)
	t.VPMADDWD(ones, acc, acc)
	t.VPBROADCASTD(minusSum, less)
	t.VPADDD(less, acc, acc)
	return acc
}
