package arch

import (
	"fmt"
	"slices"

	"onebit/formats"
)

// A Table declares what a model of one architecture consists of: its tensors
// by their GGUF names, and the metadata keys that describe it.
type Table struct {
	Name       string     // general.architecture, and the prefix of its metadata keys
	Summary    string     // one line for people
	Activation Activation // of the gated feed-forward network
	// AdjacentPairs says that the pairs which the rotary embedding turns lie side
	// by side in GGUF files, and not half a head apart as at Hugging Face.
	AdjacentPairs bool

	// Types are the formats of the published files, by role. A file may use
	// others: roles, names and shapes are what makes the architecture.
	Types map[Role]*formats.Type
	// Keys are the metadata keys of the published files, without the prefix.
	Keys []string
	// Global tensors come once, Block tensors once per transformer block that
	// has them.
	Global, Block []Declaration
	// Text is what the files leave out about text.
	Text Text
	// Classes are those of its checkpoints at Hugging Face.
	Classes []Class
	// InCellm says that .cellm files have a name for it, the same.
	InCellm bool
	// Presets are the real models of the architecture, and small ones for tests.
	Presets []*Preset
}

// An Activation is the nonlinearity of a gate.
type Activation string

// The known activations. Feed-forward networks have one of the first two.
const (
	SiLU    Activation = "silu"    // x·σ(x)
	ReLU2   Activation = "relu2"   // max(x, 0)²
	Sigmoid Activation = "sigmoid" // σ(x)
)

// A Role says what a tensor is for.
type Role int

// The roles of tensors.
const (
	Norm       Role = iota // RMSNorm gain, a vector
	Embedding              // one row per token
	Head                   // output projection, one row per token
	Projection             // linear layer inside a transformer block
	Control                // the same with an output for each head, which steers a state
	Taps                   // of a convolution, for each channel
	Rate                   // by which a state decays, negative
	Bias                   // added to a layer's output
	Divisors               // of the rotary embedding's frequencies, positive
	Router                 // of experts, an output for each
	Expert                 // as many linear layers as there are experts
)

func (r Role) String() string {
	return [...]string{"norm", "embedding", "head", "projection", "control", "taps", "rate", "bias", "divisors", "router", "expert"}[r]
}

// Multiplies reports whether tensors of the role are matrices that activations
// inside a block are multiplied with.
func (r Role) Multiplies() bool { return r == Projection || r == Control || r == Router || r == Expert }

// A Dimension is one side of a tensor, as a function of the configuration.
type Dimension func(Config) int

// The usual dimensions.
func Hidden(c Config) int  { return c.Hidden }
func FFN(c Config) int     { return c.FFN }
func Vocab(c Config) int   { return c.Vocab }
func HeadDim(c Config) int { return c.HeadDim }
func Query(c Config) int   { return c.Heads * c.HeadDim }   // all query heads
func KV(c Config) int      { return c.KVHeads * c.HeadDim } // all key heads, or all value heads

// A Declaration is one line of a table of tensors. A vector has no rows; of the role
// Expert are as many matrices as there are experts, one behind the other.
type Declaration struct {
	Name       string // without "blk.N." and ".weight"
	Role       Role
	Rows, Cols Dimension
	// Whole says that the name has no ".weight" behind it in files.
	Whole bool
	// In reports whether a block has the tensor; nil: all have. A global one is
	// asked for with block -1.
	In func(c Config, block int) bool
}

// Whole declares tensors whose names in files end as they are.
func Whole(d Declaration) Declaration { d.Whole = true; return d }

// In declares tensors of those blocks only for which has is true.
func In(has func(c Config, block int) bool, declarations ...Declaration) []Declaration {
	for i := range declarations {
		declarations[i].In = has
	}
	return declarations
}

// Vector declares a tensor without rows.
func Vector(name string, role Role, size Dimension) Declaration {
	return Declaration{Name: name, Role: role, Cols: size}
}

// Matrix declares a tensor of rows, each a token or an output.
func Matrix(name string, role Role, rows, cols Dimension) Declaration {
	return Declaration{Name: name, Role: role, Rows: rows, Cols: cols}
}

// Outside declares the tensors outside the transformer blocks: those that every
// model has, and more.
func Outside(more ...Declaration) []Declaration {
	return append([]Declaration{
		Matrix("token_embd", Embedding, Vocab, Hidden),
		Vector("output_norm", Norm, Hidden),
		Matrix("output", Head, Vocab, Hidden),
	}, more...)
}

// FeedForward declares a gated network, with what stands before its last layer.
func FeedForward(inner ...Declaration) []Declaration {
	out := append([]Declaration{
		Matrix("ffn_gate", Projection, FFN, Hidden),
		Matrix("ffn_up", Projection, FFN, Hidden),
	}, inner...)
	return append(out, Matrix("ffn_down", Projection, Hidden, FFN))
}

// RoutedFeedForward declares a router, and experts that are gated networks. Names:
// ggml-org/llama.cpp gguf-py/gguf/constants.py.
func RoutedFeedForward() []Declaration {
	return []Declaration{
		Matrix("ffn_gate_inp", Router, func(c Config) int { return c.Experts.Count }, Hidden),
		Matrix("ffn_gate_exps", Expert, FFN, Hidden),
		Matrix("ffn_up_exps", Expert, FFN, Hidden),
		Matrix("ffn_down_exps", Expert, Hidden, FFN),
	}
}

// The names of the tensors that every model has outside its blocks; a tied head
// is the embedding.
const (
	EmbeddingTensor  = "token_embd.weight"
	OutputNormTensor = "output_norm.weight"
	HeadTensor       = "output.weight"
	// FrequencyTensor is what divides frequencies under Llama3.
	FrequencyTensor = "rope_freqs.weight"
)

// HasFrequencies reports whether models of the architecture may have a FrequencyTensor.
func (t *Table) HasFrequencies() bool {
	return slices.ContainsFunc(t.Global, func(d Declaration) bool { return d.Name+".weight" == FrequencyTensor })
}

// A TensorSpec is a tensor that a model of an architecture must have.
type TensorSpec struct {
	Name  string // GGUF name, such as blk.3.attn_q.weight
	Role  Role
	Shape []int         // outermost first: [out, in] of a projection, [n] of a norm, [expert, out, in]
	Type  *formats.Type // what the architecture's published files use
}

// Dims returns the shape as a matrix; a vector is one row.
func (s TensorSpec) Dims() (rows, cols int) { return formats.Dims(s.Shape) }

// Bytes returns the size of the tensor in its Type, or an error that names
// the tensor.
func (s TensorSpec) Bytes() (int, error) {
	rows, cols := s.Dims()
	n, err := s.Type.Bytes(rows, cols)
	if err != nil {
		return 0, fmt.Errorf("tensor %s: %w", s.Name, err)
	}
	return n, nil
}

func (t *Table) spec(prefix string, d Declaration, c Config) TensorSpec {
	shape := []int{d.Cols(c)}
	if d.Rows != nil {
		shape = []int{d.Rows(c), d.Cols(c)}
	}
	if d.Role == Expert {
		shape = append([]int{c.Experts.Count}, shape...)
	}
	name := prefix + d.Name
	if !d.Whole {
		name += ".weight"
	}
	return TensorSpec{Name: name, Role: d.Role, Shape: shape, Type: t.typeOf(d.Role)}
}

// typeOf returns what published files use for a role; what is small is in full
// precision unless they say otherwise.
func (t *Table) typeOf(r Role) *formats.Type {
	switch typ := t.Types[r]; {
	case typ != nil:
		return typ
	case r == Control || r == Expert:
		return t.Types[Projection]
	}
	return formats.F32
}

// GlobalTensors returns the tensors outside the transformer blocks. With a
// tied head there is no output.weight: the embedding serves as the head.
func (t *Table) GlobalTensors(c Config) []TensorSpec {
	var out []TensorSpec
	for _, d := range t.Global {
		if d.Role == Head && c.TiedHead || d.In != nil && !d.In(c, -1) {
			continue
		}
		out = append(out, t.spec("", d, c))
	}
	return out
}

// BlockTensors returns the tensors of transformer block n.
func (t *Table) BlockTensors(c Config, n int) []TensorSpec {
	prefix := fmt.Sprintf("blk.%d.", n)
	var out []TensorSpec
	for _, d := range t.BlockDeclarations(c, n) {
		out = append(out, t.spec(prefix, d, c))
	}
	return out
}

// BlockDeclarations returns those of the tensors of block n, in their order.
func (t *Table) BlockDeclarations(c Config, n int) []Declaration {
	return slices.DeleteFunc(slices.Clone(t.Block), func(d Declaration) bool { return d.In != nil && !d.In(c, n) })
}

// Tensors returns every tensor of the model: the global ones, then block by
// block.
func (t *Table) Tensors(c Config) []TensorSpec {
	out := t.GlobalTensors(c)
	for n := range c.Layers {
		out = append(out, t.BlockTensors(c, n)...)
	}
	return out
}

// ProjectionShapes returns the distinct shapes of the projections in
// transformer blocks, in the order in which the blocks use them.
func (t *Table) ProjectionShapes(c Config) []formats.Shape {
	var out []formats.Shape
	for n := range c.Layers {
		for _, s := range t.BlockTensors(c, n) {
			rows, cols := formats.Dims(s.Shape[max(0, len(s.Shape)-2):]) // of one expert
			shape := formats.Shape{Rows: rows, Cols: cols}
			if (s.Role == Projection || s.Role == Expert) && !slices.Contains(out, shape) {
				out = append(out, shape)
			}
		}
	}
	return out
}
