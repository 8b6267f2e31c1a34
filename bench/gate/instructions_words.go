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
	var of [3]int // that execute fewer, as many and more
	var said []string
	for _, c := range r.Counts {
		if c.Refused != "" {
			continue
		}
		in, _ := c.decisive()
		of[1+in.sign()]++
		if text := c.witness(r.timeVerdict(c)); text != "" {
			said = append(said, text)
		}
	}
	var clauses []string
	for _, x := range []struct {
		n    int
		text string
	}{{of[2], "more than base"}, {of[1], "as many"}, {of[0], "fewer"}} {
		if x.n > 0 {
			clauses = append(clauses, fmt.Sprintf("%d %s", x.n, x.text))
		}
	}
	if len(clauses) > 0 {
		sentences = append(sentences, fmt.Sprintf("Instructions of an operation in %s, by %s: %s.", count.Of(of[0]+of[1]+of[2], "benchmark"), r.CountedBy, strings.Join(clauses, ", ")))
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
		if f.Unit == results.NsPerOp && f.Benchmark == c.Benchmark {
			return f.Verdict
		}
	}
	return Unsure
}

// decisive is the change by which head executes more or fewer instructions: of its
// own, or else with those of Go's runtime, which whose says.
func (c Count) decisive() (in Interval, whose string) {
	if in := c.Change(); in.sign() != 0 {
		return in, ""
	}
	return c.Total(), " with those of Go's runtime, and as many without"
}

// witness is what a count says beside the verdict on the time; "" if nothing.
func (c Count) witness(time Verdict) string {
	name := term.Text(c.Name)
	in, whose := c.decisive()
	by := fmt.Sprintf("%.1f%%", 100*math.Abs(math.Expm1(in.Center)))
	switch d := in.sign(); {
	case d > 0:
		return fmt.Sprintf("%s executes %s more instructions%s%s.", name, by, whose, c.grown())
	case d < 0 && (time == Unsure || time == Slower):
		return fmt.Sprintf("%s is %v by time and executes %s fewer instructions%s.", name, time, by, whose)
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
		names[c.Refused] = append(names[c.Refused], c.Name)
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
