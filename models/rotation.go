package models

import (
	"onebit/models/arch"
	"onebit/models/engine"
)

// A rotations has what the inputs of a model's layers go through, made once for
// all that take the same: layers of one input share it.
type rotations struct {
	file *arch.Rotation // nil: the model is not rotated
	made map[rotationKey]*engine.Rotation
}

type rotationKey struct {
	width              int
	permuted, backward bool
}

func newRotations(file *arch.Rotation) *rotations {
	return &rotations{file, map[rotationKey]*engine.Rotation{}}
}

// layer returns what the input of a layer goes through; nil: nothing. Of one
// that takes the values of a gated delta net's heads, grouped says that a file
// may have them in another order.
func (r *rotations) layer(l *Linear, c arch.Config, grouped bool) *engine.Rotation {
	if r.file == nil || !r.file.Weights[l.Name] {
		return nil
	}
	permuted := grouped && r.file.Grouped
	out := r.get(rotationKey{width: l.Cols, permuted: permuted})
	if permuted {
		out.Rows, out.Run = c.Delta.ValueHeads/c.Delta.KeyHeads, c.Delta.HeadDim
	}
	return out
}

// rows returns what the rows of a table go through; nil: nothing.
func (r *rotations) rows(tensor string, width int) *engine.Rotation {
	if r.file == nil || !r.file.Rows[tensor] {
		return nil
	}
	return r.get(rotationKey{width: width, backward: true})
}

func (r *rotations) get(key rotationKey) *engine.Rotation {
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
