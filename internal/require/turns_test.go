package require

import (
	"strconv"
	"testing"
)

// A taker is a test of a name that notes whether it was skipped.
type taker struct {
	recorder
	name    string
	skipped bool
}

func (r *taker) Name() string     { return r.name }
func (r *taker) Skip(args ...any) { r.skipped = true }

func TestTurns(t *testing.T) {
	tests := []string{"TestA", "TestB", "TestC"}
	ran := map[string]int{}
	turns := func() (run int) {
		for _, name := range tests {
			r := &taker{name: name}
			if Turns(r, tests...); !r.skipped {
				run++
				ran[name]++
			}
		}
		return run
	}
	t.Setenv(all, "")
	for s := range 40 {
		t.Setenv(seed, strconv.Itoa(s))
		if run := turns(); run != 1 {
			t.Errorf("seed %d: %d of %q run, want one", s, run, tests)
		}
	}
	if len(ran) != len(tests) {
		t.Errorf("40 seeds ran %v, want each of %q", ran, tests)
	}
	t.Setenv(all, "1")
	if run := turns(); run != len(tests) {
		t.Errorf("%d of %q run under ONEBIT_ALL", run, tests)
	}
}
