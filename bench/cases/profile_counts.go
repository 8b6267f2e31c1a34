package cases

import (
	"context"
	"errors"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/models/engine"
)

// countPasses have a median with a 95% interval.
const countPasses = 6

// count takes passes in which a meter is read between operations, and emits what
// each of them counted.
func (p *Profiling) count(ctx context.Context, t *profile.Test, emit func(results.Sample) error) error {
	c := &opCounter{meter: p.opt.Meter}
	if err := c.calibrate(); err != nil {
		return err
	}
	p.session.Observe(c)
	defer p.session.Observe(nil)
	for i := range 1 + countPasses { // the first warms up
		p.opt.Progress.show(t.String()+" counting", i, 1+countPasses)
		p.prepare()
		pass, err := c.pass(func() error { _, err := p.plain(ctx, t.ModelTest); return err })
		if err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		t.Counts.Add(pass, c.order)
		if err := p.emitCounts(t.ModelTest, pass, c.order, emit); err != nil {
			return err
		}
	}
	return nil
}

func (p *Profiling) emitCounts(t names.ModelTest, pass map[profile.Key]profile.Count, order []profile.Key, emit func(results.Sample) error) error {
	name := p.caseOf(t)
	for _, key := range order {
		s := results.Sample{Name: results.ParseName(name.Operation(profile.BlockName(key.Block), key.Op)), Iters: 1}
		for _, u := range results.Units {
			if v, ok := pass[key][u.Name]; ok {
				s.Values = append(s.Values, results.Metric{Unit: u.Name, Value: v})
			}
		}
		if len(s.Values) == 0 {
			continue
		}
		if err := emit(s); err != nil {
			return err
		}
	}
	return nil
}

// An opCounter reads a meter after each operation. What is counted between two of
// them is the latter's.
type opCounter struct {
	meter   bench.Meter
	nothing []results.Metric // that reading the meter itself counts
	counts  map[profile.Key]profile.Count
	order   []profile.Key
	err     error
}

// calibrate counts nothing, several times, and keeps the medians.
func (c *opCounter) calibrate() error {
	values := map[string][]float64{}
	for range 11 {
		if err := c.meter.Start(); err != nil {
			return err
		}
		found, err := c.meter.Stop(1)
		if err != nil {
			return err
		}
		for _, m := range found {
			values[m.Unit] = append(values[m.Unit], m.Value)
		}
	}
	for unit, v := range values {
		c.nothing = append(c.nothing, results.Metric{Unit: unit, Value: noise.FigureOf(v).Center})
	}
	return nil
}

// pass counts what work does, by operation.
func (c *opCounter) pass(work func() error) (map[profile.Key]profile.Count, error) {
	c.counts, c.order = map[profile.Key]profile.Count{}, nil
	c.err = c.meter.Start()
	err := work()
	c.take(profile.Unattributed)
	return c.counts, errors.Join(err, c.err)
}

// Observe implements engine.Observer.
func (c *opCounter) Observe(op engine.Op) {
	c.take(profile.Key{Block: op.Block, Op: op.Name})
	if c.err == nil {
		c.err = c.meter.Start()
	}
}

// take gives an operation what was counted since the meter was started.
func (c *opCounter) take(key profile.Key) {
	if c.err != nil {
		return
	}
	var values []results.Metric
	if values, c.err = c.meter.Stop(1); c.err != nil {
		return
	}
	if c.counts[key] == nil {
		c.counts[key] = profile.Count{}
		c.order = append(c.order, key)
	}
	c.counts[key].Include(values, c.nothing)
}
