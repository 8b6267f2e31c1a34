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
	FFN     int    // width of the feed-forward network
	Heads   int    // query heads
	KVHeads int    // key and value heads, each shared by Heads/KVHeads query heads
	HeadDim int    // width of a head
	Vocab   int    // tokens
	Context int    // longest context, in tokens

	RopeBase    float32 // θ of the rotary embedding
	RopeScaling RopeScaling
	Eps         float32 // ε of every RMSNorm
	TiedHead    bool    // the embedding is the output head too
}

// RopeScaling stretches the rotary embedding beyond the context that the
// model was trained with. The zero value is none.
type RopeScaling struct {
	Type            string // "", "none", "linear" or "yarn"
	Factor          float32
	OriginalContext int
}

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
		{KeyFeedForwardLength, c.FFN},
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
	case !(c.Eps > 0 && c.Eps < 1):
		return violationf(KeyRMSEpsilon, "%v is not between 0 and 1", c.Eps)
	case !positive(c.RopeBase):
		return violationf(KeyRopeFreqBase, "%v is not positive and finite", c.RopeBase)
	}
	return c.RopeScaling.check()
}

func (s RopeScaling) check() *Violation {
	switch s.Type {
	case "", "none":
		return nil
	case "linear", "yarn":
		if !positive(s.Factor) {
			return violationf(KeyRopeScalingFactor, "%v is not positive and finite", s.Factor)
		}
		return nil
	}
	return violationf(KeyRopeScalingType, "%s is unknown (known: none, linear, yarn)", term.QuoteAlways(s.Type))
}

func positive(x float32) bool { return x > 0 && !math.IsInf(float64(x), 1) }
