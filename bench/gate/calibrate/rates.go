package calibrate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"onebit/bench/gate"
	"onebit/bench/noise"
	"onebit/bench/results"
)

// A Share is how many of a number of trials had an outcome.
type Share struct{ Count, Of int }

func (s *Share) add(outcome bool) {
	s.Of++
	if outcome {
		s.Count++
	}
}

// Value is the share as a fraction.
func (s Share) Value() float64 { return float64(s.Count) / float64(max(s.Of, 1)) }

// Interval is Clopper and Pearson's 95% interval (Biometrika 26:404, 1934),
// which holds the truth at least so often.
func (s Share) Interval() (lo, hi float64) {
	k, n := float64(s.Count), float64(s.Of)
	lo, hi = 0, 1
	if s.Count > 0 {
		lo = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(0.025)
	}
	if s.Count < s.Of {
		hi = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(0.975)
	}
	return lo, hi
}

// Percent is the share for people.
func (s Share) Percent() string { return fmt.Sprintf("%.1f%%", 100*s.Value()) }

// String is the share with its interval.
func (s Share) String() string {
	lo, hi := s.Interval()
	return fmt.Sprintf("%.1f%% [%.1f, %.1f]", 100*s.Value(), 100*lo, 100*hi)
}

// Slowed is how many cases of a gate are slower, where any are.
const Slowed = 1

// Options say what Replay does.
type Options struct {
	Gates  int           // of each size
	Sizes  []float64     // how much slower the slower cases are, as fractions; 0: nothing is
	Budget time.Duration // of each gate
	Seed   uint64
	Done   func(gates int) // is told how many gates have ended, by many goroutines; may be nil
}

// Rates are how often gates were right and wrong with slowdowns of one size.
type Rates struct {
	Size    float64
	Alarm   Share                // gates with any false claim: SLOWER or FASTER of what is the same, or an alarm of the control
	False   Share                // gates that call any case slower that is not
	Exit    [4]Share             // gates by exit status
	Slowed  [gate.Verdicts]Share // verdicts on the times of slower cases
	Others  [gate.Verdicts]Share // verdicts on the times of other cases
	ByCase  map[string]*Share    // slower cases that were called SLOWER
	Rounds  float64              // of a gate, the mean
	Seconds float64              // of a gate, the median
	Most    float64              // seconds of the longest
	Rivals  []RivalRates
}

// RivalRates are how often another method was right and wrong on the same data.
type RivalRates struct {
	Name  string
	False Share // comparisons that call any case slower that is not
	Found Share // slower cases that were called slower
}

// A trial is one gate on the noise, and what other methods say of it.
type trial struct {
	slower map[string]float64
	report *gate.Report
	rivals []map[string]bool // cases that they call slower
	real   bool              // what more work allocates is slower too
}

// Replay runs gates on recorded noise, with a clock that goes as the recorded
// processes took.
func Replay(ctx context.Context, noise *Noise, opt Options) ([]*Rates, error) {
	trials := make([]*trial, opt.Gates*len(opt.Sizes))
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range trials {
		group.Go(func() (err error) {
			trials[i], err = noise.try(ctx, opt, opt.Sizes[i%len(opt.Sizes)], uint64(i))
			if opt.Done != nil {
				opt.Done(int(done.Add(1)))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all []*Rates
	for at, size := range opt.Sizes {
		var of []*trial
		for i := at; i < len(trials); i += len(opt.Sizes) {
			of = append(of, trials[i])
		}
		all = append(all, rates(size, of, rivals))
	}
	return all, nil
}

// rates sums trials of one size up.
func rates(size float64, trials []*trial, rivals []rival) *Rates {
	r := &Rates{Size: size, ByCase: map[string]*Share{}}
	for _, m := range rivals {
		r.Rivals = append(r.Rivals, RivalRates{Name: m.name})
	}
	var seconds []float64
	for _, t := range trials {
		r.add(t)
		r.Rounds += float64(t.report.Rounds) / float64(len(trials))
		seconds = append(seconds, t.report.Elapsed.Seconds())
	}
	r.Seconds, r.Most = noise.Median(seconds), slices.Max(seconds)
	return r
}

// try runs the gate of a number, from a random round on with random cases
// slower.
func (n *Noise) try(ctx context.Context, opt Options, size float64, number uint64) (*trial, error) {
	rng := rand.New(rand.NewPCG(opt.Seed, number))
	t := &trial{slower: map[string]float64{}}
	from, order := rng.IntN(len(n.rounds)), rng.Perm(len(n.benchmarks))
	if size > 0 {
		for _, at := range order[:min(Slowed, len(order))] {
			t.slower[n.benchmarks[at].Name] = size
		}
	}
	var err error
	if t.report, err = n.player(from, t.slower, rng).gate(ctx, gate.Options{Budget: opt.Budget}); err != nil {
		return nil, err
	}
	for _, m := range rivals {
		t.rivals = append(t.rivals, n.rival(m, from, t.slower, rng))
	}
	return t, nil
}

func (r *Rates) add(t *trial) {
	falsely, slower := len(t.report.Alarms) > 0, false
	for _, f := range t.report.Findings {
		_, slowed := t.slower[f.Name]
		if slowed && f.Unit != results.NsPerOp && t.real {
			continue
		}
		if slowed = slowed && f.Unit == results.NsPerOp; !slowed {
			falsely = falsely || f.Verdict == gate.Slower || f.Verdict == gate.Within || f.Verdict == gate.Faster
			slower = slower || f.Verdict == gate.Slower
		}
		if f.Unit != results.NsPerOp {
			continue
		}
		of := &r.Others
		if slowed {
			of = &r.Slowed
			if r.ByCase[f.Name] == nil {
				r.ByCase[f.Name] = new(Share)
			}
			r.ByCase[f.Name].add(f.Verdict == gate.Slower)
		}
		for v := range of {
			of[v].add(f.Verdict == gate.Verdict(v))
		}
	}
	r.Alarm.add(falsely)
	r.False.add(slower)
	for status := range r.Exit {
		r.Exit[status].add(t.report.Exit() == status)
	}
	for i, called := range t.rivals {
		r.Rivals[i].add(called, t.slower)
	}
}

func (r *RivalRates) add(called map[string]bool, slower map[string]float64) {
	falsely := false
	for name := range called {
		if _, slowed := slower[name]; !slowed {
			falsely = true
		}
	}
	for name := range slower {
		r.Found.add(called[name])
	}
	r.False.add(falsely)
}
