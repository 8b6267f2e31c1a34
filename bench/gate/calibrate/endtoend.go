package calibrate

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/clock"
)

// RealOptions say what Real does.
type RealOptions struct {
	Gates    int     // of each kind
	Share    float64 // of work that is added to the slower cases, as a fraction
	Budget   time.Duration
	CPUs     int // GOMAXPROCS of the processes; 0: all
	Seed     uint64
	Progress func(gate.Progress)
}

// ordinary is what Real compares the gate with: ten samples of each benchmark
// from one process of base, and then from one of head, as Go links them.
var ordinary = rival{name: "benchstat and 3%, go test -count=10 of base, then of head", alpha: 0.05, threshold: 1.03}

// Real runs gates on real programs, in directories below dir: some where head
// has the functions of base in another order, with others between them that
// nobody calls, and some where head's operations have a share of work added in
// some cases. It returns the rates of the first and of the others.
func Real(ctx context.Context, dir string, opt RealOptions) (moved, added *Rates, err error) {
	names, err := Benchmarks()
	if err != nil {
		return nil, nil, err
	}
	rng := rand.New(rand.NewPCG(opt.Seed, 0))
	var trials [2][]*trial
	for i := range 2 * opt.Gates {
		head, slower := Variant{Moved: 1 + rng.Uint64()>>1}, map[string]float64{}
		if i%2 == 1 {
			head = Variant{Units: map[string]int{}}
			for _, at := range rng.Perm(len(names))[:Slowed] {
				head.Units[names[at]] = Units + int(opt.Share*Units+0.5)
				slower[names[at]] = opt.Share
			}
		}
		t, err := try(ctx, filepath.Join(dir, fmt.Sprint(i)), head, opt, rng)
		if err != nil {
			return nil, nil, err
		}
		t.slower = slower
		trials[i%2] = append(trials[i%2], t)
	}
	return rates(0, trials[0], []rival{ordinary}), rates(opt.Share, trials[1], []rival{ordinary}), nil
}

func try(ctx context.Context, dir string, head Variant, opt RealOptions, rng *rand.Rand) (*trial, error) {
	start := clock.Now()
	tests, list, err := Compare(ctx, dir, opt.CPUs, rng.Uint64(), Variant{}, head)
	if err != nil {
		return nil, err
	}
	t := new(trial)
	t.report, err = gate.Run(ctx, tests, list, gate.Options{
		Budget: opt.Budget, KeepGoing: true, Start: start, Seed: rng.Uint64(), Progress: opt.Progress,
		ThresholdOf: new(gate.Rules).ThresholdOf, Better: tests.Better,
	})
	if err != nil {
		return nil, err
	}
	called, err := ordinarily(ctx, tests.Base.Dir, tests.Head.Dir)
	t.rivals = []map[string]bool{called}
	return t, err
}

// ordinarily says which cases an ordinary comparison calls slower.
func ordinarily(ctx context.Context, base, head string) (map[string]bool, error) {
	var times [2]map[string][]float64
	for i, dir := range []string{base, head} {
		cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=.", "-count=10", "-benchtime=50ms")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("go test: %w: %s", err, out)
		}
		res, err := results.Read(bytes.NewReader(out), modulePath)
		if err != nil {
			return nil, err
		}
		times[i] = map[string][]float64{}
		for _, s := range res.Samples {
			if ns, ok := s.Value(results.NsPerOp); ok {
				times[i][s.Name.Full] = append(times[i][s.Name.Full], ns)
			}
		}
	}
	called := map[string]bool{}
	for name, ns := range times[0] {
		if ordinary.slower(ns, times[1][name]) {
			called[name] = true
		}
	}
	return called, nil
}
