package cases

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// A fakeMeter counts 10 instructions each time that it is read, and 7 more for each
// interval in which anything happened, of which it knows nothing: the first 11
// intervals are of nothing.
type fakeMeter struct {
	starts int
	broken int // at this start; 0: never
}

var errBroken = errors.New("the counter is gone")

func (m *fakeMeter) Start() error {
	if m.starts++; m.starts == m.broken {
		return errBroken
	}
	return nil
}

func (m *fakeMeter) Stop(ops int) ([]results.Metric, error) {
	n := 10.
	if m.starts > 11 {
		n += 7
	}
	return []results.Metric{{Unit: results.Instructions, Value: n / float64(ops)}}, nil
}

func TestCountsByOperation(t *testing.T) {
	p := profiling(t, ProfileOptions{Tokens: 3, Passes: 1, Meter: &fakeMeter{}, Model: models.Options{Engine: cpu.Options{Threads: 1, Packing: cpu.PackBehind}}})
	res := measured(t, bench.Runner{Seed: 1}, p.Suite)
	test := p.Profile.Tests[0]
	if n := len(test.Counts.Passes); n != countPasses {
		t.Fatalf("%d passes", n)
	}
	blocks := float64(p.Profile.Blocks)
	for _, o := range test.Counted(profile.Filter{}) {
		want := 7 * blocks // each block counts once a token
		switch o.Op {
		case "token_embd", "output_norm", "output":
			want = 7
		case names.Unattributed:
			want = 7. / 3 // once a pass of three tokens
		}
		if got := o.Values[results.Instructions].Center; got != want {
			t.Errorf("%s: %v instructions a token, want %v", o.Op, got, want)
		}
	}
	found := 0
	for _, s := range res.Samples {
		if v, ok := s.Value(results.Instructions); ok && strings.HasSuffix(s.Name.Full, "/test=tg3/threads=1/block=1/op=ffn_down") {
			if found++; v != 21 {
				t.Errorf("%v: %v instructions, want those of 3 tokens", s.Name, v)
			}
		}
	}
	if found != countPasses {
		t.Errorf("%d samples of an operation, want %d", found, countPasses)
	}
}

func TestBrokenCounterIsAFailure(t *testing.T) {
	p := profiling(t, ProfileOptions{Tokens: 2, Passes: 1, Meter: &fakeMeter{broken: 20}, Model: models.Options{Engine: cpu.Options{Threads: 1, Packing: cpu.PackBehind}}})
	res, err := (&bench.Runner{Seed: 1}).Run(t.Context(), p.Suite, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Failures) == 0 || !strings.Contains(res.Failures[0].Reason, errBroken.Error()) {
		t.Errorf("failures: %+v", res.Failures)
	}
}
