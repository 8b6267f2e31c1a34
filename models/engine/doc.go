// Package engine is the seam between models and what computes them: package
// models writes a forward pass in the operations that are declared here, and an
// engine does them on its device.
//
//	models.Session ──▶ Stream ──operations──▶ Buffers, State     on the device
//	models.Load ─────▶ Engine ──Load────────▶ Weights
//	                   Stream ──Read────────▶ host
//
// An [Engine] has the weights of one model, in whatever layout it likes; a
// [Stream] is one text, with its buffers and what its blocks keep of it: keys
// and values of each token ([KV]) or a state that is updated in place
// ([Delta]). Values stay on the device from the token to the logits: operations
// may queue, and [Stream.Read] is where the host waits.
//
// Several texts are taken further in one pass, their weights read once, by a [Group]:
// a stream whose columns it lends to the texts' own streams for what looks back. An
// engine whose streams are no [Lender]s takes in one text at a time.
//
// Package engine/cpu is the engine that models run on unless told otherwise.
// Package engine/plain is one in float64, written to be read. Both pass package
// enginetest, and so must any other.
//
// # What an engine promises
//
//   - An operation's result does not depend on which others are queued, on the
//     batch that a column is in, or on the number of threads.
//   - A weight or a value that is not finite is an error of Load, Check or Read,
//     or a result that is not finite. It is never a number.
//   - A tensor's error is that of [Source.Fault], which names the file.
//   - Operations with arguments that do not fit each other panic: package models
//     has checked the file's shapes.
package engine
