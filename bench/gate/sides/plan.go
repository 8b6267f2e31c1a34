package sides

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
)

// A planner finds out how many operations each benchmark needs, and which of
// them share a process.
type planner struct {
	measure time.Duration                                // that a benchmark should take
	start   func(pkg string) time.Duration               // that a process takes beside measuring
	run     func(gate.Batch) ([][]results.Metric, error) // on base
}

// A planned benchmark has the operations that it will perform or, while it is
// not settled, those of the next try.
type planned struct {
	gate.Benchmark
	n       int
	ns      float64 // of an operation
	near    bool    // n is right if nothing disturbed what it was told by
	settled bool
}

// plan returns batches of all benchmarks, in their order.
func (p *planner) plan(ctx context.Context, benchmarks []gate.Benchmark) ([]gate.Batch, error) {
	all := make([]planned, len(benchmarks))
	open := make([]*planned, len(benchmarks))
	for i, b := range benchmarks {
		all[i] = planned{Benchmark: b, n: 1}
		open[i] = &all[i]
	}
	for len(open) > 0 {
		var further []*planned
		for _, together := range p.share(open) {
			if err := p.try(together); err != nil {
				return nil, err
			}
			for _, b := range together {
				if !b.settled {
					further = append(further, b)
				}
			}
		}
		open = further
	}
	for i := range all {
		open = append(open, &all[i])
	}
	var batches []gate.Batch
	for _, together := range p.share(open) {
		batches = append(batches, p.batch(together))
	}
	return batches, ctx.Err()
}

// share puts benchmarks of a package that perform the same number of
// operations together, if its process takes longer to start than to measure.
func (p *planner) share(open []*planned) (batches [][]*planned) {
	type key struct {
		pkg string
		n   int
	}
	at := map[key]int{}
	for _, b := range open {
		k := key{b.Package, b.n}
		i, ok := at[k]
		if !ok || !p.slow(b.Package) {
			i = len(batches)
			at[k] = i
			batches = append(batches, nil)
		}
		batches[i] = append(batches[i], b)
	}
	return batches
}

// slow reports whether starting a package's process takes most of its time.
func (p *planner) slow(pkg string) bool { return p.start(pkg) > 2*p.measure }

// batch is what a process of these benchmarks measures.
func (p *planner) batch(together []*planned) gate.Batch {
	b := gate.Batch{N: together[0].n, Took: p.start(together[0].Package)}
	operations := b.N
	if b.N > repeats {
		operations += repeats // each begins with one that does not count
	}
	for _, t := range together {
		b.Benchmarks = append(b.Benchmarks, t.Benchmark)
		b.Took += time.Duration(t.ns * float64(operations))
	}
	return b
}

// try measures benchmarks with their numbers of operations and settles those
// that took long enough to tell what they need.
func (p *planner) try(together []*planned) error {
	values, err := p.run(p.batch(together))
	if err != nil {
		return err
	}
	for i, b := range together {
		ns, ok := (results.Sample{Values: values[i]}).Value(results.NsPerOp)
		if !ok {
			return fmt.Errorf("no ns/op: Benchmark%s in %s does not report its time", b.Name, b.Package)
		}
		b.next(ns, float64(p.measure))
		if b.settled && p.slow(b.Package) {
			b.n = 1 << bits.Len(uint(b.n-1)) // so that others have as many
		}
	}
	return nil
}

// next takes the time of an operation and sets the number to try, or to keep.
// Of two times that are long enough to tell, the shorter one counts: on a shared
// machine the other may be three times as long.
func (b *planned) next(ns, measure float64) {
	total := ns * float64(b.n)
	enough := total >= measure/4 || b.n >= gate.MaxOps
	if b.near {
		ns = min(ns, b.ns)
	}
	b.settled = b.near || enough && b.n == 1 && total >= measure
	b.ns, b.near = ns, enough
	if enough || b.settled {
		b.n = int(min(max(measure/max(ns, 0.01), 1), gate.MaxOps))
		return
	}
	b.n = int(min(float64(b.n)*min(max(measure/max(total, 1), 2), 100), gate.MaxOps))
}
