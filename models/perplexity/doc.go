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
// context: the Kullback-Leibler divergence Σ p ln(p/q) in nats, the difference
// of the NLLs, and whether both have the same likeliest token.
package perplexity
