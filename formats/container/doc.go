// Package container is what the containers of models have in common: a file
// that is mapped and whose tensors are used in place, typed metadata, and the
// error that says what is wrong with a file, and where.
//
// A container's package parses its own header and leaves the rest to this one:
//
//	                 Open, Parse
//	path, bytes ───────────────────▶ File ── Tensor, Raw ──▶ formats.Tensor
//	             the header's Parser   │
//	                                   └─ Populate, Release: the pages of a tensor
//
// A Parser checks its findings: a [File] takes every [TensorInfo] for
// one whose bytes lie in the file.
package container
