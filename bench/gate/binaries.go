package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"onebit/bench/results"
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
	pkg    string
	copies Copies
}

// Copies are copies of two programs, by side. How a file lies in the system's
// cache of files differs with how it was written: of two files with the same
// bytes, one in /tmp for hours and one just copied, processes held 22 and 30
// MiB. So all sides are written alike, and the control is a file of its own.
type Copies [3]string

// CopyPrograms copies base, twice, and head into a directory.
func CopyPrograms(base, head, dir string) (c Copies, err error) {
	originals := Copies{Base: base, Head: head, Control: base}
	for side, from := range originals {
		c[side] = filepath.Join(dir, "program-"+Side(side).String()+filepath.Ext(from))
		if err := copyProgram(from, c[side]); err != nil {
			return c, errSide(Side(side), err)
		}
	}
	return c, nil
}

func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
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
	if b.copies, err = CopyPrograms(b.Base, b.Head, b.Temp); err != nil {
		return nil, nil, err
	}
	var found [2]Listing
	for _, side := range []Side{Base, Head} {
		found[side] = Listing{}
		if err := b.list(ctx, b.binary(side), nil, found[side]); err != nil {
			return nil, nil, errSide(side, err)
		}
	}
	both, differ = Match(found[Base], found[Head])
	return both, differ, nil
}

func (b *Binaries) binary(s Side) testBinary {
	return testBinary{file: b.copies[s], dir: ".", pkg: b.pkg}
}

// Prepare has nothing to do: the binaries are there.
func (b *Binaries) Prepare(context.Context, int, []Benchmark) error { return nil }

// Plan implements Target.
func (b *Binaries) Plan(ctx context.Context, benchmarks []Benchmark, measure time.Duration) ([]Batch, error) {
	return b.plan(ctx, benchmarks, measure, func(batch Batch) ([][]results.Metric, error) { return b.Run(ctx, Base, batch) })
}

// Run implements Target.
func (b *Binaries) Run(ctx context.Context, s Side, batch Batch) ([][]results.Metric, error) {
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
