// Package bench is onebit's measuring engine: it takes cases (what is to be
// timed), and makes of them samples in a file that other programs read. It
// knows no kernel and no model; package bench/cases joins it with them.
//
// # How it measures
//
// A run is several passes over its cases, each by a process of its own, one
// after another ([Runner.Start], [Runner.Pass]). One process may be lucky in
// where its memory lies, or in what else the machine does; the others are not.
// Each process verifies what it measures. Only the first one runs studies and
// computes errors against the reference. If a process dies, the run lacks its
// remaining samples, and records a failure that names the case under way.
//
// A run may go on with further processes over some of its groups ([Runner.Further]),
// as long as what they are to tell is not known.
//
// Cases come in groups. In each process a group is set up as a whole, measured, and torn
// down, so that memory holds one group at a time. Within it:
//
//  1. Verify. A case whose result is wrong is recorded as failed, with the
//     reason, and is never timed.
//  2. Calibrate: find how long an operation lasts, and from that how many slices
//     of how many operations fill the time that is left for the group.
//  3. Rounds. In each round every case gives one sample, in up to 50 slices of 0.25
//     to 1 ms. Passes over the cases take a slice of each, the cases of a class one
//     after the other, in an order drawn anew from the seed. So whoever are compared
//     are neighbours in time, and whatever drifts (clock frequency, temperature,
//     neighbours on the machine) meets them alike, as does what lasts for
//     milliseconds. Running one case after another would not do that. The sample is
//     the median of its slices: whoever interrupts fewer than half of them does not
//     move it. A case whose operation is long has fewer slices, or one; and one that
//     takes ten times as long as another of the same work and class has few
//     operations, for it needs no telling apart.
//
// A case that fails while it is timed is recorded as failed, and keeps the
// samples that it has. After the rounds come the group's studies, which make
// samples of their own, one for each operation or block of a model.
//
// Before each slice an eighth as many operations run untimed, because the
// other cases of the round have evicted this one's data. A case that calls
// itself cold rotates over several times what the last-level cache holds, and
// stays cold throughout.
//
// The garbage collector is off during the rounds and restored afterwards;
// garbage is collected between samples and between groups, so that no sample
// pays for it. B/op and allocs/op count the whole process, over warm-up and
// first slice of a sample together. Events ([Meter]) are counted of samples in one
// slice: to begin and to end counting takes longer than some operations.
//
// %roof compares a case's bytes per second with those of its roof, a case that
// only reads, in the same round: both saw the same machine. %peak compares
// multiply-adds per second in the same way.
//
// Package clock takes every time. A slice that lasts fewer than 1,000
// of its steps is taken again, with more operations. A sample whose rate the
// machine cannot reach ([Case.Check]) is a failure and no row.
//
// Three things tell that the machine was not ours alone, and each becomes a
// warning about the group:
//   - A canary, a loop that touches no memory, runs on every thread at once
//     between samples. It was 60% slower in the group than at its fastest: a CPU
//     was throttled or shared.
//   - While the group was measured, other processes took more than 10% of a CPU,
//     or the hypervisor did (Linux: /proc/stat against getrusage).
//   - Several threads read from their caches at hardly more than one thread's
//     rate ([Case.Solo]).
//
// [Sample.Doubts] returns these warnings.
//
// # What the samples say
//
// Samples of one process are more alike than those of two: where its memory
// lies and what the machine was doing are the same for all of them. So the
// process is the unit of replication. A [Sample] has the number of its process,
// and an [Estimate] ([Results.Estimates]) is made of the processes' medians:
//
//   - Its center is the median of the k processes' medians.
//   - The logarithms of a process's medians hold two parts. One is common to
//     all cases of the class: a process's shift, the median over the cases,
//     whose variance c² has k-1 degrees of freedom however many cases there
//     are. What is left is the case's own; its variance s² has k-1 degrees of
//     freedom too, two for three processes, which alone would make intervals
//     of four deviations. It is moderated by what its class is like: the
//     variances of a class are taken as drawn from s0²·d0/χ²(d0), and the
//     case's is then (d0·s0² + (k-1)·s²) / (d0+k-1), with d0+k-1 degrees of
//     freedom (Smyth 2004, empirical Bayes; pool says where d0 and s0 come
//     from). A class of fewer than three cases is not divided, nor moderated.
//   - The interval is where the center of a further run is expected, with a
//     chance of 95%: center·exp(±√(2m·(t²s² + u²c²))), where t and u are
//     Student's for the two degrees of freedom, m = (π/2)/(k+π/2-1) is the
//     variance of the median of k values, and 2 is there because that run
//     strays too. It holds if the next run differs from this one no more than
//     this one's processes do: within minutes, on the same machine, doing
//     nothing else. docs/measurements/noise.md says how often it did.
//   - Within and Between divide the deviation otherwise: into what samples of a
//     process and what processes differ by.
//
// Of a single process, or of a file that does not say, the interval is that of
// the median of its samples (by ranks, without an assumption), and says nothing
// of further runs.
//
// A class is cases that scatter alike: those that agree in the keys of their
// names that the setting "classes" lists, such as threads and cache
// ([Results.Class]).
//
// Some cases are measured twice in each round: the same instance under two
// names, the double's AA/…/arm=b. These A/A pairs are drawn by their names,
// a share of each class from each group, of those that are not far behind. [Results.Floors] makes of them
// the noise floor of each class: the difference that one comparison in twenty
// of identical code exceeds. For a pair, the logarithms of the ratios between
// its arms by process, the median of its rounds', have the mean 0, and a mean of squares; the class is
// pooled as above, and the floor is exp(t·s0·√m) - 1 with t for d0 degrees of
// freedom, further reduced by how many differences there were (1/d = 1/d0 +
// 1/n). It takes 5 pairs to tell; simulations in the tests hold the floor to
// its sentence. Cases of a run are compared likewise ([Floors.Compare]): two slices of one
// pass give a ratio, the median of a round's is the round's, the median of a
// process's rounds the process's, and the median of these is what is printed.
// Neighbours in time meet the same machine, so that a ratio is known better than
// the two times. Its interval is that of the median of processes: the variance of
// a case's own is moderated by what processes make of other ratios in the class,
// between cases of one group that are no more than ten times apart. These lie in
// memory of their own, which each process draws anew, so that they differ by more
// than the arms of a pair. Two cases tie if the interval contains 1, or if they
// differ by less than the floor.
//
// Where the samples of a case carry round trips of a cache line between threads
// that fall into two groups, at least a factor of 2 apart and of 3 samples
// each, the machine was in two states, and the estimate gives the center of
// each.
//
// Two runs at different times differ by more than either shows within itself.
// [CompareRuns] takes the noise between them from the spread of all cases that
// both have, leaves to the machine what its ceilings did and what a class has in
// common, and names the cases and families of cases that differ beyond that.
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
// that is 1: just as go test prints it for the same cases ([RunTesting]).
//
// Models that have one name and different weights are told apart by what reads
// results ([TellApart]): they are never pooled, and never compared.
//
// Values that are computed and not measured (errors, packed bytes) stand on
// every line of their case. Those measured once (packing time, peak memory)
// stand on the first line only, for a reader that counted them ten times would
// find significance in noise.
//
// Times are in ns/op in the file and in [Results]; benchstat shows them as
// sec/op.
package bench
