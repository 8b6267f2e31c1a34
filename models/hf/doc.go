// Package hf reads checkpoints of Hugging Face: directories with a config.json,
// safetensors and a tokenizer. A [Checkpoint] has the methods of a source.Source,
// so that a directory is read as if it were a GGUF file.
//
// config.json names a class, and the architecture that has it ([arch.Class])
// knows the defaults of the keys that are left out. Tensors get GGUF's names, and
// are read so:
//
//	embedding, head                 as they are: bf16, f16 or f32, in place
//	vectors, taps of convolutions   as float32
//	projections                     as they are
//	projections, if those of the    as i2_s, or as ternary_u32 if the columns do
//	architecture are ternary, and   not fill i2_s's blocks of 128
//	LLaMA's say so
//
// GGUF has some tensors in another order than checkpoints, and of some the values
// too: queries and keys of LLaMA's kind, value heads, gains and rates of qwen35. What
// goes through such an [arch.Change] is made on demand. Divisors of the rotary
// embedding, which GGUF has as tensors, are config.json's. What a text needs none of
// (towers that see pictures, blocks that predict further tokens) is left alone.
//
// How ternary weights are stored there, about the two meanings of weight_scale,
// and what becomes of masters that are still floats: ternary.go.
package hf
