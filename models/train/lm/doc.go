// Package lm trains small language models with ternary and 1-bit weights, of the
// architectures that package models runs, and writes them as GGUF files.
//
//	text ─ documents ─┬─ train ──── BPE ── windows ── Model ── loss
//	                  └─ held out ───┘                  │
//	                                       checkpoint ──┴── GGUF
//
// # The model
//
// A [Model] is built from an architecture's table: each projection is a
// train.BitLinear of the run's form, the embedding, which is the head too, one of a form
// of its own, each norm a train.Norm. The forward pass is the engine's: weights
// and activations are rounded as its formats round them, so that the exported file
// computes what was trained, but for the order of float32 sums.
//
// # Results are repeatable
//
// First weights, the order of the text and every sum follow from the
// configuration, its seed and the text, and not from the number of threads. A run
// that was interrupted goes on from its checkpoint to the same bits.
//
// # A checkpoint
//
// It is a GGUF file, written beside the last one, synced and renamed, so that a
// whole one is there at any moment. Beside a model's keys and its weights in float32 it
// has
//
//	onebit.train.state     JSON: the configuration, the step, the text's digest
//	onebit.train.sha256    of the state and of all tensors' bytes, in the file's order
//	NAME.SLOT              a tensor for each number that the optimizer keeps of a weight
package lm
