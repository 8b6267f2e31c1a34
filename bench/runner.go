package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
)

// A Runner measures suites. Its zero value takes 10 samples of 20 ms per case.
type Runner struct {
	Count  int           // samples per case; 0: chosen
	Time   time.Duration // target length of a sample; 0: chosen
	Budget time.Duration // time for the whole run, from which the above are chosen; 0: none
	Seed   uint64        // of the rounds' order

	// Start, if not nil, starts one of Processes processes, one after another,
	// each of which measures its share of the rounds by Pass: of the same
	// suite, writing to out. Its runner gets the job. When ctx ends it should
	// ask the process to end, and wait for it. An error is that it could not
	// be started, or how it failed. Processes 0 counts as 1.
	Start     func(ctx context.Context, job Job, out io.Writer) error
	Processes int

	// Further, if not nil, is asked after the last of these processes which groups
	// need another one, and after that again: until it names none, or the next one
	// would end after Most.
	Further func(*results.Set) []string
	Most    time.Duration

	// Meter, if not nil, counts events during every sample.
	Meter Meter

	// Progress, if not nil, is called between samples, from Run's goroutine.
	// It should return at once.
	Progress func(Progress)

	// Now is the clock, nil the one of package clock; Step is what it advances
	// by, 0 for one as fine as can be. A sample lasts 1,000 steps or more.
	Now  func() time.Time
	Step time.Duration

	// In tests, canary replaces the canary's loop and cpuTime what the system
	// says of its CPUs.
	canary  func() time.Duration
	cpuTime func() sysinfo.Value[sysinfo.CPUTime]
}

// Progress says how far a run has come.
type Progress struct {
	Group, Case string
	Doing       string // "setup", "verify", "calibrate", "measure" or "study"
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
func (r *Runner) Run(ctx context.Context, suite Suite, out io.Writer) (*results.Set, error) {
	if err := suite.validate(); err != nil {
		return nil, err
	}
	run := newRun(r, suite, out)
	err := run.all(ctx, suite)
	run.results.MarkDoubts()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("bench: stopped after %s: %w", count.Of(len(run.results.Samples), "sample"), ctx.Err())
	}
	return run.results, err
}

// A run is the state of one Run.
type run struct {
	*Runner
	now     func() time.Time
	step    time.Duration
	current string // the group that is measured
	rng     *rand.Rand
	canary  *canary
	w       *results.Writer
	results *results.Set
	skip    []string                    // cases that are not measured
	only    []string                    // groups that are; all if there are none
	process int                         // the number of this process
	known   map[string][]results.Metric // exact values, by name, of other processes' samples
	models  map[string]string           // digests of their weights, by name

	start       time.Time
	armsLeft    int           // arms of groups not yet begun
	shortLeft   int           // those of them that are not long
	weightLeft  float64       // and what they weigh
	reservedFor time.Duration // what groups not yet begun have reserved
	total       int           // samples forecast
	forecast    Plan          // of the whole run
	done        time.Duration // of the forecast, what is done
	perShort    time.Duration // of the forecast, what is a short arm's

	heap uint64 // live bytes after the last collection

	doing    string // when progress was reported last
	reported time.Time
}

func newRun(r *Runner, suite Suite, out io.Writer, only ...string) *run {
	run := &run{Runner: r, now: r.Now, step: r.Step, rng: rand.New(rand.NewPCG(r.Seed, 0)), w: results.NewWriter(out), results: &results.Set{}, process: 1, only: only}
	if run.now == nil {
		run.now, run.step = clock.Now, clock.Step()
	}
	loop := r.canary
	if loop == nil {
		loop = chorus
	}
	run.canary = newCanary(loop, run.now, run.step)
	run.start = run.now()
	for _, g := range run.wanted(suite) {
		run.armsLeft += g.arms()
		run.shortLeft += g.short()
		run.weightLeft += g.weight()
		run.reservedFor += r.reserved(g)
	}
	run.forecast = r.Plan(suite)
	run.perShort = (run.forecast.Estimate - run.reservedFor) / time.Duration(max(run.shortLeft, 1))
	run.total = run.forecast.Samples
	for _, s := range suite.Settings {
		if value := results.OneLine(s.Value); value != "" {
			run.results.Settings = append(run.results.Settings, results.Setting{Key: s.Key, Value: value})
		}
	}
	run.models = results.ModelDigests(run.results.Setting(results.ModelsKey))
	return run
}

func (run *run) all(ctx context.Context, suite Suite) error {
	if err := run.w.Header(run.results.Settings); err != nil {
		return err
	}
	if run.Start != nil {
		if err := run.ask(suite.Doubts); err != nil {
			return err
		}
		return run.passes(ctx, suite)
	}
	return run.pass(ctx, suite)
}

// wanted are the groups to measure, each with the A/A pairs that it has among all.
func (run *run) wanted(suite Suite) []*group {
	all := suite.groups()
	if len(run.only) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(g *group) bool { return !slices.Contains(run.only, g.name) })
}

// groups measures the suite's groups.
func (run *run) groups(ctx context.Context, suite Suite) error {
	if err := run.ask(suite.Doubts); err != nil {
		return err
	}
	for _, g := range run.wanted(suite) {
		err := run.group(ctx, g)
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

// group sets a group up, verifies it, measures it, studies it, and closes it.
func (run *run) group(ctx context.Context, g *group) (err error) {
	deadline, plan := run.begin(g)
	run.current = results.OneLine(g.name)
	arms, err := run.setUp(ctx, g.cases)
	defer func() {
		if cerr := run.close(arms); err == nil {
			err = cerr
		}
	}()
	if err != nil {
		return err
	}
	correct, err := run.verify(ctx, arms)
	if err != nil {
		return err
	}
	if correct, err = run.calibrate(ctx, correct); err != nil {
		return err
	}
	markFar(correct)
	if err := run.findCeilings(correct); err != nil {
		return err
	}
	watch := run.watch(run.current)
	before, work := run.done, run.longRounds(g)+time.Duration(g.short())*run.perShort
	err = run.rounds(ctx, run.withDoubles(correct, g), deadline, plan, func(share float64) {
		run.done = before + time.Duration(share*float64(work))
	})
	for _, doubt := range append(watch.doubts(), soloDoubts(run.current, correct)...) {
		if werr := run.warn(doubt); err == nil {
			err = werr
		}
	}
	if err != nil {
		return err
	}
	return run.studies(ctx, g)
}

// studies runs the studies of a group.
func (run *run) studies(ctx context.Context, g *group) error {
	for _, st := range g.studies {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := run.study(ctx, g, st); err != nil {
			return err
		}
	}
	return nil
}

// study runs one study. Others are watched for meanwhile, as during samples.
func (run *run) study(ctx context.Context, g *group, st Study) error {
	run.report(Case{Name: st.Name, Group: g.name}, "study")
	run.canary.sing(run.current)
	watch := run.watch(run.current)
	var unwritten error
	err := st.Run(ctx, func(s results.Sample) error {
		if err := s.Validate(); err != nil {
			return err
		}
		run.total++
		if unwritten = run.emit(s); unwritten != nil {
			return unwritten
		}
		run.canary.sing(run.current)
		run.report(Case{Name: st.Name, Group: g.name}, "study")
		return ctx.Err()
	})
	run.done += st.Time
	if unwritten != nil {
		return unwritten
	}
	run.canary.sing(run.current)
	for _, doubt := range watch.doubts() {
		if werr := run.warn(doubt); werr != nil {
			return werr
		}
	}
	if err != nil && ctx.Err() == nil {
		return run.fail(st.Name, err)
	}
	return ctx.Err()
}

// begin shares the time that is left out among the groups that are left, and
// returns when this one should end, and its plan.
func (run *run) begin(g *group) (deadline time.Time, plan Plan) {
	short := g.short()
	left := run.Budget - run.reservedFor - run.now().Sub(run.start)
	share := time.Duration(float64(left) * g.weight() / max(run.weightLeft, 1))
	plan = run.plan(short, share)
	run.armsLeft -= g.arms()
	run.shortLeft -= short
	run.weightLeft -= g.weight()
	run.reservedFor -= run.reserved(g)
	return run.now().Add(share + run.longRounds(g)), plan
}

func (run *run) setUp(ctx context.Context, cases []Case) ([]*arm, error) {
	var arms []*arm
	for _, c := range cases {
		if slices.Contains(run.skip, c.Name) {
			continue
		}
		run.report(c, "setup")
		inst, err := c.Setup(ctx)
		if err == nil {
			arms = append(arms, &arm{Case: c, name: c.Name, inst: inst, class: run.results.Class(results.ParseName(c.Name))})
		}
		if ctx.Err() != nil {
			return arms, ctx.Err()
		}
		if err != nil {
			if err := run.fail(c.Name, fmt.Errorf("setup: %w", err)); err != nil {
				return arms, err
			}
		}
	}
	return arms, nil
}

// verify returns the arms whose results are right.
func (run *run) verify(ctx context.Context, arms []*arm) ([]*arm, error) {
	var correct []*arm
	for _, e := range arms {
		run.report(e.Case, "verify")
		found, err := e.inst.Verify(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = results.Finite(found)
		}
		if err != nil {
			if err := run.fail(e.Name, err); err != nil {
				return nil, err
			}
			continue
		}
		e.note(append(slices.Clone(e.Metrics), found...))
		correct = append(correct, e)
	}
	return correct, nil
}

func (run *run) findCeilings(arms []*arm) (err error) {
	for _, e := range arms {
		if e.roof, err = run.findCeiling(arms, e.Roof); err != nil {
			return err
		}
		if e.peak, err = run.findCeiling(arms, e.Peak); err != nil {
			return err
		}
	}
	return nil
}

func (run *run) findCeiling(arms []*arm, name string) (*arm, error) {
	i := slices.IndexFunc(arms, func(e *arm) bool { return e.name == name })
	switch {
	case name == "":
		return nil, nil
	case i < 0:
		return nil, run.warn("no share of " + name + " can be given: it failed")
	}
	return arms[i], nil
}

// calibrate returns the arms that could be run.
func (run *run) calibrate(ctx context.Context, arms []*arm) ([]*arm, error) {
	var able []*arm
	for _, e := range arms {
		run.report(e.Case, "calibrate")
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err := e.calibrate(ctx, run.now, max(shortSlice, run.shortest()))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if err := run.fail(e.Name, err); err != nil {
				return nil, err
			}
			continue
		}
		able = append(able, e)
	}
	return able, nil
}

func (run *run) close(arms []*arm) error {
	for _, e := range slices.Backward(arms) {
		if err := e.inst.Close(); err != nil {
			if err := run.warn(fmt.Sprintf("closing %s: %v", e.name, err)); err != nil {
				return err
			}
		}
	}
	return nil
}
