package models

import (
	"fmt"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/internal/term"
)

// An Architecture declares what a model of one family consists of: its
// tensors by their GGUF names, and the metadata keys that describe it. The
// declarations are tables; each architecture is one file that registers them.
type Architecture struct {
	Name       string     // general.architecture, and the prefix of its metadata keys
	Summary    string     // one line for people
	Activation Activation // of the gated feed-forward network

	// types are the formats of the published files, by role. A file may use
	// others: roles, names and shapes are what makes the architecture.
	types map[Role]*formats.Type
	// keys are the metadata keys of the published files, without the prefix.
	keys []string
	// global tensors come once, block tensors once per transformer block.
	global []declaration
	block  []declaration

	// forward is a block's computation.
	forward func(b *Block, s *Session)
}

// An Activation is the nonlinearity of a gated feed-forward network.
type Activation string

// The activations of the registered architectures.
const (
	SiLU  Activation = "silu"  // x·σ(x)
	ReLU2 Activation = "relu2" // max(x, 0)²
)

// A Role says what a tensor is for.
type Role int

// The roles of tensors.
const (
	Norm       Role = iota // RMSNorm gain, a vector
	Embedding              // one row per token
	Head                   // output projection, one row per token
	Projection             // linear layer inside a transformer block
)

func (r Role) String() string {
	return [...]string{"norm", "embedding", "head", "projection"}[r]
}

// A dimension is one side of a tensor, as a function of the configuration.
type dimension func(Config) int

var (
	hidden dimension = func(c Config) int { return c.Hidden }
	ffn    dimension = func(c Config) int { return c.FFN }
	vocab  dimension = func(c Config) int { return c.Vocab }
	head   dimension = func(c Config) int { return c.HeadDim }
	query  dimension = func(c Config) int { return c.Heads * c.HeadDim }
	kv     dimension = func(c Config) int { return c.KVHeads * c.HeadDim }
)

// A declaration is one line of an architecture's table of tensors. A vector
// has no rows.
type declaration struct {
	name       string // without "blk.N." and ".weight"
	role       Role
	rows, cols dimension
}

// A TensorSpec is a tensor that a model of an architecture must have.
type TensorSpec struct {
	Name  string // GGUF name, such as blk.3.attn_q.weight
	Role  Role
	Shape []int         // outermost first: [out, in] of a projection, [n] of a norm
	Type  *formats.Type // what the architecture's published files use
}

// Dims returns the shape as a matrix; a vector is one row.
func (t TensorSpec) Dims() (rows, cols int) {
	if len(t.Shape) == 1 {
		return 1, t.Shape[0]
	}
	return t.Shape[0], t.Shape[1]
}

// Bytes returns the size of the tensor in its Type, or an error that names
// the tensor.
func (t TensorSpec) Bytes() (int, error) {
	rows, cols := t.Dims()
	n, err := t.Type.Bytes(rows, cols)
	if err != nil {
		return 0, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return n, nil
}

func (a *Architecture) spec(prefix string, d declaration, c Config) TensorSpec {
	shape := []int{d.cols(c)}
	if d.rows != nil {
		shape = []int{d.rows(c), d.cols(c)}
	}
	return TensorSpec{Name: prefix + d.name + ".weight", Role: d.role, Shape: shape, Type: a.types[d.role]}
}

// GlobalTensors returns the tensors outside the transformer blocks. With a
// tied head there is no output.weight: the embedding serves as the head.
func (a *Architecture) GlobalTensors(c Config) []TensorSpec {
	var out []TensorSpec
	for _, d := range a.global {
		if d.role == Head && c.TiedHead {
			continue
		}
		out = append(out, a.spec("", d, c))
	}
	return out
}

// BlockTensors returns the tensors of transformer block n.
func (a *Architecture) BlockTensors(c Config, n int) []TensorSpec {
	prefix := fmt.Sprintf("blk.%d.", n)
	var out []TensorSpec
	for _, d := range a.block {
		out = append(out, a.spec(prefix, d, c))
	}
	return out
}

// Tensors returns every tensor of the model: the global ones, then block by
// block.
func (a *Architecture) Tensors(c Config) []TensorSpec {
	out := a.GlobalTensors(c)
	for n := range c.Layers {
		out = append(out, a.BlockTensors(c, n)...)
	}
	return out
}

// A Shape is rows × cols of a weight matrix: out and in features.
type Shape struct{ Rows, Cols int }

func (s Shape) String() string { return fmt.Sprintf("%d×%d", s.Rows, s.Cols) }

// ProjectionShapes returns the distinct shapes of the projections in a
// transformer block, in the order in which the block uses them.
func (a *Architecture) ProjectionShapes(c Config) []Shape {
	var out []Shape
	for _, t := range a.BlockTensors(c, 0) {
		if rows, cols := t.Dims(); t.Role == Projection && !slices.Contains(out, Shape{rows, cols}) {
			out = append(out, Shape{rows, cols})
		}
	}
	return out
}

var architectures = map[string]*Architecture{}

// register adds a. It is called from init functions only.
func register(a *Architecture) *Architecture {
	if architectures[a.Name] != nil {
		panic("models: architecture registered twice")
	}
	architectures[a.Name] = a
	return a
}

// Lookup returns the architecture of that general.architecture.
func Lookup(name string) (*Architecture, error) {
	if a := architectures[name]; a != nil {
		return a, nil
	}
	var known []string
	for _, a := range Architectures() {
		known = append(known, a.Name)
	}
	return nil, fmt.Errorf("unknown architecture %s (known: %s)", term.QuoteAlways(name), strings.Join(known, ", "))
}

// Architectures returns every architecture, sorted by name.
func Architectures() []*Architecture {
	var out []*Architecture
	for _, a := range architectures {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *Architecture) int { return strings.Compare(a.Name, b.Name) })
	return out
}
