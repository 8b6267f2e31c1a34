package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
)

// An InstructionCounter is a Target that can count what a benchmark executes.
type InstructionCounter interface {
	Target

	// InstructionMeter finds what counts instructions on this machine. Its error
	// says what to install.
	InstructionMeter() (*InstructionMeter, error)
}

// An InstructionMeter is something that counts the instructions of a process.
type InstructionMeter struct {
	Name   string        // cachegrind, or perf events
	Slower float64       // how many times as long as without it an operation takes at most
	Enough time.Duration // that the operations of a steady count take without it

	// Count starts a process of a side that performs n operations of a benchmark,
	// and counts by function what it executes from its start to its end.
	Count func(ctx context.Context, side Side, b Benchmark, n int) (map[string]float64, error)
}

// A Count is what a benchmark executes on both sides, in instructions per
// operation: a witness that needs no quiet machine, and that knows nothing of
// memory and branches. Each side is counted twice.
type Count struct {
	Benchmark
	Refused    string            `json:"refused,omitempty"` // why it is no witness
	Gated      bool              `json:"gated,omitempty"`   // a rule judges it
	Operations int               `json:"operations,omitempty"`
	Own        [2][]float64      `json:"own,omitzero"`        // of base and head, without what Go's runtime executes
	All        [2][]float64      `json:"all,omitzero"`        // with it
	Functions  []CountedFunction `json:"functions,omitempty"` // that changed by more than their counts vary, the largest changes first
}

// A CountedFunction is what one function executes itself in an operation.
type CountedFunction struct {
	Name string  `json:"name"`
	Base float64 `json:"base"`
	Head float64 `json:"head"`
}

// Change is how many instructions more head executes.
func (f CountedFunction) Change() float64 { return f.Head - f.Base }

// Counts of the same code were no further apart than the first of these without
// Go's runtime, and than the second with it, where both sides' own counts were
// near (docs/measurements/gate.md). emptyLoop is more than the
// loops of benchmarks execute in an operation: 3 up to b.N, 7 of b.Loop.
const (
	ownSpread = 0.002
	allSpread = 0.01
	emptyLoop = 8
)

// Change is log(head/base) of what the benchmark executes without Go's runtime,
// as surely as its counts repeat themselves.
func (c Count) Change() Interval { return countedChange(c.Own, ownSpread) }

// Total is Change with Go's runtime.
func (c Count) Total() Interval { return countedChange(c.All, allSpread) }

func countedChange(counts [2][]float64, least float64) Interval {
	spread := least
	for _, of := range counts {
		spread = max(spread, 2*(slices.Max(of)-slices.Min(of))/mean(of))
	}
	center := math.Log(mean(counts[Head]) / mean(counts[Base]))
	return Interval{center, center - math.Log1p(spread), center + math.Log1p(spread)}
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// runtimes reports whether a function is of Go's runtime, whose counts vary with
// when it collects garbage, grows stacks and schedules. Maps are the program's.
func runtimes(function string) bool {
	inner, ok := strings.CutPrefix(function, "internal/runtime/")
	return strings.HasPrefix(function, "runtime.") || ok && !strings.HasPrefix(inner, "maps.")
}

// CountOptions say what is counted.
type CountOptions struct {
	By          *InstructionMeter
	Left        time.Duration                                   // for all benchmarks
	ThresholdOf func(Benchmark) (threshold float64, gated bool) // of the rule that judges a count; false: none does
	Record      func(Measurement)                               // is given each count
}

// errNoTimeToCount is why a benchmark that the budget does not reach is no witness.
var errNoTimeToCount = errors.New("no time was left to count it: a longer --budget has it")

// CountInstructions counts every benchmark whose time the report has, those that
// are undecided first, and adds what it found to the report: of what a rule
// judges, a verdict. Its error is the end of ctx.
func CountInstructions(ctx context.Context, r *Report, opt CountOptions) error {
	limited, cancel := context.WithTimeout(ctx, opt.Left)
	defer cancel()
	r.CountedBy = opt.By.Name
	for _, f := range r.toCount() {
		threshold, gated := opt.ThresholdOf(f.Benchmark)
		c := Count{Benchmark: f.Benchmark, Gated: gated}
		if !gated {
			threshold = r.Options.Threshold
		}
		err := c.count(limited, r, f, opt)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil:
			err = errNoTimeToCount
		case err == nil:
			err = c.witnesses(threshold)
		}
		if err != nil {
			c.Refused = err.Error()
		} else {
			r.Findings = append(r.Findings, c.finding(threshold))
		}
		r.Counts = append(r.Counts, c)
	}
	return nil
}

// toCount are the times of benchmarks, the undecided ones first and then the worst.
func (r *Report) toCount() []Finding {
	times := func(undecided bool) []Finding {
		return r.those(func(f Finding) bool { return f.Unit == results.NsPerOp && undecided == (f.outcome() == isUndecided) })
	}
	return append(times(true), times(false)...)
}

// countings is how often each side is counted. A counting is two processes, of
// which one performs twice as many operations as the other: what a process does
// once is in both.
const countings = 2

// count counts both sides in turn.
func (c *Count) count(ctx context.Context, r *Report, of Finding, opt CountOptions) error {
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Benchmark == of.Benchmark && f.Unit == results.Instructions }) {
		return fmt.Errorf("it reports %s itself", results.Instructions)
	}
	ns := of.Typical(Base)
	c.Operations = int(max(2, min(float64(opt.By.Enough)/max(ns, 0.01), MaxOps)))
	takes := time.Duration(2 * countings * 3 * float64(c.Operations) * ns * opt.By.Slower)
	if deadline, _ := ctx.Deadline(); takes > time.Until(deadline) {
		return fmt.Errorf("counting it takes up to %s, and so much was not left: a longer --budget has it", roughly(takes))
	}
	var functions [2][]map[string]float64
	for position := range 2 * countings {
		side, start := []Side{Base, Head}[position%2], clock.Now()
		executed, err := opt.By.operation(ctx, side, of.Benchmark, c.Operations)
		if err != nil {
			return err
		}
		functions[side] = append(functions[side], executed)
		all, own := sums(executed)
		c.Own[side], c.All[side] = append(c.Own[side], own), append(c.All[side], all)
		opt.Record(Measurement{
			Benchmark: of.Benchmark, Side: side, Round: r.Rounds, Position: position, N: c.Operations,
			Start: start.Sub(r.Options.Start), Took: clock.Now().Sub(start), Values: []results.Metric{{Unit: results.Instructions, Value: own}},
		})
	}
	c.Functions = changedFunctions(functions)
	return nil
}

// operation counts, by function, what an operation executes.
func (m *InstructionMeter) operation(ctx context.Context, side Side, b Benchmark, n int) (map[string]float64, error) {
	few, err := m.Count(ctx, side, b, n)
	if err != nil {
		return nil, err
	}
	each, err := m.Count(ctx, side, b, 2*n)
	if err != nil {
		return nil, err
	}
	for name := range few {
		each[name] -= few[name]
	}
	for name := range each {
		each[name] /= float64(n)
	}
	return each, nil
}

func sums(executed map[string]float64) (all, own float64) {
	for name, n := range executed {
		all += n
		if !runtimes(name) {
			own += n
		}
	}
	return all, own
}

// changedFunctions are those that execute more or fewer instructions by more than
// their counts vary, and by more than a thousandth of the whole.
func changedFunctions(sides [2][]map[string]float64) (changed []CountedFunction) {
	joinClosures(sides)
	names, all := map[string]bool{}, 0.0
	for _, executed := range slices.Concat(sides[Base], sides[Head]) {
		for name := range executed {
			names[name] = true
		}
		total, _ := sums(executed)
		all = max(all, total)
	}
	for name := range names {
		var of [2][]float64
		varies := all / 1000
		for side, countings := range sides {
			for _, executed := range countings {
				of[side] = append(of[side], executed[name])
			}
			varies = max(varies, 2*(slices.Max(of[side])-slices.Min(of[side])))
		}
		f := CountedFunction{name, mean(of[Base]), mean(of[Head])}
		if math.Abs(f.Change()) > varies {
			changed = append(changed, f)
		}
	}
	slices.SortFunc(changed, func(a, b CountedFunction) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())), cmp.Compare(a.Name, b.Name))
	})
	return changed[:min(len(changed), mostFunctions)]
}

// witnesses refuses counts that prove nothing.
func (c *Count) witnesses(threshold float64) error {
	for _, side := range []Side{Base, Head} {
		if own := mean(c.Own[side]); own < emptyLoop {
			return fmt.Errorf("%s executes %.3g instructions in an operation outside of Go's runtime, no more than a loop that does nothing", side, max(own, 0))
		}
	}
	in := c.Change()
	if spread := math.Expm1(in.Hi - in.Center); spread > max(threshold, ownSpread) {
		return fmt.Errorf("its counts vary by %.2g%%, and the threshold is %.3g%%", 100*spread, 100*threshold)
	}
	return nil
}

// counted reports whether a finding is of a Count.
func (f Finding) counted() bool { return f.Unit == results.Instructions && len(f.Control) == 0 }

// finding is the verdict on a count that is a witness. Where no rule judges it,
// it has none.
func (c *Count) finding(threshold float64) Finding {
	f := Finding{
		Benchmark: c.Benchmark, Unit: results.Instructions, Pass: true,
		Change: c.Change(), Threshold: max(threshold, ownSpread), Base: c.Own[Base], Head: c.Own[Head],
	}
	if !c.Gated {
		return f
	}
	f.Better, f.Verdict = -1, Same
	limit := math.Log1p(f.Threshold)
	switch {
	case f.Change.Center > limit:
		f.Verdict, f.Pass = Slower, false
	case f.Change.Center < -limit:
		f.Verdict = Faster
	case f.Change.Lo > 0:
		f.Verdict = Within
	}
	return f
}
