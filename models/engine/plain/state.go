package plain

import (
	"fmt"
	"math"

	"onebit/models/engine"
)

// A kv has keys and values of every token, [token][all heads].
type kv struct {
	engine.KV
	keys, values [][]float64
}

func (s *kv) end(int) {}
func (s *kv) mark()   {}

// truncate goes back to any position: with a window too, everything is kept.
func (s *kv) truncate(n int) error {
	n = min(n, len(s.keys))
	s.keys, s.values = s.keys[:n], s.values[:n]
	return nil
}

func (s *kv) bytes(tokens int) int { return 2 * 8 * tokens * s.Heads * s.Dim }

// attend is, for query head i of token t,
//
//	Σ_{u≤t} softmax_u(q_i(t)·k_j(u) / √d) v_j(u)    with j = ⌊i·kvHeads/heads⌋
//
// over the u > t - window if there is one.
func (s *kv) attend(position int, dst, q, k, v *buffer) {
	s.keys, s.values = s.keys[:position], s.values[:position]
	for c := range k.columns {
		s.keys = append(s.keys, append([]float64(nil), k.columns[c]...))
		s.values = append(s.values, append([]float64(nil), v.columns[c]...))
	}
	dst.resize(len(q.columns))
	heads := q.width / s.Dim
	for c, column := range q.columns {
		for i := range heads {
			s.head(dst.columns[c][i*s.Dim:][:s.Dim], column[i*s.Dim:][:s.Dim], i*s.Heads/heads*s.Dim, position+c+1)
		}
	}
}

// head answers a query from the last of so many tokens' keys and values, which lie at
// an offset.
func (s *kv) head(out, q []float64, at, tokens int) {
	first := 0
	if s.Window > 0 {
		first = max(0, tokens-s.Window)
	}
	weights, top, total := make([]float64, tokens-first), math.Inf(-1), 0.0
	for u := range weights {
		weights[u] = dot(q, s.keys[first+u][at:][:s.Dim]) / math.Sqrt(float64(s.Dim))
		top = math.Max(top, weights[u])
	}
	for u := range weights {
		weights[u] = math.Exp(weights[u] - top)
		total += weights[u]
	}
	for u, w := range weights {
		for e := range out {
			out[e] += w / total * s.values[first+u][at+e]
		}
	}
}

// A delta has a matrix for each value head, [head][key][value], and the last
// inputs of the convolution.
type delta struct {
	engine.Delta
	matrices [][][]float64
	inputs   [][]float64 // by channel
	position int
	begun    bool // a batch has changed the state and not ended
	marked   *delta
}

func newDelta(d engine.Delta) *delta {
	s := &delta{Delta: d, inputs: make([][]float64, d.Channels)}
	for range d.ValueHeads {
		matrix := make([][]float64, d.KeyDim)
		for i := range matrix {
			matrix[i] = make([]float64, d.ValueDim)
		}
		s.matrices = append(s.matrices, matrix)
	}
	return s
}

func (s *delta) end(position int) { s.position, s.begun = position, false }

func (s *delta) mark() { s.marked = s.copy() }

// copy is a deep one.
func (s *delta) copy() *delta {
	out := newDelta(s.Delta)
	out.position = s.position
	for h, matrix := range s.matrices {
		for i, row := range matrix {
			copy(out.matrices[h][i], row)
		}
	}
	for c, inputs := range s.inputs {
		out.inputs[c] = append([]float64(nil), inputs...)
	}
	return out
}

func (s *delta) truncate(n int) error {
	switch marked := s.marked; {
	case n == s.position && !s.begun:
	case marked != nil && n == marked.position:
		*s = *marked.copy()
		s.marked = marked
	case n == 0: // which forgets the mark too: there will be another text behind it
		*s = *newDelta(s.Delta)
	default:
		return fmt.Errorf("%w to %d of %d tokens", engine.ErrNoRollback, n, s.position)
	}
	return nil
}

func (s *delta) bytes(int) int {
	return 8 * (s.ValueHeads*s.KeyDim*s.ValueDim + s.Channels*max(s.Taps-1, 0))
}

func (s *delta) convolve(x *buffer, taps [][]float64) {
	s.begun = true
	for _, column := range x.columns {
		for channel, now := range column {
			inputs := append(s.inputs[channel], now)
			s.inputs[channel] = inputs[max(0, len(inputs)-s.Taps):]
			sum := 0.0
			for back := range min(s.Taps, len(inputs)) {
				sum += inputs[len(inputs)-1-back] * taps[channel][s.Taps-1-back]
			}
			column[channel] = silu(sum)
		}
	}
}

func (s *delta) rule(dst, q, k, v, decay, beta *buffer) {
	s.begun = true
	dst.resize(len(q.columns))
	for c := range q.columns {
		for h, matrix := range s.matrices {
			key, value := s.KeyHead(h)*s.KeyDim, h*s.ValueDim
			s.step(matrix, dst.columns[c][value:][:s.ValueDim], q.columns[c][key:][:s.KeyDim], k.columns[c][key:][:s.KeyDim],
				v.columns[c][value:][:s.ValueDim], decay.columns[c][h], beta.columns[c][h])
		}
	}
}

// step is S ← decay·S; S ← S + β·k ⊗ (v - Sᵀk); out = Sᵀq.
func (s *delta) step(matrix [][]float64, out, q, k, v []float64, decay, beta float64) {
	for i := range matrix {
		for j := range matrix[i] {
			matrix[i][j] *= decay
		}
	}
	missing := append([]float64(nil), v...)
	for i := range k {
		for j := range missing {
			missing[j] -= matrix[i][j] * k[i]
		}
	}
	for i := range k {
		for j := range missing {
			matrix[i][j] += beta * k[i] * missing[j]
			out[j] += matrix[i][j] * q[i]
		}
	}
}
