package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/internal/clock"
)

// A gateCounting counts instructions after times; nil counts none.
type gateCounting struct{ by *gate.InstructionMeter }

// counting is how instructions are counted, if the flag or a rule asks for them.
// A rule that cannot be judged is no pass; of the flag a warning is enough.
func (f *gateFlags) counting(cmd *cobra.Command, rules *gate.Rules, target gate.Target) (*gateCounting, error) {
	counter, ok := target.(gate.InstructionCounter)
	ruled := rules.Names(results.Instructions)
	if !ok || !f.instructions && !ruled {
		return nil, nil
	}
	by, err := counter.InstructionMeter()
	switch {
	case err == nil:
		return &gateCounting{by}, nil
	case ruled:
		return nil, fmt.Errorf("%s judges %s: %w", rules.File, results.Instructions, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: %v\n", err)
	return nil, nil
}

// countTime is what most benchmarks take: eight processes, and a part of a build.
const countTime = 4 * time.Second

// reserve is the part of the budget that is kept for counting: no more than a
// third.
func (c *gateCounting) reserve(budget time.Duration, benchmarks int) time.Duration {
	if c == nil {
		return 0
	}
	return min(time.Duration(benchmarks)*countTime, budget/3)
}

// count counts what was measured, of a gate that came to its end.
func (c *gateCounting) count(ctx context.Context, rules *gate.Rules, r *gate.Report, record *gateRecord) error {
	if c == nil {
		return nil
	}
	return gate.CountInstructions(ctx, r, gate.CountOptions{
		By: c.by, Left: r.Options.Budget - clock.Now().Sub(r.Options.Start),
		ThresholdOf: func(b gate.Benchmark) (float64, bool) { return rules.Named(b, results.Instructions) },
		Record:      record.Record,
	})
}
