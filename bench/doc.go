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
//  2. Calibrate: find how long an operation lasts, unless verifying has told
//     ([Timed]), and from that how many slices of how many operations fill the
//     time that is left for the group.
//  3. Rounds. In each round every case gives one sample, in up to 50 slices of 0.25
//     to 1 ms. Passes over the cases take a slice of each, the cases of a class one
//     after the other, in an order drawn anew from the seed. So cases that are compared
//     are neighbours in time, and whatever drifts (clock frequency, temperature,
//     neighbours on the machine) meets them alike, as does what lasts for
//     milliseconds. Running one case after another would not do that. The sample is
//     the median of its slices: an interrupt of fewer than half of them does not
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
// Each sample has the warnings about its group ([results.Sample]).
//
// Package results reads and writes the file; package noise says what the samples say.
package bench
