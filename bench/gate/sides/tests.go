package sides

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"onebit/bench/gate"
	"onebit/bench/gate/reach"
)

// Tests are the test binaries of two revisions of a module: a gate.Target.
type Tests struct {
	Base, Head *Module
	Patterns   []string // of packages; nil: ./...
	Layouts    int      // how many rounds' layouts to pass over, so that two gates differ
	MeasureAll bool     // also what runs the same code on both sides
	Running
	Linker // of both

	tester
	code     gate.Code
	packages [2]map[string]testPackage // by side
	seeds    map[string]int            // of the binaries that are there
}

// Find builds both sides and lists the benchmarks that they share, in order of
// their packages, and those that one of them lacks. Code has those that run the
// same code on both sides, which are left out.
func (t *Tests) Find(ctx context.Context) (both []gate.Benchmark, differ []gate.Difference, err error) {
	if err := t.begin(ctx); err != nil {
		return nil, nil, err
	}
	if err := t.compareCode(ctx); err != nil {
		return nil, nil, err
	}
	return match(func(side gate.Side) (gate.Listing, error) { return t.listAll(ctx, side) })
}

// FindHead builds head, of Tests without a base, and lists its benchmarks.
func (t *Tests) FindHead(ctx context.Context) ([]gate.Benchmark, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	found, err := t.listAll(ctx, gate.Head)
	both, _ := gate.Match(found, found)
	return both, errSide(gate.Head, err)
}

// begin finds the packages.
func (t *Tests) begin(ctx context.Context) (err error) {
	if t.tester, err = newTester(&t.Running, t.binary); err != nil {
		return err
	}
	t.named = t.linkNamed
	t.seeds = map[string]int{}
	if len(t.Patterns) == 0 {
		t.Patterns = []string{"./..."}
	}
	for _, side := range t.sides() {
		if t.packages[source(side)] != nil {
			continue
		}
		if t.packages[side], err = t.module(side).packages(ctx, t.Patterns); err != nil {
			return errSide(side, err)
		}
	}
	return nil
}

// source is the side whose sources a side is built from.
func source(s gate.Side) gate.Side {
	if s == gate.Control {
		return gate.Base
	}
	return s
}

func (t *Tests) module(s gate.Side) *Module { return [...]*Module{t.Base, t.Head}[source(s)] }

// sides are those that there are.
func (t *Tests) sides() []gate.Side {
	if t.Base == nil {
		return []gate.Side{gate.Head}
	}
	return []gate.Side{gate.Base, gate.Head, gate.Control}
}

// compareCode asks which benchmarks run the same code on both sides.
func (t *Tests) compareCode(ctx context.Context) error {
	var shared []string
	for pkg := range t.packages[gate.Head] {
		if _, ok := t.packages[gate.Base][pkg]; ok && (len(t.matching(gate.Base, pkg)) > 0 || len(t.matching(gate.Head, pkg)) > 0) {
			shared = append(shared, pkg)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	slices.Sort(shared)
	found, err := reach.Compare(ctx, t.Base.tree(), t.Head.tree(), shared)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		t.code.Unknown = tail(err.Error())
		return nil
	}
	t.trim = !found.Located
	t.code.Unreached, t.code.Measured = found.Unreached, t.MeasureAll
	for _, pkg := range shared {
		base := t.matching(gate.Base, pkg)
		for _, name := range t.matching(gate.Head, pkg) {
			b := gate.Benchmark{Package: pkg, Name: strings.TrimPrefix(name, "Benchmark")}
			switch v := found.Of(pkg, b.Name); {
			case !slices.Contains(base, name):
			case v.Same:
				t.code.Same = append(t.code.Same, b)
			default:
				t.code.Reached = append(t.code.Reached, gate.Reached{Benchmark: b, Why: v.Why})
			}
		}
	}
	return nil
}

// tree is the module as its tests are linked.
func (m *Module) tree() reach.Tree {
	return reach.Tree{
		Go:    func(ctx context.Context, args ...string) (string, error) { return m.command(ctx, "go", args...) },
		Flags: []string{trimpath},
	}
}

// Code is what Find was told by the code.
func (t *Tests) Code() *gate.Code { return &t.code }

// matching are the names of a package's benchmarks that the pattern takes, in
// order.
func (t *Tests) matching(side gate.Side, pkg string) (names []string) {
	for name := range t.packages[side][pkg].benchmarks {
		if t.top.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// settled are the names of a package's benchmarks that need no measurement.
func (t *Tests) settled(pkg string) (names []string) {
	for _, b := range t.code.Settled() {
		if b.Package == pkg {
			names = append(names, "Benchmark"+b.Name)
		}
	}
	return names
}

// listAll lists the benchmarks of the packages that have something to measure.
func (t *Tests) listAll(ctx context.Context, side gate.Side) (gate.Listing, error) {
	found := gate.Listing{}
	for _, pkg := range slices.Sorted(maps.Keys(t.packages[side])) {
		open, settled := t.matching(side, pkg), t.settled(pkg)
		if open = slices.DeleteFunc(open, func(name string) bool { return slices.Contains(settled, name) }); len(open) == 0 {
			continue
		}
		seed := t.seedOf(side, 0)
		if err := t.link(ctx, side, pkg, seed); err != nil {
			return nil, err
		}
		t.seeds[t.binary(side, pkg).file] = seed
		if err := t.listPackage(ctx, side, pkg, open, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// listPackage lists a package's benchmarks. That none of those ran which its
// files have and the pattern names is an error: their times would be left out
// without a word.
func (t *Tests) listPackage(ctx context.Context, side gate.Side, pkg string, open []string, to gate.Listing) error {
	before := len(to)
	if err := t.list(ctx, t.binary(side, pkg), t.settled(pkg), to); err != nil || len(to) > before || strings.Contains(t.Match, "/") {
		return err
	}
	return fmt.Errorf("%s has %s, and none of its benchmarks ran: does its TestMain leave them out, or do they print unfinished lines?", pkg, open[0])
}

// Prepare links the binaries of a round, each with a layout of its own.
func (t *Tests) Prepare(ctx context.Context, round int, benchmarks []gate.Benchmark) error {
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

func (t *Tests) binary(s gate.Side, pkg string) testBinary { return t.binaryIn(t.Temp, s, pkg) }

func (t *Tests) binaryIn(dir string, s gate.Side, pkg string) testBinary {
	file := filepath.Join(dir, s.String(), filepath.FromSlash(pkg)+".test")
	if runtime.GOOS == "windows" {
		file += ".exe" // nothing else is started there
	}
	return testBinary{file: file, dir: t.packages[source(s)][pkg].dir, pkg: pkg}
}

// link makes a package's test binary of a side with a layout.
func (t *Tests) link(ctx context.Context, s gate.Side, pkg string, seed int) error {
	return t.Link(ctx, t.module(s), t.binary(s, pkg).file, seed, "test", "-c", pkg)
}

// linkNamed makes a binary whose functions have names, which those that are timed
// have not.
func (t *Tests) linkNamed(ctx context.Context, s gate.Side, pkg string) (testBinary, error) {
	b := t.binaryIn(filepath.Join(t.Temp, "counted"), s, pkg)
	if _, err := os.Stat(b.file); err == nil {
		return b, nil
	}
	linker := Linker{fixed: true, trim: t.trim, symbols: true}
	return b, linker.Link(ctx, t.module(s), b.file, 0, "test", "-c", pkg)
}

// Layout is the seed of a side's layout in a round: no two have the same.
func Layout(s gate.Side, round int) int { return 3*round + int(s) + 1 }

func (t *Tests) seedOf(s gate.Side, round int) int { return Layout(s, t.Layouts+round) }

// Locate says where the function of head's benchmark begins; "" if that is not
// found.
func (t *Tests) Locate(b gate.Benchmark) (file string, line int) {
	top, _, _ := strings.Cut("Benchmark"+b.Name, "/")
	at := t.packages[gate.Head][b.Package].benchmarks[top]
	return at.Filename, at.Line
}
