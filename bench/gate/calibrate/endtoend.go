package calibrate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"onebit/bench/gate"
	"onebit/internal/clock"
)

// A Change is what head differs by in a gate of real programs.
type Change string

// Of these none changes what a benchmark runs but Slower.
const (
	Moved    Change = "moved"    // functions in another order, a comment, and a test of functions that no benchmark calls
	Measured Change = "measured" // the same, and all is measured all the same
	Slower   Change = "slower"   // operations of some cases have a share of work added
)

// RealOptions say what Real does.
type RealOptions struct {
	Gates    int
	Change   Change
	Share    float64 // of work that is added to the slower cases, as a fraction
	Budget   time.Duration
	CPUs     int // GOMAXPROCS of the processes; 0: all
	Seed     uint64
	Progress func(gate.Progress)
}

// Real runs gates on real programs, in directories below dir. If ctx ends it returns
// the rates of those that had ended.
func Real(ctx context.Context, dir string, opt RealOptions) (*Rates, error) {
	names, err := Benchmarks()
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(opt.Seed, 0))
	var trials []*trial
	size := 0.0
	for i := range opt.Gates {
		head, slower := Variant{Moved: 1 + rng.Uint64()>>1}, map[string]float64{}
		if opt.Change == Slower {
			size = opt.Share
			head = Variant{Units: map[string]int{}}
			for _, at := range rng.Perm(len(names))[:Slowed] {
				head.Units[names[at]] = Units + int(opt.Share*Units+0.5)
				slower[names[at]] = opt.Share
			}
		}
		report, err := try(ctx, filepath.Join(dir, fmt.Sprint(i)), head, opt, rng)
		if ctx.Err() != nil && len(trials) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		trials = append(trials, &trial{slower: slower, report: report, real: true})
	}
	return rates(size, trials, nil), nil
}

func try(ctx context.Context, dir string, head Variant, opt RealOptions, rng *rand.Rand) (*gate.Report, error) {
	start := clock.Now()
	tests, err := compare(dir, opt.CPUs, rng.Uint64(), Variant{}, head)
	if err != nil {
		return nil, err
	}
	tests.MeasureAll = opt.Change != Moved
	list, _, err := tests.Find(ctx)
	if err != nil {
		return nil, err
	}
	return gate.Run(ctx, tests, list, gate.Options{
		Budget: opt.Budget, Start: start, Seed: rng.Uint64(), Progress: opt.Progress, Code: tests.Code(),
		ThresholdOf: new(gate.Rules).ThresholdOf, Better: tests.Better,
	})
}
