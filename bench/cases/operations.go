package cases

import (
	"context"
	"strconv"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/internal/clock"
	"onebit/models"
)

// passes is how many times a test is observed: as many as give a median a 95%
// interval.
const passes = 6

// operations is the study of where the time of a test goes: a sample for each
// operation of each block in each of several passes.
func operations(shelf *shelf, c modelConfig, t names.ModelTest, group string) bench.Study {
	return bench.Study{
		Name: c.caseOf(t).Operation("", ""), Group: group, Time: (1 + passes) * c.expect(t),
		Run: func(ctx context.Context, emit func(bench.Sample) error) error {
			return observe(ctx, shelf, c, t, func(ops *operationTimes) error {
				for _, key := range ops.order {
					if err := emit(ops.sample(c, key, t)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// operationTimes adds up the time of each operation of each block. It is a
// models.Observer.
type operationTimes struct {
	order []operationKey
	total map[operationKey]*operationTotal
}

type operationKey struct {
	block int
	name  string
}

type operationTotal struct {
	time  time.Duration
	bytes int
}

func (o *operationTimes) Observe(op models.Op) {
	key := operationKey{op.Block, op.Name}
	total := o.total[key]
	if total == nil {
		total = &operationTotal{}
		o.total[key] = total
		o.order = append(o.order, key)
	}
	total.time += op.Duration
	total.bytes += op.Bytes
}

// observe performs the test under observation, and calls emit after each pass
// but the first, which warms up.
func observe(ctx context.Context, shelf *shelf, c modelConfig, t names.ModelTest, emit func(*operationTimes) error) error {
	m, err := shelf.open(c)
	if err != nil {
		return err
	}
	ops := &operationTimes{total: map[operationKey]*operationTotal{}}
	s, err := m.NewSession(models.SessionOptions{Context: t.Depth + t.Tokens, Observer: ops})
	if err != nil {
		return err
	}
	defer s.Close()
	ids := tokens(c.subject, t.Depth+t.Tokens)
	if err := fill(t, s, ids); err != nil {
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
	o.Observe(models.Op{Block: models.Outside, Name: names.Unattributed, Duration: max(0, pass)})
}

// blockName is what names of benchmarks call a block.
func blockName(block int) string {
	if block == models.Outside {
		return names.Outside
	}
	return strconv.Itoa(block)
}

// sample gives an operation's time per token of text, or per prompt.
func (o *operationTimes) sample(c modelConfig, key operationKey, t names.ModelTest) bench.Sample {
	total, n := o.total[key], 1
	if t.Kind == names.Decode {
		n = t.Tokens
	}
	s := bench.Sample{
		Name:  bench.ParseName(c.caseOf(t).Operation(blockName(key.block), key.name)),
		Iters: n, Values: []bench.Metric{{Unit: bench.NsPerOp, Value: float64(total.time) / float64(n)}},
	}
	if total.bytes > 0 && total.time > 0 {
		s.Values = append(s.Values, bench.Metric{Unit: bench.WeightRate, Value: float64(total.bytes) / total.time.Seconds()})
	}
	return s
}
