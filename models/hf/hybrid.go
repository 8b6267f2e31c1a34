package hf

import (
	"slices"

	"onebit/internal/term"
	"onebit/models/arch"
)

// The kinds of block in layer_types.
const (
	attends   = "full_attention"
	recurrent = "linear_attention"
	slides    = "sliding_attention"
)

// ropeDim returns how many values of a head its share makes, 0 for all. Source:
// huggingface/transformers modeling_rope_utils.py, where the product is cut down too.
func (r *configReader) ropeDim(share float32, head int) int {
	n := int(float32(head) * share)
	switch {
	case !(share > 0 && share <= 1) || n == 0:
		r.fail(keyRotaryFactor, "%v of a head that is %d wide cannot be turned", share, head)
		return 0
	case n == head:
		return 0
	}
	return n
}

// delta reads the numbers of gated delta nets, of a class that has some. Defaults:
// huggingface/transformers models/qwen3_5/configuration_qwen3_5.py.
func (r *configReader) delta(class arch.Delta) arch.Delta {
	if class == (arch.Delta{}) {
		return class
	}
	d := arch.Delta{
		Interval:   r.countOr(arch.KeyAttentionInterval, class.Interval),
		KeyHeads:   r.countOr(arch.KeyKeyHeads, class.KeyHeads),
		ValueHeads: r.countOr(arch.KeyValueHeads, class.ValueHeads),
		HeadDim:    r.countOr(arch.KeyStateSize, class.HeadDim),
		Taps:       r.countOr(arch.KeyTaps, class.Taps),
	}
	const keyValueDim, keyGate = "linear_value_head_dim", "attn_output_gate"
	width := class.HeadDim
	if r.value(keyValueDim, &width); width != d.HeadDim {
		r.fail(keyValueDim, "%d differs from the %d of %s, which is not supported", width, d.HeadDim, configKeys[arch.KeyStateSize])
	}
	if !r.flag(keyGate, true) {
		r.fail(keyGate, "is false, which onebit does not support")
	}
	return d
}

// layers compares layer_types with what blocks there are. Where it stands, it counts:
// what transformers 5 saves has no interval.
func (r *configReader) layers(c *arch.Config) {
	var kinds []string
	if !r.value(keyLayerTypes, &kinds) {
		if c.Sliding.Window > 0 {
			r.fail(keyLayerTypes, "is missing")
		}
		return
	}
	if c.Sliding.Window > 0 {
		c.Sliding.Interval = 1 + slices.Index(kinds, attends)
	}
	if c.Delta.Interval > 0 {
		if c.Delta.Interval = 1 + slices.Index(kinds, attends); c.Delta.Interval == 0 {
			r.fail(keyLayerTypes, "has no %s, without which blocks are not supported", attends)
		}
	}
	for i, kind := range kinds {
		switch want := kindOf(*c, i); {
		case kind == want:
		case c.Sliding.Window > 0:
			r.fail(keyLayerTypes, "element %d is %s, and of every %d blocks the last looks at the whole text: other orders are not supported", i, term.QuoteAlways(kind), c.Sliding.Interval)
		case c.Delta.Interval == 0:
			r.fail(keyLayerTypes, "%s is not supported in this class, only %s", term.QuoteAlways(kind), attends)
		default:
			r.fail(keyLayerTypes, "element %d is %s, and every %d. block attends: other orders are not supported", i, term.QuoteAlways(kind), c.Delta.Interval)
		}
	}
	if len(kinds) != c.Layers {
		r.fail(keyLayerTypes, "has %d elements for %d blocks", len(kinds), c.Layers)
	}
}

func kindOf(c arch.Config, block int) string {
	switch {
	case !c.Attends(block):
		return recurrent
	case c.Window(block) > 0:
		return slides
	}
	return attends
}
