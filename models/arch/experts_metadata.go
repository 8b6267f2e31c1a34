package arch

import "onebit/formats/container"

// How routers' logits become weights, as files number it: ggml-org/llama.cpp
// src/llama-hparams.h, llama_expert_gating_func_type.
const (
	gatingSoftmax = 1
	gatingSigmoid = 2
)

// expertMetadata adds what files say of experts and windows.
func (t *Table) expertMetadata(c Config, values map[string]container.Value) {
	e := c.Experts
	gating := gatingSoftmax
	if e.Sigmoid {
		gating = gatingSigmoid
	}
	limits, slides := make([]float32, c.Layers), make([]bool, c.Layers)
	for i := range c.Layers {
		limits[i], slides[i] = c.GateLimit, c.Window(i) > 0
	}
	values[KeyExpertCount], values[KeyExpertUsed], values[KeyExpertFFN] = count(e.Count), count(e.Used), count(c.FFN)
	values[KeyExpertNormalized], values[KeyExpertGating] = container.Of(e.Normalized), count(gating)
	values[KeyExpertScale] = container.Of(max(e.Scale, 0))
	values[KeyGateLimit] = container.ArrayOf(limits)
	values[KeySlidingWindow], values[KeySlidingPattern] = count(c.Sliding.Window), container.ArrayOf(slides)
}

// experts reads the numbers of experts. Files that do not say have softmax over all
// experts, and the weights of those chosen add up to 1, as all models here were
// taught.
func (r *reader) experts(c *Config) {
	c.Experts = Experts{
		Count: r.count(KeyExpertCount), Used: r.count(KeyExpertUsed),
		Normalized: r.truth(KeyExpertNormalized, true), Scale: r.floatOr(KeyExpertScale, 0),
	}
	if width := r.common(KeyExpertFFN, c.Layers); width >= 1 && width <= maxCount {
		c.FFN = int(width)
	}
	if c.Experts.Count == 0 {
		r.fail(KeyExpertCount, "is 0, in an architecture whose feed-forward networks are experts")
	}
	switch gating := r.countOr(KeyExpertGating, gatingSoftmax); gating {
	case 0, gatingSoftmax:
	case gatingSigmoid:
		c.Experts.Sigmoid = true
	default:
		r.fail(KeyExpertGating, "%d is not supported, only %d (softmax) and %d (sigmoid)", gating, gatingSoftmax, gatingSigmoid)
	}
}

// sliding reads which blocks look at a window: of so many in a row all but the last.
func (r *reader) sliding(c Config) Sliding {
	s := Sliding{Window: r.count(KeySlidingWindow)}
	if s.Window == 0 {
		r.fail(KeySlidingWindow, "is 0, and blocks would look at nothing")
	}
	pattern, block := r.list(KeySlidingPattern), 0
	for x := range pattern.All() {
		if slides, err := x.Bool(); err != nil {
			r.fail(KeySlidingPattern, "element %d is %s, want true or false", block, x)
			return s
		} else if !slides && s.Interval == 0 {
			s.Interval = block + 1
		}
		block++
	}
	if block != c.Layers {
		r.fail(KeySlidingPattern, "has %d elements for %d blocks", block, c.Layers)
		return s
	}
	c.Sliding, block = s, 0
	for x := range pattern.All() {
		if slides, _ := x.Bool(); slides != (c.Window(block) > 0) {
			r.fail(KeySlidingPattern, "element %d is %s, and of every %d blocks the last looks at the whole text: other orders are not supported", block, x, s.Interval)
			return s
		}
		block++
	}
	return s
}

// usualGateLimit is what llama.cpp takes where a file does not say (src/models/maple.cpp).
const usualGateLimit = 7

// gateLimit reads what gates are clamped to.
func (r *reader) gateLimit(c Config) float32 {
	if !r.keys.Has(r.prefix + KeyGateLimit) {
		return usualGateLimit
	}
	return float32(r.common(KeyGateLimit, c.Layers))
}

// common reads a number, or a list of a number for each block that are all the same.
func (r *reader) common(key string, blocks int) float64 {
	v, ok := r.keys.Value(r.prefix + key)
	if !ok || v.Kind() != container.Array {
		x, err := number(v)
		if err != nil {
			r.fail(key, "is missing, or neither a number nor a list of one for each block")
		}
		return x
	}
	first, n := 0.0, 0
	for e := range v.All() {
		x, err := number(e)
		switch {
		case err != nil:
			r.fail(key, "element %d is %s, want a number", n, e)
			return 0
		case n == 0:
			first = x
		case x != first:
			r.fail(key, "element %d is %s, and the first is %v: a number for each block is not supported", n, e, first)
			return 0
		}
		n++
	}
	if n != blocks {
		r.fail(key, "has %d elements for %d blocks", n, blocks)
	}
	return first
}

// number is an integer or another number.
func number(v container.Value) (float64, error) {
	if n, err := v.Int(); err == nil {
		return float64(n), nil
	}
	return v.Float()
}

// list returns an array.
func (r *reader) list(key string) container.Value {
	v, ok := r.keys.Value(r.prefix + key)
	if !ok || v.Kind() != container.Array {
		r.fail(key, "is missing, or not a list of an element for each block")
	}
	return v
}

func (r *reader) truth(key string, missing bool) bool {
	v, ok := r.keys.Value(r.prefix + key)
	if !ok {
		return missing
	}
	b, err := v.Bool()
	if err != nil {
		r.fail(key, "is %s, want true or false", v)
	}
	return b
}
