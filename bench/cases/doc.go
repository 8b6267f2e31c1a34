// Package cases says what onebit measures. It is the only place that knows
// both sides: kernels and models on one, the measuring engine on the other.
// Package bench/names declares what its cases are called, and [results.Units] what
// their values are. Files begin with what they measure: matvec, model, machine or
// profile; the others are what these share.
//
// # MatVec
//
// A case is one product of a matrix with an activation vector, quantization of the
// activations included, by a variant on so many threads. All cases of one format and
// shape are a group: they share the weights, the activations, the references and, per
// layout, the packed matrix, and are timed interleaved.
//
// cache=warm multiplies the same matrix again and again. cache=cold rotates over copies
// that together fill 4 last-level caches and 256 MiB at least, so that each
// product reads its weights from memory; caches keep a part of what is only a
// little larger than they are. The setting cold-bytes says how many bytes
// rotate; if memory has no room for as many as it should be, a warning says so.
//
// The kernels of Metal have no threads in their names: variant=metal-simd and so
// on. Their operations queue, as those of a token do, and a sample waits for the
// last. ns/op is the wall's time and gpu-ns/op the time that the GPU worked, by
// the time stamps of its command buffers, both with the quantization. No ceiling
// is known of a GPU.
//
// On Linux, a program built with -tags softmetal plays the GPU in software. A
// run with such cases is marked as emulated by softmetal, as a whole: it is in
// no ranking, and no gate compares with it. Without a filter it has none.
//
// Before anything is timed, each case's result is compared with two oracles:
// it must equal the generic integer path (variant scalar of the same scheme)
// bit for bit, and its error against the float64 reference must be what the
// quantization of the activations explains. nmse is Σ(y−r)² / Σr², r the float64
// product with the float activations; act-nmse is that of the float64 product with the
// quantized ones, what the scheme costs in any kernel; kernel-nmse is y against that
// product, what the kernel adds.
//
// peak-RSS-B is the peak resident memory (VmHWM, reset after the weights were
// made) of a process that holds the tensor, packs it and multiplies once. The
// process is the program itself, run as a child (see [MeasureMemory]).
//
// # Ceilings
//
// Read reads the same bytes as a product, in the same place, with as many threads, in
// the same rotation if cold, and does nothing else; %roof is a case's weight bytes per
// second over that. [TakeCeilings] takes Read and DotPeak from the file of a run
// of onebit machine instead: each has one sample then, interpolated between the sizes
// that were measured, and %roof and %peak are shares of it.
//
// No sample may read one and a half times as fast as this machine reads from
// its caches, or multiply 24 times as fast as its int8 peak, which look-ups of
// 1-bit weights pass but not by that much: it is a failure, "impossible".
//
// # The machine
//
// The cases of onebit machine have no kernel of ours in them:
//
//	Bandwidth  an operation moves B bytes, all threads together: each its part,
//	           again and again without meeting the others. level l1d and l2 are
//	           half of the caches of as many cores, l3 is half of the last one,
//	           dram what cache=cold takes; without a level it is a point of a
//	           sweep. A copy reads half of its bytes and writes the other half,
//	           and counts both. The fastest of package roofline's designs is
//	           chosen where it runs.
//	Latency    an operation is a load that waits for the one before, along a
//	           random cycle through all lines of B bytes, which are brought into
//	           the caches before, if they hold them
//	DotPeak    multiply-adds in registers; bf16 adds to float32
//	RoundTrip  between two threads, each bound to a CPU
//	Dispatch   a pool's threads get a task of no work each, which the first thread does
//	Gather     a pool's threads get a task each in which they wait until all have begun;
//	           estimated-ns is what threads.DispatchTime, by which work is shared or
//	           not, takes it for
//	Timer      a reading of package clock's clock
//	Frequency  a loop of dependent operations of a cycle each, on all threads
//
// Every sample has at-s, its time, and Hz, the clock's frequency right after it;
// a few a second have the shares of CPU time that the hypervisor took (stolen)
// and other processes (others). Ceilings that can't be measured stand in the header
// (unavailable), with the reason.
//
// Samples of several threads, of these and of all other cases, have roundtrip-ns, the
// time in which a cache line goes from one of the threads to another and back, measured
// right after the sample. Virtual machines have two states: their CPUs share a cache or
// they don't, and what two threads read together depends on it.
//
// # Model
//
// A case is a test of a whole model, in llama-bench's words. Its variant multiplies the
// projections; matrices in other formats, such as an fp16 head, are left to
// what comes nearest (see models.PreferVariant). Its act is the activation scheme of
// the projections. Matrices in other formats have their own usual scheme if act
// is that of the projections, and else act too, as with the flag --act of run.
// The first scheme is the main one; the others are measured in pp and tg tests
// and in their errors. packing is packed where the variant wants a
// layout of its own, native where it multiplies the file's bytes, and stream
// where besides each block is let go of once it has run.
//
//	test   an operation is                                     tells
//	load   to open the model until it is ready, page cache     ns/op
//	       warm; closing it does not count
//	ttft   to start onebit run with a prompt of four words,    ns/op
//	       until the first byte of text; with packing=packed
//	       it packs behind that
//	ppN    to take in a prompt of N tokens                     tok/s, mac/s, %peak
//	tgN    to decode N tokens, each after D and those before   tok/s, weight-B/s, %roof
//
// With texts=N before threads (flag --parallel), tgN is that of N texts which are
// decoded together, a token of each in a pass, and tok/s is theirs in all. Text i
// holds i tokens more than depth=D before. Each is equal to the bit to what it is alone.
//
// With text=T (flag --speculate), tgN goes on greedily from a real text: code, docs or
// prose. With drafts=K besides, passes take in up to K tokens that the text has said
// before (models.Session.Speculate). The text must be the one without, tok/pass is
// what a pass gave and accepted the share of drafted tokens that were right.
//
// Tokens are random and the logits are not sampled. Keys and values of the D
// tokens before are there before anything is timed. The first 128 are
// computed, and on CPUs repeated behind them (models.Session.Lengthen): attention
// reads and multiplies as much whatever they are. The header's depth-computed says
// so where there are more.
//
// weight-B/s counts the bytes of every matrix once per token, and those of the
// keys and values, and of states without positions twice, for they are read and
// written; %roof is its share of the model's Read, which reads as many bytes of weights
// in the same round. mac/s counts multiply-adds with weights; %peak is their share of
// the model's DotPeak, which multiplies int8 in registers with the fastest of the
// machine's instructions in the same round. What a prompt
// spends on attention is in neither. A variant that looks sums of 1-bit weights
// up multiplies nothing and can be above 100%.
//
// A model is verified before its first test, once for all tests on the same
// threads: each Linear must say that the variant multiplies it, the logits
// after a batch of two tokens and after one more must equal to the bit those
// of the variant unrolled, and the logits after 17 tokens must be the same
// whether they came in a batch or one by one. The reference rounds no
// activations: its logits must be near. Only the first of several processes
// compares with unrolled, which takes seconds. If a model has more than 3 Gi
// multiply-adds a token in its blocks, unrolled computes some of them alone, as if
// the model had no others: the first, the last and as many between, at even
// distances, as take no more, among them one of each kind; and the head. A warning
// names them. The whole model must be the same in a batch and one by one.
//
// Groups are one model's tests of one kind on one number of threads. The
// models of a file on the same threads stay open from group to group, in all
// variants that are compared. A variant for whose packed weights memory has
// no room is left out, with a warning.
//
// variant=llama-bench is llama.cpp's llama-bench on the same file, one process
// per sample, interleaved with the others; its own figure is the time of a
// sample. Its arguments beside those that name the test are in the header
// (llama-bench-args). It rounds activations to int8 per 32 for most formats:
// what is at the same error is act=q8_32.
//
// The engine of GPUs has tests of its own (engine=metal), by the best kernel of each
// packing that the GPU runs, in groups of their own.
// gpu-ns/op is the time that the GPU worked in a test, gpu-B what its driver says
// that buffers take: the weights after a load, and keys, values and activations
// with them in a test. Before its first test, a model's logits must be near those
// of the pure Go variant of the same scheme, and a batch must give the bits of the
// same tokens one by one. Operations are timed by the GPU's clock, each in a
// command buffer of its own.
//
// # Studies of a model
//
// Each packing's best variant is studied on all threads. A child process of
// its own (see [MeasureMemory]) finds the memory of each phase: peak-RSS-B is VmHWM,
// reset before the phase; anon-B and file-B are RssAnon and RssFile at the
// moment of the largest resident size among looks 2 ms apart, so that together
// they are that peak, less what came and went between two looks. The weights of
// a tg phase are there before it, so its peak is what decoding takes. plan-B is
// what models.Plan said of the test beforehand, and plan-weights-B, plan-kv-B,
// plan-state-B and plan-scratch-B are its parts: the program itself, the tokenizer
// and the rows of the embedding are not in it, and pages of the file that were read
// to be packed are not taken back at once.
//
// Op is where the time goes: of an operation in a block (or outside them), per
// token of a tg test or per prompt. It is observed in 6 passes, which no other
// timing contains, a sample each, after one that warms up. The time between
// operations, observing included, is the operation unattributed, so
// that all add up to the pass: what observing costs is no more than twice that,
// for a reading of the clock falls half into the operation.
//
// Lockstep takes a short text, the beginning of Lincoln's address at Gettysburg,
// through the reference engine and a variant, block by block (package models/lockstep).
// A tensor is a projection, or block for the stream behind it; the head is output, in
// block outside. Variants of one activation scheme are equal to the bit: the
// fastest runs in lockstep, and the others share its errors once they are
// verified. The reference engine keeps the file's output head: the error of a model
// called M+q8_0 counts what converting it costs.
//
// Logits are the errors of predictions. So few positions say little: kld, top1 and top5
// carry 95% intervals over them (see perplexity.Estimate). With
// weights=random the divergence is that of two engines on random weights. It
// ranks activation schemes and finds faults, but is not a trained model's, and
// there is no perplexity.
//
// Head is, where the output head would be a tenth smaller or more in q8_0 or q6_k, what
// it is (head=F the file's format) and what it would be: ns/op its product
// with one column, weight-B/s from memory, tok/s decoding with it, kld and nmse its
// logits against those of the file's head after the last 16 of the text's tokens. Of
// a large vocabulary 8192 rows are converted, of the likeliest tokens and others
// (models.Model.TryHeads). With the flag --head such a head is measured as a model of
// its own, M+F.
//
// # Profiles
//
// onebit profile measures operations too, in pairs of a pass with observation and
// one without; with counters, further lines of an operation have what was counted
// of it in a pass. A WhatIf is the test with something different, and change=none the
// test as it is, one after the other in pairs.
//
// Kernel (onebit profile --kernel) is a call of the kernel by itself, of activations
// that are quantized already: with as many rows as fit half of a level of the caches,
// or with copies from memory. cycles/128w is its time at the clock that was measured
// before and after, instructions/128w what 128 weights execute.
package cases
