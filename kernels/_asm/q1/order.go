package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

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

// panelOrder writes the arrangement of activations for batches.
func panelOrder(p *asm.Program) {
	p.Func("q1PanelAVX2", "func(dst, src *int8, stride, blocks int)",
		"q1PanelAVX2 arranges eight columns of stride bytes, block by block of 128 of each:",
		"",
		"\tfor b := range blocks {",
		"\t\tfor c := range 8 {",
		"\t\t\tfor k := range 128 {",
		"\t\t\t\tdst[1056*b+32*(k/4)+4*c+k%4] = src[stride*c+128*b+k]",
		"\t\t\t\tminusSum(dst[1056*b+1024:], c) -= src[stride*c+128*b+k] // an int32, from 0",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	dst := p.Load(p.Param("dst"), p.GP64())
	src := p.Load(p.Param("src"), p.GP64())
	stride := p.Load(p.Param("stride"), p.GP64())
	blocks := p.Load(p.Param("blocks"), p.GP64())
	columns, left := p.Rows(p.Stride(stride), 2), p.GP64()
	columns.Fourth[0] = src
	p.StartRows(columns)
	ones, minusOnes, sum := p.YMM(), p.YMM(), p.YMM()
	p.VPCMPEQW(minusOnes, minusOnes, minusOnes)
	p.VPABSB(minusOnes, ones)
	p.Label("panelBlock")
	p.VPXOR(sum, sum, sum)
	p.MOVQ(operand.U32(4), left)
	p.Label("transpose")
	for i, v := range transposed8(p, columns) {
		p.VMOVDQU(v, operand.Mem{Base: dst, Disp: panelStepBytes * i})
		p.VPMADDUBSW(v, ones, v)
		p.VPADDW(v, sum, sum)
	}
	p.Advance(columns, operand.Imm(32))
	p.ADDQ(operand.U32(8*panelStepBytes), dst)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("transpose"))
	p.VPMADDWD(minusOnes, sum, sum)
	p.VMOVDQU(sum, operand.Mem{Base: dst})
	p.ADDQ(operand.Imm(panelStepBytes), dst)
	p.DECQ(blocks)
	p.JNZ(operand.LabelRef("panelBlock"))
	p.VZEROUPPER()
	p.RET()
}

// transposed8 returns dword i of each of eight columns in register i.
func transposed8(p *asm.Program, columns asm.Rows) [8]reg.VecVirtual {
	var in, pair, quad, out [8]reg.VecVirtual
	for c := range in {
		in[c] = p.YMM()
		p.VMOVDQU(columns.At(c, 0), in[c])
	}
	for c := 0; c < 8; c += 2 {
		pair[c], pair[c+1] = p.YMM(), in[c+1]
		p.VPUNPCKLDQ(in[c+1], in[c], pair[c])   // dwords 0, 1 | 4, 5
		p.VPUNPCKHDQ(in[c+1], in[c], pair[c+1]) // 2, 3 | 6, 7
	}
	for c := 0; c < 8; c += 4 {
		for i := range 2 { // the quad's dwords 2i, 2i+1
			lo, hi := pair[c+i], pair[c+2+i]
			quad[c+2*i], quad[c+2*i+1] = p.YMM(), hi
			p.VPUNPCKLQDQ(hi, lo, quad[c+2*i])   // dword 2i | 2i + 4
			p.VPUNPCKHQDQ(hi, lo, quad[c+2*i+1]) // 2i + 1 | 2i + 5
		}
	}
	for i := range 4 {
		out[i], out[i+4] = p.YMM(), p.YMM()
		p.VPERM2I128(operand.Imm(0x20), quad[4+i], quad[i], out[i])
		p.VPERM2I128(operand.Imm(0x31), quad[4+i], quad[i], out[i+4])
	}
	return out
}
