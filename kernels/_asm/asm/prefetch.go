package asm

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// Prefetch fetches cache lines ahead of their use: into level 1 or, where
// prefetchL2 of its package says so, into level 2, further bytes behind
// those lines.
func (p *Program) Prefetch(further int, lines ...operand.Mem) {
	if len(lines) == 0 {
		return
	}
	p.prefetches++
	l2, done := fmt.Sprint("level2_", p.prefetches), fmt.Sprint("fetched_", p.prefetches)
	p.CMPB(operand.NewDataAddr(operand.Symbol{Name: "·prefetchL2"}, 0), operand.Imm(0))
	p.JNE(operand.LabelRef(l2))
	for _, m := range lines {
		p.PREFETCHT0(m)
	}
	p.JMP(operand.LabelRef(done))
	p.Label(l2)
	for _, m := range lines {
		m.Disp += further
		p.PREFETCHT1(m)
	}
	p.Label(done)
}

// Lines returns the cache lines of n bytes at m.
func Lines(m operand.Mem, n int) []operand.Mem {
	const line = 64
	var lines []operand.Mem
	for at := 0; at < n; at += line {
		lines = append(lines, m.Offset(at))
	}
	return lines
}
