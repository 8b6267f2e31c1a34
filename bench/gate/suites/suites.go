// Package suites lets a gate compare onebit's own cases: those of two onebits, which it
// runs as programs.
package suites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
	"onebit/bench/names"
	"onebit/bench/results"
)

// A Target is the cases of two onebits: a gate.Target. It uses only what scripts
// rely on, so that versions understand each other:
//
//	onebit bench SUITE FLAGS --list --json
//	onebit bench SUITE FLAGS --filter EXPR --count 1 --time 60ms -o DIR   and DIR/results.txt
//	onebit synth PRESET -o FILE
//
// A process measures all cases of a matrix's shape or of a model, since setting
// them up takes longer than measuring.
type Target struct {
	Programs Programs
	Suites   []string      // kernels, models
	Flags    []string      // of onebit bench, such as --filter EXPR
	Preset   string        // of a model that base makes, for both; "": none
	Limit    time.Duration // a case that runs for longer hangs
	Temp     string        // a folder

	groups map[gate.Benchmark]*caseGroup
}

// Programs are the onebits of the three sides.
type Programs interface {
	Prepare(ctx context.Context, round int) error
	File(gate.Side) string
	Fixed() bool // each has the one layout that it has
}

// Given are two programs that are there: base and head.
type Given struct{ sides.Copies }

func (g Given) Prepare(context.Context, int) error { return nil }
func (g Given) Fixed() bool                        { return true }
func (g Given) File(s gate.Side) string            { return g.Copies[s] }

// Built are built from two revisions, each round anew.
type Built struct {
	Base, Head *sides.Module
	Dir        string
	Layouts    int // how many rounds' layouts to pass over
	sides.Linker
}

func (b *Built) File(s gate.Side) string { return filepath.Join(b.Dir, "onebit-"+s.String()) }

func (b *Built) Prepare(ctx context.Context, round int) error {
	if round > 0 && b.Fixed() {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2) // the linker needs much memory
	if round == 0 {
		group.SetLimit(1) // the first tells what the linker can do
	}
	for _, side := range []gate.Side{gate.Base, gate.Head, gate.Control} {
		group.Go(func() error {
			m := b.Base
			if side == gate.Head {
				m = b.Head
			}
			// Without paths, what has not changed is compiled once.
			err := b.Link(ctx, m, b.File(side), sides.Layout(side, b.Layouts+round), "build", "-trimpath", "onebit/cmd/onebit")
			if err != nil {
				return fmt.Errorf("%s: %w (--suite measures onebit's own cases)", side, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// A caseGroup is the cases that a process measures.
type caseGroup struct {
	suite string
	cases []string        // that both sides have
	timed map[string]bool // those that are no study and no ceiling
	took  time.Duration
}

// casesPackage is what results files call the package of onebit's cases.
const casesPackage = "onebit/bench/cases"

// Find builds both sides and lists their cases. Groups with studies are measured
// once on both, which shows what those report; of the others the names are known.
func (c *Target) Find(ctx context.Context) (both []gate.Benchmark, differ []gate.Difference, err error) {
	if err := c.prepare(ctx); err != nil {
		return nil, nil, err
	}
	found := [2]gate.Listing{{}, {}}
	c.groups = map[gate.Benchmark]*caseGroup{}
	for _, suite := range c.Suites {
		groups, err := c.list(ctx, suite, found)
		if err != nil {
			return nil, nil, err
		}
		if err := c.tryAll(ctx, groups, found); err != nil {
			return nil, nil, err
		}
	}
	both, differ = gate.Match(found[gate.Base], found[gate.Head])
	return both, differ, nil
}

// prepare makes the programs and the model.
func (c *Target) prepare(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(c.Temp, "tmp"), 0o777); err != nil {
		return err
	}
	if err := c.Programs.Prepare(ctx, 0); err != nil || c.Preset == "" {
		return err
	}
	file := filepath.Join(c.Temp, c.Preset+".gguf")
	c.Flags = append(c.Flags, "--model", file)
	_, err := c.onebit(ctx, gate.Base, 10*time.Minute, "synth", c.Preset, "-o", file)
	return err
}

// onebit runs a side's program.
func (c *Target) onebit(ctx context.Context, side gate.Side, limit time.Duration, args ...string) (*sides.Output, error) {
	file, err := filepath.Abs(c.Programs.File(side))
	if err != nil {
		return nil, err
	}
	p := sides.Program{Path: file, Args: args, Dir: ".", Temp: filepath.Join(c.Temp, "tmp"), Limit: limit}
	out, err := p.Run(ctx)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: onebit %s %w", side, strings.Join(args[:2], " "), err)
	}
	return out, err
}

// list groups the cases that both sides can run here, and notes those that one
// side lacks. Ceilings measure the machine.
func (c *Target) list(ctx context.Context, suite string, found [2]gate.Listing) (groups []*caseGroup, err error) {
	var sides [2]map[string]names.Listed
	for _, side := range []gate.Side{gate.Base, gate.Head} {
		if sides[side], err = c.listed(ctx, side, suite); err != nil {
			return nil, err
		}
		for name := range sides[side] {
			found[side][gate.Benchmark{Package: casesPackage, Name: name}] = ""
		}
	}
	index := map[string]*caseGroup{}
	for _, name := range slices.Sorted(maps.Keys(sides[gate.Base])) {
		of := sides[gate.Base][name]
		if _, ok := sides[gate.Head][name]; !ok {
			continue
		}
		key := of.Keys[names.Format] + " " + of.Keys[names.Rows] + " " + of.Keys[names.Cols] + " " + of.Keys[names.Model]
		g := index[key]
		if g == nil {
			g = &caseGroup{suite: suite, timed: map[string]bool{}}
			index[key] = g
			groups = append(groups, g)
		}
		g.cases = append(g.cases, name)
		g.timed[name] = !of.Study
	}
	return groups, nil
}

// listed are a side's cases by name.
func (c *Target) listed(ctx context.Context, side gate.Side, suite string) (map[string]names.Listed, error) {
	out, err := c.onebit(ctx, side, c.Limit, append([]string{"bench", suite, "--list", "--json"}, c.Flags...)...)
	if err != nil {
		return nil, err
	}
	var list struct{ Cases []names.Listed }
	if err := json.Unmarshal(out.Text, &list); err != nil {
		return nil, fmt.Errorf("%s: onebit bench %s --list --json: %w", side, suite, err)
	}
	all := map[string]names.Listed{}
	for _, l := range list.Cases {
		if l.Unavailable == "" && l.Base != names.BaseRead && l.Base != names.BaseDotPeak {
			all[l.Name] = l
		}
	}
	return all, nil
}

// tryAll finds what the groups of a suite report, and how long they take. A process
// of every group would take minutes before the first round: of those without
// studies one tells for all how long a case takes.
func (c *Target) tryAll(ctx context.Context, groups []*caseGroup, found [2]gate.Listing) error {
	var plain []*caseGroup
	for _, g := range groups {
		if g.studies() {
			if err := c.try(ctx, g, found); err != nil {
				return err
			}
			continue
		}
		plain = append(plain, g)
		for _, name := range g.cases {
			c.groups[gate.Benchmark{Package: casesPackage, Name: name}] = g
		}
	}
	if len(plain) == 0 {
		return nil
	}
	largest := slices.MaxFunc(plain, func(a, b *caseGroup) int { return len(a.cases) - len(b.cases) })
	if _, err := c.measure(ctx, gate.Base, largest); err != nil {
		return err
	}
	for _, g := range plain {
		g.took = largest.took * time.Duration(len(g.cases)) / time.Duration(len(largest.cases))
	}
	return nil
}

// studies reports whether a part of the group has other names in its results.
func (g *caseGroup) studies() bool {
	return slices.Contains(slices.Collect(maps.Values(g.timed)), false)
}

// try measures a group once on base and head. What takes the place of studies
// is what they report.
func (c *Target) try(ctx context.Context, g *caseGroup, found [2]gate.Listing) error {
	for _, side := range []gate.Side{gate.Base, gate.Head} {
		for _, name := range g.cases {
			delete(found[side], gate.Benchmark{Package: casesPackage, Name: name})
		}
		values, err := c.measure(ctx, side, g)
		if err != nil {
			return err
		}
		for name := range values {
			b := gate.Benchmark{Package: casesPackage, Name: name}
			found[side][b], c.groups[b] = "", g
		}
	}
	return nil
}

// sampleTime is how long a sample of a case is to be.
const sampleTime = 60 * time.Millisecond

// measure runs a process of a group and returns the values by name.
func (c *Target) measure(ctx context.Context, side gate.Side, g *caseGroup) (map[string][]results.Metric, error) {
	dir := filepath.Join(c.Temp, "results")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"bench", g.suite}, c.Flags, []string{"--filter", exactNames(g.cases), "--count", "1", "--time", sampleTime.String(), "-o", dir})
	out, failed := c.onebit(ctx, side, c.Limit*time.Duration(len(g.cases)), args...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	res, err := results.ReadFiles(ctx, filepath.Join(dir, "results.txt"))
	switch {
	case err == nil && len(res.Failures) > 0:
		return nil, fmt.Errorf("%s: %s fails: %s", side, res.Failures[0].Name.Full, res.Failures[0].Reason)
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, fmt.Errorf("%s: %w", side, err)
	case res.Machine().Emulated():
		return nil, fmt.Errorf("%s: %s: its times prove nothing; choose other cases with --filter", side, res.Machine().Emulator)
	}
	g.took = max(g.took, out.Ended)
	return g.values(res)
}

// values are what a gate judges: a case's own, and what studies compute.
func (g *caseGroup) values(res *results.Set) (map[string][]results.Metric, error) {
	all := map[string][]results.Metric{}
	for _, s := range res.Samples {
		if s.Name.IsArm() {
			continue
		}
		for _, v := range s.Values {
			if unit := results.UnitOf(v.Unit); unit.Exact && !slices.Contains(dependentUnits, v.Unit) || g.timed[s.Name.Full] && slices.Contains(processUnits, v.Unit) {
				all[s.Name.Full] = append(all[s.Name.Full], v)
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("onebit bench wrote no results")
	}
	return all, nil
}

// processUnits are the units that processes differ in and that are judged: rates
// follow from ns/op, and what a mapped file takes is the system's business.
var processUnits = []string{results.NsPerOp, results.GPUTime, results.PeakRSS, results.PackTime, results.Allocs}

// dependentUnits are computed units that follow from others, and the part of an error
// that is rounding alone.
var dependentUnits = []string{results.KLDLow, results.KLDHigh, results.Top1Low, results.Top1High, results.Top5Low, results.Top5High, results.RefPpl, results.KernelNMSE}

// exactNames is a filter of these cases.
func exactNames(all []string) string {
	quoted := make([]string, len(all))
	for i, name := range all {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return ".fullname:(" + strings.Join(quoted, " OR ") + ")"
}

// Prepare implements gate.Target.
func (c *Target) Prepare(ctx context.Context, round int, _ []gate.Benchmark) error {
	if round == 0 {
		return nil // Find has
	}
	return c.Programs.Prepare(ctx, round)
}

// Plan implements gate.Target: a process measures a group.
func (c *Target) Plan(_ context.Context, benchmarks []gate.Benchmark, _ time.Duration) (batches []gate.Batch, err error) {
	at := map[*caseGroup]int{}
	for _, b := range benchmarks {
		g := c.groups[b]
		i, ok := at[g]
		if !ok {
			i = len(batches)
			at[g] = i
			batches = append(batches, gate.Batch{N: 1, Took: g.took})
		}
		batches[i].Benchmarks = append(batches[i].Benchmarks, b)
	}
	return batches, nil
}

// Run implements gate.Target. A group is measured as long as one of it is.
func (c *Target) Run(ctx context.Context, side gate.Side, batch gate.Batch) ([][]results.Metric, error) {
	values, err := c.measure(ctx, side, c.groups[batch.Benchmarks[0]])
	if err != nil {
		return nil, err
	}
	all := make([][]results.Metric, len(batch.Benchmarks))
	for i, b := range batch.Benchmarks {
		if all[i] = values[b.Name]; all[i] == nil {
			return nil, fmt.Errorf("%s: %s was not measured", side, b.Name)
		}
	}
	return all, nil
}

// Better says which way values of a unit are better, as a gate's Options have it.
func (c *Target) Better(unit string) int { return results.UnitOf(unit).Better }

// Fixed reports that each side has the one layout that it has.
func (c *Target) Fixed() bool { return c.Programs.Fixed() }

// ThresholdOf returns what a computed value may grow by, where no rule says otherwise:
// nothing, but for the last digits of an error.
func (c *Target) ThresholdOf(unit string) (threshold float64, ok bool) {
	switch {
	case !results.UnitOf(unit).Exact:
		return 0, false
	case unit == results.PackedBytes:
		return 0, true
	}
	return errorThreshold, true
}

// errorThreshold is how much a computed error may grow: a sum in another order
// changes its last digits.
const errorThreshold = 0.001
