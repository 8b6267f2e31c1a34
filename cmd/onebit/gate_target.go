package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
	"onebit/bench/gate/suites"
)

// A gateTarget finds the benchmarks of two sides and runs them.
type gateTarget interface {
	gate.Target

	// Find lists the benchmarks that both sides have, and the others.
	Find(ctx context.Context) (both []gate.Benchmark, differ []gate.Difference, err error)

	Better(unit string) int

	// Fixed reports that each side has the one layout that it has.
	Fixed() bool
}

// A gateSubject is what a gate compares.
type gateSubject struct {
	gateTarget
	base, head *sides.Module // nil: binaries
	old, now   string        // what is said of them
	caveat     string        // what is said if the layouts are fixed
}

// code is what the code says of the benchmarks; that of binaries and of onebit's
// own cases is not asked.
func (c *gateSubject) code() *gate.Code {
	if tests, ok := c.gateTarget.(*sides.Tests); ok {
		return tests.Code()
	}
	return new(gate.Code)
}

// compared makes out what is compared: two revisions or two binaries, of any
// module's tests or of onebit's own cases.
func (f *gateFlags) compared(ctx context.Context, args []string, temp string) (*gateSubject, error) {
	if f.baseBinary != "" {
		return f.binaries(args, temp)
	}
	head, err := sides.FindModule(ctx, ".")
	if err != nil {
		return nil, err
	}
	base, err := head.Checkout(ctx, f.base, filepath.Join(temp, "base"))
	if err != nil {
		return nil, err
	}
	c := &gateSubject{base: base, head: head, caveat: "this Go's linker has no -randlayout: where functions happen to lie can pass for a change"}
	if c.old, err = base.Describe(ctx); err != nil {
		return nil, err
	}
	if c.now, err = head.Describe(ctx); err != nil {
		return nil, err
	}
	c.old = f.base + ", " + c.old
	if err := f.useGo(ctx, c); err != nil {
		return nil, err
	}
	bin, layouts := filepath.Join(temp, "bin"), rand.IntN(1<<20)
	if f.suite == "" {
		c.gateTarget = &sides.Tests{Base: base, Head: head, Patterns: args, Layouts: layouts, MeasureAll: f.measureAll, Running: f.running(bin)}
		return c, nil
	}
	c.gateTarget = f.cases(&suites.Built{Base: base, Head: head, Dir: bin, Layouts: layouts}, args, temp)
	return c, nil
}

// running is how benchmarks run, with a folder for what they leave.
func (f *gateFlags) running(temp string) sides.Running {
	return sides.Running{Match: f.match, Limit: f.limit, CPUs: f.cpus, Temp: temp}
}

// useGo lets the sides be built by the releases of Go that were asked for, which
// then is a part of what is said of them.
func (f *gateFlags) useGo(ctx context.Context, c *gateSubject) error {
	for _, side := range []struct {
		release string
		module  *sides.Module
		said    *string
	}{{f.baseGo, c.base, &c.old}, {f.headGo, c.head, &c.now}} {
		if side.release == "" {
			continue
		}
		if err := side.module.UseGo(ctx, side.release); err != nil {
			return fmt.Errorf("with Go %s: %w", side.release, err)
		}
		*side.said += ", built by go" + strings.TrimPrefix(side.release, "go")
	}
	return nil
}

// binaries compares two programs that are there. Their layouts cannot be drawn
// again.
func (f *gateFlags) binaries(args []string, temp string) (*gateSubject, error) {
	base, err := sides.MainPackage(f.baseBinary)
	if err != nil {
		return nil, fmt.Errorf("--base-binary: %w", err)
	}
	head, err := sides.MainPackage(f.headBinary)
	if err != nil {
		return nil, fmt.Errorf("--head-binary: %w", err)
	}
	c := &gateSubject{old: f.baseBinary, now: f.headBinary, caveat: "binaries have the layout that they have: where functions happen to lie can pass for a change"}
	switch {
	case isTest(base) && isTest(head):
		if len(args) > 0 || f.suite != "" {
			return nil, fmt.Errorf("test binaries have neither packages nor a suite to choose: --bench chooses benchmarks")
		}
		c.gateTarget = &sides.Binaries{Base: f.baseBinary, Head: f.headBinary, Running: f.running(temp)}
	case base == head && strings.HasSuffix(base, "/cmd/onebit"):
		copies, err := sides.CopyPrograms(f.baseBinary, f.headBinary, temp)
		if err != nil {
			return nil, err
		}
		c.gateTarget = f.cases(suites.Given{Copies: copies}, args, temp)
	default:
		return nil, fmt.Errorf("%s is %s and %s is %s: name two test binaries (go test -c) of one package, or two of onebit", f.baseBinary, kindOf(base), f.headBinary, kindOf(head))
	}
	return c, nil
}

// cases is the target of a suite.
func (f *gateFlags) cases(programs suites.Programs, args []string, temp string) *suites.Target {
	c := &suites.Target{Programs: programs, Suites: []string{cmp.Or(f.suite, kernelsOnly)}, Flags: slices.Clone(args), Preset: f.preset, Limit: f.limit, Temp: temp}
	if f.suite == everything {
		c.Suites = []string{kernelsOnly, modelsOnly}
	}
	if f.model != "" {
		c.Flags = append(c.Flags, "--model", f.model)
	}
	if f.filter != "" {
		c.Flags = append(c.Flags, "--filter", f.filter)
	}
	return c
}

func isTest(pkg string) bool { return strings.HasSuffix(pkg, ".test") }

func kindOf(pkg string) string {
	if isTest(pkg) {
		return "a test binary of " + strings.TrimSuffix(pkg, ".test")
	}
	return "the program " + pkg
}

// thresholds are those of rules; values that are computed need none, but for
// the last digits of an error.
func (c *gateSubject) thresholds(rules *gate.Rules) func(gate.Benchmark, string) (float64, bool) {
	return func(b gate.Benchmark, unit string) (float64, bool) {
		t, ok := rules.ThresholdOf(b, unit)
		if own, is := c.gateTarget.(*suites.Target); is && !ok {
			return own.ThresholdOf(unit)
		}
		return t, ok
	}
}

// find is Find within the budget, of which measuring needs a part.
func (f *gateFlags) find(ctx context.Context, c *gateSubject, start time.Time) ([]gate.Benchmark, []gate.Difference, error) {
	limited, cancel := context.WithDeadline(ctx, start.Add(f.budget))
	defer cancel()
	both, differ, err := c.Find(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return nil, nil, gate.BudgetError(fmt.Sprintf("building both sides and listing their benchmarks takes longer than the budget of %v", f.budget))
	}
	return both, differ, err
}

// aboutDisk adds where the gate's files are to an error of a full disk.
func aboutDisk(err error) error {
	if err != nil && strings.Contains(err.Error(), "no space left on device") {
		return fmt.Errorf("%w (a gate builds in %s; TMPDIR names another directory)", err, os.TempDir())
	}
	return err
}
