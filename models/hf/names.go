package hf

import (
	"regexp"
	"slices"

	"onebit/models/arch"
)

// blockNames are what LLaMA calls the tensors of a transformer block, and with it
// all others, by GGUF's names. Those that some have besides are their class's.
var blockNames = map[string][]string{
	"attn_norm":   {"input_layernorm"},
	"attn_q":      {"self_attn.q_proj"},
	"attn_k":      {"self_attn.k_proj"},
	"attn_v":      {"self_attn.v_proj"},
	"attn_output": {"self_attn.o_proj"},
	"ffn_norm":    {"post_attention_layernorm"},
	"ffn_gate":    {"mlp.gate_proj"},
	"ffn_up":      {"mlp.up_proj"},
	"ffn_down":    {"mlp.down_proj"},
}

var globalNames = map[string]string{
	arch.EmbeddingTensor:  "model.embed_tokens.weight",
	arch.OutputNormTensor: "model.norm.weight",
	arch.HeadTensor:       "lm_head.weight",
}

const (
	weightSuffix = ".weight"
	scaleSuffix  = ".weight_scale"
)

var (
	hfBlock   = regexp.MustCompile(`^model\.layers\.(\d+)\.(.+)\.weight$`)
	ggufBlock = regexp.MustCompile(`^blk\.(\d+)\.(.+)\.weight$`)
)

func (c *config) ggufName(name string) string { return GGUFName(c.class, name) }
func (c *config) hfName(name string) string   { return Name(c.class, name) }

// GGUFName returns what GGUF calls a tensor, or the name itself if it is none
// that the class has.
func GGUFName(c arch.Class, name string) string {
	for ours, theirs := range globalNames {
		if theirs == name {
			return ours
		}
	}
	if m := hfBlock.FindStringSubmatch(name); m != nil {
		for _, names := range []map[string][]string{blockNames, c.Names} {
			for ours, theirs := range names {
				if slices.Contains(theirs, m[2]) {
					return "blk." + m[1] + "." + ours + weightSuffix
				}
			}
		}
	}
	return name
}

// Name is the inverse of GGUFName: of several names the first.
func Name(c arch.Class, name string) string {
	if theirs, ok := globalNames[name]; ok {
		return theirs
	}
	if m := ggufBlock.FindStringSubmatch(name); m != nil {
		for _, names := range []map[string][]string{blockNames, c.Names} {
			if theirs := names[m[2]]; len(theirs) > 0 {
				return "model.layers." + m[1] + "." + theirs[0] + weightSuffix
			}
		}
	}
	return name
}
