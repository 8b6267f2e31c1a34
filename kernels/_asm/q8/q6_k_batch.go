package q8

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// What a panel of 8 columns of activations has for a group of 32 columns of the
// weights: sums of 16 as int16, then 4 int8 of each column in turn.
const (
	q6PanelCols  = 8
	q6PanelGroup = 4*q6PanelCols + 32*q6PanelCols
)

// A q6Batch is the kernel under construction: where it keeps a block of two rows
// that were decoded once for all columns.
type q6Batch struct {
	*generator
	codes   operand.Mem // 6 bits in a byte, 256 of each row
	scales  operand.Mem // the 16 int8 scales of each row as int16
	minus   operand.Mem // those, times -32
	factors operand.Mem // the activation scales, 8 columns for each group
	y       operand.Mem // sums of 8 rows, 8 columns each
	offsets operand.Mem // of the columns' activation scales, in bytes

	nibble, high, zero reg.VecVirtual
}

// q6Batch writes the kernel. Columns of activations lie in the lanes, so that
// nothing is added across lanes; 4 codes of a row, broadcast, serve all columns.
func (g *generator) q6Batch() {
	g.Func("q6BatchAVX2", "func(dst *float32, dstStride int, w *byte, stride int, q *int8, scales *float32, blocks, tiles, columns int)",
		"q6BatchAVX2 multiplies tiles of 8 rows, which start stride bytes apart and have",
		"blocks of 210 bytes each, with 1 to 8 columns of a panel that q6Panels arranged.",
		"Each column has 8·blocks scales.",
		"",
		"\tfor c := range columns {",
		"\t\tfor r := range 8 * tiles {",
		"\t\t\ty := float32(0)",
		"\t\t\tfor g := range 8 * blocks {",
		"\t\t\t\tvar sum int32",
		"\t\t\t\tfor i := range 32 {",
		"\t\t\t\t\tsum += q6Code(w[r*stride:], 32*g+i) * int32(q[288*g+32+i/4*32+4*c+i%4])",
		"\t\t\t\t}",
		"\t\t\t\ty += term(fp16At(w, r*stride+g/8*210+208), scales[8*blocks*c+g], sum)",
		"\t\t\t}",
		"\t\t\tdst[c*dstStride+r] = y",
		"\t\t}",
		"\t}")
	g.Attributes(attr.Attribute(0)) // no NOSPLIT: the frame is large
	b := &q6Batch{generator: g, nibble: g.YMM(), high: g.YMM(), zero: g.YMM()}
	b.codes, b.scales, b.minus = g.AllocLocal(512), g.AllocLocal(64), g.AllocLocal(64)
	b.factors, b.y, b.offsets = g.AllocLocal(256), g.AllocLocal(256), g.AllocLocal(64)
	g.VMOVDQU(g.constant("q6BatchNibble", 0x0f0f0f0f0f0f0f0f, 4), b.nibble)
	g.VMOVDQU(g.constant("q6BatchHigh", 0x3030303030303030, 4), b.high)
	g.VPXOR(b.zero, b.zero, b.zero)
	b.columnOffsets()
	stride := g.Load(g.Param("stride"), g.GP64())

	g.Label("tile")
	w := g.Load(g.Param("w"), g.GP64())
	q := g.Load(g.Param("q"), g.GP64())
	scales := g.Load(g.Param("scales"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	for r := range tile {
		g.VMOVDQU(b.zero, b.y.Offset(32*r))
	}
	g.Label("block")
	b.transposeFactors(scales)
	row, y, left := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(w, row)
	g.LEAQ(b.y, y)
	g.MOVQ(operand.U32(tile/2), left)
	g.Label("pair")
	second, ahead := g.GP64(), g.GP64()
	g.LEAQ(operand.Mem{Base: row, Index: stride, Scale: 1}, second)
	g.LEAQ(operand.Mem{Base: row, Index: stride, Scale: 8}, ahead)
	lines := asm.Lines(asm.At(ahead, 0), q6Block)
	g.Prefetch(0, append(lines, asm.Lines(operand.Mem{Base: ahead, Index: stride, Scale: 1}, q6Block)...)...)
	b.decode(0, row)
	b.decode(1, second)
	b.groups(q, row, second, y)
	g.LEAQ(operand.Mem{Base: row, Index: stride, Scale: 2}, row)
	g.ADDQ(operand.I32(64), y)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("pair"))
	g.ADDQ(operand.I32(q6Block), w)
	g.ADDQ(operand.I32(8*q6PanelGroup), q)
	g.ADDQ(operand.I32(32), scales)
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))

	b.store()
	first := g.Load(g.Param("w"), g.GP64())
	g.LEAQ(operand.Mem{Base: first, Index: stride, Scale: 8}, first)
	g.Store(first, g.Param("w"))
	tiles := g.Load(g.Param("tiles"), g.GP64())
	g.DECQ(tiles)
	g.Store(tiles, g.Param("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// columnOffsets has the columns that are not there read the scales of the last.
func (b *q6Batch) columnOffsets() {
	step, offset, left := b.Load(b.Param("blocks"), b.GP64()), b.GP64(), b.Load(b.Param("columns"), b.GP64())
	none := b.GP64()
	b.SHLQ(operand.U8(5), step)
	b.XORQ(offset, offset)
	b.XORQ(none, none)
	for c := range q6PanelCols {
		b.MOVQ(offset, b.offsets.Offset(8*c))
		b.DECQ(left)
		b.CMOVQEQ(none, step)
		b.ADDQ(step, offset)
	}
}

// transposeFactors puts the scales of each group for all columns side by side.
func (b *q6Batch) transposeFactors(scales reg.Register) {
	var pairs [4]reg.VecVirtual
	for half := range 2 { // of the columns
		var v [4]reg.VecVirtual
		for i := range v {
			offset := b.GP64()
			b.MOVQ(b.offsets.Offset(8*(4*half+i)), offset)
			v[i] = b.YMM()
			b.VMOVUPS(operand.Mem{Base: scales, Index: offset, Scale: 1}, v[i])
		}
		for i := range pairs {
			pairs[i] = b.YMM()
		}
		b.VUNPCKLPS(v[1], v[0], pairs[0])
		b.VUNPCKHPS(v[1], v[0], pairs[1])
		b.VUNPCKLPS(v[3], v[2], pairs[2])
		b.VUNPCKHPS(v[3], v[2], pairs[3])
		for i := range 4 { // groups i and i+4
			t := b.YMM()
			if i%2 == 0 {
				b.VUNPCKLPD(pairs[2+i/2], pairs[i/2], t)
			} else {
				b.VUNPCKHPD(pairs[2+i/2], pairs[i/2], t)
			}
			b.VMOVUPS(t.AsX(), b.factors.Offset(32*i+16*half))
			b.VEXTRACTF128(operand.U8(1), t, b.factors.Offset(32*(i+4)+16*half))
		}
	}
}

// decode writes the codes and scales of row i of the pair, whose block is at w.
func (b *q6Batch) decode(i int, w reg.Register) {
	for h := range 2 {
		for quarter := range 4 {
			codes, bits := b.YMM(), b.YMM()
			b.VMOVDQU(asm.At(w, 64*h+32*(quarter%2)), codes)
			if quarter >= 2 {
				b.VPSRLW(operand.U8(4), codes, codes)
			}
			b.VPAND(b.nibble, codes, codes)
			b.VMOVDQU(asm.At(w, q6High+32*h), bits)
			switch shift := 4 - 2*quarter; {
			case shift > 0:
				b.VPSLLW(operand.U8(shift), bits, bits)
			case shift < 0:
				b.VPSRLW(operand.U8(-shift), bits, bits)
			}
			b.VPAND(b.high, bits, bits)
			b.VPOR(bits, codes, codes)
			b.VMOVDQU(codes, b.codes.Offset(256*i+32*(4*h+quarter)))
		}
	}
	scales := b.YMM()
	b.VPMOVSXBW(asm.At(w, q6Scales), scales)
	b.VMOVDQU(scales, b.scales.Offset(32*i))
	b.VPSLLW(operand.U8(5), scales, scales)
	b.VPSUBW(scales, b.zero, scales)
	b.VMOVDQU(scales, b.minus.Offset(32*i))
}

// groups adds the terms of a block's 8 groups to the sums of two rows at y.
// Four products with six bits stay within 4·63·127 = 32,004.
func (b *q6Batch) groups(q, row, second, y reg.Register) {
	var sums, d [2]reg.VecVirtual
	for i, w := range []reg.Register{row, second} {
		sums[i], d[i] = b.YMM(), b.YMM()
		b.VMOVUPS(asm.At(y, 32*i), sums[i])
		b.VPBROADCASTW(asm.At(w, q6Scale), d[i].AsX())
		b.VCVTPH2PS(d[i].AsX(), d[i])
	}
	panel, codes, scales, factor, left := b.GP64(), b.GP64(), b.GP64(), b.GP64(), b.GP64()
	b.MOVQ(q, panel)
	b.LEAQ(b.codes, codes)
	b.LEAQ(b.scales, scales) // minus lies 64 bytes behind
	b.LEAQ(b.factors, factor)
	b.MOVQ(operand.U32(8), left)
	b.Label("group")
	var acc [2]reg.VecVirtual
	for i := range acc {
		acc[i] = b.YMM()
		b.VPBROADCASTD(asm.At(scales, 64+32*i), acc[i])
		b.VPMADDWD(asm.At(panel, 0), acc[i], acc[i])
	}
	for half := range 2 { // of a group: 16 columns, which share a scale
		var scale [2]reg.VecVirtual
		for i := range scale {
			scale[i] = b.YMM()
			b.VPBROADCASTW(asm.At(scales, 32*i+2*half), scale[i])
		}
		for step := 4 * half; step < 4*half+4; step += 2 {
			q0, q1 := b.YMM(), b.YMM()
			b.VMOVDQU(asm.At(panel, 32*(1+step)), q0)
			b.VMOVDQU(asm.At(panel, 32*(2+step)), q1)
			for i := range acc {
				t0, t1 := b.YMM(), b.YMM()
				b.VPBROADCASTD(asm.At(codes, 256*i+4*step), t0)
				b.VPBROADCASTD(asm.At(codes, 256*i+4*step+4), t1)
				b.VPMADDUBSW(q0, t0, t0)
				b.VPMADDUBSW(q1, t1, t1)
				b.VPADDW(t1, t0, t0)
				b.VPMADDWD(scale[i], t0, t0)
				b.VPADDD(t0, acc[i], acc[i])
			}
		}
	}
	for i := range acc {
		t := b.YMM()
		b.VCVTDQ2PS(acc[i], acc[i])
		b.VMULPS(asm.At(factor, 0), d[i], t)
		b.VMULPS(acc[i], t, t)
		b.VADDPS(t, sums[i], sums[i])
	}
	b.ADDQ(operand.I32(q6PanelGroup), panel)
	b.ADDQ(operand.I32(32), codes)
	b.ADDQ(operand.I32(4), scales)
	b.ADDQ(operand.I32(32), factor)
	b.DECQ(left)
	b.JNZ(operand.LabelRef("group"))
	for i, v := range sums {
		b.VMOVUPS(v, asm.At(y, 32*i))
	}
}

// store writes the sums of 8 rows of the columns that there are.
func (b *q6Batch) store() {
	dst, y := b.Load(b.Param("dst"), b.GP64()), b.GP64()
	dstStride, columns := b.Load(b.Param("dstStride"), b.GP64()), b.Load(b.Param("columns"), b.GP64())
	b.SHLQ(operand.U8(2), dstStride)
	b.LEAQ(b.y, y)
	next := b.GP64()
	b.LEAQ(asm.At(dst, 4*tile), next)
	b.Store(next, b.Param("dst"))
	b.Label("column")
	for r := range tile {
		v := b.XMM()
		b.VMOVSS(asm.At(y, 32*r), v)
		b.VMOVSS(v, asm.At(dst, 4*r))
	}
	b.ADDQ(operand.I32(4), y)
	b.ADDQ(dstStride, dst)
	b.DECQ(columns)
	b.JNZ(operand.LabelRef("column"))
}
