// Package foreign reads what other benchmark programs write, so that their
// results stand beside ours in one report and one comparison.
//
// Kinds lists the programs. A file says by its content which one it is from.
//
//	llama-bench       JSON, JSON lines, CSV and Markdown     tools/llama-bench of github.com/ggml-org/llama.cpp
//	google-benchmark  JSON                                   docs/user_guide.md of github.com/google/benchmark
//	hyperfine         JSON                                   github.com/sharkdp/hyperfine
//	sweep-bench       JSON lines                             examples/sweep-bench of github.com/ikawrakow/ik_llama.cpp
//	ollama's bench    Go benchmark format                    cmd/bench of github.com/ollama/ollama
//	LocalScore        JSON                                   github.com/Mozilla-Ocho/llamafile, github.com/cjpais/LocalScore
//	llm-speed         JSON                                   cli/types.py of github.com/meadow-kun/llm-speed
//
// Nothing is invented. A repetition that the file holds is a sample. Where it
// holds means alone, the mean is the only sample, and a warning says that the
// spread is not known. Standard deviations are not turned into samples.
// A number that follows from another one by its definition is computed, with a
// warning: the time of a test from its tokens per second.
//
// A program's words about the machine and itself go to the header. A parameter of its
// results that has no key in package names is a key under the program's own name.
//
// # Processes
//
// Samples of one process are more alike than those of two (see package bench).
// hyperfine starts a process for each of its runs. The repetitions of the others
// come from one process.
package foreign
