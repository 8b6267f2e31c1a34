// Package models knows what 1-bit and ternary language models consist of, and
// runs them: from a file to transformer blocks, logits and tokens.
//
// # What a model is
//
// An architecture (package architectures, a file each) is a table of tensors and metadata
// keys (package arch) and the computation of a block (package forward); an [arch.Config] is the numbers that give the
// table its shapes; an [arch.Preset] is the Config of a real model. From these
// follow, for any model, the list of its tensors ([arch.Table.Tensors]), a check
// of a file against it ([arch.Table.CheckInventory]), and the shapes that its
// products have ([arch.ProjectionShapes]):
//
//	general.architecture ──arch.Lookup──▶ Table ─┐
//	                                             ├─▶ TensorSpec{Name, Role, Shape, Type} …
//	<architecture>.* ───ConfigFromGGUF──▶ Config ┘
//
// A tensor's role, not its format, decides what it is:
//
//	role        qwen3 (Bonsai)   qwen35 (Bonsai 27B)         bitnet*, llama
//	norm        f32              f32                         f32
//	embedding   q1_0_g128        q1_0_g128, q2_0, pq2_0      f16
//	head        q1_0_g128        the same                    tied to the embedding; f16
//	projection  q1_0_g128        the same                    i2_s
//	control                      the same, or bf16
//	taps, rate, bias             f32
//
// Adding an architecture is adding a file that registers its table and its
// block's computation: architectures/qwen3.go is one, and toy_test.go beside it one for
// tests.
//
// # Conversations
//
// How a model was taught to see a conversation is a field of its architecture,
// [arch.Chat]. [arch.Chats] lists them:
//
//	bitnet  User: …<|eot_id|>Assistant:␣
//	chatml  <|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n
//	falcon3 <|user|>\n…\n<|assistant|>\n
//	inst    [INST] … [/INST]
//	qwen3   <|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n
//	qwen3.5 <|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n<think>\n
//	qwen3.8 the same behind a system's turn that says how much to think
//
// [arch.Chat.With] turns thinking on and off, where a model has learned both.
//
// # Where one comes from
//
// A [source.Source] is a file whose first bytes tell its container, GGUF or .cellm, or a
// Hugging Face directory (config.json and safetensors). All are read as if they
// were GGUF: tensors get its names, and a directory's ternary ones, packed in bytes or still floats, become i2_s or
// ternary_u32 as they are asked for, a few rows at a time (package hf). A
// checkpoint of Qwen3's keeps its floats.
//
// # Running one
//
//	Open ──▶ Model ──Blocks──▶ Block{Q, K, V, …}: Linears, in the engine's memory
//	           │
//	       NewSession ──▶ Session ──Prefill, Decode, Generate──▶ logits, tokens ◀── Sampler
//	                         │
//	                      engine.Stream ──▶ engine.Observer: every operation, its time, bytes and results
//
// [Open] checks a source against its architecture and has an engine load it:
// that of Options.Engine, or the default of those that the program imports, which is
// package engine/cpu. A [Session] is one
// text: a stream of the engine, whose operations forward passes are written in.
// Everything works on token ids; package tokenizer makes them.
//
// A prompt goes through the blocks in batches, in which a layer's weights are
// read once; the query, key and value projections are one operation, and so are
// gate and up, so that an engine may quantize their input once. On the CPU, a
// decoded token allocates nothing.
//
// The architecture says what a block keeps of its text: keys and values,
// or a matrix that each token updates. [Session.Truncate] goes back where there
// are positions to go back to; a text of qwen35 can only begin anew, which a
// conversation does by itself when its earlier turns change.
//
// # Rotated weights
//
// A file may hold its weights in another basis ([arch.Rotation]): the input of a
// layer then goes through signs and a Hadamard transform first, once for all
// layers that share it, and a row of the embedding comes back through both. A
// layer's rotation is part of the layer, so that no product goes without; what
// a file says of it that is unknown or does not fit its tensors is an error that
// names the key.
//
// # The same bits
//
// Logits do not depend on the number of threads, the batch size, the
// instruction set, or on how far packing is, as long as the activation scheme
// and the engine are the same: see packages kernels and engine/cpu. Package
// modeltest holds an engine to an independent float64 forward pass, and
// engine/enginetest each of its operations to its definition.
//
// Accuracy, bytes, speed, start and memory, as measured: docs/measurements/models.md.
package models
