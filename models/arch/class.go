package arch

import "onebit/formats"

// A Class is a class of checkpoints at Hugging Face, with what it takes for
// granted: a config.json need not have what is its class's default. Architectures
// that differ in their activation only may share a class: hidden_act tells them apart.
type Class struct {
	Name         string // in config.json's architectures
	Activation   Activation
	Context      int
	HeadDim      int // 0: Hidden/Heads
	Eps          float32
	RopeBase     float32
	RotaryFactor float32 // the share of a head that the rotary embedding rotates; 0: all, always
	Delta        Delta   // of the gated delta nets; zero: there are none
	Tied         bool    // the embedding is the head
	GateLimit    float32 // see Config
	// ByRow is what projections and experts are packed to, exactly: each of their rows is
	// floats of -s, 0 and +s with a scale of its own; nil: they are not.
	ByRow *formats.Type
	// SaysTernary says that weights are ternary only if quantization_config says
	// so; others are read as the floats that they are.
	SaysTernary bool
	// Within is what stands before the names of the model's own tensors in a
	// checkpoint that has others too: "language_model."; "": nothing does.
	Within string
	// LeftAlone are those others.
	LeftAlone []LeftAlone
	// Names are what tensors are called there that LLaMA has not, or calls otherwise, by
	// GGUF's names, both without what all have around them; the first of several
	// is the usual one. Of experts each is a tensor, whose number is a * in it.
	Names map[string][]string
	// Changes are what tensors go through to be GGUF's, by their names in the table.
	Changes map[string]Change
}

// LeftAlone are tensors of a checkpoint that a model runs without.
type LeftAlone struct {
	Prefix string
	What   string // what they are of does, for people: "sees pictures"
}

// A Change makes a tensor of a checkpoint GGUF's. Nil is for what stays.
type Change struct {
	Rows, Cols Order // of a vector, Cols are its elements
	// Value is for vectors and taps.
	Value func(float32) float32
}

// An Order returns which row or column of a checkpoint is row or column i of GGUF's.
type Order func(c Config, i int) int

// Paired is the order of a head's rows in which pair i, which the rotary embedding
// turns, is in rows 2i and 2i+1: rows i and i+d/2 of the checkpoint's. Source:
// ggml-org/llama.cpp convert_hf_to_gguf.py, LlamaModel.permute.
func Paired(c Config, row int) int {
	i := row % c.HeadDim
	return row - i + i%2*c.HeadDim/2 + i/2
}

// Tiled is an order of values whose heads have so many of them each, from a number
// that stay where they are on: value heads that share a key head lie side by side in
// checkpoints, and the number of key heads apart in GGUF files. Source:
// ggml-org/llama.cpp conversion/qwen.py, _reorder_v_heads.
func Tiled(from, width func(Config) int) Order {
	return func(c Config, i int) int {
		first, w := from(c), width(c)
		if i < first {
			return i
		}
		head, in := (i-first)/w, (i-first)%w
		key, nth := head%c.Delta.KeyHeads, head/c.Delta.KeyHeads
		return first + (key*(c.Delta.ValueHeads/c.Delta.KeyHeads)+nth)*w + in
	}
}
