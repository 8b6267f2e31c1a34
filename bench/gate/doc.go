// Package gate tells whether a program became slower, and is wrong with a
// chance that is known beforehand.
//
// # What is measured
//
// A benchmark is run on three sides: base, head, and twin, which is base once
// more. In each round every side of a test binary is linked anew with another
// seed of the linker's -randlayout, so that functions lie where they have not
// lain before; a process is started for each measurement, with an environment
// of another size, which moves the stack. A round measures each benchmark on
// the three sides in a random order and then in the reverse order, all with
// the same number of operations. The better of a side's two processes counts:
// what a neighbour on the machine does to one of them says nothing of the code.
//
// So a round yields one logarithm of head over base for each benchmark, and it
// is the unit of replication: whatever a build, a process, an order or a moment
// does to a measurement differs from round to round, and is in the interval.
//
// # How it is judged
//
// If base and head are the same, a round's difference is as likely to be d as
// −d, because chance alone decided which side had which layout, place and
// moment. The signed-rank test is exact under that symmetry, however heavy the
// tails, and a virtual machine's are heavy. Its bounds around the median of
// Walsh averages give the verdict, with a threshold of 3% unless told otherwise:
//
//	SAME    the 95% interval, widened by the floor, lies within the threshold
//	SLOWER  head is worse beyond the floor at the level of the look, and may be
//	        worse by more than the threshold
//	FASTER  the same on the other side
//	UNSURE  none of these
//
// The floor is the distance of twin from base in the same rounds. A twin that
// differs from base at the level of the look is an alarm: then something other
// than the code decides, and nothing is proved.
//
// The data is looked at four times, after 40, 60, 80 and 100% of the budget;
// the looks spend 5, 15, 30 and 50% of the chance of a false alarm, which is
// shared among all benchmarks and units (Bonferroni). What is decided at a look
// is measured no more, so that the rest of the time goes to what is not. The
// chance of any false SLOWER or FASTER in a gate is below 1%.
//
// Values that no process changes (allocations, sizes, errors) need no
// statistics: any change beyond their threshold counts.
package gate
