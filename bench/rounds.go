package bench

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"onebit/bench/results"
)

// rounds takes the samples of a group, and says what share of them it has.
func (run *run) rounds(ctx context.Context, turns []*arm, deadline time.Time, plan Plan, done func(share float64)) error {
	defer done(1)
	run.chooseLengths(turns, deadline, plan)
	count := run.groupRounds(roundTime(turns), deadline.Sub(run.now()))
	run.total = len(run.results.Samples) + count*len(turns) + run.armsLeft*plan.Count
	for round := range count {
		if round >= run.leastRounds() && run.late(deadline) {
			run.total -= (count - round) * len(turns)
			break
		}
		var err error
		if turns, err = run.round(ctx, turns); err != nil {
			return err
		}
		done(float64(round+1) / float64(count))
	}
	if len(turns) > 0 {
		run.doing = "" // so that the end is told, whatever was a moment ago
		run.report(turns[0].Case, "measure")
	}
	return nil
}

// chooseLengths chooses how long the samples of a group are: as asked for, or as long as fit.
func (run *run) chooseLengths(turns []*arm, deadline time.Time, plan Plan) {
	target := max(plan.Time, run.shortest())
	if run.Time == 0 && run.Budget > 0 {
		target = max(fitting(turns, plan.Count, deadline.Sub(run.now())), run.shortest())
	}
	for _, e := range turns {
		e.size(target, run.sliceTime(target))
	}
}

// late reports whether a group should end before all its rounds, because they
// last longer than calibration promised.
func (run *run) late(deadline time.Time) bool {
	return run.Count == 0 && run.Budget > 0 && run.now().After(deadline)
}

// round takes one sample of every arm, slice by slice in passes: what drifts (clock,
// temperature, neighbours) meets all alike. It returns the arms of the next round,
// which lack those that failed.
func (run *run) round(ctx context.Context, arms []*arm) (next []*arm, err error) {
	// No slice pays for the garbage of another. run.slice collects it.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	turns, passes := run.turns(arms)
	states := make(map[string][]results.Metric) // of the machine, by class
	var held []*taken
	// What still waits for a ceiling, whose turn did not come, must not be lost.
	defer func() {
		if werr := run.write(held); werr != nil {
			err = werr
		}
	}()
	failed := make(map[string]bool)
	for pass := range passes {
		for _, t := range run.shuffled(turns) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if failed[t.Name] || !t.due(pass) {
				continue
			}
			run.report(t.Case, "measure")
			done, err := run.slice(ctx, t, pass, states)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				failed[t.Name] = true
				if err := run.fail(t.Name, err); err != nil {
					return nil, err
				}
				continue
			}
			if done != nil {
				var ready []*taken
				ready, held = split(append(held, done))
				if err := run.write(ready); err != nil {
					return nil, err
				}
			}
			run.canary.sing(run.current)
		}
	}
	return slices.DeleteFunc(arms, func(e *arm) bool { return failed[e.Name] }), nil
}

// turns are the arms' shares of a round, which has so many passes.
func (run *run) turns(arms []*arm) (turns []*turn, passes int) {
	for _, e := range arms {
		passes = max(passes, e.slices)
	}
	for _, e := range arms {
		turns = append(turns, &turn{arm: e, phase: run.rng.IntN(passes), perOp: make([]float64, passes)})
	}
	return turns, passes
}

// shuffled are the turns in an order drawn anew, those of a class one after the other:
// whoever is compared are neighbours in time.
func (run *run) shuffled(turns []*turn) []*turn {
	run.rng.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	first := make(map[string]int) // of a class
	for i, t := range slices.Backward(turns) {
		first[t.class] = i
	}
	slices.SortStableFunc(turns, func(a, b *turn) int { return first[a.class] - first[b.class] })
	return turns
}
