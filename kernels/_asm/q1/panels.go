package q1

import (
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
	// total returns acc as int32, with minusSum added.
	total(acc reg.VecVirtual, minusSum operand.Mem) reg.VecVirtual
}

func panels(p *asm.Program, t panelsTarget) {
	name := "q1Panels" + t.name()
	p.Func(name, "func(y *float32, data *byte, nextRows int, x *int8, panelStride int, scales *float32, scaleStride, scaleStep, blocks, panels int, codes *byte)",
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
	k := &panelsKernel{Program: p, t: t, registerBytes: 4 * t.lanes()}
	k.y = p.Load(p.Param("y"), p.GP64())
	k.data = p.Load(p.Param("data"), p.GP64())
	k.x = p.Load(p.Param("x"), p.GP64())
	k.scales = p.Load(p.Param("scales"), p.GP64())
	k.codes = p.Load(p.Param("codes"), p.GP64())
	k.stride = p.Stride(p.Load(p.Param("scaleStride"), p.GP64()))
	blocks := p.Argument("blocks")

	p.Label("block")
	k.expand()
	left := p.Load(p.Param("panels"), p.GP64())
	xs, scales, y := p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(k.x, xs)
	p.MOVQ(k.scales, scales)
	p.MOVQ(k.y, y)
	p.Label("panel")
	for from := 0; from < panelColumns; from += t.columns() {
		k.columns(from, xs, scales, y)
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

// columns adds the terms of a block for some columns of a panel.
func (k *panelsKernel) columns(from int, xs, scales, y reg.Register) {
	n := k.t.columns()
	acc := make([][2]reg.VecVirtual, n)
	for c := range acc {
		for h := range acc[c] {
			acc[c][h] = k.t.vector()
			k.Program.Clear(acc[c][h])
		}
	}
	x, codes, left := k.GP64(), k.GP64(), k.GP64()
	k.LEAQ(operand.Mem{Base: xs, Disp: 4 * from}, x)
	k.MOVQ(k.codes, codes)
	k.MOVQ(operand.U32(32/unrolledSteps), left)
	label := "steps" + string(rune('0'+from))
	k.Label(label)
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
	k.ADDQ(operand.U32(unrolledSteps*panelStepBytes), x)
	k.ADDQ(operand.U32(unrolledSteps*2*k.registerBytes), codes)
	k.DECQ(left)
	k.JNZ(operand.LabelRef(label))

	k.addTerms(acc, from, x, scales, y)
}

// addTerms is y += float32(w·scale)·float32(sum) for the columns from on. x is
// at their −Σq.
func (k *panelsKernel) addTerms(acc [][2]reg.VecVirtual, from int, x, scales, y reg.Register) {
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
	for c := range acc {
		base := scales
		if from+c >= 4 {
			base = four
		}
		scale := k.stride.Row(base, (from+c)%4, 0)
		for h := range acc[c] {
			out := operand.Mem{Base: y, Disp: ((from+c)*2 + h) * k.registerBytes}
			sum := k.t.total(acc[c][h], operand.Mem{Base: x, Disp: 4 * c})
			ws := k.t.mulBroadcast(w[h], scale)
			k.VCVTDQ2PS(sum, sum)
			k.VMULPS(ws, sum, sum)
			k.VADDPS(out, sum, sum)
			k.VMOVUPS(sum, out)
		}
	}
}

func (avx512vnni) columns() int { return 8 }

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
