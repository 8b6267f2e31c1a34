package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// A Runner measures suites. Its zero value takes 10 samples of 20 ms per case.
type Runner struct {
	Count  int           // samples per case; 0: chosen
	Time   time.Duration // target length of a sample; 0: chosen
	Budget time.Duration // time for the whole run, from which the above are chosen; 0: none
	Seed   uint64        // of the rounds' order

	// Progress, if not nil, is called between samples, from Run's goroutine.
	// It should return at once.
	Progress func(Progress)

	// Now is the clock; nil means time.Now.
	Now func() time.Time

	// canary replaces the canary's loop in tests.
	canary func()
}

// Progress says how far a run has come.
type Progress struct {
	Group       string
	Doing       string // "setup", "verify", "calibrate" or "measure"
	Done, Total int    // samples; Total is a forecast
	Elapsed     time.Duration
	Left        time.Duration // a forecast
}

// Run measures the suite and writes the results file to out, each sample as
// it is taken; see the package comment for how. It returns what it wrote.
//
// When ctx ends, or out can't be written, Run stops between two samples and
// returns what there is together with an error that wraps the cause. A case
// that fails is no error: it is among the Failures.
func (r *Runner) Run(ctx context.Context, suite Suite, out io.Writer) (*Results, error) {
	if err := suite.validate(); err != nil {
		return nil, err
	}
	run := newRun(r, suite, out)
	err := run.all(ctx, suite)
	// The doubts are about the samples taken, whatever ended the run.
	for _, doubt := range run.canary.doubts() {
		if werr := run.warn(doubt); err == nil {
			err = werr
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("bench: interrupted after %s: %w", countSamples(run.w.samples), ctx.Err())
	}
	return run.results, err
}

// A run is the state of one Run.
type run struct {
	*Runner
	now     func() time.Time
	rng     *rand.Rand
	canary  *canary
	w       *writer
	results *Results

	start       time.Time
	entriesDone float64 // of the rounds' entries, how many are measured
	entriesLeft int     // entries of groups not yet begun
	entries     int     // entries of all groups
	total       int     // samples forecast

	heap uint64 // live bytes after the last collection
}

func newRun(r *Runner, suite Suite, out io.Writer) *run {
	run := &run{Runner: r, now: r.Now, rng: newRand(r.Seed), w: newWriter(out), results: &Results{}}
	if run.now == nil {
		run.now = time.Now
	}
	loop := r.canary
	if loop == nil {
		loop = spin
	}
	run.canary = newCanary(loop, run.now)
	run.start = run.now()
	for _, g := range groups(suite.Cases) {
		run.entries += entriesOf(g)
	}
	run.entriesLeft = run.entries
	run.total = r.plan(run.entries, r.Budget).Samples
	for _, s := range suite.Settings {
		if value := oneLine(s.Value); value != "" {
			run.results.Settings = append(run.results.Settings, Setting{s.Key, value})
		}
	}
	return run
}

func (run *run) all(ctx context.Context, suite Suite) error {
	if err := run.w.header(run.results.Settings); err != nil {
		return err
	}
	if err := run.ask(suite.Doubts); err != nil {
		return err
	}
	for _, cases := range groups(suite.Cases) {
		err := run.group(ctx, cases)
		if derr := run.ask(suite.Doubts); err == nil {
			err = derr
		}
		if err != nil {
			return err
		}
		// What the group left behind must not be collected during the next
		// group's samples.
		runtime.GC()
	}
	return nil
}

// ask warns of what the suite doubts.
func (run *run) ask(doubts func() []string) error {
	if doubts == nil {
		return nil
	}
	for _, text := range doubts() {
		if err := run.warn(text); err != nil {
			return err
		}
	}
	return nil
}

// group sets a group up, verifies it, measures it, and closes it.
func (run *run) group(ctx context.Context, cases []Case) (err error) {
	deadline, plan := run.begin(cases)
	entries, err := run.setUp(ctx, cases)
	defer func() {
		if cerr := run.close(entries); err == nil {
			err = cerr
		}
	}()
	if err != nil {
		return err
	}
	correct, err := run.verify(ctx, entries)
	if err != nil || len(correct) == 0 {
		return err
	}
	if err := run.findRoofs(correct); err != nil {
		return err
	}
	if err := run.calibrate(ctx, correct, plan.Time); err != nil {
		return err
	}
	turns := withPair(correct)
	count := run.groupRounds(roundTime(turns), deadline.Sub(run.now()))
	run.total = len(run.results.Samples) + count*len(turns) + run.entriesLeft*plan.Count
	before := run.entriesDone
	done := func(round int) { run.entriesDone = before + float64(entriesOf(cases)*round)/float64(count) }
	for round := range count {
		if round >= minRounds && run.late(deadline) {
			run.total -= (count - round) * len(turns)
			break
		}
		if err := run.round(ctx, turns); err != nil {
			return err
		}
		done(round + 1)
	}
	done(count)
	return nil
}

// begin shares the time that is left out among the groups that are left, and
// returns when this one should end, and its plan.
func (run *run) begin(cases []Case) (deadline time.Time, plan Plan) {
	entries := entriesOf(cases)
	left := run.Budget - run.now().Sub(run.start)
	share := time.Duration(float64(left) * float64(entries) / float64(run.entriesLeft))
	run.entriesLeft -= entries
	return run.now().Add(share), run.plan(entries, share)
}

func (run *run) setUp(ctx context.Context, cases []Case) ([]*entry, error) {
	var entries []*entry
	for _, c := range cases {
		run.report(c.Group, "setup")
		inst, err := c.Setup(ctx)
		if err == nil {
			entries = append(entries, &entry{Case: c, name: c.Name, inst: inst})
		}
		if ctx.Err() != nil {
			return entries, ctx.Err()
		}
		if err != nil {
			if err := run.fail(c, fmt.Errorf("setup: %w", err)); err != nil {
				return entries, err
			}
		}
	}
	return entries, nil
}

// verify returns the entries whose results are right.
func (run *run) verify(ctx context.Context, entries []*entry) ([]*entry, error) {
	var correct []*entry
	for _, e := range entries {
		run.report(e.Group, "verify")
		found, err := e.inst.Verify(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = finite(found)
		}
		if err != nil {
			if err := run.fail(e.Case, err); err != nil {
				return nil, err
			}
			continue
		}
		e.note(append(slices.Clone(e.Metrics), found...))
		correct = append(correct, e)
	}
	return correct, nil
}

// finite rejects what the results file could not hold, and what no right
// result has.
func finite(metrics []Metric) error {
	for _, m := range metrics {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			return fmt.Errorf("%s is %v", m.Unit, m.Value)
		}
	}
	return nil
}

func (run *run) findRoofs(entries []*entry) error {
	for _, e := range entries {
		if e.Roof == "" {
			continue
		}
		i := slices.IndexFunc(entries, func(r *entry) bool { return r.name == e.Roof })
		if i < 0 {
			if err := run.warn("no share of " + e.Roof + " can be given: it failed"); err != nil {
				return err
			}
			continue
		}
		e.roof = entries[i]
	}
	return nil
}

func (run *run) calibrate(ctx context.Context, entries []*entry, target time.Duration) error {
	for _, e := range entries {
		run.report(e.Group, "calibrate")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.calibrate(run.now, target)
	}
	return nil
}

// late reports whether a group should end before all its rounds, because they
// last longer than calibration promised.
func (run *run) late(deadline time.Time) bool {
	return run.Count == 0 && run.Budget > 0 && run.now().After(deadline)
}

// round takes one sample of every entry, in an order drawn anew: what drifts
// (clock, temperature, neighbours) meets all alike.
func (run *run) round(ctx context.Context, turns []*entry) error {
	// No sample pays for the garbage of another. run.sample collects it.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var held []*taken
	for _, i := range run.rng.Perm(len(turns)) {
		if ctx.Err() != nil {
			if err := run.write(held); err != nil {
				return err
			}
			return ctx.Err()
		}
		held = append(held, &taken{turns[i], run.sample(turns[i])})
		ready, waiting := split(held)
		if err := run.write(ready); err != nil {
			return err
		}
		held = waiting
		run.canary.sing(turns[i].Group)
		run.report(turns[i].Group, "measure")
	}
	return nil
}

func (run *run) close(entries []*entry) error {
	for _, e := range slices.Backward(entries) {
		if err := e.inst.Close(); err != nil {
			if err := run.warn(fmt.Sprintf("closing %s: %v", e.name, err)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (run *run) write(samples []*taken) error {
	for _, t := range samples {
		s := Sample{Name: ParseName(t.entry.name + run.w.suffix), Iters: t.entry.n, Values: t.values()}
		if err := run.w.sample(s); err != nil {
			return err
		}
		run.results.Samples = append(run.results.Samples, s)
	}
	return nil
}

func (run *run) fail(c Case, err error) error {
	reason := lines(err.Error())
	if reason == "" {
		reason = "failed"
	}
	f := Failure{Name: ParseName(c.Name), Reason: reason}
	run.results.Failures = append(run.results.Failures, f)
	return run.w.failure(f)
}

func (run *run) warn(text string) error {
	text = oneLine(text)
	if slices.Contains(run.results.Warnings, text) {
		return nil
	}
	run.results.Warnings = append(run.results.Warnings, text)
	return run.w.warning(text)
}

func (run *run) report(group, doing string) {
	if run.Progress == nil {
		return
	}
	p := Progress{Group: group, Doing: doing, Done: len(run.results.Samples), Total: run.total}
	p.Elapsed = run.now().Sub(run.start)
	p.Left = run.plan(run.entries, run.Budget).Estimate - p.Elapsed
	if share := run.entriesDone / float64(run.entries); share > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (1 - share) / share)
	}
	p.Left = max(p.Left, 0)
	run.Progress(p)
}
