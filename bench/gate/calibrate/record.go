package calibrate

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
)

// RecordOptions say what Record does.
type RecordOptions struct {
	Budget   time.Duration
	Process  time.Duration // how long a process measures; 0: as long as a gate's
	CPUs     int           // GOMAXPROCS of the processes; 0: all
	Seed     uint64        // of layouts and orders: two recordings should differ
	Progress func(gate.Progress)
}

// Record runs a gate whose base, head and control have the same sources, in dir,
// which must not exist. It decides nothing, so that each round has each case.
// Of a recording that was interrupted it returns what there is, with the cause.
func Record(ctx context.Context, dir string, opt RecordOptions) (*Recording, error) {
	start := clock.Now()
	tests, err := compare(dir, opt.CPUs, opt.Seed, Variant{}, Variant{})
	if err != nil {
		return nil, err
	}
	tests.MeasureAll = true
	list, _, err := tests.Find(ctx)
	if err != nil {
		return nil, err
	}
	r := &Recording{Header: []string{
		"recorded: " + time.Now().UTC().Format(time.RFC3339),
		fmt.Sprintf("seed: %d", opt.Seed),
		fmt.Sprintf("cpus: %d", opt.CPUs),
	}}
	for _, p := range sysinfo.Probe().Pairs() {
		r.Header = append(r.Header, p.Key+": "+p.Value)
	}
	_, err = gate.Run(ctx, tests, list, gate.Options{
		// Nothing is proved with such a chance, nor the same within so little.
		Threshold: 1e-12, Alarm: math.SmallestNonzeroFloat64,
		Budget: opt.Budget, KeepGoing: true, Passes: 2, Start: start, Process: opt.Process, Seed: opt.Seed, Progress: opt.Progress,
		Record: func(m gate.Measurement) { r.Measurements = append(r.Measurements, m) },
	})
	return r, err
}

// compare writes two variants of the module into dir, whose benchmarks are to run
// with so many CPUs, and in layouts that a seed gives.
func compare(dir string, cpus int, seed uint64, base, head Variant) (*sides.Tests, error) {
	old, err := WriteModule(filepath.Join(dir, "base"), base)
	if err != nil {
		return nil, err
	}
	now, err := WriteModule(filepath.Join(dir, "head"), head)
	if err != nil {
		return nil, err
	}
	return &sides.Tests{Base: old, Head: now, Layouts: int(seed % (1 << 20)), Running: sides.Running{CPUs: cpus, Temp: filepath.Join(dir, "bin")}}, nil
}
