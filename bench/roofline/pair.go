package roofline

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"onebit/bench/results"
)

// A Pair is two threads, each on a CPU of its own, between which a cache line
// goes.
type Pair struct {
	Prober
	from, to int
	trip     *RoundTrip
	tasks    [2]chan func()
	done     chan struct{}
	elapsed  time.Duration
}

// NewPair binds two threads to CPUs, of those that UsableCPUs lists.
func NewPair(from, to int, probe Prober) (*Pair, error) {
	p := &Pair{Prober: probe, from: from, to: to, done: make(chan struct{}, 2)}
	p.trip = newTrip(p.each)
	bound := make(chan error, 2)
	for i, on := range []int{from, to} {
		p.tasks[i] = make(chan func())
		go func() {
			// A goroutine that ends locked takes its thread, and what that is
			// bound to, with it.
			runtime.LockOSThread()
			bound <- bindTo(on)
			for task := range p.tasks[i] {
				task()
				p.done <- struct{}{}
			}
		}()
	}
	for range 2 {
		if err := <-bound; err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// each runs two tasks at once.
func (p *Pair) each(n int, task func(i int)) {
	for i := range n {
		p.tasks[i] <- func() { task(i) }
	}
	for range n {
		<-p.done
	}
}

// pairRetries are so many that a busy machine lets both CPUs run at once for
// one of them.
const pairRetries = 20

// Run sends the line to and fro; what counts is the median of a few thousand
// trips, for each of n.
func (p *Pair) Run(ctx context.Context, n int) error {
	p.elapsed = 0
	const most = tripBatches * batchTrips
	for left := n; left > 0; left -= most {
		trip := p.trip.Measure()
		for range pairRetries {
			if trip > 0 || ctx.Err() != nil {
				break
			}
			trip = p.trip.Measure()
		}
		if trip == 0 {
			return fmt.Errorf("CPU %d and CPU %d did not run at once: others keep one of them busy", p.from, p.to)
		}
		p.elapsed += time.Duration(trip * float64(min(left, most)))
	}
	return ctx.Err()
}

// Elapsed is the time of n trips.
func (p *Pair) Elapsed() time.Duration { return p.elapsed }

// Verify has nothing to compare.
func (p *Pair) Verify(context.Context) ([]results.Metric, error) { return nil, nil }

// Close ends the threads.
func (p *Pair) Close() error {
	for _, c := range p.tasks {
		if c != nil {
			close(c)
		}
	}
	return nil
}
