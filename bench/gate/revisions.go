package gate

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"onebit/bench/results"
)

// Tests are the test binaries of two revisions of a module: a Target.
type Tests struct {
	Base, Head *Module
	Patterns   []string      // of packages; nil: ./...
	Match      string        // regular expression of benchmarks, as go test -bench has it; "": all
	Limit      time.Duration // for a benchmark; 0: a minute
	Layouts    int           // how many rounds' layouts to pass over, so that two gates differ
	CPUs       int           // GOMAXPROCS of what is measured; 0: that of this process
	Temp       string        // an empty directory for binaries
	MeasureAll bool          // also what runs the same code on both sides
	Linker                   // of both

	tester
	code     Code
	packages [2]map[string]testPackage // by side
	seeds    map[string]int            // of the binaries that are there
}

// Find builds both sides and lists the benchmarks that they share, in order of
// their packages, and those that one of them lacks. Code has those that run the
// same code on both sides, which are left out.
func (t *Tests) Find(ctx context.Context) (both []Benchmark, differ []Difference, err error) {
	if err := t.begin(ctx); err != nil {
		return nil, nil, err
	}
	if err := t.compareCode(ctx); err != nil {
		return nil, nil, err
	}
	var found [2]Listing
	for _, side := range []Side{Base, Head} {
		if found[side], err = t.listAll(ctx, side); err != nil {
			return nil, nil, errSide(side, err)
		}
	}
	both, differ = Match(found[Base], found[Head])
	return both, differ, nil
}

// FindHead builds head, of Tests without a base, and lists its benchmarks.
func (t *Tests) FindHead(ctx context.Context) ([]Benchmark, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	found, err := t.listAll(ctx, Head)
	both, _ := Match(found, found)
	return both, errSide(Head, err)
}

// begin finds the packages.
func (t *Tests) begin(ctx context.Context) (err error) {
	if t.tester, err = newTester(t.Match, t.Limit, t.CPUs, t.Temp); err != nil {
		return err
	}
	t.seeds = map[string]int{}
	if len(t.Patterns) == 0 {
		t.Patterns = []string{"./..."}
	}
	for _, side := range t.sides() {
		if t.packages[side.of()] != nil {
			continue
		}
		if t.packages[side], err = t.module(side).packages(ctx, t.Patterns); err != nil {
			return errSide(side, err)
		}
	}
	return nil
}

func (t *Tests) module(s Side) *Module {
	if s.of() == Base {
		return t.Base
	}
	return t.Head
}

// sides are those that there are.
func (t *Tests) sides() []Side {
	if t.Base == nil {
		return []Side{Head}
	}
	return []Side{Base, Head, Control}
}

func (t *Tests) listAll(ctx context.Context, side Side) (Listing, error) {
	found := Listing{}
	for _, pkg := range t.open(side) {
		seed := t.seedOf(side, 0)
		if err := t.link(ctx, side, pkg, seed); err != nil {
			return nil, err
		}
		t.seeds[t.binary(side, pkg).file] = seed
		if err := t.listPackage(ctx, side, pkg, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// listPackage lists a package's benchmarks. That none of those ran which its
// files have and the pattern names is an error: their times would be left out
// without a word.
func (t *Tests) listPackage(ctx context.Context, side Side, pkg string, to Listing) error {
	before, settled := len(to), t.settled(pkg)
	if err := t.list(ctx, t.binary(side, pkg), settled, to); err != nil || len(to) > before || strings.Contains(t.match, "/") {
		return err
	}
	for _, name := range t.matching(side, pkg) {
		if !slices.Contains(settled, name) {
			return fmt.Errorf("%s has %s, and none of its benchmarks ran: does its TestMain leave them out, or do they print unfinished lines?", pkg, name)
		}
	}
	return nil
}

// Prepare links the binaries of a round, each with a layout of its own.
func (t *Tests) Prepare(ctx context.Context, round int, benchmarks []Benchmark) error {
	wanted := map[string]bool{}
	for _, b := range benchmarks {
		wanted[b.Package] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(runtime.NumCPU(), 3)) // a linker may need a gigabyte
	for _, pkg := range slices.Sorted(maps.Keys(wanted)) {
		for _, side := range t.sides() {
			file, seed := t.binary(side, pkg).file, t.seedOf(side, round)
			if have := t.seeds[file]; have == seed || have > 0 && t.Fixed() {
				continue // it is there, or would be the same
			}
			t.seeds[file] = seed
			group.Go(func() error { return errSide(side, t.link(ctx, side, pkg, seed)) })
		}
	}
	return group.Wait()
}

// of is the side whose sources a side is built from.
func (s Side) of() Side {
	if s == Control {
		return Base
	}
	return s
}

func (t *Tests) binary(s Side, pkg string) testBinary { return t.binaryIn(t.Temp, s, pkg) }

func (t *Tests) binaryIn(dir string, s Side, pkg string) testBinary {
	file := filepath.Join(dir, s.String(), filepath.FromSlash(pkg)+".test")
	if runtime.GOOS == "windows" {
		file += ".exe" // nothing else is started there
	}
	return testBinary{file: file, dir: t.packages[s.of()][pkg].dir, pkg: pkg}
}

// link makes a package's test binary of a side with a layout.
func (t *Tests) link(ctx context.Context, s Side, pkg string, seed int) error {
	return t.Link(ctx, t.module(s), t.binary(s, pkg).file, seed, "test", "-c", pkg)
}

// Layout is the seed of a side's layout in a round: no two have the same.
func Layout(s Side, round int) int { return 3*round + int(s) + 1 }

func (t *Tests) seedOf(s Side, round int) int { return Layout(s, t.Layouts+round) }

// Plan implements Target.
func (t *Tests) Plan(ctx context.Context, benchmarks []Benchmark, measure time.Duration) ([]Batch, error) {
	return t.plan(ctx, benchmarks, measure, func(b Batch) ([][]results.Metric, error) { return t.Run(ctx, Base, b) })
}

// Run implements Target.
func (t *Tests) Run(ctx context.Context, s Side, batch Batch) ([][]results.Metric, error) {
	values, err := t.measure(ctx, t.binary(s, batch.Benchmarks[0].Package), batch)
	return values, errSide(s, err)
}
