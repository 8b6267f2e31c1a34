// Package modeltest is the oracle of package models: the forward pass of each
// architecture in float64, written down from the papers' formulas and without
// anything that makes it quick. There is no cache: every token's logits are
// computed from the whole text before it. It shares with the engine the
// dequantization of weights and the reading of a file's configuration, and
// nothing else.
package modeltest
