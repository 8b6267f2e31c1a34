package twobit

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// packCodes64 writes the packers of 16 rows of a tile of the layout codes64. A
// transposition brings dwords of 16 rows into the lanes of a register, and another
// the codes of four columns into a byte.
func (g *generator) packCodes64() {
	g.packGroups("packCodes64BytesAVX512", "code j of byte i being column 4i+j", 1, func(rows asm.Rows, dst reg.Register) {
		for d, v := range g.Transpose(g.loadGroup(rows, 0)) {
			g.swapCodes(v, 6, 0x00cc00cc)
			g.swapCodes(v, 12, 0x0000f0f0)
			g.VMOVDQU64(v, asm.At(dst, dwordBytes*d))
		}
	})
	g.packGroups("packCodes64RunsAVX512", "code j of byte i of every 32 being column 32j+i", 2, func(rows asm.Rows, dst reg.Register) {
		for group := range 2 {
			w := g.Transpose(g.loadGroup(rows, groupBytes*group))
			for _, s := range []struct {
				a, b, bits int
				mask       uint32
			}{{0, 1, 2, 0x33333333}, {2, 3, 2, 0x33333333}, {0, 2, 4, 0x0f0f0f0f}, {1, 3, 4, 0x0f0f0f0f}} {
				g.exchangeCodes(w[s.a], w[s.b], s.bits, s.mask)
			}
			for d, v := range w {
				g.VMOVDQU64(v, asm.At(dst, dwordBytes*(group+2*d)))
			}
		}
	})
}

// packRows writes the packers of rows for batches, whose activations are in the order of their codes:
// dwords stay as they are.
func (g *generator) packRows() {
	g.packGroups("packRowsAVX512", "in any order, which it leaves", 1, func(rows asm.Rows, dst reg.Register) {
		for d, v := range g.Transpose(g.loadGroup(rows, 0)) {
			g.VMOVDQU64(v, asm.At(dst, dwordBytes*d))
		}
	})
	g.packGroups("packRowsAVX2", "in any order, which it leaves", 1, func(rows asm.Rows, dst reg.Register) {
		for half := range 2 {
			var v [4]reg.VecVirtual
			for i := range v {
				v[i] = g.YMM()
				// A broadcast sets all of the register: avo keeps nothing of it.
				g.VBROADCASTI128(rows.At(8*half+i, 0), v[i])
				g.VINSERTI128(operand.U8(1), rows.At(8*half+4+i, 0), v[i], v[i])
			}
			for d, w := range g.Transpose(v) {
				g.VMOVDQU(w, asm.At(dst, dwordBytes*d+32*half))
			}
		}
	})
}

// packGroups writes a packer. pack takes so many groups of 16 bytes.
func (g *generator) packGroups(name, order string, together int, pack func(rows asm.Rows, dst reg.Register)) {
	g.Func(name, "func(dst, scales, rows *byte, stride, blocks, groups, gap, scaleAt int)",
		name+" packs 16 rows, stride bytes apart, blocks of groups times 16 bytes",
		"of codes, "+order+". rows is the first row's first",
		"code; a block's fp16 scale lies scaleAt bytes behind its first, the next block's codes",
		"gap bytes behind the last.",
		"",
		"\tfor b := range blocks {",
		"\t\tfor r := range 16 {",
		"\t\t\tfor d := range 4 * groups {",
		"\t\t\t\tcopy(dst[(1024*groups+128)*b+256*d+4*r:], dword(r, b, d))",
		"\t\t\t}",
		"\t\t\tcopy(scales[(1024*groups+128)*b+2*r:], scale(r, b))",
		"\t\t}",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	scales := g.Load(g.Param("scales"), g.GP64())
	left := g.Load(g.Param("blocks"), g.GP64())
	rows := g.Rows(g.Stride(g.Load(g.Param("stride"), g.GP64())), vectorRows/4)
	g.Load(g.Param("rows"), rows.Fourth[0])
	g.StartRows(rows)
	groups, half := g.GP64(), g.GP32()
	ahead := g.behind(rows)

	g.Label("block")
	index := g.GP64()
	for i := range 4 {
		if i == 0 {
			g.MOVQ(g.Argument("scaleAt"), index)
		} else {
			g.ADDQ(rows.One, index)
		}
		for q, fourth := range rows.Fourth {
			g.MOVWLZX(operand.Mem{Base: fourth, Index: index, Scale: 1}, half)
			g.MOVW(half.As16(), asm.At(scales, 2*(4*q+i)))
		}
	}
	g.MOVQ(g.Argument("groups"), groups)
	g.Label("group")
	g.fetch(ahead, vectorRows*groupBytes*together)
	pack(rows, dst)
	g.Advance(rows, operand.I32(groupBytes*together))
	g.ADDQ(operand.I32(4*dwordBytes*together), dst)
	g.SUBQ(operand.I32(together), groups)
	g.JNZ(operand.LabelRef("group"))
	g.MOVQ(g.Argument("gap"), groups)
	g.Advance(rows, groups)
	g.MOVQ(g.Argument("groups"), groups)
	g.SHLQ(operand.U8(10), groups)
	g.LEAQ(operand.Mem{Base: scales, Index: groups, Scale: 1, Disp: tileScales}, scales)
	g.ADDQ(operand.I32(tileScales), dst)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}

// behind returns where the rows that follow 16 begin: while these are packed, those are fetched, as much
// at a time.
func (g *generator) behind(rows asm.Rows) reg.GPVirtual {
	ahead := g.GP64()
	g.LEAQ(operand.Mem{Base: rows.Fourth[3], Index: rows.One, Scale: 4}, ahead)
	return ahead
}

// fetch fetches so many bytes, and goes on to the next.
func (g *generator) fetch(ahead reg.GPVirtual, bytes int) {
	for _, line := range asm.Lines(asm.At(ahead, 0), bytes) {
		g.PREFETCHT0(line)
	}
	g.ADDQ(operand.I32(bytes), ahead)
}

// swapCodes exchanges the bits of each dword of v under mask with those so many higher.
func (g *generator) swapCodes(v reg.VecVirtual, bits int, mask uint32) {
	t := g.ZMM()
	g.VPSRLD(operand.U8(bits), v, t)
	g.VPXORD(v, t, t)
	g.VPANDD(g.everyDword(mask), t, t)
	g.VPXORD(t, v, v)
	g.VPSLLD(operand.U8(bits), t, t)
	g.VPXORD(t, v, v)
}

// exchangeCodes exchanges the bits of b under mask with those of a so many higher.
func (g *generator) exchangeCodes(a, b reg.VecVirtual, bits int, mask uint32) {
	t := g.ZMM()
	g.VPSRLD(operand.U8(bits), a, t)
	g.VPXORD(b, t, t)
	g.VPANDD(g.everyDword(mask), t, t)
	g.VPXORD(t, b, b)
	g.VPSLLD(operand.U8(bits), t, t)
	g.VPXORD(t, a, a)
}

// everyDword returns a register with v in every dword.
func (g *generator) everyDword(v uint32) reg.VecVirtual {
	r, z := g.GP32(), g.ZMM()
	g.MOVL(operand.U32(v), r)
	g.VPBROADCASTD(r, z)
	return z
}

// packDigits64 writes the packer of 16 rows of a tile of the layout digits64. The second
// 16 bytes that are transposed end with the last two and the scale.
func (g *generator) packDigits64() {
	const blockBytes, second = 28, 12
	g.Func("packDigits64AVX512", "func(dst, tails, rows *byte, stride, blocks int)",
		"packDigits64AVX512 packs 16 rows of blocks of 28 bytes, stride bytes apart. tails is",
		"where the last two bytes of the first row's first block go.",
		"",
		"\tfor b := range blocks {",
		"\t\tfor r := range 16 {",
		"\t\t\tblock := rows[stride*r+28*b:][:28]",
		"\t\t\tfor d := range 6 {",
		"\t\t\t\tcopy(dst[1792*b+256*d+4*r:], block[4*d:][:4])",
		"\t\t\t}",
		"\t\t\tcopy(tails[1792*b+2*r:], block[24:26])",
		"\t\t\tcopy(tails[1792*b+128+2*r:], block[26:28])",
		"\t\t}",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	tails := g.Load(g.Param("tails"), g.GP64())
	left := g.Load(g.Param("blocks"), g.GP64())
	rows := g.Rows(g.Stride(g.Load(g.Param("stride"), g.GP64())), vectorRows/4)
	g.Load(g.Param("rows"), rows.Fourth[0])
	g.StartRows(rows)
	ahead := g.behind(rows)

	g.Label("block")
	g.fetch(ahead, vectorRows*blockBytes)
	first, last := g.Transpose(g.loadGroup(rows, 0)), g.Transpose(g.loadGroup(rows, second))
	for d, w := range append(first[:], last[1:3]...) {
		g.VMOVDQU64(w, asm.At(dst, dwordBytes*d))
	}
	scale := g.ZMM()
	g.VPSRLD(operand.U8(16), last[3], scale)
	g.VPMOVDW(last[3], asm.At(tails, 0))
	g.VPMOVDW(scale, asm.At(tails, tailBytes))
	g.Advance(rows, operand.I32(blockBytes))
	g.ADDQ(operand.I32(blockBytes*tileRows), dst)
	g.ADDQ(operand.I32(blockBytes*tileRows), tails)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))
	g.VZEROUPPER()
	g.RET()
}

// loadGroup returns 16 bytes of 16 rows: of row 4l+i in lane l of register i.
func (g *generator) loadGroup(rows asm.Rows, disp int) (v [4]reg.VecVirtual) {
	for i := range v {
		v[i] = g.ZMM()
		g.VMOVDQU32(rows.At(i, disp), v[i].AsX())
		for l := 1; l < 4; l++ {
			g.VINSERTI32X4(operand.U8(l), rows.At(4*l+i, disp), v[i], v[i])
		}
	}
	return v
}
