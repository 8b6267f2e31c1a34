package cases

import (
	"context"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/models"
	"onebit/models/engine"
)

const (
	// passes is how many times a test is observed: as many as give a median a
	// 95% interval.
	passes = 6

	// spanSteps of the clock are the least that a reported time lasts. An
	// operation that takes less in a pass is added up over several.
	spanSteps = 100
)

// operations is the study of where the time of a test goes: a sample for each
// operation of each block in each of several passes. open returns the model and
// the tokens of the test.
func operations(c names.ModelCase, group string, pass time.Duration, cache *formats.Type, open func(context.Context) (*models.Model, []int, error)) bench.Study {
	return bench.Study{
		Name: c.Operation("", ""), Group: group, Time: (1 + passes) * pass,
		Run: func(ctx context.Context, emit func(results.Sample) error) error {
			m, ids, err := open(ctx)
			if err != nil {
				return err
			}
			sums, left := newOperationTimes(), passes
			return observe(ctx, m, cache, c.Test, ids, func(pass *operationTimes) error {
				sums.add(pass)
				least := spanSteps * clock.Step()
				if left--; left == 0 {
					least = 1
				}
				for _, total := range sums.take(least) {
					if err := emit(total.sample(c)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// operationTimes adds up the time of each operation of each block. It is a
// engine.Observer.
type operationTimes struct {
	order []operationKey
	total map[operationKey]*operationTotal
}

type operationKey struct {
	block int
	name  string
}

// An operationTotal is what an operation took in so many passes.
type operationTotal struct {
	operationKey
	time   time.Duration
	bytes  int
	passes int
}

func newOperationTimes() *operationTimes {
	return &operationTimes{total: map[operationKey]*operationTotal{}}
}

func (o *operationTimes) of(key operationKey) *operationTotal {
	total := o.total[key]
	if total == nil {
		total = &operationTotal{operationKey: key}
		o.total[key] = total
		o.order = append(o.order, key)
	}
	return total
}

func (o *operationTimes) Observe(op engine.Op) {
	total := o.of(operationKey{op.Block, op.Name})
	total.time += op.Duration
	total.bytes += op.Bytes
}

// add adds a pass to the sums.
func (o *operationTimes) add(pass *operationTimes) {
	for _, key := range pass.order {
		sum := o.of(key)
		sum.time += pass.total[key].time
		sum.bytes += pass.total[key].bytes
		sum.passes++
	}
}

// take removes and returns the sums that are at least so long. The others wait
// for further passes.
func (o *operationTimes) take(least time.Duration) (ready []operationTotal) {
	var waiting []operationKey
	for _, key := range o.order {
		if sum := o.total[key]; sum.time >= least {
			ready = append(ready, *sum)
			delete(o.total, key)
		} else {
			waiting = append(waiting, key)
		}
	}
	o.order = waiting
	return ready
}

// observe performs the test under observation, and calls emit after each pass
// but the first, which warms up.
func observe(ctx context.Context, m *models.Model, cache *formats.Type, t names.ModelTest, ids []int, emit func(*operationTimes) error) error {
	ops := newOperationTimes()
	s, err := m.NewSession(models.SessionOptions{Context: t.Depth + t.Tokens, Cache: cache, Observer: ops})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := fill(ctx, t, s, ids); err != nil {
		return err
	}
	for pass := range 1 + passes {
		ops.order = nil
		clear(ops.total)
		start := clock.Now()
		if err := perform(ctx, t, s, ids); err != nil {
			return err
		}
		ops.rest(clock.Since(start))
		if pass == 0 {
			continue
		}
		if err := emit(ops); err != nil {
			return err
		}
	}
	return nil
}

// rest adds what a pass of this length spent outside of all operations, the
// observing included, so that the operations add up to the pass.
func (o *operationTimes) rest(pass time.Duration) {
	for _, total := range o.total {
		pass -= total.time
	}
	o.Observe(engine.Op{Block: engine.Outside, Name: names.Unattributed, Duration: max(0, pass)})
}

// sample gives an operation's time per token of text, or per prompt.
func (total operationTotal) sample(c names.ModelCase) results.Sample {
	n := total.passes
	if c.Test.Kind == names.Decode {
		n *= c.Test.Tokens
	}
	s := results.Sample{
		Name:  results.ParseName(c.Operation(profile.BlockName(total.block), total.name)),
		Iters: n, Values: []results.Metric{{Unit: results.NsPerOp, Value: float64(total.time) / float64(n)}},
	}
	if total.bytes > 0 && total.time > 0 {
		s.Values = append(s.Values, results.Metric{Unit: results.WeightRate, Value: float64(total.bytes) / total.time.Seconds()})
	}
	return s
}
