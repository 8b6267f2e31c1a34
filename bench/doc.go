// Package bench is onebit's measuring engine: it takes cases (what is to be
// timed), and makes of them samples in a file that other programs read. It
// knows no kernel and no model; package bench/cases joins it with them.
//
// # How it measures
//
// Cases come in groups. A group is set up as a whole, measured, and torn
// down, so that memory holds one group at a time. Within it:
//
//  1. Verify. A case whose result is wrong is recorded as failed, with the
//     reason, and is never timed.
//  2. Calibrate: find the number of operations that fill a sample.
//  3. Rounds. In each round every case gives one sample, in an order drawn
//     anew from the seed. Whatever drifts (clock frequency, temperature,
//     neighbours on the machine) so meets all cases alike, which running them
//     one after another would not grant.
//
// A case that fails while it is timed is recorded as failed, and keeps the
// samples that it has. After the rounds come the group's studies, which make
// samples of their own, one for each operation or block of a model.
//
// Before each sample an eighth as many operations run untimed, because the
// other cases of the round have evicted this one's data. A case that calls
// itself cold rotates over more matrices than the last-level cache holds, and
// stays cold throughout.
//
// The garbage collector is off during the rounds and restored afterwards;
// garbage is collected between samples and between groups, so that no sample
// pays for it. B/op and allocs/op count the whole process, over warm-up and
// sample together.
//
// %roof is a case's bytes per second as a share of those of its roof, a case
// that only reads, in the same round: both saw the same machine. %peak is the
// same of multiply-adds per second.
//
// A canary, a loop that touches no memory, runs between samples. If it is 10%
// slower in a group than at its fastest, the CPU was throttled or shared, and
// the results carry a warning.
//
// In each group the fastest case is measured twice more, as the arms a and b
// of an A/A pair: the same instance under two names. [Results.Noise] makes of
// the pairs the noise floor of the run, the difference that identical code
// exceeds in one comparison out of twenty.
//
// # The results file
//
// It is in the Go benchmark format (https://go.dev/design/14313-benchmark-format),
// one line per sample, written at once and never changed: a run that is
// interrupted leaves every sample it took. Readers of the format, such as
// benchstat, pass over the lines that begin with # or ---.
//
//	goos: linux                                      header: one line per Setting
//	cpu: …
//
//	Unit ns/op better=lower                          how to compare each of Units
//	Unit ns/op assume=nothing
//
//	--- FAIL: BenchmarkMatVec/format=…               a case that is wrong
//	    row 3: 17, want 18                           and why, as go test prints it
//	# warning: group 6144x2048: the canary loop …    a doubt
//	BenchmarkRead/bytes=…/threads=1/cache=cold-2 … read-B/s
//	BenchmarkMatVec/format=…/cache=cold-2 180 58123 ns/op … weight-B/s … %roof …
//	BenchmarkAA/MatVec/format=…/cache=cold/arm=a-2 …
//
// A name is Benchmark, a base name, and keys, followed by -GOMAXPROCS unless
// that is 1: just as go test prints it for the same cases ([RunTesting]).
//
// Values that are computed and not measured (errors, packed bytes) stand on
// every line of their case. Those measured once (packing time, peak memory)
// stand on the first line only, for a reader that counted them ten times would
// find significance in noise.
//
// Times are in ns/op in the file and in [Results]; benchstat shows them as
// sec/op.
package bench
