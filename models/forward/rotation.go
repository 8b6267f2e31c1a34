package forward

import (
	"onebit/models/arch"
	"onebit/models/engine"
)

// Rotations has what the inputs of a model's layers go through, made once for
// all that take the same: layers of one input share it.
type Rotations struct {
	file *arch.Rotation // nil: the model is not rotated
	made map[rotationKey]*engine.Rotation
}

type rotationKey struct {
	width              int
	permuted, backward bool
}

// NewRotations returns those of a model that a file says to be rotated so; nil: it is not.
func NewRotations(file *arch.Rotation) *Rotations {
	return &Rotations{file, map[rotationKey]*engine.Rotation{}}
}

// Linear returns the layer of a weight, with what its input goes through. Of one that
// takes the values of a gated delta net's heads, grouped says that a file may have them
// in another order.
func (r *Rotations) Linear(w engine.Weight, c arch.Config, grouped bool) *Linear {
	info := w.Info()
	l := &Linear{Name: info.Tensor, Rows: info.Rows, Cols: info.Cols, Experts: info.Experts, Type: info.Type, Weight: w}
	if l.Experts > 0 {
		l.Used = c.Experts.Used
	}
	if r.file == nil || !r.file.Weights[l.Name] {
		return l
	}
	permuted := grouped && r.file.Grouped
	l.Rotation = r.get(rotationKey{width: l.Cols, permuted: permuted})
	if permuted {
		l.Rotation.Rows, l.Rotation.Run = c.Delta.ValueHeads/c.Delta.KeyHeads, c.Delta.HeadDim
	}
	return l
}

// Rows returns what the rows of a table go through; nil: nothing.
func (r *Rotations) Rows(tensor string, width int) *engine.Rotation {
	if r.file == nil || !r.file.Rows[tensor] {
		return nil
	}
	return r.get(rotationKey{width: width, backward: true})
}

func (r *Rotations) get(key rotationKey) *engine.Rotation {
	if r.made[key] == nil {
		signs := r.file.Signs[key.width]
		if r.file.Signs == nil {
			signs = make([]float32, key.width)
			for i := range signs {
				signs[i] = 1
			}
		}
		r.made[key] = &engine.Rotation{Signs: signs, Block: r.file.Block, Inverse: key.backward}
	}
	return r.made[key]
}
