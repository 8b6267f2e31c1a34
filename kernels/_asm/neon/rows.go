package neon

import (
	"fmt"
	"strings"
)

// ISA is the end of a function's name, with dot products or without.
func ISA(dot bool) string {
	if dot {
		return "NEONDot"
	}
	return "NEON"
}

// Splat is text that sets registers from V(from) on to a number of 32 bits each, in every lane.
func Splat(from int, numbers ...uint32) string {
	var text strings.Builder
	for i, n := range numbers {
		fmt.Fprintf(&text, "\nMOVW $%#08x, R9\nVDUP R9, V%d.S4", n, from+i)
	}
	return text.String()
}

// Clear sets n registers from V(from) to zero.
func (p *Program) Clear(from, n int) {
	p.Asm("%[2]d* VEOR V%[1]d{}.B16, V%[1]d{}.B16, V%[1]d{}.B16", from, n)
}

// FourRows sets R8 to R11 to rows from R1 on, R2 bytes apart. If R(rows) says that there are fewer,
// they are the last one again. It ends in a label, columns.
func (p *Program) FourRows(rows int) {
	p.Asm(`
		MOVD R1, R8
		3* MOVD R8, R9{}
		CMP $2, R%[1]d
		BLT columns
		ADD R2, R8, R9
		MOVD R9, R10
		MOVD R9, R11
		BEQ columns
		ADD R2, R9, R10
		MOVD R10, R11
		CMP $3, R%[1]d
		BEQ columns
		ADD R2, R10, R11
	columns:`, rows)
}

// StoreFour ends a function: it stores V(v) as the results of four rows, as many as R(rows) says
// that there are, and begins the next tile.
func (p *Program) StoreFour(v, rows int) {
	p.Asm(`
		CMP $4, R%[2]d
		BLT few
		FMOVQ.P F%[1]d, 16(R0)
		ADD R2<<2, R1
		SUBS $4, R%[2]d, R%[2]d
		BNE tile
		RET`, v, rows)
	p.StoreFew(v, rows)
	p.Asm("RET")
}

// StoreFew stores the first R(rows) lanes of V(v), at least one.
func (p *Program) StoreFew(v, rows int) {
	p.Asm(`
	few:
		FMOVS.P F%[1]d, 4(R0)
		VEXT $4, V%[1]d.B16, V%[1]d.B16, V%[1]d.B16
		SUBS $1, R%[2]d, R%[2]d
		BNE few`, v, rows)
}

// AddFour makes lane i of V0 the sum of V(i), of four.
func (p *Program) AddFour(from int) {
	p.Asm(`
		VADDP V%[2]d.S4, V%[1]d.S4, V%[1]d.S4
		VADDP V%[4]d.S4, V%[3]d.S4, V%[3]d.S4
		VADDP V%[3]d.S4, V%[1]d.S4, V%[1]d.S4`, from, from+1, from+2, from+3)
}

// PairsToColumns stores pairs of registers from V(from), which have two columns of rows 0 and 1 and of
// rows 2 and 3, as four rows of one column behind those of the other.
func (p *Program) PairsToColumns(from, pairs int) {
	p.Asm(`
		%[3]d* {
			VUZP1 V%[2]d{2}.S4, V%[1]d{2}.S4, V16.S4
			VUZP2 V%[2]d{2}.S4, V%[1]d{2}.S4, V17.S4
			FSTPQ.P (F16, F17), 32(R0)
		}`, from, from+1, pairs)
}
