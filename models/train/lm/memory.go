package lm

import (
	"fmt"

	"onebit/internal/sysinfo"
	"onebit/models/arch"
	"onebit/models/train"
)

// A Footprint is what a run takes of memory at most, in bytes: planned from its sizes,
// before anything of that size is allocated. Numbers of sizes that no machine has are
// beyond an int64.
type Footprint struct {
	Weights     float64 // float32 weights, their gradients, what they are rounded to, and a teacher's
	Moments     float64 // what the optimizer keeps
	Saved       float64 // the copy that a checkpoint is written from
	Activations float64 // of a pass and of its way back

	rows int // tokens of a pass
}

// Total is all of it.
func (f Footprint) Total() float64 { return f.Weights + f.Moments + f.Saved + f.Activations }

// A MemoryError says that a run would take more memory than there is.
type MemoryError struct {
	Footprint Footprint
	Memory    int64 // that there is
}

func (e *MemoryError) Error() string {
	f := e.Footprint
	return fmt.Sprintf("a run of these sizes takes %s of memory (weights and gradients %s, the optimizer's %s, a checkpoint's copy %s, activations of %d tokens %s), and there is %s: give it fewer layers, a smaller width, vocabulary or window, or fewer windows in a pass",
		size(f.Total()), size(f.Weights), size(f.Moments), size(f.Saved), f.rows, size(f.Activations), sysinfo.Bytes(e.Memory))
}

// size is for people, who are told no number beyond an int64.
func size(bytes float64) string {
	const most = 1 << 62
	if bytes >= most {
		return "over " + sysinfo.Bytes(most).String()
	}
	return sysinfo.Bytes(bytes).String()
}

// Footprint plans a run of the recipe. It allocates nothing of the recipe's sizes.
func (r Recipe) Footprint() (Footprint, error) {
	table, err := arch.Lookup(r.Architecture)
	if err != nil {
		return Footprint{}, err
	}
	return r.footprint(r.config(), table)
}

// Fits returns a *MemoryError if the system has not the memory for a run of the recipe.
func (r Recipe) Fits() error {
	f, err := r.Footprint()
	if err != nil {
		return err
	}
	return f.fits(sysinfo.Available())
}

func (r Recipe) footprint(c arch.Config, table *arch.Table) (f Footprint, err error) {
	if bad := c.Check(); bad != nil {
		return f, fmt.Errorf("%s: %s", bad.Key, bad.Msg)
	}
	s := Shape{}
	if s.Form, err = train.LookupForm(r.Form); err != nil {
		return f, err
	}
	if s.Embedding, err = train.LookupForm(r.Embedding); err != nil {
		return f, err
	}
	rule, err := train.LookupRule(r.Optimizer)
	if err != nil {
		return f, err
	}
	rows := float64(r.Pass) * float64(r.Context)
	var weights, rounded, columns, operand float64 // columns: floats of a token; operand: the largest of a product, which is packed
	add := func(specs []arch.TensorSpec, times int) {
		for _, spec := range specs {
			out, in := spec.Dims()
			n := float64(times) * float64(out) * float64(in)
			weights += n
			form := s.formOf(spec.Role)
			if form == nil { // a norm: what it makes of a row, before and behind its gains, and the gradient
				columns += float64(times) * 3 * float64(in*out)
				continue
			}
			if form != train.Float {
				rounded += n
			}
			operand = max(operand, float64(in)*float64(out), rows*float64(max(in, out)))
			columns += float64(times) * float64(2*in+out) // rounded inputs, their gradient, the results
		}
	}
	add(table.GlobalTensors(c), 1)
	add(table.BlockTensors(c, 0), c.Layers)
	q, kv := float64(c.Heads)*float64(c.HeadDim), float64(c.KVHeads)*float64(c.HeadDim)
	// RoPE and attention with their gradients, the softmax and its own, the gated network,
	// the residual stream; the embedding's rows and the gradient of the logits.
	block := 4*q + 5*kv + 2*float64(c.Heads)*float64(r.Context) + 4*float64(c.FFN) + 4*float64(c.Hidden)
	columns += float64(c.Layers)*block + float64(c.Hidden) + float64(c.Vocab)

	const float, packed = 4, 2 // packed: for a kernel of integers, and the digits before
	slots := float64(len(rule.Slots()))
	f = Footprint{
		Weights: float*(2*weights+rounded) + packed*rounded, Moments: float * slots * weights, Saved: float * (1 + slots) * weights,
		Activations: float * (rows*columns + operand), rows: r.Pass * r.Context,
	}
	if r.Distil > 0 {
		f.Weights += float * 2 * weights
		f.Activations *= 2
	}
	return f, nil
}

// fits refuses a run that memory of the system has no room for. Where the system does
// not say, everything fits.
func (f Footprint) fits(available sysinfo.Value[sysinfo.Bytes]) error {
	if available.OK() && f.Total() > float64(available.V) {
		return &MemoryError{f, int64(available.V)}
	}
	return nil
}
