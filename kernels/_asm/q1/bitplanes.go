package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The layout bitplanes: 16 rows × 128 columns are four vectors of 64 bytes and
// 16 fp16 scales.
const (
	vectorBytes = 64
	bitsBytes   = 4 * vectorBytes
	blockBytes  = bitsBytes + 2*16
)

// prefetchAhead is how far ahead of the loads weights are fetched, in bytes.
// From 4 KiB on the fetches leave the page that the hardware's prefetcher
// works on, and the two get into each other's way.
const prefetchAhead = 2 << 10

// prefetchFurther is how much further ahead they are fetched into level 2 by
// kernels that gain by it.
const prefetchFurther = 6 << 10

// A target is an instruction set. A row's sum lies in a dword lane.
type target interface {
	name() string
	lanes() int // rows in a register
	vector() reg.VecVirtual
	// constants prepares what groupSum wants, once per call.
	constants() any
	// groupSum returns the int32 sums Σ ±q of the rows, over the vectors
	// [from, to) of the block, which load gives. minusSum holds −Σq of the
	// same columns; without it sums lack that.
	groupSum(constants any, load func(v int) reg.VecVirtual, q operand.Mem, from, to int, minusSum operand.Mem) reg.VecVirtual
	// loadRows loads a register of 16-byte pieces of rows.
	loadRows(m []operand.Mem) reg.VecVirtual
	// mulBroadcast returns a times the float32 at m.
	mulBroadcast(a reg.VecVirtual, m operand.Mem) reg.VecVirtual
	// storeLast stores a but for its first skip lanes.
	storeLast(skip reg.Register, a reg.VecVirtual, m operand.Mem)
}

const signature = "func(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)"

// tiles is the frame that the functions share: a loop over tiles, in it a
// loop over blocks.
type tiles struct {
	*asm.Program
	t                                     avx512vnni
	data, q, scales, sums                 reg.Register // of the block in hand
	scaleStep                             reg.Register
	minusSum                              operand.Mem // stack
	acc                                   reg.VecVirtual
	dst, q0, scales0, sums0, rows, blocks reg.Register
}

func bitplanes128(p *asm.Program, t avx512vnni) {
	p.Func("q1Bitplanes128"+t.name(), signature,
		"q1Bitplanes128"+t.name()+" multiplies tiles of the layout bitplanes with one column",
		"whose scale is that of 128 columns or, if scaleStep is 0 and not 4, of the row:",
		"",
		"\tfor i := range rows {",
		"\t\tdst[i] = 0",
		"\t\tfor b := range blocks {",
		"\t\t\tS := int32(0)",
		"\t\t\tfor k := range 128 {",
		"\t\t\t\tS += (2*bit(i, 128*b+k) - 1) * q[128*b+k]",
		"\t\t\t}",
		"\t\t\tdst[i] += float32(float32(scale(i, b)*scales[b*scaleStep/4]) * float32(S))",
		"\t\t}",
		"\t}",
		"",
		"sums holds the sum of every 32 q.")
	k := begin(p, t)
	c := t.constants()
	k.loop(func() {
		storeMinusSum(p, k.sums, 0, 4, k.minusSum)
		sum := t.groupSum(c, k.vector, operand.Mem{Base: k.q}, 0, 4, k.minusSum)
		addTerm(p, t, k.acc, k.weightScales(), operand.Mem{Base: k.scales}, sum)
		p.ADDQ(k.scaleStep, k.scales)
	})
}

func bitplanes32(p *asm.Program, t avx512vnni) {
	p.Func("q1Bitplanes32"+t.name(), signature,
		"q1Bitplanes32"+t.name()+" is q1Bitplanes128"+t.name()+" for a column under q8_32: what a block adds",
		"is float32(float32(scale(i, b)*Unit) * float32(Σ_g Shares[g]*S_g)), of its quantize.Span, of which scales is",
		"the first. scaleStep is 32.")
	k := begin(p, t)
	c := t.constants()
	k.loop(func() {
		total := t.vector()
		p.VPBROADCASTD(span.minusSum(k.scales), total)
		for v := range 4 {
			sum := t.groupSum(c, k.vector, operand.Mem{Base: k.q}, v, v+1, operand.Mem{})
			t.addShare(total, sum, span.share(k.scales, v))
		}
		addTerm(p, t, k.acc, k.weightScales(), span.unit(k.scales), total)
		p.ADDQ(k.scaleStep, k.scales)
	})
}

func begin(p *asm.Program, t avx512vnni) *tiles {
	k := &tiles{Program: p, t: t}
	k.minusSum = p.AllocLocal(8)
	k.dst = p.Load(p.Param("dst"), p.GP64())
	k.data = p.Load(p.Param("data"), p.GP64())
	k.q0 = p.Load(p.Param("q"), p.GP64())
	k.scales0 = p.Load(p.Param("scales"), p.GP64())
	k.scaleStep = p.Load(p.Param("scaleStep"), p.GP64())
	k.sums0 = p.Load(p.Param("sums"), p.GP64())
	k.blocks = p.Load(p.Param("blocks"), p.GP64())
	k.rows = p.Load(p.Param("rows"), p.GP64())
	k.acc = t.vector()
	return k
}

// loop runs block for each block of each tile, and stores the accumulator.
func (k *tiles) loop(block func()) {
	left := k.GP64()
	k.q, k.scales, k.sums = k.GP64(), k.GP64(), k.GP64()
	k.Label("tile")
	k.Program.Clear(k.acc)
	k.MOVQ(k.q0, k.q)
	k.MOVQ(k.scales0, k.scales)
	k.MOVQ(k.sums0, k.sums)
	k.MOVQ(k.blocks, left)

	k.Label("block")
	for _, m := range asm.Lines(operand.Mem{Base: k.data, Disp: prefetchAhead}, blockBytes) {
		k.PREFETCHT0(m)
	}
	block()
	k.ADDQ(operand.U32(blockBytes), k.data)
	k.ADDQ(operand.U32(128), k.q)
	k.ADDQ(operand.Imm(16), k.sums)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("block"))

	k.CMPQ(k.rows, operand.Imm(16))
	k.JLT(operand.LabelRef("rest"))
	k.VMOVUPS(k.acc, operand.Mem{Base: k.dst})
	k.ADDQ(operand.Imm(4*16), k.dst)
	k.SUBQ(operand.Imm(16), k.rows)
	k.JNZ(operand.LabelRef("tile"))
	k.VZEROUPPER()
	k.RET()

	k.Comment("The last tile has rows that only the layout has.")
	k.Label("rest")
	k.t.storeFirst(k.rows, k.acc, operand.Mem{Base: k.dst})
	k.VZEROUPPER()
	k.RET()
}

// weightScales loads the scales of the tile's rows.
func (k *tiles) weightScales() reg.VecVirtual {
	w := k.t.vector()
	k.VCVTPH2PS(operand.Mem{Base: k.data, Disp: bitsBytes}, w)
	return w
}

// vector loads one of the tile's.
func (k *tiles) vector(v int) reg.VecVirtual {
	return k.t.loadVector(operand.Mem{Base: k.data, Disp: v * vectorBytes})
}

// storeMinusSum stores −Σ sums[from:to], from where a vector register takes it
// without an instruction of the vector ports.
func storeMinusSum(p *asm.Program, sums reg.Register, from, to int, slot operand.Mem) {
	r := p.GP32()
	p.MOVL(operand.Mem{Base: sums, Disp: 4 * from}, r)
	for i := from + 1; i < to; i++ {
		p.ADDL(operand.Mem{Base: sums, Disp: 4 * i}, r)
	}
	p.NEGL(r)
	p.MOVL(r, slot)
}

// addTerm is acc += float32(w·scale) · float32(sum), every step rounded.
func addTerm(p *asm.Program, t target, acc, w reg.VecVirtual, scale operand.Mem, sum reg.VecVirtual) {
	f, ws := t.vector(), t.mulBroadcast(w, scale)
	p.VCVTDQ2PS(sum, f)
	p.VMULPS(ws, f, f)
	p.VADDPS(f, acc, acc)
}

// at returns m moved by disp bytes.
func at(m operand.Mem, disp int) operand.Mem {
	m.Disp += disp
	return m
}
