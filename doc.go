// Package onebit is a harness that finds out, on your own machine, how fast,
// how big and how wrong a 1-bit or ternary language model runs.
//
// The command is cmd/onebit, and cmd/onebit-lab has the studies of this project's
// authors. The packages can be used without them. There are
// two ways through the house:
//
//	data:     file → formats/{gguf,…} → formats.Tensor → engine → models → tokens
//	measure:  bench.Suite → bench.Runner → samples → results.txt → bench/results → bench/noise → reports
//
// They meet in one place only, bench/cases, which knows both sides:
//
//	            cmd/onebit
//	             │      │
//	             ▼      │
//	        bench/cases │
//	         │       │  │
//	         ▼       │  ▼
//	       models    │ reports
//	         │       │  │
//	         ▼       ▼  ▼
//	   models/engine/*  bench
//	       │    │       │
//	       ▼    ▼       │
//	formats/* kernels   │
//	       │    │       │
//	       ▼    ▼       │
//	       formats      │
//	          │         │
//	          ▼         ▼
//	           internal/*
//
// formats says what the bytes of a weight matrix mean: one file per format,
// one registry, no I/O, and speed only where a program waits for a conversion
// (simd_amd64.s: an output head on loading). formats/gguf, formats/safetensors
// and formats/cellm map files to tensors and back, on formats/container. kernels
// multiplies packed weights by vectors: one registry of variants, none chosen
// behind the caller's back, each family in a package of its own.
//
// models/engine declares what a model needs of a device: weights, a stream of one
// text, operations that may queue. models/engine/cpu is the first engine, on
// kernels. models/arch describes architectures as data; models/architectures has one
// file for each, its forward pass written in an engine's operations (models/forward);
// models/source opens files, and models runs them block by block; its other
// subpackages read checkpoints, turn text into tokens, score it, and synthesize models of real size. models/train trains networks of ternary and
// 1-bit weights, with the float32 products of kernels/dense and the loops of
// kernels/vectors; models/train/lm makes language models of them, of which
// models/gopher has two.
//
// models/verify tells whether another engine runs a model right, from its answers.
// models/convert writes a model in other formats and containers, models/inspect
// describes one, and models/conversation takes turns with one.
//
// models/modeltest has the forward passes once more, in float64, for tests, and
// models/engine/enginetest is the test of any engine.
//
// bench measures anything; it knows no language model. bench/results reads and
// writes results files, and bench/noise is the model of what their samples differ by.
// bench/names says what cases are called, bench/gate tells whether a program became slower, and
// bench/gate/calibrate how often it is wrong; bench/gate/sides builds and runs what it
// compares, and bench/gate/reach tells which
// benchmarks a change can't have made slower. bench/history looks for changes over
// time, bench/profile, bench/hotspot and bench/counters for where the time goes,
// bench/roofline for what the machine can do, and bench/foreign reads other tools'
// results. reports
// turns result files, which are in the Go benchmark format, into pages and
// pictures.
//
// metal calls Apple's GPU interface through metal/dl, and metal/shaders is what it
// runs for models/engine/metal; on Linux the tests of all three run on
// metal/softmetal.
//
// The imports that each package may have are a table in deps_test.go.
package onebit
