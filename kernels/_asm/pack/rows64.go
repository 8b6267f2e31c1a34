package pack

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	q1Block     = 18   // bytes: an fp16 scale and 128 bits
	rows64Bits  = 1024 // bytes of a block of 64 rows without the scales
	rows64Block = rows64Bits + 2*64
)

// rows64 writes the packer of a tile of the layout rows64. The 16 bytes of 8
// rows, and of the 8 that are 32 further in the other half of the registers,
// are transposed.
func (g *generator) rows64() {
	g.Func("packRows64AVX2", "func(dst, rows *byte, stride, blocks int)",
		"packRows64AVX2 packs 64 rows of stride bytes, blocks of 18 bytes each.",
		"",
		"\tfor b := range blocks {",
		"\t\tfor p := range 64 {",
		"\t\t\trow := rows64Row(p)",
		"\t\t\tblock := rows[stride*row+18*b:][:18]",
		"\t\t\tfor c := range 16 {",
		"\t\t\t\tdst[1152*b+64*c+p] = block[2+c]",
		"\t\t\t}",
		"\t\t\tcopy(dst[1152*b+1024+2*row:], block[:2])",
		"\t\t}",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	block := g.Load(g.Param("rows"), g.GP64())
	stride := g.Load(g.Param("stride"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	rows, stride32 := g.Stride(stride), g.GP64()
	g.MOVQ(stride, stride32)
	g.SHLQ(operand.U8(5), stride32)

	g.Label("block")
	row := g.GP64()
	g.MOVQ(block, row)
	for lane := range 4 {
		v := g.loadRows(row, stride32, rows, func(i, half int) operand.Mem {
			return operand.Mem{Base: dst, Disp: rows64Bits + 2*(8*lane+32*half+i)}
		})
		for i, pair := range g.transpose(v) { // columns 2i, 2i+1 of half 0, and of half 1
			const outerInner = 0xd8 // qwords 0, 2, 1, 3
			g.VPERMQ(operand.U8(outerInner), pair, pair)
			g.VMOVDQU(pair.AsX(), operand.Mem{Base: dst, Disp: 64*2*i + 16*lane})
			g.VEXTRACTI128(operand.U8(1), pair, operand.Mem{Base: dst, Disp: 64*(2*i+1) + 16*lane})
		}
		g.LEAQ(operand.Mem{Base: row, Index: stride, Scale: 8}, row)
	}
	g.ADDQ(operand.I32(q1Block), block)
	g.ADDQ(operand.I32(rows64Block), dst)
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}

// loadRows returns the 16 bytes of 8 rows from row on and, in the other half of
// the registers, of the 8 that are further, and stores their scales.
func (g *generator) loadRows(row, further reg.Register, stride asm.Stride, scaleOf func(i, half int) operand.Mem) []reg.VecVirtual {
	var halves [2]asm.Rows
	for half := range halves {
		halves[half] = g.Rows(stride, 2)
		if half == 0 {
			halves[half].Fourth[0] = row
		} else {
			g.LEAQ(operand.Mem{Base: row, Index: further, Scale: 1}, halves[half].Fourth[0])
		}
		g.StartRows(halves[half])
	}
	v := make([]reg.VecVirtual, 8)
	for i := range v {
		v[i] = g.YMM()
		g.VBROADCASTI128(halves[0].At(i, 2), v[i])
		g.VINSERTI128(operand.U8(1), halves[1].At(i, 2), v[i], v[i])
		for half := range 2 {
			scale := g.GP32()
			g.MOVWLZX(halves[half].At(i, 0), scale)
			g.MOVW(scale.As16(), scaleOf(i, half))
		}
	}
	return v
}

// transpose returns, of 8 rows of 16 bytes in each half, columns 2i and 2i+1 in
// register i.
func (g *generator) transpose(rows []reg.VecVirtual) []reg.VecVirtual {
	return g.unpack(rows, []unpacker{{g.VPUNPCKLBW, g.VPUNPCKHBW}, {g.VPUNPCKLWD, g.VPUNPCKHWD}, {g.VPUNPCKLDQ, g.VPUNPCKHDQ}})
}

// transposeWords returns, of 8 rows of 8 int16 in each half, column i in
// register i.
func (g *generator) transposeWords(rows []reg.VecVirtual) []reg.VecVirtual {
	return g.unpack(rows, []unpacker{{g.VPUNPCKLWD, g.VPUNPCKHWD}, {g.VPUNPCKLDQ, g.VPUNPCKHDQ}, {g.VPUNPCKLQDQ, g.VPUNPCKHQDQ}})
}

// An unpacker interleaves the lower and the upper halves of two registers.
type unpacker struct{ low, high func(ops ...operand.Op) }

func (g *generator) unpack(rows []reg.VecVirtual, levels []unpacker) []reg.VecVirtual {
	groups := [][]reg.VecVirtual{rows} // each has rows in sequence of its columns
	for _, level := range levels {
		var halves [][]reg.VecVirtual
		for _, group := range groups {
			var lo, hi []reg.VecVirtual
			for i := 0; i < len(group); i += 2 {
				l, h := g.YMM(), g.YMM()
				level.low(group[i+1], group[i], l)
				level.high(group[i+1], group[i], h)
				lo, hi = append(lo, l), append(hi, h)
			}
			halves = append(halves, lo, hi)
		}
		groups = halves
	}
	return slices.Concat(groups...)
}
