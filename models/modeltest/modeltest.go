package modeltest

import (
	"fmt"
	"math"
	"slices"

	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/source"
)

// A Model has all weights of a file as float64.
type Model struct {
	config   arch.Config
	arch     string
	w        map[string][][]float64 // [out][in]; a vector is one row
	mistakes []Mistake
	layer    int // the block in progress
}

// A Mistake is one that implementations make. An oracle that makes it must
// differ from an engine that does not, or their comparison shows nothing.
type Mistake string

// The mistakes.
const (
	SignsLast    Mistake = "signs behind the Hadamard transform"
	NoOrder      Mistake = "the heads of ssm_out in another order"
	HalfBlocks   Mistake = "blocks of half the length"
	GroupedHeads Mistake = "value heads in a row sharing a key head"
	DecayLate    Mistake = "the state decaying behind the prediction"
	Unrotated    Mistake = "a rotated file taken for one that is not"
	WholeRope    Mistake = "the rotary embedding turning whole heads"
	TapsReversed Mistake = "the first tap for the latest input"
	TurnHeads    Mistake = "query heads using key heads in turn"
)

func (m *Model) makes(mistake Mistake) bool { return slices.Contains(m.mistakes, mistake) }

// Load reads every tensor of f. Weights that are stored in another basis are
// brought back to the model's own.
func Load(f *gguf.File, mistakes ...Mistake) (*Model, error) {
	_, c, err := source.ConfigFromGGUF(f)
	if err != nil {
		return nil, err
	}
	m := &Model{config: c, arch: c.Arch, w: map[string][][]float64{}, mistakes: mistakes}
	for _, info := range f.Tensors() {
		t, err := f.Tensor(info.Name)
		if err != nil {
			return nil, err
		}
		flat, err := t.Floats()
		if err != nil {
			return nil, err
		}
		rows, cols := t.Dims()
		matrix := make([][]float64, rows)
		for r := range matrix {
			matrix[r] = make([]float64, cols)
			for c := range cols {
				matrix[r][c] = float64(flat[r*cols+c])
			}
		}
		m.w[info.Name] = matrix
	}
	rotation, err := source.FromGGUF(f).Rotation()
	if err == nil && rotation != nil && !m.makes(Unrotated) {
		m.unfold(rotation)
	}
	return m, err
}

// Logits returns, for each token of a text, the logits of the next.
func (m *Model) Logits(ids []int) [][]float64 {
	x := make([][]float64, len(ids)) // [token][hidden]
	for t, id := range ids {
		x[t] = times(m.embedding()[id], orOne(m.config.EmbeddingScale))
	}
	for n := range m.config.Layers {
		m.block(x, n)
	}
	head := m.w["output.weight"]
	if head == nil || m.makes(TiedHead) {
		head = m.embedding()
	}
	logits := make([][]float64, len(ids))
	for t := range x {
		logits[t] = times(apply(head, m.norm(x[t], "output_norm.weight")), 1/orOne(m.config.LogitScale))
	}
	return logits
}

// orOne is a factor of MiniCPM's, which others have not.
func orOne(factor float32) float64 {
	if factor == 0 {
		return 1
	}
	return float64(factor)
}

func (m *Model) embedding() [][]float64 { return m.w["token_embd.weight"] }

// block is x += Attention(norm(x)); x += FFN(norm(x)).
func (m *Model) block(x [][]float64, n int) {
	m.layer = n
	residual := slices.Clone(x)
	name := func(s string) string {
		full := fmt.Sprintf("blk.%d.%s", n, s)
		if m.w[full] != nil {
			return full
		}
		return full + ".weight"
	}
	normed := make([][]float64, len(x))
	for t := range x {
		normed[t] = m.norm(x[t], name("attn_norm"))
	}
	mix, project := m.attention, "attn_output"
	if m.config.Delta.Interval > 0 {
		if mix = m.gatedAttention; (n+1)%m.config.Delta.Interval != 0 {
			mix, project = m.deltaNet, "ssm_out"
		}
	}
	for t, out := range mix(normed, name) {
		if m.w[name("attn_sub_norm")] != nil {
			out = m.norm(out, name("attn_sub_norm"))
		}
		x[t] = plus(x[t], times(apply(m.w[name(project)], out), orOne(m.config.ResidualScale)))
	}
	gain := "ffn_norm"
	if m.config.Delta.Interval > 0 {
		gain = "post_attention_norm"
	}
	for t := range x {
		h := m.norm(x[t], name(gain))
		if m.config.Experts.Count > 0 {
			x[t] = plus(x[t], m.routed(h, residual[t], name))
			continue
		}
		gate, up := apply(m.w[name("ffn_gate")], h), apply(m.w[name("ffn_up")], h)
		for i := range gate {
			gate[i] = m.activation(gate[i]) * up[i]
		}
		if m.w[name("ffn_sub_norm")] != nil {
			gate = m.norm(gate, name("ffn_sub_norm"))
		}
		x[t] = plus(x[t], times(apply(m.w[name("ffn_down")], gate), orOne(m.config.ResidualScale)))
	}
}

// activation is SiLU(z) = z/(1+e⁻ᶻ), or max(z, 0)² for BitNet b1.58 2B-4T.
func (m *Model) activation(z float64) float64 {
	if m.arch == "bitnet-b1.58" || m.arch == "bitnet-25" {
		return math.Pow(math.Max(z, 0), 2)
	}
	return z / (1 + math.Exp(-z))
}

// attention is, for query head i of token t,
//
//	Σ_{u≤t} softmax_u(q_i(t)·k_j(u) / √d) v_j(u)    with j = ⌊i·kvHeads/heads⌋
//
// and all heads one after the other.
func (m *Model) attention(x [][]float64, name func(string) string) [][]float64 {
	c := m.config
	var q, k, v [][][]float64 // [token][head][width]
	for t := range x {
		q = append(q, heads(apply(m.w[name("attn_q")], x[t]), c.HeadDim))
		k = append(k, heads(apply(m.w[name("attn_k")], x[t]), c.HeadDim))
		v = append(v, heads(apply(m.w[name("attn_v")], x[t]), c.HeadDim))
		for i := range q[t] {
			q[t][i] = m.normedAndRotated(q[t][i], name("attn_q_norm"), t)
		}
		for i := range k[t] {
			k[t][i] = m.normedAndRotated(k[t][i], name("attn_k_norm"), t)
		}
	}
	return m.attend(q, k, v)
}

// normedAndRotated is what becomes of a head of queries or keys.
func (m *Model) normedAndRotated(z []float64, gain string, position int) []float64 {
	turn := func(z []float64) []float64 {
		if m.turns() {
			return m.rope(z, position)
		}
		return z
	}
	if m.makes(RotatedFirst) {
		z = turn(z)
	}
	if m.w[gain] != nil && !m.makes(NoHeadNorm) {
		z = m.norm(z, gain)
	}
	if m.makes(RotatedFirst) {
		return z
	}
	return turn(z)
}

// attend has all heads one after the other.
func (m *Model) attend(q, k, v [][][]float64) [][]float64 {
	c := m.config
	out := make([][]float64, len(q))
	for t := range q {
		for i := range c.Heads {
			j := i * c.KVHeads / c.Heads
			if m.makes(TurnHeads) {
				j = i % c.KVHeads
			}
			weights := make([]float64, t+1)
			total := 0.0
			for u := range weights {
				if !m.looksAt(t, u) {
					continue
				}
				weights[u] = math.Exp(dot(q[t][i], k[u][j]) / math.Sqrt(m.scoreWidth()))
				total += weights[u]
			}
			head := make([]float64, c.HeadDim)
			for u := range weights {
				for e := range head {
					head[e] += weights[u] / total * v[u][j][e]
				}
			}
			out[t] = append(out[t], head...)
		}
	}
	return out
}

// rope turns the pairs (z[i], z[i+d/2]), or LLaMA's (z[2i], z[2i+1]), as complex numbers, by position
// times θ_i = base^(-2i/d), d the number of values that are rotated.
func (m *Model) rope(z []float64, position int) []float64 {
	c, d := m.config, len(z)
	if c.RopeDim > 0 && !m.makes(WholeRope) {
		d = c.RopeDim
	}
	first := 0
	if m.makes(LastHalf) {
		first = len(z) - d
	}
	out := append([]float64(nil), z...)
	for i := range d / 2 {
		theta, magnitude := m.frequency(math.Pow(float64(c.RopeBase), -2*float64(i)/float64(d)), i, d)
		angle := float64(position) * theta
		a, b := first+i, first+i+d/2
		if m.arch == "llama" || m.arch == "minicpm" || m.makes(Adjacent) {
			a, b = 2*i, 2*i+1
		}
		rotated := complex(z[a], z[b]) * complex(math.Cos(angle), math.Sin(angle)) * complex(magnitude, 0)
		out[a], out[b] = real(rotated), imag(rotated)
	}
	return out
}

// frequency is pair i's under the file's scaling. YaRN: of the pairs sorted
// by frequency, those before the one that turns 32 times within the original
// context keep theirs, those after the one that turns once are slowed down by
// the factor, and the ones between go over from the first to the second in
// proportion to their index; and attention is sharpened by 0.1·ln(factor)+1.
func (m *Model) frequency(theta float64, i, d int) (scaled, magnitude float64) {
	s := m.config.RopeScaling
	switch s.Type {
	case "linear":
		return theta / float64(s.Factor), 1
	case "longrope":
		return theta / m.w["rope_factors_short.weight"][0][i], 1
	case "llama3":
		return theta / m.w["rope_freqs.weight"][0][i], 1
	case "yarn":
		pair := func(turns float64) float64 { // solves original·θ/2π = turns for the index
			return float64(d) / 2 * math.Log(float64(s.OriginalContext)/(2*math.Pi*turns)) / math.Log(float64(m.config.RopeBase))
		}
		first, last := math.Floor(pair(32)), math.Ceil(pair(1))
		slowed := math.Min(math.Max((float64(i)-first)/(last-first), 0), 1)
		return slowed*theta/float64(s.Factor) + (1-slowed)*theta, 0.1*math.Log(float64(s.Factor)) + 1
	}
	return theta, 1
}

// norm is z / √(Σz²/n + ε) · gain.
func (m *Model) norm(z []float64, gain string) []float64 {
	root := math.Sqrt(dot(z, z)/float64(len(z)) + float64(m.config.Eps))
	out := make([]float64, len(z))
	for i := range z {
		out[i] = z[i] / root * m.w[gain][0][i]
	}
	return out
}

func apply(w [][]float64, z []float64) []float64 {
	out := make([]float64, len(w))
	for r := range w {
		out[r] = dot(w[r], z)
	}
	return out
}

func heads(z []float64, width int) [][]float64 {
	var out [][]float64
	for ; len(z) > 0; z = z[width:] {
		out = append(out, z[:width])
	}
	return out
}

func plus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
