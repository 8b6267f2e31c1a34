package logic

import (
	"math"

	"onebit/internal/aligned"
	"onebit/models/train"
)

// gathers is how many bits of the state each bit of a [Sparse] sees.
const gathers = 25

// wiring says which bits of the state those are, in the order of NanoLogic's
// get_op_indices (src/model/wiring.py), -1 for none: the bit itself; the rotations of Σ0,
// Σ1, σ0 and σ1; the same bit of the eight words; the four next less significant
// bits, where carries come from. Bit 0 of a word is its most significant.
func wiring(i int) (from [gathers]int) {
	word, at := i/32*32, i%32
	to := from[:0]
	rotated := func(n ...int) {
		for _, n := range n {
			to = append(to, word+(at-n+32)%32)
		}
	}
	within := func(bit int) {
		if bit < 0 || bit > 31 {
			to = append(to, -1)
			return
		}
		to = append(to, word+bit)
	}
	to = append(to, i)
	for _, w := range Words {
		rotated(w.Rotate...)
		if w.Shift > 0 {
			within(at - w.Shift)
		}
	}
	for w := range 8 {
		to = append(to, 32*w+at)
	}
	for n := 1; n <= 4; n++ {
		within(at + n)
	}
	return from
}

// A gather puts the vectors of the bits that each bit sees side by side: rows of
// width become rows of 25·width, 0 where there is no bit. Rows are the 256 bits of
// states, one state after the other.
type gather struct {
	width   int
	builder *train.Builder
	y, gx   []float32
}

var wires = func() (all [Bits][gathers]int) {
	for i := range all {
		all[i] = wiring(i)
	}
	return all
}()

func (g *gather) Forward(x []float32) []float32 {
	state := Bits * g.width
	if len(x)%state != 0 {
		panic("logic: the length is not a whole number of states")
	}
	g.y = aligned.Grow(g.y, len(x)*gathers, nil)
	g.builder.Pool.ForEach(len(x)/state, func(s int) {
		in, out := x[s*state:(s+1)*state], g.y[s*state*gathers:]
		for _, from := range wires {
			for _, i := range from {
				if i < 0 {
					clear(out[:g.width])
				} else {
					copy(out[:g.width], in[i*g.width:])
				}
				out = out[g.width:]
			}
		}
	})
	return g.y
}

func (g *gather) Backward(grad []float32) []float32 {
	state := Bits * g.width
	g.gx = aligned.Grow(g.gx, len(grad)/gathers, nil)
	clear(g.gx)
	g.builder.Pool.ForEach(len(g.gx)/state, func(s int) {
		sum, part := g.gx[s*state:(s+1)*state], grad[s*state*gathers:]
		for _, from := range wires {
			for _, i := range from {
				if i >= 0 {
					for k, v := range part[:g.width] {
						sum[i*g.width+k] += v
					}
				}
				part = part[g.width:]
			}
		}
	})
	return g.gx
}

// convolution is depthwise: each channel's own three taps along the bits of a state,
// with zeros before the first and after the last.
type convolution struct {
	width      int
	builder    *train.Builder
	taps, bias *train.Param // [width, 3], [width]
	x, y, gx   []float32
}

func newConvolution(b *train.Builder, name string, width int) *convolution {
	c := &convolution{
		width: width, builder: b,
		taps: train.NewParam(name+".weight", width, 3), bias: train.NewParam(name+".bias", width),
	}
	r := b.Rand(name)
	for _, p := range c.Params() { // 1/√3, as torch.nn.Conv1d with three inputs
		for i := range p.W {
			p.W[i] = float32((2*r.Float64() - 1) / math.Sqrt(3))
		}
	}
	return c
}

func (c *convolution) Params() []*train.Param { return []*train.Param{c.taps, c.bias} }

func (c *convolution) tied() *convolution {
	return &convolution{width: c.width, builder: c.builder, taps: c.taps, bias: c.bias}
}

func (c *convolution) Forward(x []float32) []float32 {
	c.x = x
	c.y = aligned.Grow(c.y, len(x), nil)
	c.each(func(from, to int) {
		for row := range len(x) / c.width {
			y := c.y[row*c.width : (row+1)*c.width]
			copy(y[from:to], c.bias.W[from:to])
			for tap, neighbour := range c.neighbours(row) {
				if neighbour >= 0 {
					for i, v := range x[neighbour+from : neighbour+to] {
						y[from+i] += c.taps.W[3*(from+i)+tap] * v
					}
				}
			}
		}
	})
	return c.y
}

func (c *convolution) Backward(grad []float32) []float32 {
	c.gx = aligned.Grow(c.gx, len(grad), nil)
	clear(c.gx)
	c.each(func(from, to int) {
		for row := range len(grad) / c.width {
			g := grad[row*c.width+from : row*c.width+to]
			for i, v := range g {
				c.bias.Grad[from+i] += v
			}
			for tap, neighbour := range c.neighbours(row) {
				if neighbour >= 0 {
					x, gx := c.x[neighbour+from:neighbour+to], c.gx[neighbour+from:neighbour+to]
					for i, v := range g {
						c.taps.Grad[3*(from+i)+tap] += v * x[i]
						gx[i] += v * c.taps.W[3*(from+i)+tap]
					}
				}
			}
		}
	})
	return c.gx
}

// each calls task for runs of channels, which are one thread's from the first row to
// the last, so that sums have one order.
func (c *convolution) each(task func(from, to int)) {
	const run = 32
	c.builder.Pool.ForEach((c.width+run-1)/run, func(i int) { task(i*run, min((i+1)*run, c.width)) })
}

// neighbours returns where the rows that the three taps of a row see begin; -1 beyond
// the state's ends.
func (c *convolution) neighbours(row int) (at [3]int) {
	for tap := range at {
		at[tap] = (row + tap - 1) * c.width
		if i := row%Bits + tap - 1; i < 0 || i >= Bits {
			at[tap] = -1
		}
	}
	return at
}
