// Package models knows what 1-bit and ternary language models consist of, and
// runs them: from a file to transformer blocks, logits and tokens.
//
// # What a model is
//
// An [Architecture] is a table of tensors and metadata keys; a [Config] is the
// numbers that give the table its shapes; a [Preset] is the Config of a real
// model. From these follow, for any model, the list of its tensors
// ([Architecture.Tensors]), a check of a file against it
// ([Architecture.CheckInventory]), and the shapes that its products have
// ([ProjectionShapes]):
//
//	general.architecture ──Lookup──▶ Architecture ─┐
//	                                               ├─▶ TensorSpec{Name, Role, Shape, Type} …
//	<architecture>.* ───ConfigFromGGUF──▶ Config ──┘
//
// A tensor's role, not its format, decides what it is: the same architecture
// is published in 1 bit, in 2 bits and in fp16.
//
//	role        qwen3 (Bonsai)   bitnet*
//	norm        f32              f32
//	embedding   q1_0_g128        f16
//	head        q1_0_g128        tied to the embedding
//	projection  q1_0_g128        i2_s
//
// Adding an architecture is adding a file that registers its table and its
// block's computation.
//
// # Where one comes from
//
// A [Source] is a GGUF file or a Hugging Face directory (config.json and
// safetensors), which is read as if it were one: its tensors get GGUF's names,
// and the ternary ones, packed in bytes or still floats, become i2_s or
// ternary_u32 as they are asked for, a few rows at a time. What ternary.go and
// hf_config.go decide, about the two meanings of weight_scale and the defaults
// of keys that a config.json leaves out, has its sources there. A checkpoint of
// Qwen3's keeps its floats.
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
//	cache   bytes for a token of    NMSE of the logits of tiny models with exact
//	        Bonsai-1.7B, BitNet-2B  products (go test ./models -run Oracle -v)
//	f32     229,376    153,600      5e-14 … 1e-13
//	f16     114,688     76,800      1.5e-7 … 2e-7
//	q8_0     60,928     40,800      1.0e-4 … 1.6e-4
//
// With int8 activations, as models run by default, the same logits have an
// NMSE of 5e-4 to 8e-4 and an fp16 cache.
//
// # Attention
//
// While scores and sums are computed, the positions that come next are fetched;
// without that, decoding waits for each. One token's attention then reads an
// fp16 cache at five sixths of the memory's speed; with an int8 one, and for
// prompts, it is bound by arithmetic: a product and a sum in float32 for each
// element, not fused, 11% for exponentials. Blocks of Bonsai-1.7B on 2 threads
// of an AMD EPYC (Zen 4), µs for a token of each block:
//
//	go test ./models -run '^$' -bench Attention
//
//	positions before     one token                      128 tokens together
//	                     f16            q8_0            f16     q8_0
//	2048                 327  26 GB/s   245  18 GB/s    148     147
//	8192                1378  24 GB/s  1076  17 GB/s    589     575
//
// Prompts where there is no AVX-512 take as long, within what repetitions differ by:
// from level 1, kernels of AVX2 do 9.4 (scores) and 11 (sums) multiply-adds a cycle, those
// of AVX-512 8.7 and 12.4, of 16 that multiplying and adding apart allow. Runs of 8
// columns, spans of 16 positions, and no branch around the fetching made no
// difference there; scores of 32 elements a round were a tenth slower.
//
// The whole model, packed, then decodes 160 tokens a second at the start of a
// text, 60 after 2048 tokens and 20 after 8192; with an int8 cache 67 and 26
// (onebit bench models --preset bonsai-1.7b -d 0,2048,8192). The memory of that
// virtual machine reads 30 to 65 GB/s, as its neighbours let it.
//
// # Start
//
// What it takes to the first token of a prompt of one, on the file's bytes of
// Bonsai-1.7B in the page cache, on the same machine: 30 ms, medians of 20 starts.
//
//	5 ms   start the process, half of it with what draws charts
//	1      map and parse
//	12     build the vocabulary, beside it map the file's pages, most of them huge:
//	       read 1.5, copy 1.5, hash the tokens 3, find the merges' tokens 4 on both
//	       threads, hash the merges 2.5
//	12     the prompt, whose first products with the weights check them, and the
//	       head: 24 with four tokens, 54 with 13, 140 with 45
//
// # Memory
//
// At most, with 300 tokens of Bonsai-1.7B in onebit run (VmHWM and VmRSS of
// /proc/PID/status): 300 MiB on the file's bytes, which are 236, with 42 of
// cache, whose positions come by 128, and 22 for the vocabulary and the
// program itself. Packed behind the run: 306 MiB while the packed weights and
// the file's overlap, 304 after that. Packed matrices lie one after the other
// in huge pages; alone, most would be too small for one, which costs a sixth
// of the speed of decoding.
//
// A head that is converted replaces its old form, which is let go of as it is
// read: BitNet-2B-4T, 1132 MiB in its file, has 513 of that and 333 of a q8_0
// head in memory, or 257 of q6_k, and of the embedding the rows of its text's
// tokens. Making those heads takes 0.9 and 1.0 s.
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
