package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/reports"
)

// How long a run may take in all, setting up included: people are promised 4
// minutes, and 30 seconds with --short.
const (
	defaultBudget = 180 * time.Second
	shortBudget   = 20 * time.Second
)

type benchFlags struct {
	out     string
	filter  string
	short   bool
	count   int
	time    time.Duration
	threads []int
	acts    []string
	model   string
	types   []string
	seed    uint64
}

func newBench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [kernels]",
		Short: "Measure every kernel variant and write a report",
		Long: `Measure every kernel variant that runs here: speed, memory and numeric error.

Each variant is verified before it is timed. The report goes to DIR: results.txt
in Go's benchmark format, index.html, and plots/*.png. The results.txt of an
earlier run is kept as results.old.txt.

Filters are written in benchproc's syntax over the parts of a benchmark's name:
  --filter '/format:q1_0_g128 /variant:(avx2 OR scalar) /cache:warm'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("unexpected argument %q", args[1])
			}
			if len(args) == 1 && args[0] != "kernels" {
				return usagef("unknown suite %q (known: kernels)", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "onebit-report", "`DIR` to write the report to")
	flags.StringVar(&f.filter, "filter", "", "measure only the cases that match `EXPR` (default: all but the formats of heads and embeddings)")
	flags.BoolVar(&f.short, "short", false, "fewer shapes and formats, under 30 s")
	flags.IntVar(&f.count, "count", 0, "samples of each case (default: what the time allows, 6 to 10)")
	flags.DurationVar(&f.time, "time", 0, "length of a sample (default: what the time allows)")
	flags.IntSliceVar(&f.threads, "threads", nil, "thread counts (default: 1 and all)")
	flags.StringSliceVar(&f.acts, "act", nil, "activation schemes: f32, q8_row, q8_128, q8_32 (default: each format's own)")
	flags.StringVar(&f.model, "model", "", "measure the matrices of a GGUF `FILE`")
	flags.StringSliceVar(&f.types, "gguf-types", nil, "how to read type ids that the file leaves open, such as i2_s_arm")
	flags.Uint64Var(&f.seed, "seed", 1, "of the random weights, the activations and the order of the rounds")
	return cmd
}

func (f *benchFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	host := sysinfo.Probe()
	suite, done, err := f.suite(host)
	if err != nil {
		return err
	}
	defer done()
	file, err := createResults(f.out)
	if err != nil {
		return err
	}
	defer file.Close()
	results, err := f.measure(cmd, suite, host, file)
	return errors.Join(err, f.report(cmd, results, err))
}

func (f *benchFlags) check() error {
	if f.count < 0 || f.time < 0 {
		return usagef("--count and --time take positive values")
	}
	for _, n := range f.threads {
		if n < 1 || n > 1024 {
			return usagef("--threads %d: give a number from 1 to 1024", n)
		}
	}
	return nil
}

// suite returns the selected cases, and what to call when they are done with.
func (f *benchFlags) suite(host sysinfo.Host) (*cases.Suite, func(), error) {
	opt := cases.Options{
		Threads: f.threads, Features: cpu.Detected(), Seed: f.seed, Host: host, Model: f.model, GGUFTypes: f.types,
	}
	for _, name := range f.acts {
		act, err := kernels.ParseActivation(name)
		if err != nil {
			return nil, nil, usagef("--act: %w", err)
		}
		opt.Activations = append(opt.Activations, act)
	}
	if exe, err := os.Executable(); err == nil {
		opt.PeakCommand = []string{exe, peakVerb}
	}
	closeModel := func() {}
	switch {
	case f.model != "":
		model, sources, err := cases.OpenModel(f.model, cases.ModelOptions{Types: f.types})
		if err != nil {
			return nil, nil, err
		}
		opt.Sources, closeModel = sources, func() { model.Close() }
	case f.short:
		opt.Sources = cases.ShortSources(f.seed)
	default:
		opt.Sources = cases.DefaultSources(f.seed)
	}
	filter := f.filter
	if filter == "" && f.model == "" {
		filter = defaultFilter
	}
	suite, err := cases.Kernels(opt)
	if err == nil {
		err = suite.Select(filter)
	}
	if err != nil {
		closeModel()
		return nil, nil, err
	}
	return suite, func() { suite.Close(); closeModel() }, nil
}

// createResults makes the results file, keeping that of an earlier run.
func createResults(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cannot write the report: %w (-o names another directory)", err)
	}
	path := filepath.Join(dir, "results.txt")
	if err := os.Rename(path, filepath.Join(dir, "results.old.txt")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot keep the earlier results: %w (-o names another directory)", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write the report: %w (-o names another directory)", err)
	}
	return file, nil
}

func (f *benchFlags) measure(cmd *cobra.Command, suite *cases.Suite, host sysinfo.Host, file io.Writer) (*bench.Results, error) {
	runner := bench.Runner{Count: f.count, Time: f.time, Budget: defaultBudget, Seed: f.seed}
	if f.short {
		runner.Budget = shortBudget
	}
	stderr := cmd.ErrOrStderr()
	plan := runner.Plan(bench.Suite{Cases: suite.Cases})
	fmt.Fprintf(stderr, "measuring %d cases, %d samples each, for about %v\n",
		len(suite.Cases), plan.Count, plan.Estimate.Round(time.Second))
	bar := newBenchProgress(stderr)
	runner.Progress = bar.show
	defer bar.close()
	return runner.Run(cmd.Context(), bench.Suite{
		Settings: cases.Settings(host, time.Now(), f.settings()...),
		Cases:    suite.Cases,
		Doubts:   suite.Doubts,
	}, file)
}

// settings are what the results file says of the run itself.
func (f *benchFlags) settings() []bench.Setting {
	command := []string{"onebit", "bench"}
	add := func(flag, value string) {
		if value != "" {
			command = append(command, flag, shellQuote(value))
		}
	}
	add("--model", f.model)
	add("--filter", f.filter)
	if f.short {
		command = append(command, "--short")
	}
	add("--threads", joinInts(f.threads))
	add("--act", strings.Join(f.acts, ","))
	if f.seed != 1 {
		add("--seed", strconv.FormatUint(f.seed, 10))
	}
	out := []bench.Setting{
		{Key: "command", Value: strings.Join(command, " ")},
		{Key: "seed", Value: strconv.FormatUint(f.seed, 10)},
	}
	if f.model != "" {
		out = append(out, bench.Setting{Key: "model", Value: filepath.Base(f.model)})
	}
	return out
}

func joinInts(list []int) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}

// shellQuote makes an argument one word for a shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r != '\'' && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_-./,:=", r))
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// report renders what was measured, also when the run did not finish: what
// there is must not be lost. failure is why it did not.
func (f *benchFlags) report(cmd *cobra.Command, results *bench.Results, failure error) error {
	stderr := cmd.ErrOrStderr()
	if failure != nil {
		if results == nil || len(results.Samples) == 0 {
			return nil
		}
		fmt.Fprintf(stderr, "the finished samples are in %s; onebit report %[1]s renders them\n", filepath.Join(f.out, "results.txt"))
		return nil
	}
	if err := reports.Write(f.out, results); err != nil {
		return err
	}
	if err := reports.WriteTable(cmd.OutOrStdout(), results, reports.TableOptions{Width: terminalWidth(cmd.OutOrStdout())}); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "report: %s\n", filepath.Join(f.out, "index.html"))
	if n := len(results.Failures); n > 0 {
		return fmt.Errorf("%d cases are wrong and were not timed; results.txt names them", n)
	}
	return nil
}

// A benchProgress draws how far a run has come, on terminals only. It draws
// when the runner calls, never during a sample.
type benchProgress struct {
	bar  *progressbar.ProgressBar // nil: not a terminal
	last time.Time
}

func newBenchProgress(w io.Writer) *benchProgress {
	if !isTerminal(w) {
		return &benchProgress{}
	}
	return &benchProgress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *benchProgress) show(at bench.Progress) {
	if p.bar == nil || time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	p.bar.ChangeMax(at.Total)
	p.bar.Describe(fmt.Sprintf("%v left, %s, %s", at.Left.Round(time.Second), at.Group, at.Doing))
	p.bar.Set(min(at.Done, at.Total))
}

func (p *benchProgress) close() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// defaultFilter leaves out the formats of heads and embeddings, which no
// projection has.
const defaultFilter = "-/format:(f32 OR f16 OR bf16 OR q8_0 OR q6_k)"

// peakVerb is the hidden verb that measures peak memory in a child process.
const peakVerb = "peak-memory"

func newPeak() *cobra.Command {
	return &cobra.Command{
		Use:    peakVerb,
		Short:  "Measure the peak memory of a product; bench runs this as a child process",
		Hidden: true,
		Args:   exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cases.Peak(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
