package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/counters"
	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/sysinfo"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/reports"
	"onebit/reports/doc"
	profilepage "onebit/reports/profile"
	"onebit/reports/render"
)

type profileFlags struct {
	engineFlags
	kernel  kernelFlags
	preset  string
	seed    uint64
	prompt  int
	tokens  int
	depth   int
	passes  int
	ops     []string
	blocks  []string
	check   bool
	counted bool
	machine string
	out     string
	force   bool
	asJSON  bool
	all     bool

	filter profile.Filter
	meter  *counters.Meter // nil without --counters
}

func newProfile() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use:   "profile [MODEL]",
		Short: "Tell where a token's time or a kernel's cycles go, and why",
		Long: `Take a prompt and decode tokens, several times over, and time every operation of
every block: the activities of each thread (quantize, multiply, wait …), the bytes
and multiply-adds, the ceiling of this machine that bounds the operation, and the
time to win, the most first. Every other pass runs without observation, so that the
run itself says how much observing costs.

MODEL is a GGUF or .cellm file or a Hugging Face directory. Without one, a model of
--preset is made on the spot, with random weights, which are as fast as real ones;
that of the default is tiny, whose operations last a microsecond: a look at a real
model's is --preset bonsai-1.7b.

  onebit profile --preset bonsai-1.7b --threads 2 -o profile
  onebit profile model.gguf --op ffn_down,output -n 64 --n-depth 1024

With --engine metal the times are the GPU's, of its own clock, and its timeline is a
thread's: operations follow each other then, as they need not otherwise. Its ceilings
are not known, so nothing is bounded by one, and there are no what-ifs.

With -o, DIR gets index.html, with a timeline by thread and a flame graph; results.txt,
which compare, report and benchstat read, with profile.gob, which report needs
beside it; trace.json for Perfetto (ui.perfetto.dev) or chrome://tracing; and
cpu.pprof for go tool pprof, with the labels test, block, op, tensor, activity and
thread. In onebit's repository,
go doc ./bench/profile says how the bounds are computed. Ctrl-C ends the run; the
measurements until then are printed and kept.

With --kernel, one kernel is looked at down to its instructions: the functions that
it spends its time in, their hot loop with samples by instruction, the instructions of
128 weights by kind, the cycles that they take from each level of memory, and, where
llvm-mca is installed, the bounds of the loop. objdump or llvm-objdump
disassembles.

  onebit profile --kernel q1_0_g128/avx2 -o kernel`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("unexpected argument %q", args[1])
			}
			return f.parse(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	f.registerEngine(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.preset, "preset", "tiny", "make a model of this `NAME` (onebit synth lists them), if no MODEL is given")
	flags.Uint64Var(&f.seed, "seed", 1, "of the random weights of --preset or --kernel")
	flags.IntVarP(&f.prompt, "n-prompt", "p", 64, "tokens of the prompt; 0: no prompt")
	flags.IntVarP(&f.tokens, "tokens", "n", 16, "tokens to decode in a pass; 0: none")
	flags.IntVarP(&f.depth, "n-depth", "d", 0, "tokens in the KV cache before")
	flags.IntVar(&f.passes, "passes", 0, "pairs of passes, one observed and one not (default: as many as 4 s allow, at least 6)")
	flags.StringSliceVar(&f.ops, "op", nil, "show these operations only, such as attn,ffn_down")
	flags.StringSliceVar(&f.blocks, "block", nil, "show these blocks only, by number; outside: the embedding and the output")
	flags.BoolVar(&f.check, "check", true, "measure what-ifs too, where it is cheap")
	f.kernel.register(flags)
	flags.BoolVar(&f.counted, "counters", false, "count cycles, misses, page faults and switches of each operation, as far as they can be counted here")
	flags.StringVar(&f.machine, "machine", "", "take the ceilings from this results `FILE` of onebit machine, with as many threads (default: measure them, in a second)")
	flags.StringVarP(&f.out, "output", "o", "", "write the profile to `DIR`")
	flags.BoolVar(&f.force, "force", false, forceUsage)
	flags.BoolVar(&f.all, "all", false, "show every table, as --op, --block and --counters do, and not the first screen alone")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON instead of tables")
	return cmd
}

// mostPasses is more than a median needs.
const mostPasses = 10_000

// parse checks what the flags say before anything is opened.
func (f *profileFlags) parse(cmd *cobra.Command, args []string) error {
	if err := f.kernel.parse(cmd, args); err != nil || f.kernel.name != "" {
		return err
	}
	if len(args) > 0 && cmd.Flags().Changed("preset") {
		return cli.Usagef("a MODEL and --preset exclude each other")
	}
	if _, err := arch.LookupPreset(f.preset); err != nil {
		return cli.Usagef("--preset: %w", err)
	}
	for _, n := range []int{f.prompt, f.tokens, f.depth} {
		if n < 0 || n > cases.MaxTokens {
			return cli.Usagef("%d tokens: give a number from 0 to %d", n, cases.MaxTokens)
		}
	}
	switch {
	case !f.onCPU() && f.engine != names.Metal:
		return cli.Usagef("--engine %s: cpu and metal are profiled", f.engine)
	case !f.onCPU() && (f.counted || f.machine != ""):
		return cli.Usagef("--engine metal goes without --counters and --machine, which are about the CPU")
	case f.prompt == 0 && f.tokens == 0:
		return cli.Usagef("-p 0 and -n 0 leave nothing to profile")
	case f.passes < 0 || f.passes > mostPasses:
		return cli.Usagef("--passes %d: give a number from 1 to %d", f.passes, mostPasses)
	}
	for _, op := range f.ops {
		if !slices.Contains(names.Operations, op) {
			return cli.Usagef("--op: unknown operation %q (known: %s)", op, strings.Join(names.Operations, ", "))
		}
	}
	f.filter.Ops = f.ops
	for _, block := range f.blocks {
		n, err := strconv.Atoi(block)
		switch {
		case block == names.Outside:
			n = profile.Outside
		case err != nil || n < 0:
			return cli.Usagef("--block: %q is no block: give its number, or %s", block, names.Outside)
		}
		f.filter.Blocks = append(f.filter.Blocks, n)
	}
	return nil
}

func (f *profileFlags) run(cmd *cobra.Command, args []string) (err error) {
	if f.kernel.name != "" {
		return f.runKernel(cmd)
	}
	if f.out != "" && !f.force {
		if err := render.Replaceable(f.out); err != nil {
			return err
		}
	}
	p, closeModel, err := f.open(cmd, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeModel()) }()
	if err := f.checkFilter(p); err != nil {
		return err
	}
	out := io.Discard
	var file *resultsFile
	if f.out != "" {
		if file, err = createResults(f.out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	res, err := f.measure(cmd, p, out)
	return errors.Join(err, f.publish(cmd, p.Profile, res, file))
}

// open opens the model, or makes it.
func (f *profileFlags) open(cmd *cobra.Command, args []string) (p *cases.Profiling, closeModel func() error, err error) {
	file, closeFile := cases.ModelFile{}, func() error { return nil }
	opt := cases.ProfileOptions{
		Prompt: f.prompt, Tokens: f.tokens, Depth: f.depth, Passes: f.passes, Check: f.check, Host: sysinfo.Probe(),
	}
	if f.machine != "" {
		if opt.Ceilings, err = cases.ReadCeilings(cmd.Context(), f.machine, cases.Settings(opt.Host, time.Now())); err != nil {
			return nil, nil, err
		}
	}
	if opt.Model, err = f.options(cpu.PackBehind); err != nil {
		return nil, nil, err
	}
	if opt.Model.GGUF, err = f.modelFlags.options(); err != nil {
		return nil, nil, err
	}
	if opt.Cache, err = f.cacheFormat(); err != nil {
		return nil, nil, err
	}
	if len(args) > 0 {
		file = cases.NamedModel(args[0])
	} else if file, closeFile, err = cases.TemporaryModel(cmd.Context(), f.preset, f.seed, progressOf(cmd)); err != nil {
		return nil, nil, err
	}
	if file.Head = opt.Model.Head; file.Head != nil {
		file.Name += "+" + file.Head.Name
	}
	opt.File = file
	progress := cli.NewBenchProgress(cmd.ErrOrStderr())
	start := time.Now()
	opt.Progress = func(doing string, done, total int) {
		elapsed := time.Since(start)
		progress.Show(bench.Progress{Group: file.Name, Doing: doing, Done: done, Total: total, Elapsed: elapsed})
	}
	closeMeter := func() error { return nil }
	if f.counted {
		f.meter = counters.Open()
		opt.Meter, closeMeter = f.meter, f.meter.Close
	}
	p, err = cases.NewProfiling(cmd.Context(), opt)
	var tooLong *cases.ContextError
	if errors.As(err, &tooLong) {
		err = cli.Usagef("%w", err)
	}
	if err != nil {
		progress.Close()
		return nil, nil, errors.Join(err, closeMeter(), closeFile())
	}
	if f.meter != nil {
		for _, m := range f.meter.Missing() {
			p.Profile.NotCounted = append(p.Profile.NotCounted, m.String())
		}
	}
	return p, func() error {
		progress.Close()
		return errors.Join(p.Close(), closeMeter(), closeFile())
	}, nil
}

// checkFilter refuses blocks and operations that the model lacks.
func (f *profileFlags) checkFilter(p *cases.Profiling) error {
	known, err := p.Operations()
	if err != nil {
		return err
	}
	for _, op := range f.filter.Ops {
		if op != names.Unattributed && !slices.Contains(known, op) {
			return cli.Usagef("--op: this model has no operation %q (it has %s)", op, strings.Join(known, ", "))
		}
	}
	for _, b := range f.filter.Blocks {
		if b >= p.Profile.Blocks {
			return cli.Usagef("--block %d: the model's blocks are 0 to %d, and %s", b, p.Profile.Blocks-1, names.Outside)
		}
	}
	return nil
}

// measure runs the studies and what comes before and after them.
func (f *profileFlags) measure(cmd *cobra.Command, p *cases.Profiling, out io.Writer) (*results.Set, error) {
	var counted []results.Setting
	if f.meter != nil {
		counted = f.meter.Settings()
	}
	host := sysinfo.Probe()
	if e := p.Emulator(); e != "" && !host.Emulated() {
		host.Emulator = sysinfo.Value[string]{V: e}
	}
	return runStudies(cmd, host, p.Suite, out, counted...)
}

// publish prints and writes what was measured, also of a run that did not
// finish: what there is must not be lost.
func (f *profileFlags) publish(cmd *cobra.Command, p *profile.Profile, res *results.Set, file *resultsFile) error {
	tests := slices.DeleteFunc(p.Tests, func(t *profile.Test) bool { return len(t.Passes) == 0 })
	if p.Tests = tests; len(tests) == 0 {
		return nil
	}
	for _, t := range tests {
		for _, text := range []string{t.Doubt(), t.Beaten(&p.Ceilings)} {
			if text != "" {
				p.Warnings = append(p.Warnings, text)
			}
		}
	}
	if res != nil {
		p.Warnings = append(p.Warnings, res.Warnings...)
	}
	if res == nil {
		res = &results.Set{}
	}
	d := profilepage.Document(p, res, f.filter)
	err := printDocument(cmd, d, f.asJSON, f.brief())
	if f.out == "" || len(res.Samples) == 0 {
		return err
	}
	side := reports.Sidecar{Kind: "profile", Of: p}
	res.Settings = append(res.Settings, side.Settings()...)
	return errors.Join(err, f.intoFolder(cmd, file, side, profilepage.Document(p, res, profile.Filter{}),
		doc.File{Name: "trace.json", Write: p.WriteTrace}, doc.File{Name: "cpu.pprof", Write: p.WritePprof}))
}

// brief reports whether nothing was asked for that the first screen lacks.
func (f *profileFlags) brief() bool { return !f.all && !f.counted && f.ops == nil && f.blocks == nil }

// intoFolder writes a page and its sidecar beside the results, and then into them that it is there.
func (f *profileFlags) intoFolder(cmd *cobra.Command, file *resultsFile, side reports.Sidecar, d *doc.Document, beside ...doc.File) error {
	opt := file.options(f.force)
	opt.Beside = append(beside, side.File())
	if err := render.Folder(cmd.Context(), f.out, d, opt); err != nil {
		return err
	}
	for _, s := range side.Settings() {
		if _, err := fmt.Fprintf(file, "%s: %s\n", s.Key, s.Value); err != nil {
			return cli.Unwritable(err)
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "profile: %s\n", filepath.Join(f.out, "index.html"))
	return nil
}
