package cases

import (
	"context"
	"slices"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
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
// operation of each block in each of several passes.
func (s *store) operations(c opening, t names.ModelTest, group string, pass time.Duration) bench.Study {
	name, sub := c.caseOf(t), c.scope().subject
	return bench.Study{
		Name: name.Operation("", ""), Group: group, Time: (1 + passes) * pass,
		Run: func(ctx context.Context, emit func(results.Sample) error) error {
			m, err := s.open(ctx, c)
			if err != nil {
				return err
			}
			var sums operationTotals
			left := passes
			return observe(ctx, m.Model, sub, t, func(costs []profile.Cost) error {
				sums.add(costs)
				least := spanSteps * clock.Step()
				if left--; left == 0 {
					least = 1
				}
				for _, total := range sums.take(least) {
					if err := emit(total.sample(name)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// observe performs the test under observation, and calls emit with what each pass
// cost but the first, which warms up.
func observe(ctx context.Context, m *models.Model, sub *subject, t names.ModelTest, emit func([]profile.Cost) error) error {
	var spans operationSpans
	ids := tokens(sub, t.Depth+t.Tokens)
	s, err := m.NewSession(models.SessionOptions{Context: len(ids), Cache: sub.opt.Cache, Observer: &spans})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := fill(ctx, t, s, ids); err != nil {
		return err
	}
	for pass := range 1 + passes {
		spans = spans[:0]
		start := clock.Now()
		if err := perform(ctx, t, s, ids); err != nil {
			return err
		}
		observed := profile.Pass{Duration: clock.Since(start), Spans: spans}
		if pass == 0 {
			continue
		}
		if err := emit(observed.Costs()); err != nil {
			return err
		}
	}
	return nil
}

// operationSpans are the operations of a pass, of which only lengths count. It is an
// engine.Observer.
type operationSpans []profile.Span

func (o *operationSpans) Observe(op engine.Op) {
	*o = append(*o, profile.Span{Key: profile.Key{Block: op.Block, Op: op.Name}, Work: profile.Work{Bytes: op.Bytes}, End: op.Duration})
}

// An operationTotal is what an operation of a block took in so many passes.
type operationTotal struct {
	profile.Key
	time   time.Duration
	bytes  int
	passes int
}

// operationTotals are those that are too short to be reported yet.
type operationTotals []operationTotal

// add adds a pass.
func (o *operationTotals) add(costs []profile.Cost) {
	for _, c := range costs {
		i := slices.IndexFunc(*o, func(t operationTotal) bool { return t.Key == c.Key })
		if i < 0 {
			i = len(*o)
			*o = append(*o, operationTotal{Key: c.Key})
		}
		sum := &(*o)[i]
		sum.time += c.Time
		sum.bytes += c.Bytes
		sum.passes++
	}
}

// take removes and returns those that are at least so long. The others wait
// for further passes.
func (o *operationTotals) take(least time.Duration) (ready []operationTotal) {
	*o = slices.DeleteFunc(*o, func(t operationTotal) bool {
		if t.time >= least {
			ready = append(ready, t)
		}
		return t.time >= least
	})
	return ready
}

// sample gives an operation's time per token of text, or per prompt.
func (total operationTotal) sample(c names.ModelCase) results.Sample {
	n := total.passes
	if c.Test.Kind == names.Decode {
		n *= c.Test.Tokens
	}
	s := results.Sample{
		Name:  results.ParseName(c.Operation(profile.BlockName(total.Block), total.Op)),
		Iters: n, Values: []results.Metric{{Unit: results.NsPerOp, Value: float64(total.time) / float64(n)}},
	}
	if total.bytes > 0 && total.time > 0 {
		s.Values = append(s.Values, results.Metric{Unit: results.WeightRate, Value: float64(total.bytes) / total.time.Seconds()})
	}
	return s
}
