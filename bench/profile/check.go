package profile

import (
	"errors"
	"fmt"
)

// Check reports what no profile says: a file may hold anything.
func (p *Profile) Check() error {
	if len(p.Tests) == 0 {
		return errors.New("no test")
	}
	for _, t := range p.Tests {
		if err := t.check(); err != nil {
			return fmt.Errorf("test %q: %w", t, err)
		}
	}
	return nil
}

func (t *Test) check() error {
	switch n := len(t.Passes); {
	case n == 0 || len(t.Plain) != n || len(t.Observed) != n:
		return fmt.Errorf("%d passes, of which %d are timed with observation and %d without", n, len(t.Observed), len(t.Plain))
	case t.Shown == nil:
		return errors.New("no pass to show")
	}
	for _, costs := range t.Passes {
		if len(costs) == 0 {
			return errors.New("a pass without operations")
		}
		for _, c := range costs {
			if t.Threads < 1 || len(c.Threads) != t.Threads || len(c.Products) != t.Threads {
				return fmt.Errorf("%s: %d threads, and %d that multiply, of %d", c.Op, len(c.Threads), len(c.Products), t.Threads)
			}
		}
	}
	return nil
}

// Check reports what no kernel's profile says: a file may hold anything.
func (k *Kernel) Check() error {
	if len(k.Runs) == 0 {
		return errors.New("no run")
	}
	for _, f := range k.Functions {
		if len(f.Samples) != len(k.Runs) {
			return fmt.Errorf("%q: samples of %d runs of %d", f.Name, len(f.Samples), len(k.Runs))
		}
		if l := f.Loop; l != nil && (l.First < 0 || l.Last < l.First || l.Last >= len(f.Lines)) {
			return fmt.Errorf("%q: a loop from line %d to %d of %d", f.Name, l.First, l.Last, len(f.Lines))
		}
		for _, line := range f.Lines {
			if len(line.Samples) != len(k.Runs) {
				return fmt.Errorf("%q: a line with samples of %d runs of %d", f.Name, len(line.Samples), len(k.Runs))
			}
		}
	}
	return nil
}
