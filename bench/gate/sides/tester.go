package sides

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench/gate"
	"onebit/bench/results"
)

// Running says how benchmarks run.
type Running struct {
	Match string        // regular expression of benchmarks, as go test -bench has it; "": all
	Limit time.Duration // for a benchmark; 0: a minute
	CPUs  int           // GOMAXPROCS of what is measured; 0: that of this process
	Temp  string        // an empty directory, for binaries and temporary files
}

// A tester runs the test binaries of both sides, and knows what they told of their
// units.
type tester struct {
	*Running
	top    *regexp.Regexp // the part of Match that is about the top level
	temp   string         // of the benchmarks' own temporary files
	binary func(s gate.Side, pkg string) testBinary
	named  func(ctx context.Context, s gate.Side, pkg string) (testBinary, error) // one whose functions have names
	better map[string]int                                                         // of units that the benchmarks declare or that Go has
	starts map[string]time.Duration

	allocates map[gate.Benchmark]float64 // bytes per operation
}

func newTester(r *Running, binary func(s gate.Side, pkg string) testBinary) (tester, error) {
	r.Match, r.Limit = cmp.Or(r.Match, "."), cmp.Or(r.Limit, time.Minute)
	t := tester{
		Running: r, temp: filepath.Join(r.Temp, "tmp"), binary: binary,
		named:  func(_ context.Context, s gate.Side, pkg string) (testBinary, error) { return binary(s, pkg), nil },
		better: map[string]int{}, // of B/s too nobody says it: Go computes it from ns/op, which is judged
		starts: map[string]time.Duration{}, allocates: map[gate.Benchmark]float64{},
	}
	if _, err := regexp.Compile(r.Match); err != nil {
		return t, fmt.Errorf("the pattern of benchmarks: %w", err)
	}
	t.top = topLevel(r.Match)
	return t, os.MkdirAll(t.temp, 0o777)
}

// match compares what both sides list.
func match(list func(gate.Side) (gate.Listing, error)) (both []gate.Benchmark, differ []gate.Difference, err error) {
	var found [2]gate.Listing
	for _, side := range []gate.Side{gate.Base, gate.Head} {
		if found[side], err = list(side); err != nil {
			return nil, nil, errSide(side, err)
		}
	}
	both, differ = gate.Match(found[gate.Base], found[gate.Head])
	return both, differ, nil
}

// errSide says whose an error is.
func errSide(s gate.Side, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s: %w", s, err)
}

// Better is the direction of a unit: +1 if higher is better, -1 if lower is,
// and 0 if nobody has said.
func (t *tester) Better(unit string) int {
	if b, ok := t.better[unit]; ok {
		return b
	}
	return results.UnitOf(unit).Better
}

// learn notes the directions that benchmarks declare of their units
// ("Unit hits better=higher").
func (t *tester) learn(ctx context.Context, output []byte) error {
	in := results.NewReader("output", results.Found{})
	if err := in.Lines(ctx, output); err != nil {
		return err
	}
	for key, u := range in.Units() {
		if key.Key == "better" {
			t.better[key.Unit] = map[string]int{"higher": +1, "lower": -1}[u.Value]
		}
	}
	return nil
}

// A testBinary is a test binary with the directory that its tests run in.
type testBinary struct {
	file, dir, pkg string
	under          []string // the command that it is an argument of; nil: none
	env            []string // of its processes beside what all have
}

// run runs benchmarks, n operations each and that some times over. With
// -test.v what a benchmark prints does not get into the line of its result,
// and each is named as it begins.
func (t *tester) run(ctx context.Context, b testBinary, match string, n, count int, more ...string) (*results.Set, *Output, error) {
	command := append(slices.Clone(b.under), b.file)
	p := Program{Path: command[0], Dir: b.dir, Env: b.env, Temp: t.temp, Limit: t.Limit, Args: append(append(command[1:],
		"-test.v", "-test.run=^$", "-test.bench="+match, "-test.benchmem",
		"-test.benchtime="+strconv.Itoa(n)+"x", "-test.count="+strconv.Itoa(count), "-test.cpu="+strconv.Itoa(t.procs()),
	), more...)}
	out, err := p.Run(ctx)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	res, unread := results.Read(bytes.NewReader(out.Text), b.pkg)
	at := cmp.Or(out.At, "it")
	failed := ended(out.Text, "FAIL")
	switch {
	case len(failed) > 0:
		return nil, nil, fmt.Errorf("%s: Benchmark%s fails: %s", b.pkg, failed[0].name, failed[0].why)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %s %w", b.pkg, at, err)
	case unread != nil:
		return nil, nil, fmt.Errorf("the output of the benchmarks cannot be read: %w", unread)
	case !passes(out.Text):
		return nil, nil, fmt.Errorf("%s: %s ended its process before the tests were over: their PASS is missing", b.pkg, at)
	}
	if err := asked(res.Samples, out.Text, n, count); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", b.pkg, err)
	}
	return res, out, t.learn(ctx, out.Text)
}

// passes reports whether the tests said that they were over, and well.
func passes(output []byte) bool {
	for line := range bytes.Lines(output) {
		if string(bytes.TrimRight(line, "\r\n")) == "PASS" {
			return true
		}
	}
	return false
}

// asked refuses results that a benchmark has printed itself, of which nobody
// knows what they measure: each has as many lines as were asked for, each of as
// many operations.
func asked(samples []results.Sample, output []byte, n, count int) error {
	lines := map[string]int{}
	for _, s := range samples {
		if lines[s.Name.Full]++; s.Iters != n || lines[s.Name.Full] > count {
			return fmt.Errorf("output of Benchmark%s has a line that nobody asked for (%d of %d operations are): %q: does it print results of its own?",
				s.Name.Full, count, n, lineOfSample(s, output))
		}
	}
	for name, have := range lines {
		if have < count {
			return fmt.Errorf("output of Benchmark%s has %d of the %d lines that were asked for: does it print unfinished lines?", name, have, count)
		}
	}
	return nil
}

// lineOfSample is the last line that a sample may have been read from.
func lineOfSample(s results.Sample, output []byte) (last string) {
	for line := range strings.Lines(string(output)) {
		f := strings.Fields(line)
		if len(f) > 2 && strings.HasPrefix(f[0], "Benchmark"+s.Name.Full) && f[1] == strconv.Itoa(s.Iters) {
			last = strings.Join(f, " ")
		}
	}
	return last
}

// repeats is how often a process repeats its operations at most; the median
// counts. Each costs two collections of garbage before it.
const repeats = 6

// cycle is what a Go program allocates between collections at least: a window
// has to have that much, so that most of them have their share of collecting.
const cycle = 4 << 20

// windows is how often a process of a batch repeats its operations, and how many
// each time.
func (t *tester) windows(batch gate.Batch) (count, n int) {
	count = repeats
	for _, b := range batch.Benchmarks {
		if all := t.allocates[b] * float64(batch.N); all > cycle {
			count = min(count, max(int(all/cycle), 3))
		}
	}
	count = min(cmp.Or(batch.Repeats, count), batch.N)
	return count, (batch.N + count - 1) / count
}

// measure runs a batch and returns the typical values of each of its benchmarks.
func (t *tester) measure(ctx context.Context, b testBinary, batch gate.Batch) ([][]results.Metric, error) {
	patterns := make([]string, len(batch.Benchmarks))
	for i, bm := range batch.Benchmarks {
		patterns[i] = exactly(bm.Name)
	}
	count, n := t.windows(batch)
	res, out, err := t.run(ctx, b, strings.Join(patterns, "|"), n, count)
	if err != nil {
		return nil, err
	}
	if skipped := ended(out.Text, "SKIP"); len(skipped) > 0 {
		return nil, fmt.Errorf("%s: Benchmark%s skips itself when it is measured: %s", b.pkg, skipped[0].name, skipped[0].why)
	}
	windows := make([][][]results.Metric, len(batch.Benchmarks))
	for _, s := range res.Samples {
		name := gate.NameOf(s, t.procs())
		i := slices.IndexFunc(batch.Benchmarks, func(bm gate.Benchmark) bool { return bm.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s: a line that nobody asked for: %q: does a benchmark print results of its own?", b.pkg, lineOfSample(s, out.Text))
		}
		windows[i] = append(windows[i], s.Values)
	}
	all := make([][]results.Metric, len(batch.Benchmarks))
	for i, bm := range batch.Benchmarks {
		if windows[i] == nil {
			return nil, fmt.Errorf("%s: Benchmark%s has no line of its own in the output: does it print an unfinished line?", b.pkg, bm.Name)
		}
		all[i] = gate.Typical(windows[i])
	}
	return all, nil
}

// Plan implements gate.Target.
func (t *tester) Plan(ctx context.Context, benchmarks []gate.Benchmark, measure time.Duration) ([]gate.Batch, error) {
	p := planner{
		measure: measure, start: func(pkg string) time.Duration { return t.starts[pkg] },
		run: func(b gate.Batch) ([][]results.Metric, error) { return t.Run(ctx, gate.Base, b) },
	}
	return p.plan(ctx, benchmarks)
}

// Run implements gate.Target.
func (t *tester) Run(ctx context.Context, s gate.Side, batch gate.Batch) ([][]results.Metric, error) {
	values, err := t.measure(ctx, t.binary(s, batch.Benchmarks[0].Package), batch)
	return values, errSide(s, err)
}

// Profile implements gate.Profiler.
func (t *tester) Profile(ctx context.Context, s gate.Side, b gate.Benchmark, n int, file string) error {
	_, _, err := t.run(ctx, t.binary(s, b.Package), exactly(b.Name), n, 1, "-test.cpuprofile="+file)
	return errSide(s, err)
}

// procs is GOMAXPROCS of the processes.
func (t *tester) procs() int { return cmp.Or(t.CPUs, runtime.GOMAXPROCS(0)) }

// exactly is the pattern of one benchmark, level by level.
func exactly(name string) string {
	levels := strings.Split("Benchmark"+name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}

// list runs every benchmark of a test binary once, but for those of some names,
// which shows the sub-benchmarks.
func (t *tester) list(ctx context.Context, b testBinary, without []string, to gate.Listing) error {
	var more []string
	if len(without) > 0 {
		more = []string{"-test.skip=^(" + strings.Join(without, "|") + ")$"}
	}
	res, out, err := t.run(ctx, b, t.Match, 1, 1, more...)
	if err != nil {
		return err
	}
	for _, s := range res.Samples {
		bm := gate.Benchmark{Package: b.pkg, Name: gate.NameOf(s, t.procs())}
		to[bm] = ""
		t.allocates[bm], _ = s.Value(results.AllocBytes)
	}
	for _, e := range ended(out.Text, "SKIP") {
		to[gate.Benchmark{Package: b.pkg, Name: e.name}] = e.why
	}
	if len(res.Samples) > 0 {
		t.starts[b.pkg] = max(t.starts[b.pkg], out.Began)
	}
	return nil
}

// An endedBenchmark is one that ended otherwise than with a result.
type endedBenchmark struct{ name, why string }

// ended lists those that ended with FAIL or SKIP, the inner ones first. What
// they said last stands above that line, indented.
func ended(output []byte, how string) (all []endedBenchmark) {
	var said []string
	for line := range strings.Lines(string(output)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "    ") {
			said = append(said, strings.TrimSpace(line))
			continue
		}
		if name, ok := strings.CutPrefix(line, "--- "+how+": Benchmark"); ok {
			why := strings.Join(said[max(0, len(said)-3):], "; ")
			all = append(all, endedBenchmark{name, cmp.Or(why, "it does not say why")})
		}
		said = nil
	}
	return all
}

// topLevel is the part of a pattern that decides which benchmarks of the top level
// run: of each of its alternatives (|) what stands before the first slash, where
// neither is in brackets (testing/match.go).
func topLevel(match string) *regexp.Regexp {
	var top strings.Builder
	class, group, below := 0, 0, false // below: after a slash
	for i := 0; i < len(match); i++ {
		c, from := match[i], i
		switch {
		case c == '\\':
			i = min(i+1, len(match)-1)
		case c == '[':
			class++
		case c == ']':
			class = max(class-1, 0)
		case class > 0:
		case c == '(':
			group++
		case c == ')':
			group--
		case group == 0 && c == '|':
			below = false
		case group == 0 && c == '/':
			below = true
		}
		if !below {
			top.WriteString(match[from : i+1])
		}
	}
	re, err := regexp.Compile(top.String())
	if err != nil {
		return regexp.MustCompile("") // go test says what is wrong with it
	}
	return re
}
