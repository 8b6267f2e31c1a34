package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// batchTables is the bytes of the tables of 16 columns: of int16, 32 for five columns, 32 for
// five and 64 for six.
const batchTables = 2 * (32 + 32 + 64)

// makeBatchTables writes the maker of tables for wordColumns. They are twice as
// large as those for one column, and three look-ups do for 16 columns, not four.
func makeBatchTables(p *asm.Program) {
	p.Func("q1BatchTablesAVX512", "func(dst, q *int8, n int)",
		"q1BatchTablesAVX512 makes the tables of every 16 of n activations, n a multiple of 64",
		"and not 0; tables of the columns 0 to 4, 5 to 9 and 10 to 15:",
		"",
		"\tfor g := range n / 16 {",
		"\t\tfor i := range 32 {",
		"\t\t\tint16(dst[256*g+2*i:]) = signed(i, q[16*g:16*g+5])",
		"\t\t\tint16(dst[256*g+64+2*i:]) = signed(i, q[16*g+5:16*g+10])",
		"\t\t}",
		"\t\tfor i := range 64 {",
		"\t\t\tint16(dst[256*g+128+2*i:]) = signed(i, q[16*g+10:16*g+16])",
		"\t\t}",
		"\t}",
		"",
		"where signed is the sum of 2*bit(i, t) - 1 times activation t.")
	dst := p.Load(p.Param("dst"), p.GP64())
	q := p.Load(p.Param("q"), p.GP64())
	n := p.Load(p.Param("n"), p.GP64())
	unsigned := p.AllocLocal(64)
	constants := make([]reg.VecVirtual, len(batchTableConstants))
	for i := range constants {
		constants[i] = p.ZMM()
		p.VMOVDQU32(operand.NewDataAddr(operand.NewStaticSymbol("q1BatchTableConstants"), vectorBytes*i), constants[i])
	}
	flip := p.ZMM()
	r := p.GP32()
	p.MOVL(operand.U32(0x80808080), r)
	p.VPBROADCASTD(r, flip)

	p.Label("columns")
	p.Comment("As q + 128, which VPMADDUBSW wants; a constant takes ±128 off again.")
	x := p.ZMM()
	p.VPXORD(operand.Mem{Base: q}, flip, x)
	p.VMOVDQU32(x, unsigned)
	for g := range 4 {
		// pair returns what a pair of columns adds to each entry.
		pair := func(column, signs int) reg.VecVirtual {
			v := p.ZMM()
			p.VPBROADCASTW(unsigned.Offset(16*g+column), v)
			p.VPMADDUBSW(constants[signs], v, v)
			return v
		}
		store := func(i, bias int, parts ...reg.VecVirtual) {
			sum := p.ZMM()
			p.VPADDW(constants[bias], parts[0], sum)
			for _, v := range parts[1:] {
				p.VPADDW(v, sum, sum)
			}
			p.VMOVDQU32(sum, operand.Mem{Base: dst, Disp: batchTables*g + vectorBytes*i})
		}
		store(0, bias5, pair(0, signs01), pair(2, signs23), pair(3, signs4))
		store(1, bias5, pair(5, signs01), pair(7, signs23), pair(8, signs4))
		four := pair(10, signs01)
		p.VPADDW(pair(12, signs23), four, four)
		store(2, bias6lower, four, pair(14, signs45lower))
		store(3, bias6upper, four, pair(14, signs45upper))
	}
	p.ADDQ(operand.Imm(64), q)
	p.ADDQ(operand.U32(4*batchTables), dst)
	p.SUBQ(operand.Imm(64), n)
	p.JNZ(operand.LabelRef("columns"))
	p.VZEROUPPER()
	p.RET()
}

// The constants of makeBatchTables, a register each: the signs that entry i has
// for a pair of columns, and what takes off the 128 that all columns of a
// table have been given.
const (
	signs01 = iota
	signs23
	signs4 // of the second of the pair; the first is left out
	signs45lower
	signs45upper
	bias5
	bias6lower
	bias6upper
)

var batchTableConstants = [...]func(i int) uint16{
	signs01:      func(i int) uint16 { return signPair(sign(i, 0), sign(i, 1)) },
	signs23:      func(i int) uint16 { return signPair(sign(i, 2), sign(i, 3)) },
	signs4:       func(i int) uint16 { return signPair(0, sign(i, 4)) },
	signs45lower: func(i int) uint16 { return signPair(sign(i, 4), sign(i, 5)) },
	signs45upper: func(i int) uint16 { return signPair(sign(i, 4), sign(i+32, 5)) },
	bias5:        func(i int) uint16 { return bias(i, 5) },
	bias6lower:   func(i int) uint16 { return bias(i, 6) },
	bias6upper:   func(i int) uint16 { return bias(i+32, 6) },
}

func sign(i, t int) int { return 2*(i>>t&1) - 1 }

func signPair(first, second int) uint16 { return uint16(uint8(first)) | uint16(uint8(second))<<8 }

func bias(i, columns int) uint16 {
	signs := 0
	for t := range columns {
		signs += sign(i, t)
	}
	return uint16(-128 * signs)
}

func declareBatchTables(p *asm.Program) {
	p.StaticGlobal("q1BatchTableConstants")
	p.DataAttributes(readOnly)
	for _, constant := range batchTableConstants {
		for i := range 32 {
			p.AppendDatum(operand.U16(constant(i)))
		}
	}
}
