package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
)

// mostCounted is how many benchmarks, or functions of one, a sentence names.
const mostCounted = 5

// counted says in sentences what the counts of instructions witness: how many
// benchmarks execute more, what that tells of those that are undecided or slower
// by time, and what was not counted.
func (r *Report) counted() (sentences []string) {
	if len(r.Counts) == 0 {
		return nil
	}
	var more, as, fewer int
	var said []string
	for _, c := range r.Counts {
		if c.Refused != "" {
			continue
		}
		switch c.direction() {
		case +1:
			more++
		case -1:
			fewer++
		default:
			as++
		}
		if text := c.witness(r.timeVerdict(c)); text != "" {
			said = append(said, text)
		}
	}
	var clauses []string
	for _, x := range []struct {
		n    int
		text string
	}{{more, "more than base"}, {as, "as many"}, {fewer, "fewer"}} {
		if x.n > 0 {
			clauses = append(clauses, fmt.Sprintf("%d %s", x.n, x.text))
		}
	}
	if len(clauses) > 0 {
		sentences = append(sentences, fmt.Sprintf("Instructions of an operation in %s, by %s: %s.", count.Of(more+as+fewer, "benchmark"), r.CountedBy, strings.Join(clauses, ", ")))
	}
	sentences = append(sentences, said[:min(len(said), mostCounted)]...)
	if n := len(said) - mostCounted; n > 0 {
		sentences = append(sentences, fmt.Sprintf("The counts of %s more are in --json and in the results of -o.", count.Of(n, "benchmark")))
	}
	return append(sentences, r.refused()...)
}

// timeVerdict is the verdict on the time of a benchmark.
func (r *Report) timeVerdict(c Count) Verdict {
	for _, f := range r.Findings {
		if f.Unit == results.NsPerOp && f.Benchmark == (Benchmark{c.Package, c.Benchmark}) {
			return f.Verdict
		}
	}
	return Unsure
}

// direction is +1 if head executes more instructions, by its own or else by those
// of Go's runtime, -1 if fewer, and 0 if as many.
func (c Count) direction() int {
	for _, in := range []Interval{c.Change(), c.Total()} {
		switch {
		case in.Lo > 0:
			return +1
		case in.Hi < 0:
			return -1
		}
	}
	return 0
}

// witness is what a count says beside the verdict on the time; "" if nothing.
func (c Count) witness(time Verdict) string {
	name := term.Text(c.Benchmark)
	switch d := c.direction(); {
	case d > 0:
		return fmt.Sprintf("%s executes %s more instructions%s%s.", name, c.by(), c.whose(), c.grown())
	case d < 0 && (time == Unsure || time == Slower):
		return fmt.Sprintf("%s is %v by time and executes %s fewer instructions%s.", name, time, c.by(), c.whose())
	case d < 0:
		return ""
	case time == Unsure:
		return fmt.Sprintf("%s is UNSURE by time and executes as many instructions as in base: %s.", name, c.about())
	case time == Slower:
		return fmt.Sprintf("%s is SLOWER and executes as many instructions as in base, %s: memory, branches or where code lies takes longer, not more work.", name, c.about())
	}
	return ""
}

// about is how many instructions an operation executes, and how surely.
func (c Count) about() string {
	in := c.Change()
	return fmt.Sprintf("%s an operation, within %.2g%%", formatCount(mean(c.Own[Head])), 100*math.Expm1(in.Hi-in.Center))
}

// decisive is the change that direction goes by.
func (c Count) decisive() (in Interval, own bool) {
	if in := c.Change(); in.Lo > 0 || in.Hi < 0 {
		return in, true
	}
	return c.Total(), false
}

func (c Count) by() string {
	in, _ := c.decisive()
	return fmt.Sprintf("%.1f%%", 100*math.Abs(math.Expm1(in.Center)))
}

func (c Count) whose() string {
	if _, own := c.decisive(); own {
		return ""
	}
	return " with those of Go's runtime, and as many without"
}

// grown names the functions that execute most of what is more.
func (c Count) grown() string {
	var named []string
	for _, f := range c.Functions {
		if f.Change() > 0 && f.Name != "" && len(named) < mostCounted {
			named = append(named, fmt.Sprintf("%s %s more", term.Text(f.Name), formatCount(f.Change())))
		}
	}
	if len(named) == 0 {
		return ""
	}
	return ": " + strings.Join(named, ", ") + " in an operation"
}

func formatCount(n float64) string { return results.UnitOf(results.Instructions).Format(n) }

// refused names what is no witness, by the reason.
func (r *Report) refused() (sentences []string) {
	var reasons []string
	names := map[string][]string{}
	for _, c := range r.Counts {
		if c.Refused == "" {
			continue
		}
		if names[c.Refused] == nil {
			reasons = append(reasons, c.Refused)
		}
		names[c.Refused] = append(names[c.Refused], c.Benchmark)
	}
	slices.Sort(reasons)
	for _, why := range reasons {
		of := names[why]
		text := strings.Join(of[:min(len(of), mostCounted)], ", ")
		if n := len(of) - mostCounted; n > 0 {
			text += " and " + count.Of(n, "other")
		}
		sentences = append(sentences, fmt.Sprintf("No count of the instructions of %s: %s.", term.Text(text), term.Text(why)))
	}
	return sentences
}

// unwitnessed reports whether a rule judges a count that could not be taken.
func (r *Report) unwitnessed() bool {
	return slices.ContainsFunc(r.Counts, func(c Count) bool { return c.Gated && c.Refused != "" })
}

// countedReason says what the verdict on counts of instructions rests on.
func (f Finding) countedReason(threshold string) string {
	counted := fmt.Sprintf("each side was counted %d times, and the change is ", len(f.Base))
	if f.Verdict == Slower || f.Verdict == Faster {
		return counted + "beyond " + threshold
	}
	return counted + "within " + threshold
}
