package counters

import (
	"errors"
	"slices"
	"strings"

	"onebit/bench/results"
)

// A source counts some events.
type source interface {
	units() []string // of what it counts, one for each value of read
	read() ([]value, error)
	close() error
}

// A value is a count that only grows, and over what time it was taken.
type value struct {
	count            float64
	enabled, running uint64 // of a counter that takes turns with others, ns; 0 where it does not
}

// Missing is what can't be counted here, and why.
type Missing struct {
	Units  []string
	Reason error
}

func (m Missing) String() string { return strings.Join(m.Units, ", ") + ": " + m.Reason.Error() }

// A Meter counts everything that can be counted here. It is a bench.Meter.
type Meter struct {
	sources []source
	before  [][]value
	missing []Missing
}

// Open returns a meter of this process. There always is one; Missing says
// what it does not count.
func Open() *Meter {
	m := &Meter{}
	for _, open := range sources {
		found, missing := open()
		m.sources = append(m.sources, found...)
		m.missing = append(m.missing, missing...)
	}
	return m
}

// Missing lists what is not counted.
func (m *Meter) Missing() []Missing { return m.missing }

// Units are those that Stop gives values in, but for results.PctCounted.
func (m *Meter) Units() (all []string) {
	for _, s := range m.sources {
		all = append(all, s.units()...)
	}
	return all
}

// Start begins to count.
func (m *Meter) Start() error {
	m.before = m.before[:0]
	for _, s := range m.sources {
		values, err := s.read()
		if err != nil {
			return err
		}
		m.before = append(m.before, values)
	}
	return nil
}

// Stop returns what was counted since Start, per operation. An event that was
// never counted meanwhile, because others had the processor's counters, is left
// out.
func (m *Meter) Stop(ops int) ([]results.Metric, error) {
	var out []results.Metric
	least := 1.0
	for i, s := range m.sources {
		after, err := s.read()
		if err != nil {
			return nil, err
		}
		for j, unit := range s.units() {
			count, share := after[j].since(m.before[i][j])
			if share == 0 {
				continue
			}
			least = min(least, share)
			out = append(out, results.Metric{Unit: unit, Value: count / float64(ops)})
		}
	}
	if least < 1 {
		out = append(out, results.Metric{Unit: results.PctCounted, Value: 100 * least})
	}
	return out, nil
}

// since is the count between two readings, for the whole time, and the share
// of the time in which it was taken.
func (v value) since(before value) (count, share float64) {
	count = v.count - before.count
	enabled, running := v.enabled-before.enabled, v.running-before.running
	switch {
	case enabled == running:
		return count, 1
	case running == 0:
		return 0, 0
	}
	return count * float64(enabled) / float64(running), float64(running) / float64(enabled)
}

// Close ends counting.
func (m *Meter) Close() error {
	var errs []error
	for _, s := range m.sources {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// Settings says in a results file's header what is counted and what is not.
func (m *Meter) Settings() []results.Setting {
	settings := []results.Setting{{Key: "counters", Value: strings.Join(slices.Sorted(slices.Values(m.Units())), ", ")}}
	var not []string
	for _, x := range m.missing {
		not = append(not, x.String())
	}
	if len(not) > 0 {
		settings = append(settings, results.Setting{Key: "counters-unavailable", Value: strings.Join(not, "; ")})
	}
	return settings
}
