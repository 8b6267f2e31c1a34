// Package noise is the one model of noise: what the samples of a results file
// say of the next run, of two cases of a run, and of two runs.
//
// Samples of one process are more alike than those of two: where its memory
// lies and what the machine was doing are the same for all of them. So the
// process is the unit of replication. A [results.Sample] has the number of its process,
// and an [Estimate] ([Estimates]) is made of the processes' medians:
//
//   - Its center is the median of the k processes' medians.
//   - The logarithms of a process's medians hold two parts. One is common to
//     all cases of the class: a process's shift, the median over the cases,
//     whose variance c² has k-1 degrees of freedom however many cases there
//     are. The rest is the case's own; its variance s² has k-1 degrees of
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
// ([results.Set.Class]).
//
// Cases of a run are compared by ratios ([Floors.Compare]): two slices of one pass
// give one, the median of a round's is the round's, the median of a process's
// rounds the process's, and the median of these is what is printed. Neighbours in
// time meet the same machine, so that a ratio is known better than the two times.
// Its interval is that of the median of processes, moderated by what processes make
// of other ratios in the class, between cases of one group that are no more than
// ten times apart: each process draws their memory anew. Cases of two groups were not
// measured in turns, and their ratio has its own variance alone. No ratio has more
// than four degrees of freedom. Two cases tie if the interval contains 1, or if they
// differ by less than the floor.
//
// The noise floor of a class is the difference that one comparison in twenty of
// identical code exceeds. Some cases are measured twice in each round: the same
// instance under two names, the double's AA/…/arm=b. These A/A pairs are drawn by
// their names, a share of each class from each group, of those that are not far
// behind. For a pair, the ratios between its arms by process have logarithms of the
// mean 0, and a mean of squares; the class is pooled as above, and the floor
// ([FloorsOf]) is exp(t·s0·√m) - 1 with t for d0 degrees of freedom, further reduced
// by how many differences there were (1/d = 1/d0 + 1/n). It takes 5 pairs to tell;
// simulations in the tests hold the floor to its sentence.
//
// The round trip of a cache line between threads tells whether the machine's threads
// were near each other, or far apart, where it is at least twice as long. Ratios are
// those of the processes during which they were near, if these are four and more;
// and if samples of a case are of both states, 3 of each, the estimate gives the
// center of each.
//
// Two runs at different times differ by more than either shows within itself:
// [CompareRuns] says how they are compared.
package noise
