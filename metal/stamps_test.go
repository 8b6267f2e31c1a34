package metal

import (
	"errors"
	"testing"

	"onebit/metal/softmetal/frameworks"
)

// timed runs the addition of a and b in a span of stamps, then three more in another, of
// which the last is of what the first wrote.
func timed(t *testing.T, add *adder, s *Stamps) *Commands {
	t.Helper()
	c, err := add.device.NewConcurrent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.Span(s, 0)
	add.encode(c, add.a, add.b, add.sum)
	c.Span(s, 2)
	for range 3 {
		add.encode(c, add.sum, add.b, add.a) // a + 2b
		c.Barrier()
	}
	run(t, c)
	if got := floats(add.a)[9]; got != 9+2*9000 {
		t.Errorf("with stamps the sum is %g", got)
	}
	return c
}

// Spans have times, at the ends of encoders or between dispatches: what is not used has
// none.
func TestStamps(t *testing.T) {
	d, lib := openPlayed(t)
	defer lib.Sampling(frameworks.AtStages)
	for _, point := range []int{frameworks.AtStages, frameworks.AtDispatches} {
		lib.Sampling(point)
		s, err := d.NewStamps(3)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		timed(t, newAdder(t, d, 1000, 1), s)
		if ticks := s.Ticks(); len(ticks) != 3 || ticks[0] == 0 || ticks[1] != 0 || ticks[2] == 0 {
			t.Errorf("at %d: %d ticks, want some, none and some", point, ticks)
		}
	}
}

// A Mac's own GPU has stamps, at whatever point.
func TestStampsHere(t *testing.T) {
	d := open(t)
	s, err := d.NewStamps(3)
	if errors.Is(err, ErrNoStamps) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	timed(t, newAdder(t, d, 1000, 1), s)
	if ticks := s.Ticks(); len(ticks) != 3 || ticks[0] == 0 || ticks[2] == 0 {
		t.Errorf("%d ticks", ticks)
	}
}

func TestNoStamps(t *testing.T) {
	d, lib := openPlayed(t)
	for _, n := range []int{0, -1, MaxSpans + 1} {
		if _, err := d.NewStamps(n); err == nil {
			t.Errorf("stamps of %d spans", n)
		}
	}
	for after, want := range []error{ErrOutOfMemory, nil} {
		lib.FailAllocations(after, 1)
		s, err := d.NewStamps(MaxSpans)
		lib.FailAllocations(0, 0)
		if !errors.Is(err, want) {
			t.Errorf("after %d allocations: %v, want %v", after, err, want)
		}
		if err == nil {
			s.Close()
			s.Close()
		}
	}
	lib.Sampling(frameworks.Nowhere)
	defer lib.Sampling(frameworks.AtStages)
	if _, err := d.NewStamps(1); !errors.Is(err, ErrNoStamps) {
		t.Errorf("a GPU without: %v", err)
	}
}

// Spans that make no sense are not sent, and those of commands that failed have no times.
func TestStampsFail(t *testing.T) {
	d, lib := openPlayed(t)
	add := newAdder(t, d, 10, 1)
	s, err := d.NewStamps(2)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	closed, err := d.NewStamps(1)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for want, do := range map[string]func(*Commands){
		"metal: stamps were closed":                  func(c *Commands) { c.Span(closed, 0) },
		"metal: span 2 of stamps for 2":              func(c *Commands) { c.Span(s, 2) },
		"metal: span -1 of stamps for 2":             func(c *Commands) { c.Span(s, -1) },
		"metal: a dispatch without a kernel":         func(c *Commands) { c.Use(add.pipeline); c.Span(s, 0); c.Dispatch(Size{1, 1, 1}, Size{1, 1, 1}) },
		"metal: commands: " + ErrOutOfMemory.Error(): func(c *Commands) { lib.FailAllocations(0, 1); c.Span(s, 0) },
	} {
		c := add.commands(t)
		do(c)
		if err := c.Commit(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		c.Close()
	}
	lib.FailCommands(0, 1, 8)
	c := add.commands(t)
	c.Span(s, 1)
	add.encode(c, add.a, add.b, add.sum)
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); !errors.Is(err, ErrOutOfMemory) {
		t.Error(err)
	}
	if ticks := s.Ticks(); ticks[0] != 0 || ticks[1] != 0 {
		t.Errorf("commands that failed took %d ticks", ticks)
	}
}
