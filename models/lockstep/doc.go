// Package lockstep runs a reference engine and another side by side, one
// transformer block after the other, and says where the two part.
//
// The reference dequantizes the weights, multiplies them with the activations
// as they are, sums in float64 and keeps keys and values in float32 (see
// [Reference]). The other, the test, is whatever is asked about: a variant, an
// activation scheme, a converted head, a cache.
//
// # What is compared
//
//	            reference            isolated                accumulated
//	block n-1      │ x
//	               ├───────────────────▶│ x                        │ x'
//	block n     q, k, v … ──compare──▶ q, k, v …            ──▶ q, k, v …
//	               │ y ──────compare──▶ │ y                  ──▶   │ y'
//
// Isolated, the test gets the reference's own values: a projection those that
// enter it in the reference, whatever the test computed before it, and a block
// those that enter the block, with the keys and values that the test made from
// the reference's inputs at earlier positions. The head gets the reference's
// last residual stream. Such an error is of that projection or block alone.
//
// Accumulated, the test runs on its own, from the embedding on: the error that
// a user of it sees at that depth.
//
// Of a projection its output is compared; of a block, under the name "block",
// the residual stream behind it; of the head, outside the blocks and under the
// name "output", the logits.
//
// # The figures
//
// With r the reference's values and y the test's, over all tokens:
//
//	NMSE    Σ(y-r)² / Σr²
//	Cosine  the mean over tokens of Σyr / √(Σy²·Σr²)
//	MaxAbs  max |y-r|
//
// The sums are float64 and taken token by token, in the order of the text, so
// that results depend neither on threads nor on the batch. Of the predictions,
// package perplexity says what is said of two models: divergence, likeliest
// tokens, perplexities.
//
// # Cost
//
// The reference multiplies in Go, in float64. Its weights are dequantized once
// for a batch, which makes it some 0.35 ns per multiply-add and thread on a CPU
// of 2022: bonsai-1.7b takes about 0.3 s a token on two threads. The test runs
// three times, which does not show. Two models of one file, opened in place,
// share its pages.
package lockstep
