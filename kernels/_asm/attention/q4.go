package attention

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// unpackQ4 makes blocks of q8_0 of those of q4_0, of so many positions side by
// side, in registers of so many bytes.
func (t target) unpackQ4(positions, bytes int) {
	scales, half := 2*positions, 16*positions
	t.Func(fmt.Sprintf("unpackQ4x%d%s", positions, t.isa), "func(dst, src *byte, blocks int)",
		fmt.Sprintf("unpackQ4x%d%s writes blocks of q4_0, of %d positions side by side, as blocks of q8_0.", positions, t.isa, positions),
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
	register := func() reg.VecVirtual {
		if bytes == 16 {
			return t.XMM()
		}
		return t.YMM()
	}
	mask, eight := register(), register()
	t.VMOVDQU(operand.NewDataAddr(operand.NewStaticSymbol("attentionNibbles"), 0), mask)
	t.VMOVDQU(operand.NewDataAddr(operand.NewStaticSymbol("attentionEights"), 0), eight)
	t.Label("block")
	if positions == 1 {
		scale := t.GP32()
		t.MOVWLZX(asm.At(src, 0), scale)
		t.MOVW(scale.As16(), asm.At(dst, 0))
	} else {
		scale := t.XMM()
		t.VMOVDQU(asm.At(src, 0), scale)
		t.VMOVDQU(scale, asm.At(dst, 0))
	}
	for i := 0; i < half; i += bytes {
		low, high := register(), register()
		t.VMOVDQU(asm.At(src, scales+i), low)
		t.VPSRLW(operand.U8(4), low, high)
		for _, part := range []struct {
			codes reg.VecVirtual
			at    int
		}{{low, scales}, {high, scales + half}} {
			t.VPAND(mask, part.codes, part.codes)
			t.VPSUBB(eight, part.codes, part.codes)
			t.VMOVDQU(part.codes, asm.At(dst, part.at+i))
		}
	}
	t.ADDQ(operand.U32(scales+half), src)
	t.ADDQ(operand.U32(scales+2*half), dst)
	t.DECQ(blocks)
	t.JNZ(operand.LabelRef("block"))
	t.VZEROUPPER()
	t.RET()
}
