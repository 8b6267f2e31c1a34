package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"onebit/bench/noise"
	"onebit/bench/results"
)

// A Baseline is what was measured of a module's benchmarks at another time: by
// a gate (head is what counts then), by onebit bench or by go test.
type Baseline struct {
	File     string
	Settings []results.Setting // the file's header
	Warnings []string          // doubts about the file

	byGate  bool
	samples map[Benchmark][]results.Sample
	order   []Benchmark // as they stand in the file
}

// ReadBaseline reads a results file. Timings that an emulator made are refused.
func ReadBaseline(ctx context.Context, file string) (*Baseline, error) {
	res, err := results.ReadFiles(ctx, file)
	if err != nil {
		return nil, err
	}
	if res.Setting("emulated") == "true" {
		return nil, fmt.Errorf("%s was recorded under an emulator: its times say nothing about a CPU, so nothing is compared with them", file)
	}
	b := &Baseline{
		File: file, Settings: res.Settings, Warnings: res.Warnings,
		byGate: res.Setting(sideKey) != "", samples: map[Benchmark][]results.Sample{},
	}
	for _, s := range res.Samples {
		if s.Side != "" && s.Side != Head.String() || s.Name.IsArm() {
			continue
		}
		at := Benchmark{s.Package, NameOf(s, runtime.GOMAXPROCS(0))}
		if b.samples[at] == nil {
			b.order = append(b.order, at)
		}
		b.samples[at] = append(b.samples[at], s)
	}
	if len(b.order) == 0 {
		return nil, fmt.Errorf("%s holds no benchmark to compare with", file)
	}
	if b.alone() {
		b.Warnings = append(b.Warnings, file+": its benchmarks were measured in one process each, so that what differs between processes is not in its noise (onebit gate -o, or go test several times into one file)")
	}
	return b, nil
}

// Setting returns the header's value for a key, "" if it has none.
func (b *Baseline) Setting(key string) string {
	return (&results.Set{Settings: b.Settings}).Setting(key)
}

// alone reports whether a benchmark was measured in a single process.
func (b *Baseline) alone() bool {
	for _, s := range b.samples {
		if s[0].Process == s[len(s)-1].Process {
			return true
		}
	}
	return false
}

// machineKeys are the settings that say what machine and which Go measured.
var machineKeys = []string{"cpu", "cpu-features", "cpus-usable", "cpu-limit", "gomaxprocs", "goos", "goarch", "os", "hypervisor", "governor", "go-version"}

// Differences names what else than the code may decide: how this machine's
// settings differ from those of the file.
func (b *Baseline) Differences(now []results.Setting) (out []string) {
	here := results.Set{Settings: now}
	known := 0
	for _, key := range machineKeys {
		then, is := b.Setting(key), here.Setting(key)
		if then != "" {
			known++
		}
		if then != "" && is != "" && then != is {
			out = append(out, fmt.Sprintf("%s is %q here and %q in %s", key, is, then, b.File))
		}
	}
	if known == 0 {
		out = append(out, b.File+" does not say on which machine it was recorded")
	}
	return out
}

// Match returns the benchmarks of head that the file has, and the others of
// either. A file that names no package has a benchmark if one package of head has
// that name.
func (b *Baseline) Match(head []Benchmark) (both []Benchmark, differ []Difference) {
	b.adopt(head)
	for _, h := range head {
		if b.samples[h] != nil {
			both = append(both, h)
		} else {
			differ = append(differ, Difference{Benchmark: h, Missing: Base})
		}
	}
	for _, o := range b.order {
		if !slices.Contains(head, o) {
			differ = append(differ, Difference{Benchmark: o, Missing: Head})
		}
	}
	return both, differ
}

// adopt gives benchmarks without a package that of the one of head that has
// their name.
func (b *Baseline) adopt(head []Benchmark) {
	for i, o := range b.order {
		if o.Package != "" {
			continue
		}
		named := slices.DeleteFunc(slices.Clone(head), func(h Benchmark) bool { return h.Name != o.Name })
		if len(named) == 1 && b.samples[named[0]] == nil {
			b.samples[named[0]] = b.samples[o]
			b.order[i] = named[0]
			delete(b.samples, o)
		}
	}
}

// groups are the samples whose median is compared with that of a process of head,
// which takes baselineSamples: of each process as many, or a part of the only one.
// A gate has taken the median already.
func (b *Baseline) groups(at Benchmark) (groups [][]results.Sample) {
	samples := b.samples[at]
	if b.byGate {
		return slices.Collect(slices.Chunk(samples, 1))
	}
	var processes [][]results.Sample
	for i, s := range samples {
		if i == 0 || s.Process != samples[i-1].Process {
			processes = append(processes, nil)
		}
		last := &processes[len(processes)-1]
		*last = append(*last, s)
	}
	if len(processes) > 1 {
		for _, p := range processes {
			groups = append(groups, p[:min(baselineSamples, len(p))])
		}
		return groups
	}
	if whole := len(samples) / baselineSamples * baselineSamples; whole > 0 {
		samples = samples[:whole]
	}
	return slices.Collect(slices.Chunk(samples, baselineSamples))
}

// operations are those of a process of head whose samples are as long as the
// file's.
func (b *Baseline) operations(at Benchmark) int {
	iters := make([]float64, len(b.samples[at]))
	for i, s := range b.samples[at] {
		iters[i] = float64(s.Iters)
	}
	n := int(noise.Median(iters))
	if !b.byGate {
		n = min(n, MaxOps/baselineSamples) * baselineSamples
	}
	return n
}

// baselineProcesses is how many processes of head a comparison with a baseline measures
// if the budget allows it.
const baselineProcesses = 10

// baselineSamples is how often a process of head repeats the operations of a
// sample of onebit bench or go test; the median counts, on both sides.
const baselineSamples = 3

// leastProcesses is below how many nothing is known of their noise.
const leastProcesses = 3

// Compare measures head now and judges it against what the file has of the
// benchmarks, which Match has returned. Of target it prepares and runs head
// alone. When ctx ends it returns what is known together with the cause.
func (b *Baseline) Compare(ctx context.Context, target Target, benchmarks []Benchmark, opt Options) (*Report, error) {
	if len(benchmarks) == 0 {
		return nil, fmt.Errorf("%s and head have no benchmark in common", b.File)
	}
	opt.fill()
	c := newComparison(opt, b.Setting(results.ClassesKey), benchmarks)
	c.baseline, c.target = b, target
	for _, x := range c.order {
		x.n = b.operations(x.Benchmark)
		for round, group := range b.groups(x.Benchmark) {
			var values [][]results.Metric
			for _, s := range group {
				values = append(values, s.Values)
			}
			c.keep(x, Measurement{Benchmark: x.Benchmark, Side: Base, Round: round, N: x.n, Values: Typical(values)})
		}
	}
	err := c.measure(ctx)
	report := c.report()
	if err != nil {
		report.Unfinished = unfinished(err)
	}
	return report, err
}

// A comparison is the state of one Compare.
type comparison struct {
	Options
	casesOf
	classes  string // the keys of base's names by which cases scatter alike
	baseline *Baseline
	target   Target
	round    int
}

func newComparison(opt Options, classes string, benchmarks []Benchmark) *comparison {
	return &comparison{Options: opt, casesOf: newCases(benchmarks), classes: classes}
}

// replayBaseline judges a comparison with what was recorded earlier.
func (t Terms) replayBaseline(all []Measurement, benchmarks []Benchmark, opt Options) *Report {
	c := newComparison(opt, t.Classes, benchmarks)
	c.round = t.Rounds
	for _, m := range all {
		c.keep(c.cases[m.Benchmark], m)
	}
	return c.report()
}

// keep adds what a process measured, and records it.
func (c *comparison) keep(x *caseState, m Measurement) {
	for _, v := range m.Values {
		s := x.unit(v.Unit)
		s.sides[m.Side] = append(s.sides[m.Side], v.Value)
	}
	if c.Record != nil {
		c.Record(m)
	}
}

// measure measures head in as many processes as there is time for, the
// benchmarks in another order each time.
func (c *comparison) measure(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	all := make([]Benchmark, len(c.order))
	for i, x := range c.order {
		all[i] = x.Benchmark
	}
	c.shorten()
	begin := c.elapsed()
	for c.round < baselineProcesses {
		if err := c.target.Prepare(ctx, c.round, all); err != nil {
			return err
		}
		for i, at := range rng.Perm(len(all)) {
			c.tell(Progress{Doing: "measure", Round: c.round, Undecided: len(all) - i, All: len(all)})
			if err := c.once(ctx, c.order[at]); err != nil {
				return err
			}
		}
		c.round++
		// A round that would end after the budget is not begun.
		now := c.elapsed()
		if each := (now - begin) / time.Duration(c.round); now+each/2 > c.Budget {
			break
		}
	}
	return nil
}

// shorten performs fewer operations if as many as the file's took would leave
// no time for some processes.
func (c *comparison) shorten() {
	total := 0.0
	for _, x := range c.order {
		if ns := x.units[results.NsPerOp]; ns != nil {
			total += noise.Median(ns.sides[Base]) * float64(x.n)
		}
	}
	left := float64(c.Budget - c.elapsed())
	factor := left / total / (leastProcesses + 2)
	if factor >= 1 || total == 0 {
		return
	}
	c.Warn(fmt.Sprintf("as many operations as %s has would take %v a round: %.0f%% of them are performed, in which a benchmark may be slower (a longer --budget performs all)",
		c.baseline.File, time.Duration(total).Round(time.Second), 100*factor))
	for _, x := range c.order {
		x.n = max(1, int(float64(x.n)*factor))
	}
}

// once measures a benchmark in a process.
func (c *comparison) once(ctx context.Context, x *caseState) error {
	start := c.elapsed()
	batch := Batch{Benchmarks: []Benchmark{x.Benchmark}, N: x.n}
	if !c.baseline.byGate {
		batch.Repeats = baselineSamples
	}
	values, err := c.target.Run(ctx, Head, batch)
	if err != nil {
		return err
	}
	c.keep(x, Measurement{
		Benchmark: x.Benchmark, Side: Head, Round: c.round, N: x.n,
		Start: start, Took: c.elapsed() - start, Values: values[0],
	})
	return nil
}
