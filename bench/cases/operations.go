package cases

import (
	"context"
	"strconv"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/models"
)

// operations is the study of where the time of a test goes: a sample for each
// operation of each block.
func operations(shelf *shelf, c modelConfig, t names.ModelTest, group string) bench.Study {
	return bench.Study{
		Name: c.caseOf(t).Operation("", ""), Group: group, Time: 2 * c.expect(t),
		Run: func(ctx context.Context, emit func(bench.Sample) error) error {
			ops, err := observe(ctx, shelf, c, t)
			if err != nil {
				return err
			}
			for _, key := range ops.order {
				if err := emit(ops.sample(c, key, t)); err != nil {
					return err
				}
			}
			return nil
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

// observe performs the test twice, the second time under observation.
func observe(ctx context.Context, shelf *shelf, c modelConfig, t names.ModelTest) (*operationTimes, error) {
	m, err := shelf.open(c)
	if err != nil {
		return nil, err
	}
	ops := &operationTimes{total: map[operationKey]*operationTotal{}}
	s, err := m.NewSession(models.SessionOptions{Context: t.Depth + t.Tokens, Observer: ops})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ids := tokens(c.subject, t.Depth+t.Tokens)
	if err := fill(t, s, ids); err != nil {
		return nil, err
	}
	for range 2 {
		ops.order = nil
		clear(ops.total)
		if err := perform(ctx, t, s, ids); err != nil {
			return nil, err
		}
	}
	return ops, nil
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
