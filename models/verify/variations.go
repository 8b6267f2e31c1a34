package verify

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/models/arch"
)

// A Variation is the reference with one thing different. Fields that are zero change
// nothing.
type Variation struct {
	Name string
	AsIf string // "the feed-forward network used SiLU"
	// Scheme, if it is not "", rounds the inputs of products with ternary and 1-bit
	// weights, which engines may do. All other variations are faults.
	Scheme kernels.Scheme

	gate       arch.Activation                 // in the place of the model's
	without    []string                        // norms that do nothing, by operation
	otherPairs bool                            // the rotary embedding pairs other values of a head
	reorder    bool                            // rows of queries and keys lie as that pairing wants them
	read       map[*formats.Type]*formats.Type // bytes of one format are read as another's
	tied       bool                            // the embedding is the head
	noBOS      bool
	sees       func(token, other int) bool // what attention looks at, of the tokens up to its own
	wrap       bool                        // sums of products wrap around at 16 bits
}

// Variations are all that are tried: what engines may do first, then the faults that
// were seen in published engines, converters and files.
var Variations = []Variation{
	{Name: "q8-row", AsIf: "activations were rounded to 8 bits, a scale per row", Scheme: kernels.Q8Row},
	{Name: "q8-128", AsIf: "activations were rounded to 8 bits, a scale per 128", Scheme: kernels.Q8Per128},
	{Name: "q8-32", AsIf: "activations were rounded to 8 bits, a scale per 32", Scheme: kernels.Q8Per32},

	{Name: "silu", AsIf: "the feed-forward network used SiLU", gate: arch.SiLU},
	{Name: "relu2", AsIf: "the feed-forward network used ReLU²", gate: arch.ReLU2},
	{Name: "i2_s-arm", AsIf: "i2_s was read in the order of ARM's quantizer", read: map[*formats.Type]*formats.Type{formats.I2_S: formats.I2_S_ARM}},
	{Name: "i2_s-x86", AsIf: "i2_s of ARM's quantizer was read in the usual order", read: map[*formats.Type]*formats.Type{formats.I2_S_ARM: formats.I2_S}},
	{Name: "q2_0-groups", AsIf: "Q2_0 was read with the other size of groups", read: map[*formats.Type]*formats.Type{
		formats.Q2_0: formats.Q2_0_g128, formats.Q2_0_g128: formats.Q2_0, formats.PQ2_0: formats.Q2_0}},
	{Name: "qk-rows", AsIf: "rows of the query and key projections were not permuted for the rotary embedding", reorder: true},
	{Name: "rope-pairs", AsIf: "the rotary embedding paired the wrong values of a head", otherPairs: true},
	{Name: "no-attn-sub-norm", AsIf: "the norm before the attention's output projection (attn_sub_norm) was missing", without: []string{"attn_sub_norm"}},
	{Name: "no-ffn-sub-norm", AsIf: "the norm before the down projection (ffn_sub_norm) was missing", without: []string{"ffn_sub_norm"}},
	{Name: "no-sub-norms", AsIf: "both sub-norms were missing", without: []string{"attn_sub_norm", "ffn_sub_norm"}},
	{Name: "no-qk-norms", AsIf: "the norms of queries and keys were missing", without: []string{"attn_q_norm", "attn_k_norm"}},
	{Name: "no-bos", AsIf: "the text began without its BOS", noBOS: true},
	{Name: "window-late", AsIf: "attention did not look at a token itself: a window off by one", sees: func(t, u int) bool { return u < t || t == 0 }},
	{Name: "window-short", AsIf: "attention did not look at the first token: a window off by one", sees: func(t, u int) bool { return u > 0 || t == 0 }},
	{Name: "tied-head", AsIf: "the output head was the embedding's matrix", tied: true},
	{Name: "int16", AsIf: "sums of products wrapped around at 16 bits", wrap: true},
}

// applies reports whether a variation differs from the reference for a model.
func (v *Variation) applies(m *model) bool {
	switch {
	case v.Scheme != "":
		return m.hasAny(coded)
	case v.wrap:
		return m.hasAny(oneScale)
	case v.gate != "":
		return m.table.Activation != v.gate
	case v.without != nil:
		return m.hasNorms(v.without)
	case v.read != nil:
		return m.hasAny(func(t *formats.Type) bool { return v.read[t] != nil })
	case v.tied:
		return !m.TiedHead
	case v.noBOS:
		return m.bos
	}
	return true
}
