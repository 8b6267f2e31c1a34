package asm

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// At returns the address disp bytes behind base.
func At(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

// Argument returns the place of an argument, which may be counted down there.
func (p *Program) Argument(name string) operand.Mem {
	basic, err := p.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}

// A Stride is the bytes from row to row, and three times as many: addresses have
// one, two and four times a register.
type Stride struct{ One, Three reg.Register }

// Stride makes one of a register.
func (p *Program) Stride(one reg.Register) Stride {
	s := Stride{one, p.GP64()}
	p.LEAQ(operand.Mem{Base: one, Index: one, Scale: 2}, s.Three)
	return s
}

// Row returns the address disp bytes behind row i, 0 to 3, of those from base on.
func (s Stride) Row(base reg.Register, i, disp int) operand.Mem {
	m := At(base, disp)
	switch i {
	case 1, 2:
		m.Index, m.Scale = s.One, uint8(i)
	case 3:
		m.Index, m.Scale = s.Three, 1
	}
	return m
}

// Rows are the addresses of more rows: pointers to every fourth.
type Rows struct {
	Stride
	Fourth []reg.Register
}

// Rows takes fourths pointers for 4·fourths rows, which StartRows sets.
func (p *Program) Rows(stride Stride, fourths int) Rows {
	r := Rows{Stride: stride}
	for range fourths {
		r.Fourth = append(r.Fourth, p.GP64())
	}
	return r
}

// StartRows sets the pointers behind the first, which is set.
func (p *Program) StartRows(r Rows) {
	for i := range r.Fourth[1:] {
		p.LEAQ(operand.Mem{Base: r.Fourth[i], Index: r.One, Scale: 4}, r.Fourth[i+1])
	}
}

// At returns the address disp bytes behind the pointer of row i.
func (r Rows) At(i, disp int) operand.Mem { return r.Row(r.Fourth[i/4], i%4, disp) }

// Advance moves all rows.
func (p *Program) Advance(r Rows, by operand.Op) {
	for _, f := range r.Fourth {
		p.ADDQ(by, f)
	}
}
