// Package results is the one reader and writer of results files: [Read] and
// [ReadFiles] hold a file, [Reader] reads what a process writes as it comes, and
// [Writer] writes.
//
// It is in the Go benchmark format (https://go.dev/design/14313-benchmark-format),
// one line per sample, written at once and never changed: a run that is
// interrupted leaves every sample it took. Readers of the format, such as
// benchstat, pass over the lines that begin with # or ---.
//
//	goos: linux                                      header: one line per Setting
//	cpu: …
//	models: tiny=a29a71e01c2f4fd8                    which weights the models have
//
//	Unit ns/op better=lower                          how to compare each of Units
//	Unit ns/op assume=nothing
//
//	--- FAIL: BenchmarkMatVec/format=…               a case that is wrong
//	    row 3: 17, want 18                           and why, as go test prints it
//	# warning: group 6144x2048: the canary loop …    a doubt
//	# process 1                                      who took the samples that follow
//	# round 2 position 0 start 41.3s took 612ms      and when, where a gate ran it
//	# group 6144x2048                                of the samples below
//	# slices 58123 58340 …                           ns/op by pass, of the sample below
//	BenchmarkRead/bytes=…/threads=1/cache=cold-2 … read-B/s
//	BenchmarkMatVec/format=…/cache=cold-2 180 58123 ns/op … weight-B/s … %roof …
//	BenchmarkAA/MatVec/format=…/cache=cold/arm=b-2 …
//
// A name is Benchmark, a base name, and keys, followed by -GOMAXPROCS unless
// that is 1: just as go test prints it for the same cases ([onebit/bench.RunTesting]).
//
// Models that have one name and different weights are kept apart by the
// reader ([TellApart]): they are never pooled, and never compared.
//
// Values that are computed and not measured (errors, packed bytes) stand on
// every line of their case. Values that are measured once (packing time, peak memory)
// stand on the first line only, for a reader that counted them ten times would
// find significance in noise.
//
// Times are in ns/op in the file and in a [Set]; benchstat shows them as
// sec/op.
package results
