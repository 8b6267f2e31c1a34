package bench

import (
	"context"
	"strings"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
)

// TB is the part of *testing.B that RunTesting needs. It spares programs that
// import bench the testing package and its flags.
type TB[B any] interface {
	Name() string
	Context() context.Context
	Run(name string, f func(B)) bool
	Loop() bool
	Elapsed() time.Duration
	ReportAllocs()
	ReportMetric(v float64, unit string)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// RunTesting runs cases under go test -bench, with the names and units that
// Runner writes:
//
//	func BenchmarkMatVec(b *testing.B) { bench.RunTesting(b, cases) }
//
// Of the cases it runs those whose base name is the benchmark's, here
// MatVec/…. There are no rounds, and so neither %roof nor A/A pairs.
func RunTesting[B TB[B]](b B, cases []Case) {
	base := results.ParseName(strings.TrimPrefix(b.Name(), "Benchmark")).Base
	for _, c := range cases {
		if keys, ok := strings.CutPrefix(c.Name, base+"/"); ok {
			b.Run(keys, func(b B) { runTesting(b, c) })
		} else if c.Name == base {
			runTesting(b, c)
		}
	}
}

func runTesting[B TB[B]](b B, c Case) {
	inst, err := c.Setup(b.Context())
	if err != nil {
		b.Fatalf("setup: %v", err)
	}
	defer func() {
		if err := inst.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	}()
	e := &arm{Case: c, inst: inst}
	found, err := inst.Verify(b.Context())
	if err != nil {
		b.Fatalf("%v", err)
	}
	e.note(append(c.Metrics[:len(c.Metrics):len(c.Metrics)], found...))
	b.ReportAllocs()
	var counted time.Duration
	for b.Loop() {
		_, d, err := e.run(b.Context(), clock.Now, 1)
		if err != nil {
			b.Fatalf("%v", err)
		}
		counted += d
		e.n++
	}
	if _, ok := inst.(Stopwatch); !ok {
		counted = b.Elapsed()
	}
	speeds := e.speeds(e.n, counted)
	if c.Check != nil {
		if err := c.Check(speeds); err != nil {
			b.Fatalf("%v", err)
		}
	}
	for _, v := range speeds {
		b.ReportMetric(v.Value, v.Unit)
	}
	for _, v := range append(e.exact, e.once...) {
		b.ReportMetric(v.Value, v.Unit)
	}
}
