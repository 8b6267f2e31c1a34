package hf

import (
	"slices"

	"onebit/models/arch"
)

// experts reads the width of feed-forward networks and, of an architecture that has
// some, the numbers of experts. Names: ggml-org/llama.cpp conversion/maple.py and base.py.
func (r *configReader) experts(c *arch.Config, t *arch.Table) {
	if !slices.Contains(t.Keys, arch.KeyExpertCount) {
		c.FFN = r.count(arch.KeyFeedForwardLength)
		return
	}
	const keyNormalized, keyShared = "norm_topk_prob", "num_shared_experts"
	c.FFN = r.count(arch.KeyExpertFFN)
	c.Experts = arch.Experts{Count: r.count(arch.KeyExpertCount), Used: r.count(arch.KeyExpertUsed), Normalized: r.flag(keyNormalized, true)}
	shared := 0
	if r.value(keyShared, &shared); shared != 0 {
		r.fail(keyShared, "%d is not supported in this class, only 0", shared)
	}
	if c.Experts.Count == 0 {
		r.fail(configKeys[arch.KeyExpertCount], "is 0")
	}
}
