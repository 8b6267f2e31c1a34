package kernels

import (
	"fmt"
	"slices"
	"strings"

	"onebit/internal/aligned"
	"onebit/kernels/quantize"
)

// A Scheme is how the activation vector reaches a kernel; see package quantize.
type Scheme = quantize.Scheme

// The schemes.
const (
	F32      = quantize.F32
	Q8Row    = quantize.Q8Row
	Q8Per128 = quantize.Q8Per128
	Q8Per32  = quantize.Q8Per32
)

// Schemes lists the schemes.
func Schemes() []Scheme { return []Scheme{F32, Q8Row, Q8Per128, Q8Per32} }

// ParseScheme returns the scheme of that name.
func ParseScheme(name string) (Scheme, error) {
	if a := Scheme(name); slices.Contains(Schemes(), a) {
		return a, nil
	}
	return "", fmt.Errorf("unknown activation scheme %q (known: %s)", name, strings.Trim(fmt.Sprint(Schemes()), "[]"))
}

// An Order arranges quantized activations for a kernel. The zero-copy natural
// order is nil.
type Order struct {
	Name string
	// Panel is how many columns are arranged together: from a multiple of it on
	// they can be arranged apart from those before. 0: all together.
	Panel int
	// Columns is how many are quantized, arranged and multiplied at a time, by each
	// of a few threads for itself; 0: all, by all threads. It is for arrangements
	// that cost less to make than to fetch from another core.
	Columns int
	// Size is the bytes wanted for n columns of stride bytes each.
	Size func(n, stride int) int
	// Arrange fills dst (Size long) from q: n rows of stride, zero-padded.
	Arrange func(dst, q []int8, n, stride int)
}

// Activations is n columns of activations (tokens) of one submission, quantized and
// arranged. Its buffers are reused from one product to the next.
type Activations struct {
	quantize.Quantized
	X []float32 // N × Cols, the caller's

	ordered []orderedQ
	scratch scratches // of the thread that multiplies with them
}

type orderedQ struct {
	order *Order
	q     []int8
	valid bool
}

// together returns how many columns are arranged at a time, 0 if all are.
func (o *Order) together() int {
	if o == nil {
		return 0
	}
	return o.Columns
}

// In returns the quantized columns in order o.
func (a *Activations) In(o *Order) []int8 {
	if o == nil {
		return a.Q
	}
	for i := range a.ordered {
		if a.ordered[i].order == o {
			return a.ordered[i].q
		}
	}
	panic("kernels: activations were not prepared for this variant")
}

// Columns returns n columns from column c on, in an order in which each has as
// many bytes: those, the columns' scales, Groups each, and the sums of every 32.
func (a *Activations) Columns(o *Order, c, n int) (q []int8, scales []float32, sums []int32) {
	all := a.In(o)
	size, pieces := len(all)/a.N, a.Stride/32
	return all[c*size : (c+n)*size], a.Scales[c*a.Groups : (c+n)*a.Groups], a.Sums[c*pieces : (c+n)*pieces]
}

// reset sizes the buffers for n columns of cols.
func (a *Activations) reset(scheme Scheme, x []float32, n, cols int) {
	a.X = x
	a.Reset(scheme, n, cols)
	a.disarrange()
}

// disarrange forgets in which orders a was arranged.
func (a *Activations) disarrange() {
	for i := range a.ordered {
		a.ordered[i].valid = false
	}
}

// Quantize makes a the n columns x (n × cols), rounded as scheme says by the
// instructions of isa. Every instruction set gives the same bits.
func (a *Activations) Quantize(isa *ISA, scheme Scheme, x []float32, n, cols int) {
	a.reset(scheme, x, n, cols)
	if scheme != F32 {
		isa.quantize(a, x, 0, n)
	}
}

// Arrange makes order o available to In.
func (a *Activations) Arrange(o *Order) {
	if e := a.room(o); e != nil && !e.valid {
		o.Arrange(e.q, a.Q, a.N, a.Stride)
		e.valid = true
	}
}

// room returns where activations in order o are kept; nil for the natural one.
func (a *Activations) room(o *Order) *orderedQ {
	if o == nil {
		return nil
	}
	i := slices.IndexFunc(a.ordered, func(q orderedQ) bool { return q.order == o })
	if i < 0 {
		a.ordered = append(a.ordered, orderedQ{order: o})
		i = len(a.ordered) - 1
	}
	e := &a.ordered[i]
	if !e.valid {
		e.q = aligned.Grow(e.q, o.Size(a.N, a.Stride), a.Alloc)
	}
	return e
}

// View makes a the columns [from, to) of b, whose memory it shares, in no order yet.
func (a *Activations) View(b *Activations, from, to int) {
	a.Quantized.View(&b.Quantized, from, to)
	if b.Scheme == F32 {
		a.X = b.X[from*b.Cols : to*b.Cols]
	}
	a.disarrange()
}

// quantize fills columns [from, to) of a with x, by the instructions of isa.
func (isa *ISA) quantize(a *Activations, x []float32, from, to int) {
	if isa == Go {
		a.Generic(x, from, to)
	} else {
		a.SIMD(x, from, to)
	}
}
