package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/gate"
	"onebit/bench/gate/suites"
	"onebit/internal/require"
)

// countedOnebits notes which side's program is asked for.
type countedOnebits struct {
	program string
	asked   []gate.Side
}

func (c *countedOnebits) Prepare(context.Context, int) error { return nil }
func (c *countedOnebits) Fixed() bool                        { return true }
func (c *countedOnebits) File(s gate.Side) string {
	c.asked = append(c.asked, s)
	return c.program
}

// Cases without studies have the names that they are listed by: of all their
// groups one is measured before the first round, and the plan scales its time.
func TestGateListsCasesAtOnce(t *testing.T) {
	require.Unraced(t, "a gate shares nothing that its package does not")
	temp := t.TempDir()
	programs := &countedOnebits{program: testsAsOnebit(t, temp)}
	c := &suites.Target{
		Programs: programs, Suites: []string{kernelsOnly}, Limit: time.Minute, Temp: temp, Preset: "tiny",
		Flags: []string{"--filter", "/variant:unrolled /cache:warm /threads:1"},
	}
	both, _, err := c.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []gate.Side{gate.Base, gate.Base, gate.Head, gate.Base}; !slices.Equal(programs.asked, want) {
		t.Errorf("programs of %v ran, want those of %v: a model, two listings and one group", programs.asked, want)
	}
	batches, err := c.Plan(t.Context(), both, 0)
	if err != nil || len(batches) != 4 {
		t.Fatalf("%d batches, %v, want one for each of four shapes", len(batches), err)
	}
	for _, b := range batches {
		if b.Took <= 0 || !strings.HasPrefix(b.Benchmarks[0].Name, "MatVec/") {
			t.Errorf("%+v takes %v", b.Benchmarks, b.Took)
		}
	}
}
