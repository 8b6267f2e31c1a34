package q1

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// columns writes the kernel for 2 or 4 columns at once: a plane is taken out of
// the weights once and multiplied with each. More sums do not fit in the
// registers, and fewer columns do not pay for the bytes of panels.
func columns(p *asm.Program, n int) {
	t := avx512vnni{p}
	name := fmt.Sprintf("q1Columns%d%s", n, t.name())
	p.Func(name, "func(dst *float32, dstStride int, data *byte, q *int8, qStride int, scales *float32, scaleStride, scaleStep int, sums *int32, blocks, rows int)",
		fmt.Sprintf("%s is q1Bitplanes128%s for each of %d columns, whose results, activations", name, t.name(), n),
		"and scales are dstStride, qStride and scaleStride bytes apart, and whose sums",
		"qStride/8.")
	data := p.Load(p.Param("data"), p.GP64())
	q, scales, sums := newColumnSet(p, "qStride", 0), newColumnSet(p, "scaleStride", 0), newColumnSet(p, "qStride", 3)
	minusSum := p.AllocLocal(4 * n)
	c := t.constants().([4]reg.VecVirtual)
	left := p.GP64()
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		acc[i] = p.ZMM()
	}

	p.Label("tile")
	for _, a := range acc {
		p.Clear(a)
	}
	p.Load(p.Param("q"), q.base)
	p.Load(p.Param("scales"), scales.base)
	p.Load(p.Param("sums"), sums.base)
	p.Load(p.Param("blocks"), left)

	p.Label("block")
	for _, m := range asm.Lines(operand.Mem{Base: data, Disp: prefetchAhead}, blockBytes) {
		p.PREFETCHT0(m)
	}
	part := startColumns(p, t, n, sums, minusSum)
	vectors := p.GP64()
	p.MOVQ(operand.U32(4), vectors)
	p.Label("vector")
	addPlanes(p, c, t.loadVector(operand.Mem{Base: data}), q, 0, part)
	p.ADDQ(operand.Imm(vectorBytes), data)
	p.ADDQ(operand.Imm(32), q.base)
	p.DECQ(vectors)
	p.JNZ(operand.LabelRef("vector"))
	w := p.ZMM()
	p.VCVTPH2PS(operand.Mem{Base: data}, w)
	for i := range part {
		addTerm(p, t, acc[i], w, scales.at(i, 0), finishSums(p, part[i]))
	}
	p.ADDQ(operand.U32(blockBytes-bitsBytes), data)
	p.ADDQ(operand.Imm(16), sums.base)
	step := p.Load(p.Param("scaleStep"), p.GP64())
	p.ADDQ(step, scales.base)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("block"))

	rows, dst := p.Argument("rows"), p.Argument("dst")
	out := newColumnSet(p, "dstStride", 0)
	p.MOVQ(dst, out.base)
	p.ADDQ(operand.Imm(4*16), dst)
	p.CMPQ(rows, operand.Imm(16))
	p.JLT(operand.LabelRef("rest"))
	for i, a := range acc {
		p.VMOVUPS(a, out.at(i, 0))
	}
	p.SUBQ(operand.Imm(16), rows)
	p.JNZ(operand.LabelRef("tile"))
	p.VZEROUPPER()
	p.RET()

	p.Label("rest")
	count := p.GP64()
	p.MOVQ(rows, count)
	for i, a := range acc {
		t.storeFirst(count, a, out.at(i, 0))
	}
	p.VZEROUPPER()
	p.RET()
}

// startColumns clears the sums of n columns; see startSums.
func startColumns(p *asm.Program, t target, n int, sums columnSet, minusSum operand.Mem) [][4]reg.VecVirtual {
	part := make([][4]reg.VecVirtual, n)
	for i := range part {
		r := p.GP32()
		p.MOVL(sums.at(i, 0), r)
		for v := 1; v < 4; v++ {
			p.ADDL(sums.at(i, 4*v), r)
		}
		p.NEGL(r)
		p.MOVL(r, at(minusSum, 4*i))
		part[i] = startSums(p, t, at(minusSum, 4*i))
	}
	return part
}

// addPlanes multiplies vector v of the weights, w, with each column. w is lost.
func addPlanes(p *asm.Program, masks [4]reg.VecVirtual, w reg.VecVirtual, q columnSet, v int, part [][4]reg.VecVirtual) {
	for j := range 8 {
		if j == 4 {
			p.VPSRLW(operand.Imm(4), w, w)
		}
		code := p.ZMM()
		p.VPANDD(masks[j%4], w, code)
		for i := range part {
			p.VPDPBUSD_BCST(q.at(i, 32*v+4*j), code, part[i][j%4])
		}
	}
}

// A columnSet is the addresses of something of up to four columns.
type columnSet struct {
	base reg.Register
	asm.Stride
}

// newColumnSet takes the stride from a parameter, which it shifts down; the base
// is not set.
func newColumnSet(p *asm.Program, stride string, shift uint64) columnSet {
	base, one := p.GP64(), p.Load(p.Param(stride), p.GP64())
	if shift > 0 {
		p.SHRQ(operand.Imm(shift), one)
	}
	return columnSet{base, p.Stride(one)}
}

// from returns the set with another base.
func (s columnSet) from(base reg.Register) columnSet {
	s.base = base
	return s
}

func (s columnSet) at(i, disp int) operand.Mem { return s.Row(s.base, i, disp) }
