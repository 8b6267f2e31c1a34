package train

import (
	"fmt"

	"onebit/internal/aligned"
	"onebit/internal/cpu"
	"onebit/kernels"
	"onebit/kernels/dense"
)

// A Gradient is a straight-through estimate of ∂loss/∂W for weights that are
// rounded.
type Gradient int

const (
	// Exact takes the rounded weights for W plus a constant: gᵀ · Rx(x).
	Exact Gradient = iota
	// InverseScale is NanoLogic's: gᵀ · x / (γ + 1e-5), x as it was before
	// rounding.
	InverseScale
)

// String returns the name on the command line.
func (g Gradient) String() string {
	if g == InverseScale {
		return "inverse-scale"
	}
	return "exact"
}

// Options are those of a [BitLinear]. The zero value is a plain linear layer
// without a bias.
type Options struct {
	Form     *Form     // of the weights; nil: Float
	Rounding *Rounding // of the activations; nil: the form's own
	Gradient Gradient
	Bias     bool
	// HalfScale rounds the tensor's scale to fp16, so that every ternary format
	// holds the weights exactly.
	HalfScale bool
}

// Check says what of the options doesn't fit a layer from in to out features.
func (o Options) Check(in, out int) error {
	o = o.complete()
	switch {
	case in < 1 || out < 1:
		return fmt.Errorf("a layer from %d to %d features is empty", in, out)
	case !o.Form.floats() && !o.Form.ternary() && in%o.Form.Type.BlockLen != 0:
		return fmt.Errorf("form %s needs a multiple of %d inputs, not %d", o.Form.Name, o.Form.Type.BlockLen, in)
	case o.Gradient == InverseScale && !o.Form.ternary():
		return fmt.Errorf("the gradient %v divides by the scale of the tensor, and form %s has none", o.Gradient, o.Form.Name)
	}
	return nil
}

// complete fills in what was left out.
func (o Options) complete() Options {
	if o.Form == nil {
		o.Form = Float
	}
	if o.Rounding == nil {
		o.Rounding = o.Form.Rounding
	}
	return o
}

// A BitLinear is a linear layer that multiplies by rounded weights: see the
// package's documentation. It takes rows × In and gives rows × Out.
type BitLinear struct {
	In, Out int
	Weight  *Param // [out, in]
	Bias    *Param // [out]; nil if there is none

	opt      Options
	pool     *kernels.Pool
	products *dense.Multiplier
	rounded  rounded
	packed   *dense.Packed // of the rounded weights, once there are rows enough
	frozen   bool

	x, xq, y, gx []float32 // x is the caller's
	scaled       []float32 // that of InverseScale, before it is divided
}

// BitLinear returns a layer with weights and biases of [-1/√in, 1/√in). The
// options must pass Check.
func (b *Builder) BitLinear(name string, in, out int, opt Options) *BitLinear {
	if err := opt.Check(in, out); err != nil {
		panic("train: layer " + name + ": " + err.Error())
	}
	l := &BitLinear{In: in, Out: out, opt: opt.complete(), pool: b.Pool, products: b.Products}
	l.Weight = b.uniform(NewParam(name+".weight", out, in), fanIn(in))
	if opt.Bias {
		l.Bias = b.uniform(NewParam(name+".bias", out), fanIn(in))
	}
	return l
}

// Linear returns a layer whose weights and activations are not rounded.
func (b *Builder) Linear(name string, in, out int, bias bool) *BitLinear {
	return b.BitLinear(name, in, out, Options{Bias: bias})
}

// Tied returns a layer with the same parameters: to apply them once more before
// Backward.
func (l *BitLinear) Tied() *BitLinear {
	return &BitLinear{In: l.In, Out: l.Out, Weight: l.Weight, Bias: l.Bias, opt: l.opt, pool: l.pool, products: l.products}
}

// Params returns the weights, and the biases if there are any.
func (l *BitLinear) Params() []*Param {
	if l.Bias == nil {
		return []*Param{l.Weight}
	}
	return []*Param{l.Weight, l.Bias}
}

// Options returns the layer's, complete.
func (l *BitLinear) Options() Options { return l.opt }

// Scale returns γ, the scale of the last Forward, and 0 for forms that have none
// for the tensor.
func (l *BitLinear) Scale() float32 { return l.rounded.gamma }

// Forward returns Rx(x) · Q(W)ᵀ + bias.
func (l *BitLinear) Forward(x []float32) []float32 {
	l.x = x
	l.roundRows(rowsOf(x, l.In))
	return l.multiply()
}

// ForwardSiblings returns what each layer's Forward would of the same x, which is
// rounded once: the layers have the same rounding of activations.
func ForwardSiblings(x []float32, layers ...*BitLinear) (results [][]float32) {
	first := layers[0]
	first.x = x
	first.roundRows(rowsOf(x, first.In))
	for _, l := range layers {
		if l.opt.Rounding != first.opt.Rounding || l.In != first.In {
			panic("train: siblings round their activations alike")
		}
		l.x, l.xq = x, first.xq
		results = append(results, l.multiply())
	}
	return results
}

// Freeze rounds the weights once for all passes until Thaw, in which they must not
// change.
func (l *BitLinear) Freeze() {
	l.frozen = false
	l.Rounded()
	l.frozen = true
}

// Thaw makes each pass round the weights again.
func (l *BitLinear) Thaw() { l.frozen = false }

// multiply makes y of xq.
func (l *BitLinear) multiply() []float32 {
	rows := len(l.xq) / l.In
	l.Rounded()
	l.y = aligned.Grow(l.y, rows*l.Out, nil)
	if !l.multiplyPacked(rows) {
		l.products.Set(dense.Of(l.y, rows, l.Out), dense.Of(l.xq, rows, l.In), l.matrix(l.rounded.w).T())
	}
	if l.Bias != nil {
		eachRows(l.pool, rows, l.Out, func(from, to int) {
			for r := from; r < to; r++ {
				for i, b := range l.Bias.W {
					l.y[r*l.Out+i] += b
				}
			}
		})
	}
	return l.y
}

// packedFrom is the rows from which int8 kernels are faster than float32 products,
// packing included: docs/measurements/dense.md.
const packedFrom = 1024

// multiplyPacked multiplies by the int8 kernel that a trained model has, where there
// is one and rows enough. It sums integers: the result is the model's to the bit,
// and that of floats but for their rounding. A layer without a pool has floats alone.
// Whether there is one follows from the form, never from the machine, whose best
// kernel gives the same bits as any other.
func (l *BitLinear) multiplyPacked(rows int) bool {
	if rows < packedFrom || l.pool == nil || l.opt.Form.floats() || l.opt.Rounding.scheme == "" {
		return false
	}
	if l.packed == nil {
		v, err := kernels.BestFor(l.opt.Form.Type.Name, l.opt.Rounding.scheme, cpu.Host())
		if err != nil {
			return false
		}
		if l.packed, err = dense.NewPacked(v, l.Out, l.In); err != nil { // the columns don't fill its blocks
			return false
		}
	}
	if l.packed.Set(l.pool, l.rounded.w) != nil { // not finite: floats make a loss that says so
		return false
	}
	l.packed.Mul(l.pool, l.y, l.x, rows)
	return true
}

// roundRows makes xq the rounded activations.
func (l *BitLinear) roundRows(rows int) {
	if l.opt.Rounding.round == nil {
		l.xq = l.x
		return
	}
	l.xq = aligned.Grow(l.xq, len(l.x), nil)
	eachRows(l.pool, rows, l.In, func(from, to int) {
		l.opt.Rounding.round(l.xq[from*l.In:to*l.In], l.x[from*l.In:to*l.In], l.In)
	})
}

// Backward returns g · Q(W), and adds Σ g and the gradient of the weights.
func (l *BitLinear) Backward(grad []float32) []float32 {
	sameLength(grad, l.y)
	rows := rowsOf(grad, l.Out)
	l.gx = aligned.Grow(l.gx, rows*l.In, nil)
	g := dense.Of(grad, rows, l.Out)
	l.products.Set(dense.Of(l.gx, rows, l.In), g, l.matrix(l.rounded.w))
	if l.Bias != nil {
		addRows(l.pool, l.Bias.Grad, grad)
	}
	if l.opt.Gradient == Exact {
		l.products.Add(l.matrix(l.Weight.Grad), g.T(), dense.Of(l.xq, rows, l.In))
		return l.gx
	}
	l.scaled = aligned.Grow(l.scaled, l.Out*l.In, nil)
	l.products.Set(l.matrix(l.scaled), g.T(), dense.Of(l.x, rows, l.In))
	divisor := l.rounded.gamma + epsilon
	eachSpan(l.pool, len(l.scaled), func(from, to int) {
		for i, g := range l.scaled[from:to] {
			l.Weight.Grad[from+i] += g / divisor
		}
	})
	return l.gx
}

// matrix is w, as the layer's weights are: out × in.
func (l *BitLinear) matrix(w []float32) dense.Matrix { return dense.Of(w, l.Out, l.In) }

// addRows adds Σ of x's rows to sum.
func addRows(pool *kernels.Pool, sum, x []float32) {
	width := len(sum)
	eachColumns(pool, width, func(from, to int) {
		for row := x; len(row) > 0; row = row[width:] {
			for i, v := range row[from:to] {
				sum[from+i] += v
			}
		}
	})
}
