// Package safetensors reads and writes safetensors, the container in which
// Hugging Face checkpoints come, alone or in several files with an index.
//
// [Open] maps a file and checks all of it but the weights themselves;
// [OpenDir] does so for a directory. Tensors are then used in place.
// Everything wrong with a file is a [*container.FormatError] with the byte, and the
// tensor, it concerns.
//
// # The container
//
// Source: huggingface/safetensors README.md and safetensors/src/tensor.rs.
// Everything is little-endian.
//
//	byte 0        8
//	     | n      | JSON, n bytes, spaces at its end | data … |
//	      uint64
//
//	JSON         { name: {"dtype": "BF16", "shape": [rows, cols], "data_offsets": [begin, end]}, … }
//	             and "__metadata__": { key: text, … }
//	data         | tensor | tensor |
//	             ^offset 0          ^ the end of the file
//
// Shapes stand outermost first. Offsets count from the start of the data, which
// the tensors cover without gaps or overlap, in any order. A tensor may be
// empty, and one without dimensions has one element. Nothing is aligned but
// the data's start, to 8 bytes by most writers.
//
//	dtype                              bits   read as
//	F32, F16, BF16                     32 16  formats of the same names
//	U8                                 8      bytes: [File.Raw]
//	BOOL I8 F8_E4M3 F8_E5M2 F8_E8M0    8      refused
//	I16 U16                            16     refused
//	I32 U32                            32     refused
//	F64 I64 U64 C64                    64     refused
//	F4, F6_E2M3, F6_E3M2               4 6    refused
//
// # Several files
//
// Source: huggingface/huggingface_hub docs/source/en/package_reference/
// serialization.md. A directory holds model.safetensors, or files that
// model.safetensors.index.json names:
//
//	{ "metadata": {…}, "weight_map": { tensor: "model-00001-of-00002.safetensors", … } }
package safetensors
