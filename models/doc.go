// Package models knows what 1-bit and ternary language models consist of, and
// runs them: from a file to transformer blocks, logits and tokens.
//
// # What a model is
//
// An [Architecture] is a table of tensors and metadata keys (package arch) and
// the computation of a block; an [arch.Config] is the numbers that give the
// table its shapes; an [arch.Preset] is the Config of a real model. From these
// follow, for any model, the list of its tensors ([arch.Table.Tensors]), a check
// of a file against it ([arch.Table.CheckInventory]), and the shapes that its
// products have ([ProjectionShapes]):
//
//	general.architecture ──Lookup──▶ Architecture ─┐
//	                                               ├─▶ TensorSpec{Name, Role, Shape, Type} …
//	<architecture>.* ───ConfigFromGGUF──▶ Config ──┘
//
// A tensor's role, not its format, decides what it is:
//
//	role        qwen3 (Bonsai)   bitnet*
//	norm        f32              f32
//	embedding   q1_0_g128        f16
//	head        q1_0_g128        tied to the embedding
//	projection  q1_0_g128        i2_s
//
// Adding an architecture is adding a file that registers its table and its
// block's computation: qwen3.go is one, and toy_test.go one for tests.
//
// # Conversations
//
// How a model was taught to see a conversation is a field of its architecture,
// [arch.Chat]. [Chats] lists them:
//
//	bitnet  User: …<|eot_id|>Assistant:␣
//	chatml  <|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n
//	inst    [INST] … [/INST]
//	qwen3   <|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n
//
// # Where one comes from
//
// A [Source] is a GGUF file or a Hugging Face directory (config.json and
// safetensors), which is read as if it were one: its tensors get GGUF's names,
// and the ternary ones, packed in bytes or still floats, become i2_s or
// ternary_u32 as they are asked for, a few rows at a time (package hf). A
// checkpoint of Qwen3's keeps its floats.
//
// # Running one
//
//	Open ──▶ Model ──Blocks──▶ Block{Q, K, V, …}: a Linear is a kernels.Matrix and its Variant
//	           │
//	       NewSession ──▶ Session ──Prefill, Decode, Generate──▶ logits, tokens ◀── Sampler
//	                         │
//	                      Observer: every operation, its time, bytes and results
//
// [Open] checks a source against its architecture and loads it block by block;
// Packing says whether the weights are packed first, in the background or
// never. A [Session] is one text: its keys and values, in fp16 unless
// [SessionOptions].Cache says otherwise, and the position. Everything works on token ids; package tokenizer makes them.
//
// A prompt goes through the blocks in batches, in which a layer's weights are
// read once; the query, key and value projections are one submission to the
// pool, and so are gate and up, for which the input is quantized once. A
// decoded token allocates nothing.
//
// # Keys and values
//
// A position's keys and values are decoded to float32, 32 positions at a time,
// for all queries that look at them, and queries stay float32. So one kernel
// of scores and one of weighted sums serve every format, and the rounding of
// keys and values is all the error that a format has. Queries in int8 would
// multiply faster, but decoding waits for memory, and rounding the query would
// cost as much accuracy again.
//
// Accuracy, bytes, speed, start and memory, as measured: docs/measurements/models.md.
//
// # Attention
//
// While scores and sums are computed, the positions that come next are fetched;
// without that, decoding waits for each.
//
// # Start and memory
//
// The vocabulary is built while the file's pages are mapped, and the first products
// with weights check them. Positions of the cache come by 128. Packed matrices lie
// one after the other in huge pages. A head that is converted replaces its old form,
// which is let go of as it is read.
//
// # The same bits
//
// Logits do not depend on the number of threads, the batch size, the
// instruction set, or on how far packing is, as long as the activation scheme
// is the same. The matrix products are equal to the bit (package kernels);
// what is added outside them is added in one order, written down in vector.go,
// which the assembly follows. Sums that decide accuracy, those of norms and of
// softmax, are float64.
//
// Package modeltest holds the engine to an independent float64 forward pass.
package models
