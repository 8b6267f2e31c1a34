package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"onebit/bench"
)

// Tests are the test binaries of two revisions of a module: a Target.
type Tests struct {
	Base, Head *Module
	Patterns   []string      // of packages; nil: ./...
	Match      string        // regular expression of benchmarks, as go test -bench has it; "": all
	Limit      time.Duration // for a process; 0: a minute
	Temp       string        // an empty directory for binaries

	dirs   [2]map[string]string // directories of packages, by side
	fixed  bool                 // the linker knows no -randlayout
	rng    *rand.Rand
	wanted map[string]bool // packages with benchmarks
	better map[string]int  // of units that the benchmarks declare or that Go has
}

// A Difference is a benchmark that one side lacks.
type Difference struct {
	Benchmark
	Missing Side
}

func (d Difference) String() string {
	return fmt.Sprintf("%s has no Benchmark%s in %s", d.Missing, d.Name, d.Package)
}

// Find builds both sides and lists the benchmarks that they share, in order of
// their packages, and those that one of them lacks.
func (t *Tests) Find(ctx context.Context) (both []Benchmark, differ []Difference, err error) {
	t.better = map[string]int{"B/s": +1} // what readers of the format make of MB/s
	t.rng = rand.New(rand.NewPCG(1, 0))
	t.Match = cmp.Or(t.Match, ".")
	t.Limit = cmp.Or(t.Limit, time.Minute)
	if _, err := regexp.Compile(t.Match); err != nil {
		return nil, nil, fmt.Errorf("the pattern of benchmarks: %w", err)
	}
	patterns := t.Patterns
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	var found [2]map[Benchmark]bool
	for i, m := range []*Module{t.Base, t.Head} {
		if t.dirs[i], err = m.packages(ctx, patterns); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", Side(i), err)
		}
		if found[i], err = t.list(ctx, Side(i)); err != nil {
			return nil, nil, err
		}
	}
	t.wanted = map[string]bool{}
	for _, b := range sorted(found[Base]) {
		if found[Head][b] {
			both = append(both, b)
			t.wanted[b.Package] = true
		} else {
			differ = append(differ, Difference{b, Head})
		}
	}
	for _, b := range sorted(found[Head]) {
		if !found[Base][b] {
			differ = append(differ, Difference{b, Base})
		}
	}
	return both, differ, nil
}

func sorted(set map[Benchmark]bool) []Benchmark {
	return slices.SortedFunc(maps.Keys(set), compareBenchmarks)
}

func compareBenchmarks(a, b Benchmark) int {
	return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
}

// list runs every benchmark of a side once, which shows its sub-benchmarks.
func (t *Tests) list(ctx context.Context, side Side) (map[Benchmark]bool, error) {
	found := map[Benchmark]bool{}
	for _, pkg := range slices.Sorted(maps.Keys(t.dirs[side])) {
		if err := t.build(ctx, side, pkg, 0); err != nil {
			return nil, err
		}
		results, err := t.start(ctx, side, pkg, t.Match, 1, 1)
		if err != nil {
			return nil, err
		}
		for _, s := range results.Samples {
			found[Benchmark{pkg, s.Name.Full}] = true
		}
	}
	return found, nil
}

// Prepare links the binaries of a round, each with a layout of its own.
func (t *Tests) Prepare(ctx context.Context, round int) error {
	for _, pkg := range slices.Sorted(maps.Keys(t.wanted)) {
		for _, side := range []Side{Base, Head, Twin} {
			if t.fixed && round > 0 {
				continue // it would be the same binary
			}
			if err := t.build(ctx, side, pkg, 3*round+int(side)+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// FixedLayout reports that the linker has no -randlayout, so that the interval
// covers processes and not layouts.
func (t *Tests) FixedLayout() bool { return t.fixed }

// of is the side whose sources a side is built from.
func (s Side) of() Side {
	if s == Twin {
		return Base
	}
	return s
}

func (t *Tests) module(s Side) *Module {
	if s.of() == Base {
		return t.Base
	}
	return t.Head
}

func (t *Tests) binary(s Side, pkg string) string {
	return filepath.Join(t.Temp, s.String(), filepath.FromSlash(pkg)+".test")
}

// build makes a package's test binary; seed 0 leaves the functions where the
// linker puts them.
func (t *Tests) build(ctx context.Context, s Side, pkg string, seed int) error {
	args := []string{"test", "-c", "-o", t.binary(s, pkg)}
	if seed > 0 && !t.fixed {
		args = append(args, "-ldflags=-randlayout="+strconv.Itoa(seed))
	}
	_, err := command(ctx, t.module(s).Dir, "go", append(args, pkg)...)
	if err != nil && strings.Contains(err.Error(), "randlayout") {
		t.fixed = true
		return t.build(ctx, s, pkg, 0)
	}
	if err != nil {
		return fmt.Errorf("%s does not build: %w", s, err)
	}
	return nil
}

// reason is the line of a panic, which has a trace behind it, or else the end
// of what a process said.
func reason(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return tail(text)
}

// learn notes the directions that benchmarks declare of their units
// ("Unit hits better=higher").
func (t *Tests) learn(output []byte) {
	in := benchfmt.NewReader(bytes.NewReader(output), "")
	for in.Scan() {
		if u, ok := in.Result().(*benchfmt.UnitMetadata); ok && u.Key == "better" {
			t.better[u.Unit] = map[string]int{"higher": +1, "lower": -1}[u.Value]
		}
	}
}

// Better is the direction of a unit: +1 if higher is better, -1 if lower is,
// and 0 if nobody has said.
func (t *Tests) Better(unit string) int {
	if b, ok := t.better[unit]; ok {
		return b
	}
	return bench.UnitOf(unit).Better
}

// count is how often a process repeats its operations; the best counts.
const count = 3

// Run implements Target.
func (t *Tests) Run(ctx context.Context, s Side, b Benchmark, n int) ([]bench.Metric, error) {
	results, err := t.start(ctx, s, b.Package, exactly(b.Name), n/count+1, count)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", b.Name, s, err)
	}
	best := map[string]float64{}
	var units []string
	for _, sample := range results.Samples {
		if sample.Name.Full != b.Name {
			continue
		}
		for _, v := range sample.Values {
			have, seen := best[v.Unit]
			if !seen {
				units = append(units, v.Unit)
				best[v.Unit] = v.Value
			} else if t.Better(v.Unit) > 0 {
				best[v.Unit] = max(have, v.Value)
			} else {
				best[v.Unit] = min(have, v.Value)
			}
		}
	}
	if len(units) == 0 {
		return nil, fmt.Errorf("%s of %s was not run", b.Name, s)
	}
	var out []bench.Metric
	for _, u := range units {
		out = append(out, bench.Metric{Unit: u, Value: best[u]})
	}
	return out, nil
}

// exactly is the pattern of one benchmark, level by level.
func exactly(name string) string {
	levels := strings.Split("Benchmark"+name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}

// start runs a test binary in its package's directory, as go test does. The
// environment has a different size each time: it moves the stack (Mytkowicz
// and others, ASPLOS 2009).
func (t *Tests) start(ctx context.Context, s Side, pkg, match string, n, count int, more ...string) (*bench.Results, error) {
	limited, cancel := context.WithTimeout(ctx, t.Limit)
	defer cancel()
	args := append([]string{"-test.run=^$", "-test.bench=" + match,
		"-test.benchtime=" + strconv.Itoa(n) + "x", "-test.count=" + strconv.Itoa(count), "-test.benchmem"}, more...)
	cmd := exec.CommandContext(limited, t.binary(s, pkg), args...)
	var out, complaint bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.dirs[s.of()][pkg], &out, &complaint
	cmd.Env = append(os.Environ(), "ONEBIT_GATE_PADDING="+strings.Repeat("x", t.rng.IntN(4096)))
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s of %s ran for more than %v", match, pkg, t.Limit)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", pkg, err, reason(out.String()+complaint.String()))
	}
	t.learn(out.Bytes())
	results, err := bench.Read(&out, pkg)
	if err != nil {
		return nil, err
	}
	if len(results.Failures) > 0 {
		f := results.Failures[0]
		return nil, errors.New("Benchmark" + f.Name.Full + " fails: " + f.Reason)
	}
	return results, nil
}
