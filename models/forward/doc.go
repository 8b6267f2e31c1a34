// Package forward is what an architecture's file is written in: an [Architecture] has a
// table of tensors and keys (package arch) and the computation of a block, in the
// operations of a [Pass], which is a stream of an engine with a model's buffers.
//
//	arch.Table ─┐
//	            ├─▶ Architecture ──Forward(Block, Pass)──▶ operations of an engine.Stream
//	computation ┘
//
// Package architectures has those that onebit knows, a file each.
package forward
