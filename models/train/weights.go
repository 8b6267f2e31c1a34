package train

import (
	"fmt"
	"math"

	"onebit/formats"
	"onebit/internal/aligned"
	"onebit/internal/half"
)

// epsilon is what NanoLogic adds to its divisors, and b1.58's least scale.
const epsilon = 1e-5

// rounded is what a form makes of a matrix.
type rounded struct {
	w     []float32 // as in the matrix; its own memory, unless the form is Float
	gamma float32   // the tensor's scale, where there is one
}

// round makes r the rounded weights of w, rows of cols.
func (r *rounded) round(l *BitLinear, w []float32, cols int) {
	f := l.opt.Form
	switch {
	case f.floats():
		r.w = w
	case f.ternary():
		r.w = aligned.Grow(r.w, len(w), nil)
		gamma, mean := f.scale(l.pool, w)
		divisor := gamma
		if f.addEps {
			divisor += epsilon
		}
		if l.opt.HalfScale {
			gamma = half.ToFloat32(half.FromFloat32(gamma))
		}
		r.gamma = gamma
		if !isFinite(float64(gamma)) { // which digits would hide
			fillNaN(r.w)
			return
		}
		eachSpan(l.pool, len(w), func(from, to int) { host().Ternarize(r.w[from:to], w[from:to], mean, divisor, gamma) })
	default:
		r.w = aligned.Grow(r.w, len(w), nil)
		eachRows(l.pool, len(w)/cols, cols, func(from, to int) {
			roundTrip(f.Type, r.w[from*cols:to*cols], w[from*cols:to*cols], cols)
		})
	}
}

// roundTrip writes what format t makes of w. Weights that it cannot hold, which
// are not finite or beyond fp16, become NaN: the loss will say so.
func roundTrip(t *formats.Type, dst, w []float32, cols int) {
	m, err := t.NewMatrix(len(w)/cols, cols)
	if err == nil {
		err = m.Round(dst, w)
	}
	if err != nil {
		fillNaN(dst)
	}
}

func fillNaN(x []float32) {
	for i := range x {
		x[i] = float32(math.NaN())
	}
}

// Pack returns the layer's rounded weights in a format: a tensor [out, in]. It is
// an error if the format doesn't hold them exactly; those with fp16 scales hold
// ternary weights that were rounded with [Options].HalfScale.
func (l *BitLinear) Pack(t *formats.Type) (*formats.Tensor, error) {
	name := l.Weight.Name
	size, err := t.Bytes(l.Out, l.In)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	l.Rounded()
	data := make([]byte, size)
	back := make([]float32, l.Out*l.In)
	if err := t.Matrix(data, l.Out, l.In).Round(back, l.rounded.w); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	for i, w := range l.rounded.w {
		if back[i] != w {
			return nil, fmt.Errorf("tensor %s: %s holds %v at row %d, column %d, where training multiplies by %v", name, t.Name, back[i], i/l.In, i%l.In, w)
		}
	}
	return &formats.Tensor{Name: name, Type: t, Shape: []int{l.Out, l.In}, Data: data}, nil
}

// Rounded returns the weights as Forward multiplies by them, valid until they are
// rounded again.
func (l *BitLinear) Rounded() []float32 {
	if !l.frozen {
		l.rounded.round(l, l.Weight.W, l.In)
	}
	return l.rounded.w
}
