package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
)

// How long a run of kernels may take in all, setting up included: people are
// promised 4 minutes, and 30 seconds with --short. Models have theirs beside it.
const (
	kernelsBudget      = 180 * time.Second
	shortKernelsBudget = 20 * time.Second
	modelsBudget       = 240 * time.Second
	shortModelsBudget  = 30 * time.Second
)

// ceilingTime is the length of a sample in a run of models: that of the
// ceilings, since a test of a model is longer.
const ceilingTime = 50 * time.Millisecond

func newBench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [kernels|models|all]",
		Short: "Measure every kernel variant or whole models, and write a report",
		Long: `Measure every kernel variant that runs here (kernels, the default), whole models
(models), or both (all): speed, memory and numeric error.

Each case is verified before it is timed. The report goes to DIR: results.txt
in Go's benchmark format, index.html, and plots/*.png. The results.txt of an
earlier run is kept as results.old.txt. Each sample is in results.txt as soon as
it is taken, whatever ends the run; a run that has none yet is
results.partial.txt, and replaces nothing. One run at a time uses a folder.

Models are that of --model, or full-size ones of --preset with random weights,
which are as fast as the real ones; they are made on the spot, in a temporary
file that is gone when the run ends, however it ends. With the best variant that
packs the weights and the best that does not, they are loaded, started, given a
prompt of 512 tokens (pp512) and asked for a text of 128 (tg128), in the words of
llama-bench: about ten minutes. --all-variants adds every other SIMD variant that
runs here, and streaming; -p 64 -n 16 makes the tests shorter. --short does all
that to bonsai-1.7b alone, in less than a minute. A --filter chooses among all
variants, those in pure Go and the reference too, which take patience.

Filters are written in benchproc's syntax over the parts of a benchmark's name:
  --filter '/format:q1_0_g128 /variant:(avx2 OR scalar) /cache:warm'
  --filter '/test:tg128 /variant:avx2'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("unexpected argument %q", args[1])
			}
			return f.choose(append(args, "kernels")[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "onebit-report", "`DIR` to write the report to")
	flags.StringVar(&f.filter, "filter", "", "measure only the cases that match `EXPR` (default: all but kernels of the formats of heads and embeddings, and models in pure Go)")
	flags.BoolVar(&f.short, "short", false, "fewer shapes, formats, models and variants: under 30 s for kernels, a minute for models")
	flags.IntVar(&f.count, "count", 0, "samples of each case (default: what the time allows, 6 to 10)")
	flags.DurationVar(&f.time, "time", 0, "length of a sample (default: what the time allows)")
	flags.IntSliceVar(&f.threads, "threads", nil, "thread counts (default: 1 and all)")
	flags.StringVar(&f.model, "model", "", "measure this model: a GGUF `FILE` or a Hugging Face directory")
	flags.StringSliceVar(&f.types, "gguf-types", nil, "how to read type ids that the file leaves open, such as i2_s_arm")
	flags.Uint64Var(&f.seed, "seed", 1, "of the random weights, the activations and the order of the rounds")
	flags.StringSliceVar(&f.acts, "act", nil, "kernels: activation schemes f32, q8_row, q8_128, q8_32 (default: each format's own)")
	flags.StringSliceVar(&f.presets, "preset", nil, "models: made with random weights (default: bonsai-1.7b,bitnet-2b-4t; onebit synth lists them)")
	flags.StringSliceVar(&f.heads, "head", []string{ownHead}, "models: convert the output head to a `FORMAT`, such as q8_0 for one in f16, or keep the file's (own); a list is possible")
	flags.BoolVar(&f.allVariants, "all-variants", false, "models: every SIMD variant, and streaming, instead of the best that packs and the best that does not")
	flags.IntVarP(&f.prompt, "n-prompt", "p", 512, "models: tokens of the prompt, 32 with --short; 0: no such test")
	flags.IntVarP(&f.tokens, "n-gen", "n", 128, "models: tokens of text, 16 with --short; 0: no such test")
	flags.IntSliceVarP(&f.depths, "n-depth", "d", nil, "models: tokens in the KV cache before a test (default 0; a list is possible)")
	flags.IntVar(&f.lockstep, "lockstep", 32, "models: tokens of text that go through the variants and the reference engine side by side, for the error of each block, 16 with --short; 0: none")
	flags.StringVar(&f.llamaBench, "llama-bench", "", "models: measure the same files with the llama-bench at `PATH`, interleaved")
	return cmd
}

func (f *benchFlags) run(cmd *cobra.Command) (err error) {
	if err := f.check(cmd); err != nil {
		return err
	}
	// First, so that a second run into the folder costs this one nothing.
	file, err := createResults(f.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	host := sysinfo.Probe()
	suites, done, err := f.suites(cmd, host)
	if err != nil {
		return err
	}
	defer done()
	results, err := f.measure(cmd, suites, host, file)
	return errors.Join(err, f.report(cmd, results, file.path(), err))
}

func (f *benchFlags) measure(cmd *cobra.Command, suites []*cases.Suite, host sysinfo.Host, file io.Writer) (*bench.Results, error) {
	runner := bench.Runner{Count: f.count, Time: f.time, Budget: f.budget(), Seed: f.seed}
	if f.time == 0 && !f.kernels {
		runner.Time = ceilingTime
	}
	var all bench.Suite
	more := f.settings(cmd)
	for _, s := range suites {
		all.Cases, all.Studies = append(all.Cases, s.Cases...), append(all.Studies, s.Studies...)
		more = append(more, s.Settings...)
	}
	all.Settings = cases.Settings(host, time.Now(), more...)
	all.Doubts = func() (doubts []string) {
		for _, s := range suites {
			doubts = append(doubts, s.Doubts()...)
		}
		return doubts
	}
	stderr := cmd.ErrOrStderr()
	plan := runner.Plan(all)
	fmt.Fprintf(stderr, "measuring %s, for about %v\n", planned(all, plan), plan.Estimate.Round(time.Second))
	bar := newBenchProgress(stderr)
	runner.Progress = bar.show
	defer bar.close()
	return runner.Run(cmd.Context(), all, file)
}

// planned says what is measured: a filter may leave only studies.
func planned(s bench.Suite, plan bench.Plan) string {
	var parts []string
	if n := len(s.Cases); n > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s each", count.Of(n, "case"), count.Of(plan.Count, "sample")))
	}
	if n := len(s.Studies); n > 0 {
		parts = append(parts, count.Of(n, "study"))
	}
	return strings.Join(parts, ", and ")
}

func (f *benchFlags) budget() (sum time.Duration) {
	choose := func(on bool, usual, short time.Duration) {
		switch {
		case on && f.short:
			sum += short
		case on:
			sum += usual
		}
	}
	choose(f.kernels, kernelsBudget, shortKernelsBudget)
	choose(f.models, modelsBudget, shortModelsBudget)
	return sum
}

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
