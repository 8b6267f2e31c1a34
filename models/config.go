package models

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

// maxCount bounds every count of a Config, far above any model, so that
// products of three of them do not overflow an int64.
const maxCount = 1 << 20

// Validate reports the first number that no model can have, by its metadata
// key.
func (c Config) Validate() error {
	if bad := c.validate(); bad != nil {
		return fmt.Errorf("%s.%s: %s", c.Arch, bad.key, bad.msg)
	}
	return nil
}

// A violation is what is wrong with the value of a key.
type violation struct{ key, msg string }

func violationf(key, format string, args ...any) *violation {
	return &violation{key, fmt.Sprintf(format, args...)}
}

func (c Config) validate() *violation {
	for _, n := range []struct {
		key   string
		value int
	}{
		{keyBlockCount, c.Layers},
		{keyEmbeddingLength, c.Hidden},
		{keyFeedForwardLength, c.FFN},
		{keyHeadCount, c.Heads},
		{keyHeadCountKV, c.KVHeads},
		{keyKeyLength, c.HeadDim},
		{keyVocabSize, c.Vocab},
	} {
		if n.value < 1 || n.value > maxCount {
			return violationf(n.key, "%d is not between 1 and %d", n.value, maxCount)
		}
	}
	switch {
	case c.Context < 1:
		return violationf(keyContextLength, "%d is not positive", c.Context)
	case c.Heads%c.KVHeads != 0:
		return violationf(keyHeadCountKV, "%d key and value heads cannot be shared evenly by %d heads", c.KVHeads, c.Heads)
	case c.HeadDim%2 != 0:
		return violationf(keyKeyLength, "heads are %d wide, which is odd, and the rotary embedding turns pairs", c.HeadDim)
	case !(c.Eps > 0 && c.Eps < 1):
		return violationf(keyRMSEpsilon, "%v is not between 0 and 1", c.Eps)
	case !positive(c.RopeBase):
		return violationf(keyRopeFreqBase, "%v is not positive and finite", c.RopeBase)
	}
	return c.RopeScaling.validate()
}

func (s RopeScaling) validate() *violation {
	switch s.Type {
	case "", "none":
		return nil
	case "linear", "yarn":
		if !positive(s.Factor) {
			return violationf(keyRopeScalingFactor, "%v is not positive and finite", s.Factor)
		}
		return nil
	}
	return violationf(keyRopeScalingType, "%s is unknown (known: none, linear, yarn)", term.QuoteAlways(s.Type))
}

func positive(x float32) bool { return x > 0 && !math.IsInf(float64(x), 1) }
