package hf

import (
	"regexp"
	"slices"
	"strings"

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

// globalNames are the names of tensors outside of the blocks, without the prefix that
// all but the head's have.
var globalNames = map[string]string{
	arch.EmbeddingTensor:  "embed_tokens.weight",
	arch.OutputNormTensor: "norm.weight",
}

const headName = "lm_head.weight"

const (
	modelPrefix  = "model."
	weightSuffix = ".weight"
	scaleSuffix  = ".weight_scale"
)

var (
	hfBlock   = regexp.MustCompile(`^layers\.(\d+)\.(.+?)(\.weight)?$`)
	hfExpert  = regexp.MustCompile(`\.\d+\.`)
	ggufBlock = regexp.MustCompile(`^blk\.(\d+)\.(.+?)(\.weight)?$`)
)

func (c *config) ggufName(name string) string { return GGUFName(c.class, name) }
func (c *config) hfName(name string) string   { return Name(c.class, name) }

// GGUFName returns what GGUF calls a tensor, or the name itself if it is none
// that the class has.
func GGUFName(c arch.Class, name string) string {
	if name == headName {
		return arch.HeadTensor
	}
	inside, ok := strings.CutPrefix(name, modelPrefix+c.Within)
	if !ok {
		return name
	}
	if base, ok := strings.CutSuffix(inside, weightSuffix); ok {
		for ours, theirs := range c.Names {
			if slices.Contains(theirs, base) {
				return ours + weightSuffix
			}
		}
	}
	for ours, theirs := range globalNames {
		if theirs == inside {
			return ours
		}
	}
	if m := hfBlock.FindStringSubmatch(inside); m != nil {
		for _, names := range []map[string][]string{c.Names, blockNames} {
			for ours, theirs := range names {
				if inside := hfExpert.ReplaceAllString(m[2], ".*."); slices.Contains(theirs, inside) {
					return "blk." + m[1] + "." + ours + m[3]
				}
			}
		}
	}
	return name
}

// Name is the inverse of GGUFName: of several names the first.
func Name(c arch.Class, name string) string {
	if name == arch.HeadTensor {
		return headName
	}
	if base, ok := strings.CutSuffix(name, weightSuffix); ok && len(c.Names[base]) > 0 {
		return modelPrefix + c.Within + c.Names[base][0] + weightSuffix
	}
	if theirs, ok := globalNames[name]; ok {
		return modelPrefix + c.Within + theirs
	}
	if m := ggufBlock.FindStringSubmatch(name); m != nil {
		for _, names := range []map[string][]string{c.Names, blockNames} {
			if theirs := names[m[2]]; len(theirs) > 0 {
				return modelPrefix + c.Within + "layers." + m[1] + "." + theirs[0] + m[3]
			}
		}
	}
	return name
}
