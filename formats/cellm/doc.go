// Package cellm reads and writes .cellm version 1, the container of jeffasante's
// cellm, which carries Bonsai's 1-bit weights as they are in GGUF.
//
// [Open] maps a file and checks all of it but the weights themselves, which are
// then used in place. [NewWriter] writes a file from front to back. Everything
// wrong with a file is a [*container.FormatError] with the byte, and the tensor
// or key, it concerns.
//
// # The container
//
// Source: jeffasante/cellm crates/cellm-model/src/cellm_file.rs, docs/format.md
// and tools/convert/src/main.rs.
//
//	byte 0       5         6        10
//	     |"CELLM"| version | n      | JSON, n bytes | 0… | tensor | 0… | tensor | 0… |
//	      magic    uint8=1   uint32                      ^ multiples of 64
//
//	JSON    { "model_type": "qwen3", "num_layers": 28, …, "tensors": [
//	          {"name": "model.norm.weight", "offset_bytes": 8192, "nbytes": 4096, "shape": [2048], "dtype": "f16"}, … ] }
//
// Numbers are little-endian, offsets count from the start of the file, and shapes
// stand outermost first. Tensors have Hugging Face's names.
//
//	dtype         bytes for n weights   read as
//	f16           2n                    formats.F16
//	q1_0_g128     n/128 · 18            formats.Q1_0_g128, the blocks that GGUF has
//	i8, f8e4m3    n                     bytes: [container.File.Raw]
//	i4, i2        n/2, n/4 a row        bytes; like i8 with scales in a tensor "….qscale"
//
// The original checks no more than that tensors end within the file. Here a
// tensor has the bytes that its shape takes in its dtype, begins at a multiple of
// 64, and shares none with another; nothing but padding lies between two. A key
// that the original does not know it ignores, so that [Header.RopeScaling], which
// it has no key for, does not keep it from reading a file.
//
// There is no tokenizer in the container.
package cellm
