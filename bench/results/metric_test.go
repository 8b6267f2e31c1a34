package results

import (
	"math"
	"testing"
)

func TestMetricCheck(t *testing.T) {
	for _, m := range []Metric{{"ns/op", 0}, {"nmse", 0}, {"tok/s", -1}, {"degrees", -4}, {"B/sec", -1}, {"p99-ns", 5}} {
		if err := m.Check(); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	for _, m := range []Metric{{"ns/op", -1}, {"sec", -1}, {"p99-ns", -1}, {"ns/GC", -1}, {"ms", -0.5}, {"x", math.NaN()}, {"x", math.Inf(1)}, {"tok/s", math.Inf(-1)}} {
		if m.Check() == nil {
			t.Errorf("%v passes for a measurement", m)
		}
	}
}
