package cases

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"onebit/bench"
	"onebit/bench/hotspot"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// KernelOptions say which kernel is profiled, and how.
type KernelOptions struct {
	Variant *kernels.Variant
	Shape   formats.Shape
	Time    time.Duration // of sampling in each of the two levels of memory
	Rounds  int           // of timing
	Seed    uint64
	MCACPU  string // whose tables llvm-mca takes; "": this machine's, or one that stands in
	Host    sysinfo.Host

	// Step starts this program as a child that calls StepKernel with these rows
	// and columns.
	Step     func(ctx context.Context, rows, cols int) *exec.Cmd
	Progress Progress
}

// A KernelProfiling is a kernel to be profiled: the suite measures it, after which
// Kernel is what was found. It must be closed.
type KernelProfiling struct {
	Suite  bench.Suite
	Kernel *profile.Kernel

	opt    KernelOptions
	env    *env
	groups []*group // acquired once each
	whole  []bench.Instance
	runs   []kernelRun // of Kernel.Runs
	counts []int       // of products that take leastRun, by run
}

// A kernelRun performs products.
type kernelRun struct {
	*profile.KernelRun
	run func(n int) error // n of them
}

// NewKernelProfiling packs matrices, and checks the product against the references.
func NewKernelProfiling(ctx context.Context, opt KernelOptions) (_ *KernelProfiling, err error) {
	v := opt.Variant
	p := &KernelProfiling{opt: opt, env: newEnv([]int{1}, opt.Host)}
	p.env.setCold(opt.Host, 1)
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	p.Kernel = &profile.Kernel{
		Format: v.Format.Name, Variant: v.Name, Act: string(v.Scheme), Summary: v.Summary, Layout: v.Layout.Name,
		CPU: opt.Host.CPU.String(), Rows: opt.Shape.Rows, Cols: opt.Shape.Cols, Planned: opt.Rounds,
	}
	full, err := p.group(opt.Shape)
	if err != nil {
		return nil, err
	}
	if err := p.addLevels(full); err != nil {
		return nil, err
	}
	for _, cold := range []bool{false, true} {
		if err := p.addWhole(ctx, full, config{v, 1, cold}); err != nil {
			return nil, err
		}
	}
	name := p.name(opt.Shape.Rows, "")
	p.Suite.Doubts = p.env.allDoubts
	p.Suite.Studies = []bench.Study{
		{Name: name, Group: "kernel", Time: time.Second, Run: p.time},
		{Name: name + "/samples", Group: "kernel", Time: 2 * opt.Time, Run: p.look},
	}
	return p, nil
}

func (p *KernelProfiling) name(rows int, level string) string {
	v := p.opt.Variant
	return names.Kernel{Format: v.Format.Name, Variant: v.Name, Act: string(v.Scheme), Rows: rows, Cols: p.opt.Shape.Cols, Threads: 1, Level: level}.String()
}

// group makes a random matrix and keeps it until Close.
func (p *KernelProfiling) group(s formats.Shape) (*group, error) {
	if _, err := p.opt.Variant.Layout.Bytes(p.opt.Variant.Format, s.Rows, s.Cols); err != nil {
		return nil, err
	}
	g := &group{src: Synthetic([]*formats.Type{p.opt.Variant.Format}, []formats.Shape{s}, p.opt.Seed)[0], env: p.env, seed: p.opt.Seed}
	if err := g.acquire(); err != nil {
		return nil, err
	}
	p.groups = append(p.groups, g)
	return g, nil
}

// addLevels adds calls of the kernel alone: of as many rows as fit half a cache, again and
// again, and of copies that come from memory.
func (p *KernelProfiling) addLevels(full *group) error {
	v := p.opt.Variant
	before := 0
	for _, level := range []string{"l1d", "l2"} {
		rows := 0
		if holds, err := levelHolds(p.opt.Host, level, 1); err == nil {
			rows = fittingRows(v, p.opt.Shape, holds/2)
		}
		if rows <= before {
			p.Kernel.Warnings = append(p.Kernel.Warnings, fmt.Sprintf("%s: not measured, for no rows more of %d columns fit half of it", level, p.opt.Shape.Cols))
			continue
		}
		before = rows
		g, err := p.group(formats.Shape{Rows: rows, Cols: p.opt.Shape.Cols})
		if err != nil {
			return err
		}
		packed, err := g.pack(v)
		if err != nil {
			return err
		}
		p.addLevel(g, level, packed.warm)
	}
	_, copies, err := full.matrices(v, true)
	if err != nil {
		return err
	}
	p.addLevel(full, names.DRAM, copies...)
	return nil
}

// fittingRows is how many rows, in whole tiles, take at most so many bytes.
func fittingRows(v *kernels.Variant, s formats.Shape, most int) int {
	unit := max(16, v.Layout.RowTile)
	bytes, err := v.Layout.Bytes(v.Format, unit, s.Cols)
	if err != nil {
		return 0
	}
	return min(most/max(bytes, 1)*unit, s.Rows)
}

func (p *KernelProfiling) addLevel(g *group, level string, matrices ...*kernels.Matrix) {
	v, y, next := p.opt.Variant, make([]float32, g.src.Rows), 0
	a := &kernels.Activations{}
	v.Prepare(a, g.x, 1, g.src.Cols)
	p.add(kernelRun{&profile.KernelRun{Name: p.name(g.src.Rows, level), Level: level, Rows: g.src.Rows, Cols: g.src.Cols, Bytes: len(matrices[0].Data)}, func(n int) error {
		for range n {
			v.Rows(y, matrices[next], a, 0, g.src.Rows)
			if next++; next == len(matrices) {
				next = 0
			}
		}
		return nil
	}})
}

func (p *KernelProfiling) add(r kernelRun) {
	p.runs = append(p.runs, r)
	p.Kernel.Runs = append(p.Kernel.Runs, r.KernelRun)
}

// addWhole adds a product as bench measures it. Its result must be right.
func (p *KernelProfiling) addWhole(ctx context.Context, g *group, c config) error {
	instance, err := newMatvec(g, c)
	if err != nil {
		return err
	}
	p.whole = append(p.whole, instance)
	switch _, err := instance.Verify(ctx); {
	case err != nil && errors.Is(err, ctx.Err()):
		return fmt.Errorf("checking %s: %w", c.name(g.src), err)
	case err != nil:
		return fmt.Errorf("%s is wrong: %w", c.name(g.src), err)
	}
	packed, err := g.pack(c.variant)
	if err != nil {
		return err
	}
	p.add(kernelRun{
		&profile.KernelRun{Name: c.name(g.src), Cache: c.cache(), Rows: g.src.Rows, Cols: g.src.Cols, Bytes: len(packed.warm.Data)},
		func(n int) error { return instance.Run(ctx, n) },
	})
	return nil
}

// leastRun is how long a run is timed at once.
const leastRun = 3 * time.Millisecond

// lastingRuns is how many times run works for leastRun.
func lastingRuns(run func(n int) error) (n int, err error) {
	for n = 1; ; n *= 2 {
		start := clock.Now()
		if err := run(n); err != nil || clock.Since(start) >= leastRun {
			return n, err
		}
	}
}

// time takes rounds of all runs, each between two measurements of the clock.
func (p *KernelProfiling) time(ctx context.Context, emit func(results.Sample) error) (err error) {
	runtime.LockOSThread() // to one CPU's clock, mostly
	defer runtime.UnlockOSThread()
	p.counts = make([]int, len(p.runs))
	for i, r := range p.runs {
		if p.counts[i], err = lastingRuns(r.run); err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	for round := range p.opt.Rounds {
		p.opt.Progress.show("timing", round, p.opt.Rounds)
		for i, r := range p.runs {
			hz := roofline.ClockRate()
			start := clock.Now()
			if err := errors.Join(r.run(p.counts[i]), ctx.Err()); err != nil {
				return err
			}
			ns := float64(clock.Since(start)) / float64(p.counts[i])
			hz = (hz + roofline.ClockRate()) / 2
			cycles := ns * 1e-9 * hz / r.Weights()
			r.Times, r.Cycles = append(r.Times, ns), append(r.Cycles, cycles)
			err := emit(results.Sample{Name: results.ParseName(r.Name), Iters: p.counts[i], Values: []results.Metric{
				{Unit: results.NsPerOp, Value: ns}, {Unit: results.WeightRate, Value: float64(r.Bytes) / ns * 1e9},
				{Unit: results.CyclesPerWeights, Value: cycles}, {Unit: results.ClockRate, Value: hz},
			}})
			if err != nil {
				return err
			}
		}
		p.Kernel.Rounds++
	}
	return nil
}

// look takes samples, counts and disassembles.
func (p *KernelProfiling) look(ctx context.Context, emit func(results.Sample) error) error {
	samples, err := p.sample(ctx)
	if err != nil {
		return err
	}
	p.opt.Progress.show("counting instructions", 0, 1)
	counts, err := p.count(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.Kernel.StepsWhy = err.Error()
	}
	p.opt.Progress.show("disassembling", 0, 1)
	if err := p.disassemble(ctx, samples, counts); err != nil {
		return err
	}
	if err := p.bound(ctx); err != nil {
		return err
	}
	if p.Kernel.Steps == nil {
		return nil
	}
	if all, ok := p.Kernel.Mix(); ok { // without what Go's runtime did meanwhile
		p.Kernel.Steps.Total = all.Total()
	}
	return emit(results.Sample{Name: results.ParseName(p.Kernel.Runs[0].Name), Iters: 1, Values: []results.Metric{{Unit: results.InstructionsPerWeights, Value: p.Kernel.Steps.Total}}})
}

// sampled reports whether samples are taken of a run: in the largest cache, and in
// memory.
func (p *KernelProfiling) sampled(i int) bool {
	r := p.runs[i]
	return r.Level == names.DRAM || r.Level != "" && p.runs[i+1].Level == names.DRAM
}

// sample returns the samples of each run.
func (p *KernelProfiling) sample(ctx context.Context) ([]hotspot.Samples, error) {
	all := make([]hotspot.Samples, len(p.runs))
	for i, r := range p.runs {
		if !p.sampled(i) {
			continue
		}
		p.opt.Progress.show("sampling in "+r.Level, i, len(p.runs))
		found, how, err := hotspot.Sample(func() error {
			for start := clock.Now(); clock.Since(start) < p.opt.Time; {
				if err := errors.Join(r.run(p.counts[i]), ctx.Err()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		all[i], r.Samples, p.Kernel.Sampler = found, found.Total(), how
	}
	return all, nil
}

// stepShape is the smaller of the two matrices that are stepped through; the other
// has twice as many rows. It does not depend on what was measured, nor do counts.
// Kernels in Go execute a hundred times as many instructions.
func (p *KernelProfiling) stepShape() formats.Shape {
	v, s := p.opt.Variant, formats.Shape{Rows: 64, Cols: min(p.opt.Shape.Cols, 2048)}
	if v.ISA == kernels.Go {
		s = formats.Shape{Rows: 2, Cols: min(s.Cols, 256)}
	}
	unit := max(1, v.Layout.RowTile)
	s.Rows = max(unit, s.Rows/unit*unit)
	return s
}

// count counts the instructions of two products, of which one has twice as many
// rows: the difference is what rows take.
func (p *KernelProfiling) count(ctx context.Context) (hotspot.Counts, error) {
	if p.opt.Step == nil {
		return nil, errors.New("this program has no child process for it")
	}
	s := p.stepShape()
	parts, err := hotspot.Count(ctx, p.opt.Step(ctx, s.Rows, s.Cols), 2)
	if err != nil {
		return nil, err
	}
	one, two := parts[0], parts[1]
	for addr, n := range one {
		two[addr] -= n
	}
	rows, once := 0, 0
	for addr, n := range two {
		rows += n
		once += one[addr] - n
	}
	steps := &profile.KernelSteps{Rows: 2 * s.Rows, Cols: s.Cols}
	steps.Total = float64(rows) * profile.WeightsOf / float64(s.Rows*s.Cols)
	steps.Once = float64(once) * profile.WeightsOf / float64(s.Cols)
	p.Kernel.Steps = steps
	return two, nil
}

// StepKernel is the child's side: it multiplies with matrices of rows and of twice
// as many, and marks where each product begins and ends.
func StepKernel(v *kernels.Variant, s formats.Shape, seed uint64, stepped func() (mark func() error, err error)) error {
	pool := kernels.NewPool(1)
	defer pool.Close()
	x := activations(s.Cols, seed)
	var products []kernels.Product
	for _, rows := range []int{s.Rows, 2 * s.Rows} {
		t, err := random(v.Format, formats.Shape{Rows: rows, Cols: s.Cols}, seed)
		if err != nil {
			return err
		}
		m, err := v.Pack(t, nil)
		if err != nil {
			return err
		}
		defer m.Close()
		products = append(products, kernels.Product{Variant: v, Matrix: m, Dst: make([]float32, rows)})
		pool.Do(x, 1, products[len(products)-1]) // the first time makes buffers
	}
	mark, err := stepped()
	if err != nil {
		return err
	}
	for i := range products {
		if err := mark(); err != nil {
			return err
		}
		pool.Do(x, 1, products[i])
	}
	return mark()
}

// worthShowing is the least share of samples or instructions of a function that is
// shown.
const worthShowing = 0.01

// disassemble finds the functions that matter, and their instructions.
func (p *KernelProfiling) disassemble(ctx context.Context, samples []hotspot.Samples, counts hotspot.Counts) error {
	tool, err := hotspot.FindDisassembler(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		p.Kernel.DisassemblyWhy = err.Error()
	default:
		p.Kernel.Disassembler = tool.Name
	}
	p.Kernel.Functions = p.functions(samples, counts)
	for _, f := range p.Kernel.Functions {
		if tool == nil {
			break
		}
		code, err := tool.Disassemble(ctx, f.Function)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.Kernel.DisassemblyWhy = err.Error()
			continue
		}
		p.annotate(f, code, samples, counts)
	}
	return nil
}

// functions are those that matter, those with most samples first.
func (p *KernelProfiling) functions(samples []hotspot.Samples, counts hotspot.Counts) (all []*profile.KernelFunction) {
	steps := map[*profile.KernelFunction]int{}
	at := func(addr uint64) *profile.KernelFunction {
		for _, f := range all {
			if f.Start <= addr && addr < f.End {
				return f
			}
		}
		f, ok := hotspot.FunctionOf(addr)
		if !ok {
			f = hotspot.Function{Name: "outside of Go", Start: addr, End: addr + 1}
		}
		all = append(all, &profile.KernelFunction{Function: f, Samples: make([]int, len(p.runs))})
		return all[len(all)-1]
	}
	executed := 0
	for addr, n := range counts {
		executed += n
		steps[at(addr)] += n
	}
	for i, s := range samples {
		for addr, n := range s {
			at(addr).Samples[i] += n
		}
	}
	all = slices.DeleteFunc(all, func(f *profile.KernelFunction) bool {
		f.Count = p.perWeights(steps[f])
		most := float64(steps[f]) / float64(max(executed, 1))
		for i, n := range f.Samples {
			most = max(most, float64(n)/float64(max(p.runs[i].Samples, 1)))
		}
		return most < worthShowing
	})
	slices.SortFunc(all, func(a, b *profile.KernelFunction) int {
		if d := slices.Max(b.Samples) - slices.Max(a.Samples); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// perWeights is how often 128 weights execute what was counted so often; NaN where
// nothing was counted.
func (p *KernelProfiling) perWeights(count int) float64 {
	s := p.Kernel.Steps
	if s == nil {
		return math.NaN()
	}
	return float64(count) * profile.WeightsOf / float64(s.Rows/2*s.Cols)
}

func (p *KernelProfiling) annotate(f *profile.KernelFunction, code []hotspot.Instruction, samples []hotspot.Samples, counts hotspot.Counts) {
	all := hotspot.Samples{}
	for _, i := range code {
		line := profile.KernelLine{Instruction: i, Samples: make([]int, len(samples)), Count: p.perWeights(counts[i.Addr])}
		for run, s := range samples {
			line.Samples[run] = s[i.Addr]
			all[i.Addr] += s[i.Addr]
		}
		f.Lines = append(f.Lines, line)
	}
	if loop, ok := hotspot.HotLoop(code, all); ok {
		f.Loop = &loop
	}
}

// bound asks llvm-mca about the hot loop.
func (p *KernelProfiling) bound(ctx context.Context) error {
	k := p.Kernel
	lines := k.Hot().LoopLines()
	var loop []hotspot.Instruction
	for _, l := range lines {
		if k.Steps == nil || l.Count >= k.Iterations()/2 { // but what is mostly jumped over
			loop = append(loop, l.Instruction)
		}
	}
	switch {
	case k.Hot() == nil:
		k.BoundsWhy = "there is no disassembly"
	case lines == nil:
		k.BoundsWhy = "no loop was found"
	case k.Hot().Loop.Nested:
		k.BoundsWhy = "the loop has loops in it, which llvm-mca knows nothing of"
	}
	if k.BoundsWhy != "" {
		return nil
	}
	mca, err := hotspot.FindMCA(ctx)
	if err == nil {
		k.Bounds, err = mca.Analyze(ctx, loop, cpu.Host().Vendor, p.opt.MCACPU)
	}
	if err != nil {
		k.BoundsWhy = err.Error()
	}
	return ctx.Err()
}

// Close frees matrices and threads.
func (p *KernelProfiling) Close() error {
	var errs []error
	for _, i := range p.whole {
		errs = append(errs, i.Close())
	}
	for _, g := range p.groups {
		errs = append(errs, g.release())
	}
	return errors.Join(append(errs, p.env.close())...)
}
