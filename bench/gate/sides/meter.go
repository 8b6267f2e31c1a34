package sides

import (
	"context"
	"fmt"

	"onebit/bench/gate"
)

// A meter counts instructions by the processor or by valgrind.
type meter struct {
	gate.InstructionMeter
	count func(ctx context.Context, t tester, b testBinary, match string, n int) (map[string]float64, error)
}

// InstructionMeter implements gate.InstructionCounter.
func (t *tester) InstructionMeter() (*gate.InstructionMeter, error) {
	m, err := perfEvents()
	if err != nil {
		var missing error
		if m, missing = cachegrind(); missing != nil {
			return nil, fmt.Errorf("instructions cannot be counted: %w, and %w", err, missing)
		}
	}
	m.Count = func(ctx context.Context, s gate.Side, b gate.Benchmark, n int) (executed map[string]float64, err error) {
		binary, err := t.named(ctx, s, b.Package)
		if err == nil {
			executed, err = m.count(ctx, *t, binary, exactly(b.Name), n)
		}
		return executed, errSide(s, err)
	}
	return &m.InstructionMeter, nil
}

// counts runs a benchmark under what counts, in as steady a way as there is.
func (t tester) counts(ctx context.Context, b testBinary, match string, n int) error {
	steady := *t.Running
	steady.CPUs, steady.Limit = 1, 100*t.Limit
	t.Running = &steady
	b.env = steadyEnv
	results, out, err := t.run(ctx, b, match, n, 1)
	switch {
	case err != nil:
		return err
	case len(results.Samples) == 0:
		return fmt.Errorf("it does not run on one CPU: %s", tail(string(out.Text)))
	}
	return nil
}

// steadyEnv keeps Go's runtime from doing much that varies.
var steadyEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=1GiB"}
