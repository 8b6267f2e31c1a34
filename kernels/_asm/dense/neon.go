package dense

import (
	"fmt"

	"onebit/kernels/_asm/neon"
)

// GenerateNEON writes the tiles for arm64: 8 rows of up to 12 columns. Row i has the sums of its columns in
// V(vectors·i) and those that follow, one for each vector; of a step of k, V24 and V25 are a, V26 to V28 b.
func GenerateNEON(p *neon.Program) {
	for vectors := 3; vectors > 0; vectors-- {
		tileNEON(p, vectors)
	}
}

func tileNEON(p *neon.Program, vectors int) {
	p.Func(fmt.Sprintf("tile8x%dNEON", 4*vectors))
	p.Asm(`
		args c=R0 stride=R1 a=R2 b=R3 k=R4 add=R5
		LSL $2, R1, R1`)
	p.Clear(0, 8*vectors)
	p.Asm(`
	step:
		FLDPQ.P 32(R2), (F24, F25)`)
	p.Asm([]string{
		"FMOVQ.P 16(R3), F26",
		"FLDPQ.P 32(R3), (F26, F27)",
		"FLDPQ (R3), (F26, F27)\nFMOVQ 32(R3), F28\nADD $48, R3",
	}[vectors-1])
	p.Asm(`
		2* {
			4* {
				%[1]d* fmla v0{1,%[1]d,%[2]d}.4s, v26{}.4s, v24{0,0,1}.s[0{0,1}]
			}
		}
		SUBS $1, R4
		BNE step
		CBZ R5, store
		MOVD R0, R6
		8* {
			%[1]d* FMOVQ 0{16}(R6), F24{}
			ADD R1, R6
			%[1]d* fadd v0{1,%[1]d}.4s, v0{1,%[1]d}.4s, v24{}.4s
		}
	store:
		8* {
			%[1]d* FMOVQ F0{1,%[1]d}, 0{16}(R0)
			ADD R1, R0
		}
		RET`, vectors, 4*vectors)
}
