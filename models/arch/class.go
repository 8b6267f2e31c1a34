package arch

// A Class is a class of checkpoints at Hugging Face, with what it takes for
// granted: a config.json need not have what is its class's default. In all of
// them that is a head of its own. Architectures that differ in their activation
// only may share a class: hidden_act tells them apart.
type Class struct {
	Name       string // in config.json's architectures
	Activation Activation
	Context    int
	HeadDim    int // 0: Hidden/Heads
	Eps        float32
	RopeBase   float32
	// SaysTernary says that a checkpoint is ternary only if its
	// quantization_config says so; others of the class are refused.
	SaysTernary bool
	// Names are what tensors of a block are called there that LLaMA has not, by
	// GGUF's names, both without what all have around them; the first of several
	// is the usual one.
	Names map[string][]string
}
