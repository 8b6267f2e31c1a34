package attention

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// unpackQ4 makes groups of q8_0 of those of q4_0.
func (t target) unpackQ4() {
	const scales, half = 2 * group, 16 * group
	t.Func("unpackQ4"+t.isa, "func(dst, src *byte, blocks int)",
		"unpackQ4"+t.isa+" writes blocks of q4_0, of 8 positions side by side, as blocks of q8_0.",
		"",
		"\tfor range blocks {",
		fmt.Sprintf("\t\tcopy(dst, src[:%d])", scales),
		fmt.Sprintf("\t\tfor i := range %d {", half),
		fmt.Sprintf("\t\t\tdst[%d+i] = src[%d+i]&15 - 8", scales, scales),
		fmt.Sprintf("\t\t\tdst[%d+i] = src[%d+i]>>4 - 8", scales+half, scales),
		"\t\t}",
		fmt.Sprintf("\t\tdst, src = dst[%d:], src[%d:]", scales+2*half, scales+half),
		"\t}")
	dst, src := t.Load(t.Param("dst"), t.GP64()), t.Load(t.Param("src"), t.GP64())
	blocks := t.Load(t.Param("blocks"), t.GP64())
	nibbles := t.nibbles()
	t.Label("block")
	scale := t.XMM()
	t.VMOVDQU(asm.At(src, 0), scale)
	t.VMOVDQU(scale, asm.At(dst, 0))
	for i := 0; i < half; i += 32 {
		nibbles.unpack(asm.At(src, scales+i), asm.At(dst, scales+i), asm.At(dst, scales+half+i))
	}
	t.ADDQ(operand.U32(scales+half), src)
	t.ADDQ(operand.U32(scales+2*half), dst)
	t.DECQ(blocks)
	t.JNZ(operand.LabelRef("block"))
	t.VZEROUPPER()
	t.RET()
}

// unpackPairs makes int8 of the values in q4_0 of four positions at a time.
func (t target) unpackPairs() {
	name := "unpackPairs" + t.isa
	t.Func(name, "func(dst, src *byte, width, quads int)",
		name+" writes the codes of 4 · quads positions, a multiple of 32 wide.",
		"",
		"\tfor range quads {",
		"\t\tfor i := range 2 * width {",
		"\t\t\tdst[i] = src[i]&15 - 8",
		"\t\t\tdst[2*width+i] = src[i]>>4 - 8",
		"\t\t}",
		"\t\tdst, src = dst[4*width:], src[2*width:]",
		"\t}")
	dst, src := t.Load(t.Param("dst"), t.GP64()), t.Load(t.Param("src"), t.GP64())
	pair, quads := t.Load(t.Param("width"), t.GP64()), t.Load(t.Param("quads"), t.GP64())
	t.SHLQ(operand.U8(1), pair)
	nibbles := t.nibbles()
	t.Label("quad")
	left := t.GP64()
	t.MOVQ(pair, left)
	t.Label("next")
	for i := 0; i < 2*q8Len; i += 32 {
		nibbles.unpack(asm.At(src, i), asm.At(dst, i), operand.Mem{Base: dst, Index: pair, Scale: 1, Disp: i})
	}
	t.ADDQ(operand.U32(2*q8Len), src)
	t.ADDQ(operand.U32(2*q8Len), dst)
	t.SUBQ(operand.U32(2*q8Len), left)
	t.JNZ(operand.LabelRef("next"))
	t.ADDQ(pair, dst)
	t.DECQ(quads)
	t.JNZ(operand.LabelRef("quad"))
	t.VZEROUPPER()
	t.RET()
}

// nibbles are what codes of 4 bits are unpacked with, in YMM registers.
type nibbles struct {
	target
	mask, eights reg.VecVirtual
}

func (t target) nibbles() nibbles {
	n := nibbles{t, t.YMM(), t.YMM()}
	t.VMOVDQU(t.constant("Nibbles"), n.mask)
	t.VMOVDQU(t.constant("Eights"), n.eights)
	return n
}

// unpack writes the int8 that the low and the high halves of 32 bytes are.
func (n nibbles) unpack(src, low, high operand.Mem) {
	x, y := n.YMM(), n.YMM()
	n.VMOVDQU(src, x)
	n.VPSRLW(operand.U8(4), x, y)
	for _, v := range []reg.VecVirtual{x, y} {
		n.VPAND(n.mask, v, v)
		n.VPSUBB(n.eights, v, v)
	}
	n.VMOVDQU(x, low)
	n.VMOVDQU(y, high)
}
