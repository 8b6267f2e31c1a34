package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"onebit/bench/results"
	"onebit/internal/count"
)

// Summary is a report in a line: the worst by its name, and how many benchmarks
// stand how.
func (r *Report) Summary() string { return strings.Join(r.clauses(), "; ") }

// clauses are what Summary joins, what decides first.
func (r *Report) clauses() (clauses []string) {
	if len(r.Alarms) > 0 && r.Unfinished == "" {
		return []string{"the machine is unfit: base differs from itself, so nothing is proved"}
	}
	switch status := r.Exit(); {
	case r.Unfinished != "":
		clauses = append(clauses, fmt.Sprintf("unfinished after %s: %s", count.Of(r.Rounds, "round"), r.Unfinished))
	case status == 3:
		clauses = append(clauses, fmt.Sprintf("too little time: %s fit into the budget, and a proof needs %d", count.Of(r.Rounds, "round"), r.Needed))
	case status == 2:
		clauses = append(clauses, "not all is proved the same")
	case status == 0:
		clauses = append(clauses, "nothing is proved slower")
	}
	return slices.Concat(clauses, r.worse(), r.tally())
}

// Verdict is what decides, in a sentence.
func (r *Report) Verdict() string {
	clauses, slower := r.clauses(), r.those(func(f Finding) bool { return f.Verdict == Slower })
	switch {
	case len(clauses) == 0:
		return "nothing was judged"
	case len(slower) == 0 || clauses[0] != slower[0].Named():
		return clauses[0]
	case math.IsInf(slower[0].Change.Center, 0):
		return fmt.Sprintf("%s has %s %s", slower[0].Name, slower[0].by(), slower[0].Unit)
	}
	more := strings.TrimPrefix(Percent(slower[0].Change.Center), "+")
	if slower[0].Unit == results.NsPerOp {
		return fmt.Sprintf("%s is %s slower", slower[0].Name, more)
	}
	return fmt.Sprintf("%s is worse by %s in %s", slower[0].Name, more, slower[0].Unit)
}

// Tally says how the others stand, a clause each.
func (r *Report) Tally() []string {
	if all := r.clauses(); len(all) > 1 {
		return all[1:]
	}
	return nil
}

// worse names the worst finding and counts the other benchmarks that are SLOWER.
func (r *Report) worse() (clauses []string) {
	slower := r.those(func(f Finding) bool { return f.Verdict == Slower })
	if len(slower) == 0 {
		return r.perhaps()
	}
	clauses = []string{slower[0].Named()}
	if others := r.outcomes()[isSlower] - 1; others > 0 {
		clauses = append(clauses, count.Of(others, "other")+" worse")
	}
	return clauses
}

// perhaps names what is not proved slower, for the chances of many verdicts are
// shared, but whose interval lies beyond its threshold.
func (r *Report) perhaps() (clauses []string) {
	beyond := r.those(func(f Finding) bool { return f.outcome() == isUndecided && f.Change.Lo > math.Log1p(f.Threshold) })
	if len(beyond) > 0 {
		clauses = append(clauses, "perhaps "+beyond[0].Named())
	}
	return clauses
}

// those are the findings that are judged and kept, the worst first.
func (r *Report) those(keep func(Finding) bool) []Finding {
	list := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return !f.Judged() || !keep(f) })
	slices.SortStableFunc(list, Severity)
	return list
}

// Named is a finding in a line: "slower: Decode/large +12.4% [10.9, 13.8]".
func (f Finding) Named() string {
	if f.Unit == results.NsPerOp {
		return fmt.Sprintf("slower: %s %s", f.Name, f.by())
	}
	return fmt.Sprintf("worse: %s %s %s", f.Name, f.Unit, f.by())
}

// by is how far head is from base.
func (f Finding) by() string {
	switch in := f.Change; {
	case math.IsInf(in.Center, 0):
		return fmt.Sprintf("%.6g instead of %.6g", f.Typical(Head), f.Typical(Base))
	case f.Exact || math.IsInf(in.Lo, 0) || math.IsInf(in.Hi, 0):
		return Percent(in.Center)
	default:
		return fmt.Sprintf("%s [%.1f, %.1f]", Percent(in.Center), 100*math.Expm1(in.Lo), 100*math.Expm1(in.Hi))
	}
}

// An outcome is how a benchmark stands by the most notable of its units.
type outcome int

const (
	isSlower outcome = iota
	isUndecided
	isWithin
	isFaster
	isNoSlower
	isSame
	outcomes
)

func (f Finding) outcome() outcome {
	switch {
	case f.Verdict == Slower:
		return isSlower
	case !f.Pass:
		return isUndecided
	case f.Verdict == Within:
		return isWithin
	case f.Verdict == Faster:
		return isFaster
	case f.Verdict == Same:
		return isSame
	}
	return isNoSlower
}

// outcomes counts the benchmarks of each.
func (r *Report) outcomes() (of [outcomes]int) {
	each := map[Benchmark]outcome{}
	for _, f := range r.Findings {
		if s, seen := each[f.Benchmark]; f.Judged() && (!seen || f.outcome() < s) {
			each[f.Benchmark] = f.outcome()
		}
	}
	for _, s := range each {
		of[s]++
	}
	return of
}

// tally counts the benchmarks that are not SLOWER.
func (r *Report) tally() (clauses []string) {
	of, code, measured := r.outcomes(), len(r.Options.Code.Settled()), "same by measurement"
	if code > 0 {
		measured = "by measurement"
	}
	for _, c := range []struct {
		n    int
		text string
	}{
		{of[isWithin], "slower within the threshold"}, {of[isFaster], "faster"},
		{code, "same by code"}, {of[isSame], measured},
		{of[isNoSlower], "no slower than the threshold"}, {of[isUndecided], "undecided"},
	} {
		if c.n > 0 {
			clauses = append(clauses, fmt.Sprintf("%d %s", c.n, c.text))
		}
	}
	return clauses
}

// Advice says in sentences what the change reaches, what could hide in what is
// undecided, and what would decide it.
func (r *Report) Advice() (sentences []string) {
	sentences = append(r.Options.Code.Sentences(), r.counted()...)
	n := r.outcomes()[isUndecided]
	if n == 0 || len(r.Alarms) > 0 || r.Unfinished != "" {
		return sentences
	}
	if r.Early {
		return append(sentences, fmt.Sprintf("The gate ended when this was certain, and %s not measured to the end: --keep-going measures the rest.", benchmarksAre(n)))
	}
	sentences = append(sentences, r.hidden(n))
	if more := r.moreTime(); more != "" {
		sentences = append(sentences, more)
	}
	return sentences
}

func benchmarksAre(n int) string {
	if n == 1 {
		return "1 benchmark was"
	}
	return fmt.Sprintf("%d benchmarks were", n)
}

// undecided are the findings that are neither SLOWER nor proved to be no
// regression.
func (r *Report) undecided() []Finding {
	return r.those(func(f Finding) bool { return f.outcome() == isUndecided })
}

// hidden says by how much any of n undecided benchmarks may be worse at most.
func (r *Report) hidden(n int) string {
	most := 0.0
	for _, f := range r.undecided() {
		most = max(most, f.Change.Hi)
	}
	if math.IsInf(most, 1) {
		return fmt.Sprintf("Nothing is known yet of %d undecided.", n)
	}
	return fmt.Sprintf("A slowdown of more than %.1f%% in any of %d undecided would have been seen.", 100*math.Expm1(most), n)
}

// moreTime says about how much longer decides how many of the undecided
// benchmarks.
func (r *Report) moreTime() string {
	decided, of, further := r.forecast()
	if decided == 0 {
		return "More time alone decides little: they lie too near to their thresholds for the noise here."
	}
	return fmt.Sprintf("About %s more decide %d of %d, if intervals narrow with the square root of rounds (--budget %v).",
		roughly(further), decided, of, atLeast(r.Elapsed+further))
}

// forecast is how many of the undecided benchmarks about as much time again
// decides, or else the first of them, and how much that is.
func (r *Report) forecast() (decided, of int, further time.Duration) {
	rounds := map[Benchmark]float64{} // that the slowest of its units needs
	for _, f := range r.undecided() {
		rounds[f.Benchmark] = max(rounds[f.Benchmark], r.roundsFor(f))
	}
	needs := slices.Sorted(maps.Values(rounds))
	for decided = 1; decided < len(needs) && needs[decided] <= 2*float64(r.Rounds); decided++ {
	}
	last := needs[decided-1] / float64(r.Rounds)
	if last > 20 {
		return 0, len(needs), 0
	}
	return decided, len(needs), time.Duration((last - 1) * float64(r.Elapsed-r.Setup))
}

// roundsFor is about how many rounds decide a finding, if its estimate is the
// truth and the distances of its bounds shrink with the square root of rounds;
// +Inf if none do. On made noise two of three such forecasts come true.
func (r *Report) roundsFor(f Finding) float64 {
	in, threshold, rounds := f.Change, math.Log1p(f.Threshold), float64(cmp.Or(f.Rounds, r.Rounds))
	shrunk := func(width, to float64) float64 { return rounds * max(1, math.Pow(width/to, 2)) }
	switch {
	case len(f.Control) == 0: // base was recorded earlier: its processes do not become more
		return math.Inf(1)
	case f.Exact || math.IsInf(in.Hi-in.Lo, 1):
		return max(rounds+1, float64(r.Needed))
	case in.Center > threshold:
		return shrunk((in.Center-in.Lo)*r.strictness(), in.Center-f.Floor)
	case in.Center < threshold-f.Floor:
		return shrunk(in.Hi-in.Center, threshold-f.Floor-in.Center)
	}
	return math.Inf(1)
}

// strictness is by how much wider than the interval that is printed the one is
// that SLOWER rests on at the last look, for normal deviates.
func (r *Report) strictness() float64 {
	tests := 0
	for _, f := range r.Findings {
		if f.Judged() && !f.Exact {
			tests++
		}
	}
	deviate := func(chance float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*chance) }
	return deviate(r.Options.Alarm*slowerShare*spending[len(spending)-1]/float64(max(tests, 1))) / deviate(equivalence)
}

// roughly is a length of time in whole minutes, or in tens of seconds.
func roughly(d time.Duration) string {
	if d < 90*time.Second {
		return fmt.Sprintf("%d seconds", 10*max(1, int(math.Ceil(d.Seconds()/10))))
	}
	return count.Of(int(math.Ceil(d.Minutes())), "minute")
}

// atLeast is a budget of whole minutes, as the flag takes it.
func atLeast(d time.Duration) string { return fmt.Sprintf("%dm", int(math.Ceil(d.Minutes()))) }

// Reason says what the verdict rests on.
func (f Finding) Reason() string {
	threshold := fmt.Sprintf("%.3g%%", 100*f.Threshold)
	switch {
	case !f.Judged() && f.Unit == results.Instructions:
		return "it was counted beside the time, and no rule judges it"
	case !f.Judged():
		return "nobody has said whether more or less of it is better: it is not judged"
	case f.counted():
		return f.countedReason(threshold)
	case f.Exact && f.Verdict == Same:
		return "every process gives the same value, and the change is within " + threshold
	case f.Exact && f.Verdict == Unsure:
		return "every process gave the same value so far, and the change is beyond " + threshold + ": more rounds exclude chance"
	case f.Exact:
		return "every process gives the same value, and the change is beyond " + threshold
	case f.Verdict == Same:
		return "proved: the interval lies within ±" + threshold
	case f.Verdict == Slower:
		return "proved to be worse, by an estimate beyond " + threshold
	case f.Verdict == Within:
		return "slower, within " + threshold + ": proved to be worse, by an estimate that is no failure"
	case f.Verdict == Faster:
		return "proved to be better"
	case f.Pass:
		return "neither better nor the same is proved, but it is worse by no more than " + threshold
	}
	return "the interval holds both no change and one of more than " + threshold + ": more rounds are needed"
}
