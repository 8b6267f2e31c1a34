package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onebit/bench/results"
)

// A Case is one timed configuration: a name, what an operation costs, and how
// to bring it to life.
type Case struct {
	// Name is the benchmark's name without the prefix "Benchmark", in the Go
	// benchmark format's own form:
	// MatVec/format=q1_0_g128/variant=avx2/rows=6144/cols=2048/cache=cold.
	// It is unique in its suite and does not end in -digits, which readers
	// would take for GOMAXPROCS.
	Name string

	// Group names the cases that live at the same time: they are set up
	// together, interleaved in the same rounds, and closed together before the
	// next group begins. Only cases of one group are compared fairly.
	Group string

	Bytes int64 // weight bytes that one operation reads; 0 if it has none
	Ops   int64 // multiply-adds in one operation; 0 if they don't matter

	// Rates are further amounts per operation, reported per second:
	// {"tok/s", 64} for an operation that produces 64 tokens.
	Rates []results.Metric

	// Metrics are values known without timing, such as packed-B. Those whose
	// unit is Exact accompany every sample; the others were measured once and
	// accompany the first sample only, so that no reader counts one
	// measurement as many.
	Metrics []results.Metric

	// Roof names the case of the same group whose bytes per second are the
	// ceiling of this one's: the divisor of %roof.
	Roof string

	// Peak names the case of the same group whose multiply-adds per second are
	// the ceiling of this one's: the divisor of %peak.
	Peak string

	// RoofRate and PeakRate are ceilings that are known from elsewhere, in bytes
	// and multiply-adds per second, in the place of Roof and Peak; 0: none.
	RoofRate, PeakRate float64

	// Solo names the case of the same group that does the same on one thread.
	// If it is there, and this one hardly faster, that becomes a warning: the
	// threads did not run at once.
	Solo string

	// Check, if not nil, is given what the time of each sample says before the
	// sample counts. An error, such as a rate that the machine cannot reach,
	// is a failure of the case.
	Check func(speeds []results.Metric) error

	// Ceiling says that this case measures the machine and not a kernel: its
	// Bytes are reported as read-B/s, and it is never in an A/A pair.
	Ceiling bool

	// Single says that this case is never in an A/A pair, for it is
	// another program's, or of another kind than the rest of its group.
	Single bool

	// Expect is about how long an operation takes that outlasts a sample, to be
	// set aside in a budget; 0 for those that don't.
	Expect time.Duration

	// Setup prepares the case. Data that several cases of a group share is the
	// caller's affair, as is freeing it with the last Close.
	Setup func(ctx context.Context) (Instance, error)
}

// An Instance is a case that is set up. Its methods are called from one
// goroutine at a time.
type Instance interface {
	// Verify compares the case's result with the reference and returns the
	// errors that it measured (nmse, max-abs-err). A non-nil error means that
	// the result is wrong: the case is reported so, and never timed.
	Verify(ctx context.Context) ([]results.Metric, error)

	// Run performs n operations. A case measured with a cold cache rotates
	// over its matrices here. An operation that takes seconds ends early when
	// ctx does. An error is a failure of the case, which is timed no further.
	Run(ctx context.Context, n int) error

	// Close frees what Setup made.
	Close() error
}

// A Stopwatch is an Instance that takes the time itself, because its
// operations contain what should not count: the start of another program, or
// the filling of a cache.
type Stopwatch interface {
	// Elapsed returns the time that counts of the last Run.
	Elapsed() time.Duration
}

// A Timed is an Instance that knows from Verify how long an operation takes. One
// that outlasts any slice need not be run again to be told so.
type Timed interface {
	// Took returns the time of the last operation; 0 if it isn't known.
	Took() time.Duration
}

// A Meter counts events of the machine, such as page faults; package counters
// has one.
type Meter interface {
	Start() error

	// Stop returns what was counted since Start, per operation, without what
	// can't be told.
	Stop(ops int) ([]results.Metric, error)
}

// A Prober is an Instance that tells in what state the machine is.
type Prober interface {
	// Probe is called after each sample, untimed, and returns what goes on the
	// sample's line; nil where it can't tell. It takes about a millisecond.
	Probe() []results.Metric
}

// A Study is measured apart from the rounds and makes its own samples: a
// profile by operation, an error by block.
type Study struct {
	// Name stands for the study in filters and failures. The samples' names
	// are the study's own.
	Name string

	// Group is that of the cases whose instances should be there while the
	// study runs, after the group's rounds. A group of its own is fine, too:
	// it comes after those of cases.
	Group string

	// Time is about how long the study takes, to be set aside in a budget.
	Time time.Duration

	// Run emits samples, each written to the results file at once, under its
	// name without -GOMAXPROCS; Iters 0 counts as 1. It stops at emit's first
	// error and when ctx ends. An error is a failure in the results.
	Run func(ctx context.Context, emit func(results.Sample) error) error
}

// A Suite is the cases of a run, and what the header says about its machine.
type Suite struct {
	Settings []results.Setting
	Cases    []Case
	Studies  []Study

	// Doubts, if not nil, returns what the results should be read with. It is
	// asked at the start and after each group; each distinct text becomes one
	// warning.
	Doubts func() []string
}

// setting returns the value of a key of the header.
func (s Suite) setting(key string) string {
	i := slices.IndexFunc(s.Settings, func(set results.Setting) bool { return set.Key == key })
	if i < 0 {
		return ""
	}
	return s.Settings[i].Value
}

// validate reports the first case or setting that the results file could not
// hold or the runner could not time.
func (s Suite) validate() error {
	if len(s.Cases)+len(s.Studies) == 0 {
		return errors.New("bench: the suite has no cases")
	}
	keys := make(map[string]bool, len(s.Settings))
	for _, set := range s.Settings {
		if !results.ValidKey(set.Key) {
			return fmt.Errorf("bench: setting %q: a key is lower case without spaces or colons", set.Key)
		}
		if keys[set.Key] {
			return fmt.Errorf("bench: setting %q is given twice", set.Key)
		}
		keys[set.Key] = true
	}
	group := make(map[string]string, len(s.Cases))
	for _, c := range s.Cases {
		if err := c.validate(); err != nil {
			return err
		}
		if _, dup := group[c.Name]; dup {
			return fmt.Errorf("bench: case %s: the name is used twice", c.Name)
		}
		group[c.Name] = c.Group
	}
	for _, c := range s.Cases {
		for _, other := range []string{c.Roof, c.Peak} {
			if g, ok := group[other]; other != "" && (!ok || g != c.Group) {
				return fmt.Errorf("bench: case %s: its roof %s is not in group %q", c.Name, other, c.Group)
			}
		}
	}
	for _, st := range s.Studies {
		if err := results.CheckName(st.Name); err != nil {
			return fmt.Errorf("bench: study %s: %w", st.Name, err)
		}
		if st.Run == nil {
			return fmt.Errorf("bench: study %s: no Run", st.Name)
		}
	}
	return nil
}

func (c Case) validate() error {
	if err := results.CheckName(c.Name); err != nil {
		return fmt.Errorf("bench: case %s: %w", c.Name, err)
	}
	switch {
	case c.Setup == nil:
		return fmt.Errorf("bench: case %s: no Setup", c.Name)
	case c.Bytes < 0 || c.Ops < 0 || c.Expect < 0:
		return fmt.Errorf("bench: case %s: negative bytes, operations or time", c.Name)
	}
	known := []results.Metric{{Unit: results.PctRoof, Value: c.RoofRate}, {Unit: results.PctPeak, Value: c.PeakRate}}
	if err := results.Finite(slices.Concat(c.Metrics, c.Rates, known)); err != nil {
		return fmt.Errorf("bench: case %s: %w", c.Name, err)
	}
	return nil
}
