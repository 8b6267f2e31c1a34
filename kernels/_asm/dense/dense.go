// Package dense generates the innermost loops of products of float32 matrices, and those
// that pack their operands.
package dense

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Generate writes all functions of dense_amd64.s.
func Generate(p *asm.Program) {
	for _, t := range []target{
		{p, "AVX512", 16, p.ZMM},
		{p, "AVX2", 8, p.YMM},
	} {
		for _, s := range t.shapes() {
			t.tile(s[0], s[1])
		}
	}
	transpose(p)
	for _, width := range []int{4, 8, 12, 16, 24, 32} {
		gather(p, width)
	}
}

// target is what the instruction sets differ in.
type target struct {
	*asm.Program
	isa      string
	lanes    int
	register func() reg.VecVirtual
}

// shapes returns rows and vectors of each tile: as many sums as registers allow, and what is
// left at the borders.
func (t target) shapes() [][2]int {
	if t.isa == "AVX512" {
		return [][2]int{{12, 2}, {12, 1}, {8, 2}, {8, 1}, {4, 2}, {4, 1}}
	}
	return [][2]int{{4, 3}, {4, 2}, {4, 1}}
}

const float = 4 // bytes

// tile writes the kernel of one tile: a sum of each element in a register of its own lane,
// and for each k one load per vector of b and one broadcast per row of a.
func (t target) tile(rows, vectors int) {
	columns := vectors * t.lanes
	name := fmt.Sprintf("tile%dx%d%s", rows, columns, t.isa)
	t.Func(name, "func(c *float32, stride int, a, b *float32, k int, add bool)",
		fmt.Sprintf("%s multiplies panels of k ≥ 1; rows of c are stride floats apart.", name),
		"",
		fmt.Sprintf("\tfor i := range %d {", rows),
		fmt.Sprintf("\t\tfor j := range %d {", columns),
		"\t\t\ts := float32(0)",
		"\t\t\tfor l := range k {",
		fmt.Sprintf("\t\t\t\ts = fma(a[%d*l+i], b[%d*l+j], s)", rows, columns),
		"\t\t\t}",
		"\t\t\tif add {",
		"\t\t\t\ts += c[i*stride+j]",
		"\t\t\t}",
		"\t\t\tc[i*stride+j] = s",
		"\t\t}",
		"\t}")
	c := t.Load(t.Param("c"), t.GP64())
	stride := t.Load(t.Param("stride"), t.GP64())
	a := t.Load(t.Param("a"), t.GP64())
	b := t.Load(t.Param("b"), t.GP64())
	k := t.Load(t.Param("k"), t.GP64())
	t.SHLQ(operand.U8(2), stride)
	out := t.Rows(t.Stride(stride), rows/4)
	t.MOVQ(c, out.Fourth[0])
	t.StartRows(out)
	size := t.lanes * float
	for i := range rows {
		for _, line := range asm.Lines(out.At(i, 0), vectors*size) {
			t.PREFETCHT0(line)
		}
	}
	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range vectors {
			s := t.register()
			t.Clear(s)
			sums[i] = append(sums[i], s)
		}
	}

	const unrolled = 4
	t.SUBQ(operand.I8(unrolled), k)
	t.JLT(operand.LabelRef("rest"))
	t.Label("steps")
	t.step(sums, a, b, unrolled)
	t.SUBQ(operand.I8(unrolled), k)
	t.JGE(operand.LabelRef("steps"))
	t.Label("rest")
	t.ADDQ(operand.I8(unrolled), k)
	t.JEQ(operand.LabelRef("done"))
	t.Label("one")
	t.step(sums, a, b, 1)
	t.DECQ(k)
	t.JNE(operand.LabelRef("one"))
	t.Label("done")

	t.CMPB(t.Argument("add"), operand.Imm(0))
	t.JEQ(operand.LabelRef("store"))
	for i, row := range sums {
		for j, s := range row {
			t.VADDPS(out.At(i, j*size), s, s)
		}
	}
	t.Label("store")
	for i, row := range sums {
		for j, s := range row {
			t.VMOVUPS(s, out.At(i, j*size))
		}
	}
	t.VZEROUPPER()
	t.RET()
}

// step adds the products of n successive k.
func (t target) step(sums [][]reg.VecVirtual, a, b reg.Register, n int) {
	rows, vectors, size := len(sums), len(sums[0]), t.lanes*float
	for l := range n {
		var row []reg.VecVirtual
		for j := range vectors {
			v := t.register()
			t.VMOVUPS(asm.At(b, (l*vectors+j)*size), v)
			row = append(row, v)
		}
		for i := range rows {
			v := t.register()
			t.VBROADCASTSS(asm.At(a, (l*rows+i)*float), v)
			for j := range vectors {
				t.VFMADD231PS(v, row[j], sums[i][j])
			}
		}
	}
	t.ADDQ(operand.I32(n*rows*float), a)
	t.ADDQ(operand.I32(n*vectors*size), b)
}

// transpose writes the packing of four rows, 8 columns at a time.
func transpose(p *asm.Program) {
	p.Func("transpose4AVX2", "func(dst *float32, width int, r0, r1, r2, r3 *float32, blocks int)",
		"transpose4AVX2 packs blocks ≥ 1 of 8 columns of four rows.",
		"",
		"\tfor j := range 8 * blocks {",
		"\t\tdst[j*width], dst[j*width+1], dst[j*width+2], dst[j*width+3] = r0[j], r1[j], r2[j], r3[j]",
		"\t}")
	dst := p.Load(p.Param("dst"), p.GP64())
	width := p.Load(p.Param("width"), p.GP64())
	var src []reg.Register
	for i := range 4 {
		src = append(src, p.Load(p.Param(fmt.Sprint("r", i)), p.GP64()))
	}
	blocks := p.Load(p.Param("blocks"), p.GP64())
	p.SHLQ(operand.U8(2), width)
	out := p.Rows(p.Stride(width), 2)

	p.Label("block")
	var rows [4]reg.VecVirtual
	for i := range rows {
		rows[i] = p.YMM()
		p.VMOVUPS(asm.At(src[i], 0), rows[i])
		p.ADDQ(operand.I8(8*float), src[i])
	}
	p.MOVQ(dst, out.Fourth[0])
	p.StartRows(out)
	for j, v := range p.Transpose(rows) {
		p.VMOVUPS(v.AsX(), out.At(j, 0))
		p.VEXTRACTF128(operand.U8(1), v, out.At(j+4, 0))
	}
	p.LEAQ(operand.Mem{Base: dst, Index: width, Scale: 8}, dst)
	p.DECQ(blocks)
	p.JNZ(operand.LabelRef("block"))
	p.VZEROUPPER()
	p.RET()
}

// gather writes the packing of width columns that lie side by side.
func gather(p *asm.Program, width int) {
	name := fmt.Sprintf("gather%dAVX2", width)
	p.Func(name, "func(dst, src *float32, stride, k int)",
		fmt.Sprintf("%s packs %d columns of k ≥ 1 rows, which are stride floats apart.", name, width),
		"",
		"\tfor l := range k {",
		fmt.Sprintf("\t\tcopy(dst[%d*l:%d*l+%d], src[l*stride:])", width, width, width),
		"\t}")
	dst := p.Load(p.Param("dst"), p.GP64())
	src := p.Load(p.Param("src"), p.GP64())
	stride := p.Load(p.Param("stride"), p.GP64())
	k := p.Load(p.Param("k"), p.GP64())
	p.SHLQ(operand.U8(2), stride)
	p.Label("row")
	var parts []reg.VecVirtual
	for at := 0; at < width; at += int(parts[len(parts)-1].Size()) / float {
		v := reg.VecVirtual(p.YMM())
		if width-at < 8 {
			v = p.XMM()
		}
		p.VMOVUPS(asm.At(src, at*float), v)
		parts = append(parts, v)
	}
	at := 0
	for _, v := range parts {
		p.VMOVUPS(v, asm.At(dst, at))
		at += int(v.Size())
	}
	p.ADDQ(stride, src)
	p.ADDQ(operand.I32(width*float), dst)
	p.DECQ(k)
	p.JNZ(operand.LabelRef("row"))
	p.VZEROUPPER()
	p.RET()
}
