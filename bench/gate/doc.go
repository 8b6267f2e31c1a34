// Package gate tells whether a program became slower, and is wrong with a
// chance that is known beforehand.
//
// # What is measured
//
// A benchmark is run on three sides: base, head, and control, which is base once
// more. Package sides builds and runs them. A benchmark that runs the same code on both
// sides (package reach) is not measured, unless that is asked for. In each round the
// sides have other layouts, and each measurement is of a process of its own. A round
// measures each benchmark on the three sides in a random order, all with the same
// number of operations. Where linking takes longer than that it is done once more in
// the reverse order, and the mean of a side's two processes counts; of each process
// the median of some short runs. So the typical time is judged: of the best times,
// those of what is only steadier would be slower, and a slow mode that becomes more
// frequent would not show. Decided benchmarks are left out. Binaries that are there
// already have the one layout that they have, so that the interval covers processes
// alone.
//
// So a round yields one value of head, base and control for each benchmark, and is
// the unit of replication: whatever a build, a process, an order or a moment does
// to a measurement differs from round to round, and is in the interval.
//
// # How it is judged
//
// If base and head are the same, then so are all three sides, and chance alone
// decided which of a round's three values is head's, for it decided which side
// had which layout, place and moment. Ranks of the values, over all rounds, so
// have an exact distribution, however heavy the tails, and a virtual machine's
// are heavy: in each round any of three ranks is as likely to be head's (a
// permutation test within blocks). Where head's spread alone differs the test is
// not exact, but head's ranks are as high as low in the mean, and the estimate stays
// where it was. The control's time counts too: base is measured twice as often as head.
//
// By how much head is worse is the difference of trimmed means, without a fifth of
// the values at either end, with an interval of their own spread (Yuen's): a slow
// mode that becomes more frequent is in it, which a shift between ranks does not see.
// With a threshold of 3%, unless told otherwise, the verdict is
//
//	SAME    the 95% interval, widened by the floor, lies within the threshold
//	SLOWER  head is worse beyond the floor at the level of the look, and by an
//	        interval beyond the threshold, or at the last look by an estimate
//	WITHIN  the same by an estimate within the threshold: no failure
//	FASTER  head is better at the level of the look
//	UNSURE  none of these
//
// The floor is how far control is known to be from base in the same rounds: the
// distance of the interval of their differences (of the signed-rank test, since
// those are symmetric) from 0. A control that differs from base at the level of the
// look is an alarm: then something other than the code decides, and nothing is
// proved.
//
// The data is looked at ten times, after 10 to 100% of the budget; the looks
// spend from 2% to 20% of the chance of a false claim, which is shared among all
// benchmarks and units (Bonferroni), and among SLOWER, FASTER and the alarms of
// the control. So the chance of any false claim in a gate is below 1%. What is
// decided at a look stays decided and is measured no more, so that the rest of
// the time goes to what is not. So is, unless the gate is to keep going, what is
// proved to be no slower than its threshold and does not look faster. That is for
// good: rounds that are chosen by what the others said would need a share of the
// chance of their own. A SLOWER on a machine whose controls do not differ
// ends the gate, unless it is to keep going. Package calibrate measures that and the chance to find what is
// slower, on recorded noise.
//
// Values that no process changes (allocations, sizes, errors) need no
// statistics: any change beyond their threshold counts.
//
// # What it leaves behind
//
// A results file has what every process measured, base's too where that was recorded
// earlier, and no verdict. Its last lines, "# gate …", have what verdicts follow from
// beside that: thresholds, counts of instructions, and Terms, among them when the gate
// looked. ReadResults judges again, look by look.
package gate
