package q1

import (
	"github.com/mmcloughlin/avo/operand"

	"onebit/kernels/_asm/asm"
)

// byteOrder writes the arrangement of activations for the native kernels.
func byteOrder(p *asm.Program) {
	p.Func("q1ByteOrderAVX2", "func(dst, src *int8, n int)",
		"q1ByteOrderAVX2 puts every 32 of n activations, n a multiple of 32 and not 0, in",
		"the order in which a dword of signs has them, plane by plane:",
		"",
		"\tfor g := 0; g < n; g += 32 {",
		"\t\tfor j := range 8 {",
		"\t\t\tfor i := range 4 {",
		"\t\t\t\tdst[g+4*j+i] = src[g+8*i+j]",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	dst := p.Load(p.Param("dst"), p.GP64())
	src := p.Load(p.Param("src"), p.GP64())
	n := p.Load(p.Param("n"), p.GP64())
	pairs, words := p.YMM(), p.YMM()
	p.VBROADCASTI128(operand.NewDataAddr(operand.NewStaticSymbol("q1BytePairs"), 0), pairs)
	p.VBROADCASTI128(operand.NewDataAddr(operand.NewStaticSymbol("q1WordPairs"), 0), words)
	p.Label("group")
	y := p.YMM()
	p.VMOVDQU(operand.Mem{Base: src}, y)
	p.Comment("Within each half: bytes j and 8+j side by side.")
	p.VPSHUFB(pairs, y, y)
	p.Comment("The halves' quarters together, then their words in turn.")
	p.VPERMQ(operand.Imm(0b11011000), y, y)
	p.VPSHUFB(words, y, y)
	p.VMOVDQU(y, operand.Mem{Base: dst})
	p.ADDQ(operand.Imm(32), src)
	p.ADDQ(operand.Imm(32), dst)
	p.SUBQ(operand.Imm(32), n)
	p.JNZ(operand.LabelRef("group"))
	p.VZEROUPPER()
	p.RET()
}

// declareOrders declares the shuffles of byteOrder: 0 8 1 9 … 7 15, and the
// same of words.
func declareOrders(p *asm.Program) {
	p.StaticGlobal("q1BytePairs")
	p.DataAttributes(readOnly)
	for i := range 8 {
		p.AppendDatum(operand.U16(i | (i+8)<<8))
	}
	p.StaticGlobal("q1WordPairs")
	p.DataAttributes(readOnly)
	for i := range 4 {
		for _, w := range []int{i, i + 4} {
			p.AppendDatum(operand.U16(2*w | (2*w+1)<<8))
		}
	}
}
