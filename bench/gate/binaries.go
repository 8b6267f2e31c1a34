package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"onebit/bench"
)

// Binaries are two test binaries as go test -c makes them: a Target. They run
// in the current directory.
type Binaries struct {
	Base, Head string        // files
	Match      string        // regular expression of benchmarks, as go test -bench has it; "": all
	Limit      time.Duration // for a benchmark; 0: a minute
	CPUs       int           // GOMAXPROCS of what is measured; 0: that of this process
	Temp       string        // an empty directory for temporary files

	tester
	pkg string
}

// MainPackage is the import path of the package that a Go program was built
// from; that of a test binary ends in ".test". A program of another platform is
// an error.
func MainPackage(file string) (string, error) {
	info, err := inspect(file)
	if err != nil {
		return "", err
	}
	return info.Path, nil
}

// Find lists the benchmarks that both binaries have, and the others.
func (b *Binaries) Find(ctx context.Context) (both []Benchmark, differ []Difference, err error) {
	if b.tester, err = newTester(b.Match, b.Limit, b.CPUs, b.Temp); err != nil {
		return nil, nil, err
	}
	var paths [2]string
	for side, file := range []string{b.Base, b.Head} {
		if paths[side], err = MainPackage(file); err != nil {
			return nil, nil, errSide(Side(side), err)
		}
	}
	if paths[Base] != paths[Head] {
		return nil, nil, fmt.Errorf("%s tests %s, and %s tests %s: they have nothing to compare", b.Base, paths[Base], b.Head, paths[Head])
	}
	b.pkg = strings.TrimSuffix(paths[Base], ".test")
	var found [2]Listing
	for _, side := range []Side{Base, Head} {
		found[side] = Listing{}
		if err := b.list(ctx, b.binary(side), found[side]); err != nil {
			return nil, nil, errSide(side, err)
		}
	}
	both, differ = Match(found[Base], found[Head])
	return both, differ, nil
}

func (b *Binaries) binary(s Side) testBinary {
	file := b.Base
	if s == Head {
		file = b.Head
	}
	// A name without a directory would be looked for in PATH.
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return testBinary{file, ".", b.pkg}
}

// Prepare has nothing to do: the binaries are there.
func (b *Binaries) Prepare(context.Context, int, []Benchmark) error { return nil }

// Plan implements Target.
func (b *Binaries) Plan(ctx context.Context, benchmarks []Benchmark, measure time.Duration) ([]Batch, error) {
	return b.plan(ctx, benchmarks, measure, func(batch Batch) ([][]bench.Metric, error) { return b.Run(ctx, Base, batch) })
}

// Run implements Target.
func (b *Binaries) Run(ctx context.Context, s Side, batch Batch) ([][]bench.Metric, error) {
	values, err := b.measure(ctx, b.binary(s), batch)
	return values, errSide(s, err)
}

// Profile implements Profiler.
func (b *Binaries) Profile(ctx context.Context, s Side, bm Benchmark, n int, file string) error {
	_, _, err := b.run(ctx, b.binary(s), exactly(bm.Name), n, 1, "-test.cpuprofile="+file)
	return errSide(s, err)
}

// Fixed reports that the binaries' layouts are as they are.
func (b *Binaries) Fixed() bool { return true }
