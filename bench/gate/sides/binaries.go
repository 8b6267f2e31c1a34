package sides

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"onebit/bench/gate"
)

// Binaries are two test binaries as go test -c makes them: a gate.Target. They run
// in the current directory.
type Binaries struct {
	Base, Head string // files
	Running

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
	originals := Copies{gate.Base: base, gate.Head: head, gate.Control: base}
	for side, from := range originals {
		c[side] = filepath.Join(dir, "program-"+gate.Side(side).String()+filepath.Ext(from))
		if err := copyProgram(from, c[side]); err != nil {
			return c, errSide(gate.Side(side), err)
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
func (b *Binaries) Find(ctx context.Context) (both []gate.Benchmark, differ []gate.Difference, err error) {
	if b.tester, err = newTester(&b.Running, b.binary); err != nil {
		return nil, nil, err
	}
	var paths [2]string
	for side, file := range []string{b.Base, b.Head} {
		if paths[side], err = MainPackage(file); err != nil {
			return nil, nil, errSide(gate.Side(side), err)
		}
	}
	if paths[gate.Base] != paths[gate.Head] {
		return nil, nil, fmt.Errorf("%s tests %s, and %s tests %s: they have nothing to compare", b.Base, paths[gate.Base], b.Head, paths[gate.Head])
	}
	b.pkg = strings.TrimSuffix(paths[gate.Base], ".test")
	if b.copies, err = CopyPrograms(b.Base, b.Head, b.Temp); err != nil {
		return nil, nil, err
	}
	return match(func(side gate.Side) (gate.Listing, error) {
		found := gate.Listing{}
		return found, b.list(ctx, b.binary(side, b.pkg), nil, found)
	})
}

func (b *Binaries) binary(s gate.Side, _ string) testBinary {
	return testBinary{file: b.copies[s], dir: ".", pkg: b.pkg}
}

// Prepare has nothing to do: the binaries are there.
func (b *Binaries) Prepare(context.Context, int, []gate.Benchmark) error { return nil }

// Fixed reports that the binaries' layouts are as they are.
func (b *Binaries) Fixed() bool { return true }
