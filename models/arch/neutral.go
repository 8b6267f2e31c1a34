package arch

import (
	"maps"
	"math"
	"slices"

	"onebit/formats/container"
)

// neutral are keys of what changes the computation, and no architecture here does, with
// the values that change nothing: a file may state these. Keys that the architecture's table
// has are read elsewhere. Source: ggml-org/llama.cpp src/llama-arch.cpp (LLM_KV_NAMES) and
// src/llama-model.cpp (load_hparams).
var neutral = map[string][]float64{
	"attention.causal":              {1},
	KeySlidingWindow:                {0},
	keyAttentionScale:               {0},
	"attention.clamp_kqv":           {0},
	"attention.max_alibi_bias":      {0},
	"attention.temperature_scale":   {0},
	"attention.kv_lora_rank":        {0},
	"attention.q_lora_rank":         {0},
	"attn_logit_softcapping":        {0},
	"final_logit_softcapping":       {0},
	KeyExpertCount:                  {0},
	KeyExpertUsed:                   {0},
	"expert_shared_count":           {0},
	"expert_group_count":            {0, 1},
	"expert_group_used_count":       {0, 1},
	KeyGateLimit:                    {0},
	"use_parallel_residual":         {0},
	"swin_norm":                     {0},
	"rope.scale_linear":             {1, 0},
	"rope.scaling.attn_factor":      {1},
	"rope.scaling.yarn_attn_factor": {1},
	KeyEmbeddingScale:               {1, 0},
	KeyResidualScale:                {1, 0},
	KeyLogitScale:                   {1, 0},
}

const keyAttentionScale = "attention.scale" // of the products of queries and keys

// checkNeutral refuses a file that states what would be computed otherwise than the
// architecture does.
func (r *reader) checkNeutral(t *Table, c Config) {
	for _, key := range slices.Sorted(maps.Keys(neutral)) {
		v, ok := r.keys.Value(r.prefix + key)
		if !ok || slices.Contains(t.Keys, key) {
			continue
		}
		usual := neutral[key]
		if !each(v, func(x float64) bool { return slices.Contains(usual, x) || c.changesNothing(key, x) }) {
			r.fail(key, "%s is not supported, only %v: the model would not compute what it was made for", v, usual[0])
		}
	}
}

// changesNothing reports whether a value has no effect beside the others: a window that
// the context fits in, and attention's default scale.
func (c Config) changesNothing(key string, x float64) bool {
	switch key {
	case KeySlidingWindow:
		return x >= float64(c.Context)
	case keyAttentionScale:
		usual := 1 / math.Sqrt(float64(max(1, c.HeadDim)))
		return math.Abs(x-usual) <= 1e-6*usual
	}
	return false
}

// each reports whether a number or a bool, or every element of an array of them, is
// right. Nothing else is.
func each(v container.Value, right func(float64) bool) bool {
	if v.Kind() == container.Array {
		for e := range v.All() {
			if !each(e, right) {
				return false
			}
		}
		return true
	}
	if b, err := v.Bool(); err == nil {
		return right(map[bool]float64{true: 1}[b])
	}
	if n, err := v.Int(); err == nil {
		return right(float64(n))
	}
	x, err := v.Float()
	return err == nil && right(x)
}
