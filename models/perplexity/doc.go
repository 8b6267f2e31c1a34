// Package perplexity measures how well a model predicts a text, and how far
// its predictions are from those of a reference.
//
// The text's tokens are cut into windows, each of which the model sees from an
// empty context. Of a window, only tokens that have enough before them are
// scored. The negative log-likelihood of token t after the tokens before it in
// the window, with logits z, is
//
//	NLL(t) = ln Σᵢ exp zᵢ - z_t        PPL = exp(mean NLL)
//
// # The protocols
//
// They are those of ggml-org/llama.cpp tools/perplexity/perplexity.cpp, so that
// numbers can be compared: the same tokens are scored in the same contexts.
//
//	Stride 0, windows of n = Context that do not overlap:
//
//	   0        n/2         n        3n/2        2n
//	   ├─────────┼──────────┼─────────┼──────────┤   █ scored: the n-n/2-1 tokens
//	   │          ██████████│          ██████████│     after position n/2
//
//	Stride s, windows of n = Context + s/2, one every s tokens, of each of which
//	the last s are scored; the last window is left out if it ends with the text:
//
//	   ├────────────┬───────┤
//	   │            │███████│ s
//	           ├────────────┬───────┤
//	           │            │███████│
//
// Where the model's tokenizer adds a token at the beginning of a text, it takes
// the place of every window's first token. Tokens behind the last window are
// not looked at. llama.cpp wants a text of two windows with Stride 0; here one
// is enough.
//
// # Uncertainty
//
// ± is the standard error of a mean over the scored tokens,
// √((mean of squares - square of mean) / (count-1)), taken through exp for PPL,
// as llama.cpp does. It takes tokens for independent, which they are not.
//
// # Against a reference
//
// Of the reference's distribution p and the model's q after each scored token's
// context, in nats:
//
//	KLD      Σ p ln(p/q), the Kullback-Leibler divergence: mean, median, percentiles
//	NLLDiff  NLL - NLL(ref); exp of its mean is the ratio of perplexities
//	ProbDiff q(t) - p(t) of the token t that came; its root mean square
//	SameTop  whether both have the same likeliest token
//	Top5     how many of p's five likeliest tokens are among q's, of 5
//
// Both see the same tokens, so that the standard errors of the ratio and the
// difference of perplexities are those of paired differences, and much smaller
// than those of the two.
//
// # Saved logits
//
// [LogitWriter] and [LogitReader] have the layout of ggml-org/llama.cpp
// tools/perplexity/perplexity.cpp (--save-all-logits, --kl-divergence-base), so
// that either program reads the other's files. Little-endian:
//
//	"_logits_"                          8 bytes
//	context, vocabulary, windows        3 × int32
//	tokens                              windows × context × int32
//	for each window, for each of its context - context/2 - 1 scored tokens:
//	    step, least                     2 × float32
//	    codes                           vocabulary × uint16, and 2 bytes more if it is odd
//
// ln p = least + step·code; codes span 16 nats below the likeliest token, and
// what is less likely still has code 0. A window of 512 tokens of a vocabulary
// of 151936 takes 77 MB. As in llama.cpp, a token with ln p ≤ -16 has no share
// in the divergence, and p is not normalized again: the rounding of ln p leaves
// some 1e-5 nats of noise on each token's divergence, of either sign.
package perplexity
