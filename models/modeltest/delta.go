package modeltest

import "math"

// gatedAttention is attention whose queries and keys are normalized head by
// head, and whose heads' results are multiplied with σ of gates that lie behind
// each head's queries.
func (m *Model) gatedAttention(x [][]float64, name func(string) string) [][]float64 {
	dim := m.config.HeadDim
	var q, k, v, gates [][][]float64 // [token][head][width]
	for t := range x {
		var queries, gate [][]float64
		for _, both := range heads(apply(m.w[name("attn_q")], x[t]), 2*dim) {
			queries = append(queries, m.rope(m.norm(both[:dim], name("attn_q_norm")), t))
			gate = append(gate, both[dim:])
		}
		var keys [][]float64
		for _, z := range heads(apply(m.w[name("attn_k")], x[t]), dim) {
			keys = append(keys, m.rope(m.norm(z, name("attn_k_norm")), t))
		}
		q, k, gates = append(q, queries), append(k, keys), append(gates, gate)
		v = append(v, heads(apply(m.w[name("attn_v")], x[t]), dim))
	}
	out := m.attend(q, k, v)
	for t := range out {
		for i := range out[t] {
			out[t][i] *= sigmoid(gates[t][i/dim][i%dim])
		}
	}
	return out
}

// deltaNet is a gated delta net (arXiv:2412.06464): queries, keys and values
// through a short convolution and SiLU, queries and keys of length 1, the delta
// rule, and a norm and gate of each head's answers.
func (m *Model) deltaNet(x [][]float64, name func(string) string) [][]float64 {
	d := m.config.Delta
	var inputs [][]float64
	for t := range x {
		inputs = append(inputs, apply(m.w[name("attn_qkv")], x[t]))
	}
	mixed := m.convolve(inputs, m.w[name("ssm_conv1d")])
	rate, bias := m.w[name("ssm_a")][0], m.w[name("ssm_dt.bias")][0]
	out := make([][]float64, len(x))
	for h := range d.ValueHeads {
		s := Recurrence{Late: m.makes(DecayLate)}
		for t := range x {
			key := h % d.KeyHeads
			if m.makes(GroupedHeads) {
				key = h / (d.ValueHeads / d.KeyHeads)
			}
			q := heads(mixed[t][:d.Keys()], d.HeadDim)[key]
			k := heads(mixed[t][d.Keys():2*d.Keys()], d.HeadDim)[key]
			v := heads(mixed[t][2*d.Keys():], d.HeadDim)[h]
			alpha, beta := dot(m.w[name("ssm_alpha")][h], x[t]), dot(m.w[name("ssm_beta")][h], x[t])
			s.Tokens = append(s.Tokens, Token{
				Q: times(unit(q), 1/math.Sqrt(float64(d.HeadDim))), K: unit(k), V: v,
				LogDecay: rate[h] * math.Log1p(math.Exp(alpha+bias[h])), Beta: sigmoid(beta),
			})
		}
		for t, answer := range s.Steps() {
			z := heads(apply(m.w[name("attn_gate")], x[t]), d.HeadDim)[h]
			for i, y := range m.norm(answer, name("ssm_norm")) {
				out[t] = append(out[t], y*z[i]*sigmoid(z[i]))
			}
		}
	}
	return out
}

// convolve sums a channel's inputs from t-taps+1 to t, each times a tap, the
// latest the last, and takes SiLU of it.
func (m *Model) convolve(x, taps [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for t := range x {
		out[t] = make([]float64, len(x[t]))
		for c, w := range taps {
			sum := 0.0
			for i := range w {
				from, tap := t-len(w)+1+i, w[i]
				if m.makes(TapsReversed) {
					tap = w[len(w)-1-i]
				}
				if from >= 0 {
					sum += x[from][c] * tap
				}
			}
			out[t][c] = sum * sigmoid(sum)
		}
	}
	return out
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// unit is z / √(Σz² + 1e-6).
func unit(z []float64) []float64 { return times(z, 1/math.Sqrt(dot(z, z)+1e-6)) }

func times(z []float64, by float64) []float64 {
	out := make([]float64, len(z))
	for i := range z {
		out[i] = z[i] * by
	}
	return out
}

// A Recurrence is the gated delta rule of one head over a text.
type Recurrence struct {
	Tokens []Token
	Late   bool // the mistake DecayLate
}

// A Token is what it takes in.
type Token struct {
	Q, K, V        []float64
	LogDecay, Beta float64
}

// Steps answers each token's query, one after the other:
//
//	S ← e^g S;  S ← S + β k (v - Sᵀk)ᵀ;  y = Sᵀq
func (r *Recurrence) Steps() [][]float64 {
	s := make([][]float64, len(r.Tokens[0].K)) // [key][value]
	for i := range s {
		s[i] = make([]float64, len(r.Tokens[0].V))
	}
	var out [][]float64
	for _, t := range r.Tokens {
		decay := math.Exp(t.LogDecay)
		predicted := recall(s, t.K)
		y := make([]float64, len(t.V))
		for j := range y {
			if !r.Late {
				predicted[j] *= decay
			}
			for i := range s {
				s[i][j] = decay*s[i][j] + t.Beta*t.K[i]*(t.V[j]-predicted[j])
			}
		}
		out = append(out, recall(s, t.Q))
	}
	return out
}

// recall is Sᵀx.
func recall(s [][]float64, x []float64) []float64 {
	out := make([]float64, len(s[0]))
	for i := range s {
		for j := range out {
			out[j] += s[i][j] * x[i]
		}
	}
	return out
}

// Chunks answers the same queries chunk by chunk (arXiv:2412.06464, section
// 3.3): within one, with G the sums of the logarithms of decays, what each token
// writes is U - W S, where
//
//	A_ij = β_i (k_i·k_j) e^(G_i - G_j), j < i;  T = (1 + A)⁻¹;  U = T(β V);  W = T(β e^G K)
//
// and with V' = U - W S for what was written, S the state before the chunk,
//
//	Y_i = e^(G_i) Sᵀq_i + Σ_{j≤i} (q_i·k_j) e^(G_i - G_j) V'_j
//	S ← e^(G_C) S + Σ_j e^(G_C - G_j) k_j V'_jᵀ
func (r *Recurrence) Chunks(size int) [][]float64 {
	s := make([][]float64, len(r.Tokens[0].K))
	for i := range s {
		s[i] = make([]float64, len(r.Tokens[0].V))
	}
	var out [][]float64
	for from := 0; from < len(r.Tokens); from += size {
		tokens := r.Tokens[from:min(from+size, len(r.Tokens))]
		sums, sum := make([]float64, len(tokens)), 0.0
		var written [][]float64 // V'
		for i, t := range tokens {
			sum += t.LogDecay
			sums[i] = sum
			// Row i of (1+A) V' = β (V - e^G Sᵀk), solved for V'_i.
			v := times(plus(t.V, times(recall(s, t.K), -math.Exp(sum))), t.Beta)
			y := times(recall(s, t.Q), math.Exp(sum))
			for j, w := range written {
				shared := math.Exp(sum - sums[j])
				v = plus(v, times(w, -t.Beta*dot(t.K, tokens[j].K)*shared))
				y = plus(y, times(w, dot(t.Q, tokens[j].K)*shared))
			}
			written = append(written, v)
			out = append(out, plus(y, times(v, dot(t.Q, t.K))))
		}
		for i := range s {
			s[i] = times(s[i], math.Exp(sum))
			for j, w := range written {
				s[i] = plus(s[i], times(w, math.Exp(sum-sums[j])*tokens[j].K[i]))
			}
		}
	}
	return out
}
