package cpu

import (
	"math"

	"onebit/models/engine"
)

// rotateTask is how many values are one task of Hadamard, if blocks are not
// longer.
const rotateTask = 4096

// A rotateCall is the arguments of Hadamard.
type rotateCall struct {
	dst, x *buffer
	*engine.Rotation
	run int // values of a task: whole blocks of a column
}

func (s *stream) Hadamard(op string, dst, x engine.Buffer, r *engine.Rotation) {
	start := s.begin()
	c := rotateCall{dst.(*buffer), x.(*buffer), r, r.Block}
	c.dst.resize(c.x.n)
	for c.run < rotateTask && len(r.Signs)%(2*c.run) == 0 {
		c.run *= 2
	}
	s.rotation = c
	s.each(len(c.dst.data)/c.run, hadamardCost*float64(len(c.dst.data)), s.rotateTask)
	s.end(start, op, work{moved: 2 * floatBytes(len(c.dst.data))}, c.dst)
}

func (s *stream) rotateRun(i int) {
	c, vec := &s.rotation, s.vec
	runs := c.dst.width / c.run
	from := i % runs * c.run
	out, signs := c.dst.column(i / runs)[from:][:c.run], c.Signs[from:][:c.run]
	c.take(out, c.x.column(i/runs), from)
	if !c.Inverse {
		vec.Mul(out, out, signs)
	}
	by := float32(1 / math.Sqrt(float64(c.Block)))
	for block := out; len(block) > 0; block = block[c.Block:] {
		vec.Hadamard(block[:c.Block], by)
	}
	if c.Inverse {
		vec.Mul(out, out, signs)
	}
}

// take copies the values of P(x) from one on.
func (c *rotateCall) take(out, x []float32, from int) {
	if c.Rows == 0 || c.Inverse {
		copy(out, x[from:])
		return
	}
	for len(out) > 0 { // to the end of a run
		at := c.From(from)
		n := copy(out, x[at:][:c.Run-from%c.Run])
		out, from = out[n:], from+n
	}
}
