// Package delta generates the update of a gated delta net's state.
package delta

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const rowBytes = 4 * 32 // of columns

// Generate writes all functions of delta_amd64.s.
func Generate(p *asm.Program) {
	target{p, "AVX512", 64, p.ZMM}.deltaRule()
	target{p, "AVX2", 32, p.YMM}.deltaRule()
}

// target is what the instruction sets differ in.
type target struct {
	*asm.Program
	isa      string
	size     int // of a register
	register func() reg.VecVirtual
}

func (p target) deltaRule() {
	p.Func("deltaRule"+p.isa, "func(matrix, q, k, v, out *float32, keys int, decay, beta float32)",
		"deltaRule"+p.isa+" takes a token into a matrix of 32 columns, and answers its query. It fetches what lies",
		"behind the matrix: the one to follow.",
		"",
		"\tfor j := range 32 {",
		"\t\tvar predicted float32",
		"\t\tfor i := range keys {",
		"\t\t\tmatrix[32*i+j] *= decay",
		"\t\t\tpredicted += float32(matrix[32*i+j] * k[i])",
		"\t\t}",
		"\t\tby := float32(v[j]-predicted) * beta",
		"\t\tout[j] = 0",
		"\t\tfor i := range keys {",
		"\t\t\tmatrix[32*i+j] += float32(k[i] * by)",
		"\t\t\tout[j] += float32(matrix[32*i+j] * q[i])",
		"\t\t}",
		"\t}")
	matrix := p.Load(p.Param("matrix"), p.GP64())
	k := p.Load(p.Param("k"), p.GP64())
	keys := p.Load(p.Param("keys"), p.GP64())
	decay, beta := p.broadcast(p.Argument("decay")), p.broadcast(p.Argument("beta"))
	by := p.zeros()

	row, key, left := p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(matrix, row)
	p.MOVQ(k, key)
	p.MOVQ(keys, left)
	p.Label("predict")
	x := p.broadcast(operand.Mem{Base: key})
	for i, sum := range by {
		at := operand.Mem{Base: row, Disp: p.size * i}
		s := p.register()
		p.VMULPS(at, decay, s)
		p.VMOVUPS(s, at)
		p.VMULPS(x, s, s)
		p.VADDPS(s, sum, sum)
	}
	p.ADDQ(operand.U32(4), key)
	p.ADDQ(operand.U32(rowBytes), row)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("predict"))

	v := p.Load(p.Param("v"), p.GP64())
	for i, b := range by {
		value := p.register()
		p.VMOVUPS(operand.Mem{Base: v, Disp: p.size * i}, value)
		p.VSUBPS(b, value, b)
		p.VMULPS(beta, b, b)
	}

	q := p.Load(p.Param("q"), p.GP64())
	out := p.zeros() // row is behind the matrix
	p.Label("write")
	x, y := p.broadcast(operand.Mem{Base: k}), p.broadcast(operand.Mem{Base: q})
	for i, sum := range out {
		at := operand.Mem{Base: matrix, Disp: p.size * i}
		s := p.register()
		if p.size*i%64 == 0 {
			p.PREFETCHT0(operand.Mem{Base: row, Disp: p.size * i})
		}
		p.VMULPS(x, by[i], s)
		p.VADDPS(at, s, s)
		p.VMOVUPS(s, at)
		p.VMULPS(y, s, s)
		p.VADDPS(s, sum, sum)
	}
	p.ADDQ(operand.U32(4), k)
	p.ADDQ(operand.U32(4), q)
	p.ADDQ(operand.U32(rowBytes), matrix)
	p.ADDQ(operand.U32(rowBytes), row)
	p.DECQ(keys)
	p.JNZ(operand.LabelRef("write"))

	dst := p.Load(p.Param("out"), p.GP64())
	for i, sum := range out {
		p.VMOVUPS(sum, operand.Mem{Base: dst, Disp: p.size * i})
	}
	p.VZEROUPPER()
	p.RET()
}

func (p target) broadcast(m operand.Mem) reg.VecVirtual {
	v := p.register()
	p.VBROADCASTSS(m, v)
	return v
}

func (p target) zeros() (out []reg.VecVirtual) {
	for range rowBytes / p.size {
		v := p.register()
		p.Clear(v)
		out = append(out, v)
	}
	return out
}
