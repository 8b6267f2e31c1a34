package arch

import (
	"fmt"
	"math"

	"onebit/internal/term"
)

// A Config holds the numbers that fix a model's shapes and arithmetic: what
// a GGUF keeps under "<architecture>.*".
type Config struct {
	Arch    string // general.architecture
	Layers  int    // transformer blocks
	Hidden  int    // width of the residual stream
	FFN     int    // width of the feed-forward network, or of one expert
	Heads   int    // query heads
	KVHeads int    // key and value heads, each shared by Heads/KVHeads query heads
	HeadDim int    // width of a head
	Vocab   int    // tokens
	Context int    // longest context, in tokens

	Experts Experts // zero: all tokens go through one feed-forward network
	Sliding Sliding // zero: all blocks look at all of the text
	// GateLimit is what the gate of a feed-forward network is clamped to before its
	// activation, and what it gates between that and its negative; 0: nothing is.
	GateLimit float32

	Delta Delta // of the blocks that are gated delta nets; zero: there are none
	// NextN is the number of blocks behind those above that predict further
	// tokens. They are left alone.
	NextN int

	RopeBase    float32 // θ of the rotary embedding
	RopeDim     int     // values of a head that it turns, the first; 0: all
	RopeScaling RopeScaling
	Eps         float32 // ε of every RMSNorm
	// Factors of MiniCPM's kind (arXiv:2404.06395, appendix A); 0: none.
	EmbeddingScale float32 // by which rows of the embedding are multiplied
	ResidualScale  float32 // by which what a block adds is
	LogitScale     float32 // by which logits are divided
	TiedHead       bool    // the embedding is the output head too
}

// A Delta holds the numbers of gated delta nets (arXiv:2412.06464), and which
// blocks are some.
type Delta struct {
	Interval   int // of so many blocks in a row, the last has attention instead
	KeyHeads   int
	ValueHeads int // the key head of value head h is h mod KeyHeads
	HeadDim    int // of keys and of values
	Taps       int // of the convolution that their inputs go through
}

// Keys and Values are the widths of all key heads, or of all queries, and of
// all value heads.
func (d Delta) Keys() int   { return d.KeyHeads * d.HeadDim }
func (d Delta) Values() int { return d.ValueHeads * d.HeadDim }

// Channels is the width of queries, keys and values together.
func (d Delta) Channels() int { return 2*d.Keys() + d.Values() }

// Attends reports whether a block has attention, and not a gated delta net.
func (c Config) Attends(block int) bool {
	return c.Delta.Interval == 0 || (block+1)%c.Delta.Interval == 0
}

// RotaryDim returns how many values of a head the rotary embedding rotates.
func (c Config) RotaryDim() int {
	if c.RopeDim > 0 {
		return c.RopeDim
	}
	return c.HeadDim
}

// RopeScaling stretches the rotary embedding beyond the context that the
// model was trained with. The zero value is none.
type RopeScaling struct {
	Type            string // "", "none", "linear", "yarn" or LongRope
	Factor          float32
	OriginalContext int
}

// LongRope divides the frequencies by numbers of their own, tensors of the file: one
// for texts within the original context, another for longer ones (Ding et al.,
// arXiv:2402.13753).
const LongRope = "longrope"

// Llama3 divides the frequencies by a tensor of the file too, rope_freqs.weight, which
// says so by being there (Llama 3.1: ggml-org/llama.cpp conversion/llama.py).
const Llama3 = "llama3"

// YaRN's bounds, in turns within the original context: pairs that turn more
// than YaRNFast times keep their frequency, those below YaRNSlow are
// interpolated (Peng et al., arXiv:2309.00071, section 3.2).
const (
	YaRNFast = 32
	YaRNSlow = 1
)

// maxCount bounds every count of a Config, far above any model, so that
// products of three of them do not overflow an int64.
const maxCount = 1 << 20

// A Violation is what is wrong with a number of a Config.
type Violation struct {
	Key string // of the metadata, without the architecture
	Msg string
}

func violationf(key, format string, args ...any) *Violation {
	return &Violation{key, fmt.Sprintf(format, args...)}
}

// Check returns the first number that no model can have, nil if there is none.
func (c Config) Check() *Violation {
	for _, n := range []struct {
		key   string
		value int
	}{
		{KeyBlockCount, c.Layers},
		{KeyEmbeddingLength, c.Hidden},
		{c.keyFFN(), c.FFN},
		{KeyHeadCount, c.Heads},
		{KeyHeadCountKV, c.KVHeads},
		{KeyKeyLength, c.HeadDim},
		{KeyVocabSize, c.Vocab},
	} {
		if n.value < 1 || n.value > maxCount {
			return violationf(n.key, "%d is not between 1 and %d", n.value, maxCount)
		}
	}
	switch {
	case c.Context < 1:
		return violationf(KeyContextLength, "%d is not positive", c.Context)
	case c.Heads%c.KVHeads != 0:
		return violationf(KeyHeadCountKV, "%d key and value heads cannot be shared evenly by %d heads", c.KVHeads, c.Heads)
	case c.HeadDim%2 != 0:
		return violationf(KeyKeyLength, "heads are %d wide, which is odd, and the rotary embedding turns pairs", c.HeadDim)
	case c.RopeDim < 0 || c.RopeDim > c.HeadDim || c.RopeDim%2 != 0:
		return violationf(KeyRopeDimensionCount, "%d values of heads that are %d wide cannot be turned in pairs", c.RopeDim, c.HeadDim)
	case !(c.Eps > 0 && c.Eps < 1):
		return violationf(KeyRMSEpsilon, "%v is not between 0 and 1", c.Eps)
	case !positive(c.RopeBase):
		return violationf(KeyRopeFreqBase, "%v is not positive and finite", c.RopeBase)
	}
	for _, s := range []struct {
		key   string
		value float32
	}{{KeyEmbeddingScale, c.EmbeddingScale}, {KeyResidualScale, c.ResidualScale}, {KeyLogitScale, c.LogitScale}} {
		if s.value != 0 && !positive(s.value) {
			return violationf(s.key, "%v is not positive and finite", s.value)
		}
	}
	if c.GateLimit != 0 && !positive(c.GateLimit) {
		return violationf(KeyGateLimit, "%v is not positive and finite", c.GateLimit)
	}
	for _, check := range []func() *Violation{c.Delta.check, c.Experts.check, c.Sliding.check} {
		if bad := check(); bad != nil {
			return bad
		}
	}
	if s := c.RopeScaling; s.Type == LongRope && s.OriginalContext > 0 && c.Context > s.OriginalContext {
		return violationf(KeyRopeOriginal, "%d is less than the context of %d: longrope beyond the original context is not supported", s.OriginalContext, c.Context)
	}
	return c.RopeScaling.check()
}

func (d Delta) check() *Violation {
	if d == (Delta{}) {
		return nil
	}
	for _, n := range []struct {
		key         string
		value, most int
	}{
		{KeyAttentionInterval, d.Interval, maxCount},
		{KeyKeyHeads, d.KeyHeads, maxCount},
		{KeyValueHeads, d.ValueHeads, maxCount},
		{KeyStateSize, d.HeadDim, 1 << 12},
		{KeyTaps, d.Taps, 1 << 8},
	} {
		if n.value < 1 || n.value > n.most {
			return violationf(n.key, "%d is not between 1 and %d", n.value, n.most)
		}
	}
	if d.ValueHeads%d.KeyHeads != 0 {
		return violationf(KeyValueHeads, "%d value heads cannot share %d key heads evenly", d.ValueHeads, d.KeyHeads)
	}
	return nil
}

func (s RopeScaling) check() *Violation {
	switch s.Type {
	case "", "none", LongRope, Llama3:
		return nil
	case "linear", "yarn":
		if !positive(s.Factor) {
			return violationf(KeyRopeScalingFactor, "%v is not positive and finite", s.Factor)
		}
		return nil
	}
	return violationf(KeyRopeScalingType, "%s is unknown (known: none, linear, yarn, longrope)", term.QuoteAlways(s.Type))
}

func positive(x float32) bool { return x > 0 && !math.IsInf(float64(x), 1) }
