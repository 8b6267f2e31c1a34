package modeltest

import (
	"math"

	"onebit/models/arch"
)

// unfold makes the weights those of the model's own basis. A layer computes
// W·H(s ⊙ P(x)), so that its weights are P⁻¹(s ⊙ (H·row)) for each row, and a row
// of the embedding is s ⊙ (H·row).
func (m *Model) unfold(r *arch.Rotation) {
	for name := range r.Weights {
		grouped := r.Grouped && !m.makes(NoOrder) && isOutput(name)
		m.w[name] = m.unfoldRows(r, m.w[name], grouped)
	}
	for name := range r.Rows {
		if !r.Weights[name] { // a tied one is done
			m.w[name] = m.unfoldRows(r, m.w[name], false)
		}
	}
}

// isOutput reports whether a tensor is the output projection of a delta net.
func isOutput(name string) bool {
	const suffix = ".ssm_out.weight"
	return len(name) > len(suffix) && name[len(name)-len(suffix):] == suffix
}

func (m *Model) unfoldRows(r *arch.Rotation, rows [][]float64, grouped bool) [][]float64 {
	block := r.Block
	if m.makes(HalfBlocks) {
		block /= 2
	}
	out := make([][]float64, len(rows))
	for i, row := range rows {
		signs := r.Signs[len(row)]
		rotated := hadamard(signed(row, signs, m.makes(SignsLast)), block)
		rotated = signed(rotated, signs, !m.makes(SignsLast))
		if grouped {
			rotated = m.tiled(rotated)
		}
		out[i] = rotated
	}
	return out
}

// signed is s ⊙ z, or z if that is for elsewhere.
func signed(z []float64, signs []float32, here bool) []float64 {
	out := append([]float64(nil), z...)
	if here && signs != nil {
		for i := range out {
			out[i] *= float64(signs[i])
		}
	}
	return out
}

// hadamard multiplies blocks with a matrix of H₂ₙ = [Hₙ Hₙ; Hₙ -Hₙ] / √2, H₁ = 1.
func hadamard(z []float64, block int) []float64 {
	out := append([]float64(nil), z...)
	for at := 0; at < len(z); at += block {
		walsh(out[at:][:block])
	}
	return out
}

func walsh(z []float64) {
	n := len(z) / 2
	if n == 0 {
		return
	}
	a, b := z[:n], z[n:]
	for i := range a {
		a[i], b[i] = (a[i]+b[i])/math.Sqrt2, (a[i]-b[i])/math.Sqrt2
	}
	walsh(a)
	walsh(b)
}

// tiled brings columns from the order in which value heads that share a key head
// lie side by side to the one in which they are the number of key heads apart.
func (m *Model) tiled(row []float64) []float64 {
	d := m.config.Delta
	out := make([]float64, len(row))
	shared := d.ValueHeads / d.KeyHeads
	for key := range d.KeyHeads {
		for r := range shared {
			copy(out[(r*d.KeyHeads+key)*d.HeadDim:][:d.HeadDim], row[(key*shared+r)*d.HeadDim:])
		}
	}
	return out
}

// Fold is the way back: the rows of a layer or, of an embedding, the rows of
// which the model's own are s ⊙ H(row). P is for the output projections of delta
// nets in a file whose values are grouped.
func Fold(r *arch.Rotation, c arch.Config, name string, row []float64) []float64 {
	if r.Grouped && isOutput(name) {
		d := c.Delta
		grouped, shared := make([]float64, len(row)), d.ValueHeads/d.KeyHeads
		for key := range d.KeyHeads {
			for r := range shared {
				copy(grouped[(key*shared+r)*d.HeadDim:][:d.HeadDim], row[(r*d.KeyHeads+key)*d.HeadDim:])
			}
		}
		row = grouped
	}
	return hadamard(signed(row, r.Signs[len(row)], true), r.Block)
}
