package sides

import (
	"slices"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
)

// A package whose process takes long to start has one process for benchmarks
// of like length; one that starts at once has one for each.
func TestPlan(t *testing.T) {
	ns := map[string]float64{"A": 1e3, "B": 1.1e3, "C": 50e6, "D": 1e9, "E": 0}
	var processes int
	plan := func(start time.Duration) map[string]gate.Batch {
		processes = 0
		p := planner{
			measure: 60 * time.Millisecond,
			start:   func(string) time.Duration { return start },
			run: func(b gate.Batch) (values [][]results.Metric, err error) {
				processes++
				for _, x := range b.Benchmarks {
					values = append(values, []results.Metric{{Unit: results.NsPerOp, Value: ns[x.Name]}})
				}
				return values, nil
			},
		}
		var all []gate.Benchmark
		for _, name := range []string{"A", "B", "C", "D", "E"} {
			all = append(all, gate.Benchmark{Package: "p", Name: name})
		}
		batches, err := p.plan(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]gate.Batch{}
		for _, b := range batches {
			for _, x := range b.Benchmarks {
				of[x.Name] = b
			}
		}
		return of
	}

	alone := plan(time.Millisecond)
	for name, want := range map[string]int{"A": 60000, "B": 54545, "C": 1, "D": 1, "E": gate.MaxOps} {
		if b := alone[name]; len(b.Benchmarks) != 1 || b.N != want {
			t.Errorf("%s performs %d operations with %v, want %d alone", name, b.N, b.Benchmarks, want)
		}
	}
	each := processes

	shared := plan(5 * time.Second)
	if a := shared["A"]; !slices.Equal(a.Benchmarks, []gate.Benchmark{{Package: "p", Name: "A"}, {Package: "p", Name: "B"}}) || a.N != 1<<16 {
		t.Errorf("%v share %d operations, want A and B and a power of two", a.Benchmarks, a.N)
	}
	if d := shared["D"]; !slices.Equal(d.Benchmarks, []gate.Benchmark{{Package: "p", Name: "C"}, {Package: "p", Name: "D"}}) || d.Took < 6*time.Second {
		t.Errorf("%v take %v, want C and D together more than 6s", d.Benchmarks, d.Took)
	}
	if processes >= each {
		t.Errorf("planning shared processes takes %d of them, and %d alone", processes, each)
	}
}
