package modeltest

import (
	"cmp"
	"math"
	"slices"
)

// The mistakes of models with experts and windows.
const (
	WindowShort     Mistake = "a window of one position less"
	WindowLong      Mistake = "a window of one position more"
	WindowsAll      Mistake = "windows in every block"
	WindowsNone     Mistake = "windows in no block"
	WindowsShifted  Mistake = "the first block of a pattern looking at all, and not the last"
	RotatedAll      Mistake = "the rotary embedding in blocks that look at all"
	RotatedNone     Mistake = "the rotary embedding in no block"
	RotatedFirst    Mistake = "norms of heads behind the rotary embedding"
	LastHalf        Mistake = "the rotary embedding turning the last values of heads"
	Adjacent        Mistake = "the rotary embedding turning adjacent pairs"
	NarrowScore     Mistake = "scores divided by the root of the turned values"
	NoHeadNorm      Mistake = "queries and keys without a norm"
	ClampLate       Mistake = "the gate clamped behind its activation"
	ClampNone       Mistake = "no gate clamped"
	ClampBelow      Mistake = "the gate clamped from below too"
	ClampAbove      Mistake = "what is gated clamped from above only"
	NotNormalized   Mistake = "the weights of experts not divided by their sum"
	OneLess         Mistake = "one expert less"
	OneMore         Mistake = "one expert more"
	SigmoidGates    Mistake = "sigmoids of a router's logits as weights"
	RouterUnnormed  Mistake = "the router reading the residual stream without a norm"
	Interleaved     Mistake = "the rows of experts interleaved"
	WeightsReversed Mistake = "the weights of experts in the other order"
	WeightsBefore   Mistake = "weights on what experts get"
	GateIsUp        Mistake = "the gate for what is gated"
	Parallel        Mistake = "the feed-forward network beside attention"
	TiedHead        Mistake = "the embedding as the head"
)

// slides reports whether the block in progress looks at a window: of every Interval
// the last does not.
func (m *Model) slides() bool {
	s := m.config.Sliding
	at := s.Interval - 1
	if m.makes(WindowsShifted) {
		at = 0
	}
	return s.Window > 0 && (s.Interval == 0 || m.layer%s.Interval != at)
}

// turns reports whether the block in progress has a rotary embedding.
func (m *Model) turns() bool {
	switch {
	case m.config.Sliding.Window == 0 || m.makes(RotatedAll):
		return true
	case m.makes(RotatedNone):
		return false
	}
	return m.slides()
}

// looksAt reports whether token t looks at token u, which is not behind it.
func (m *Model) looksAt(t, u int) bool {
	window := m.config.Sliding.Window
	switch {
	case m.makes(WindowShort):
		window--
	case m.makes(WindowLong):
		window++
	}
	if m.makes(WindowsNone) || !m.slides() && !m.makes(WindowsAll) {
		return true
	}
	return t-u < window
}

func (m *Model) scoreWidth() float64 {
	if m.makes(NarrowScore) {
		return float64(m.config.RopeDim)
	}
	return float64(m.config.HeadDim)
}

// routed is Σ w_e E_e(h) over the experts of the largest router probabilities, with
//
//	p = softmax(Wr h)    w_e = p_e / Σ_{chosen} p    E(h) = Wd(silu(min(Wg h, c)) ⊙ clamp(Wu h, -c, c))
func (m *Model) routed(h, residual []float64, name func(string) string) []float64 {
	e := m.config.Experts
	input := h
	if m.makes(RouterUnnormed) {
		input = residual
	}
	p, total := apply(m.w[name("ffn_gate_inp")], input), 0.0
	for i := range p {
		if e.Sigmoid || m.makes(SigmoidGates) {
			p[i] = 1 / (1 + math.Exp(-p[i]))
		} else {
			p[i] = math.Exp(p[i])
			total += p[i]
		}
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
		if total > 0 {
			p[i] /= total
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	used := e.Used
	switch {
	case m.makes(OneLess):
		used--
	case m.makes(OneMore):
		used++
	}
	weights, sum := make([]float64, used), 0.0
	for k, expert := range order[:used] {
		weights[k] = p[expert] * orOne(e.Scale)
		sum += p[expert]
	}
	out := make([]float64, len(h))
	for k, expert := range order[:used] {
		weight := weights[k]
		if m.makes(WeightsReversed) {
			weight = weights[used-1-k]
		}
		if e.Normalized && !m.makes(NotNormalized) {
			weight /= sum
		}
		if m.makes(WeightsBefore) {
			out = plus(out, m.expert(expert, times(h, weight), name))
		} else {
			out = plus(out, times(m.expert(expert, h, name), weight))
		}
	}
	if m.makes(Parallel) {
		return m.besideAttention(residual, name)
	}
	return out
}

// besideAttention is a mistake: the network reads what attention read.
func (m *Model) besideAttention(residual []float64, name func(string) string) []float64 {
	beside := *m
	beside.mistakes = nil
	return beside.routed(m.norm(residual, name("ffn_norm")), residual, name)
}

func (m *Model) expert(e int, h []float64, name func(string) string) []float64 {
	gate, up := apply(m.rowsOf(e, name("ffn_gate_exps")), h), apply(m.rowsOf(e, name("ffn_up_exps")), h)
	if m.makes(GateIsUp) {
		gate, up = up, gate
	}
	limit := float64(m.config.GateLimit)
	if limit == 0 || m.makes(ClampNone) {
		limit = math.Inf(1)
	}
	for i := range gate {
		switch g := gate[i]; {
		case m.makes(ClampLate):
			gate[i] = math.Min(m.activation(g), limit)
		case m.makes(ClampBelow):
			gate[i] = m.activation(math.Max(math.Min(g, limit), -limit))
		default:
			gate[i] = m.activation(math.Min(g, limit))
		}
		u := math.Min(up[i], limit)
		if !m.makes(ClampAbove) {
			u = math.Max(u, -limit)
		}
		gate[i] *= u
	}
	return apply(m.rowsOf(e, name("ffn_down_exps")), gate)
}

// rowsOf returns an expert's rows, which lie together.
func (m *Model) rowsOf(e int, name string) [][]float64 {
	all, count := m.w[name], m.config.Experts.Count
	n := len(all) / count
	if !m.makes(Interleaved) {
		return all[e*n : (e+1)*n]
	}
	var out [][]float64
	for r := range n {
		out = append(out, all[r*count+e])
	}
	return out
}
