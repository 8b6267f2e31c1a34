package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/cmd/internal/cli"
	"onebit/models"
)

// A benchVerb is bench, or one of the verbs below it, each with the help and
// the flags of what it measures.
type benchVerb struct {
	use, short, long, example string
	kernels, models           bool // what it measures
}

const (
	benchReport = `Each case is verified before it is timed. The report goes to DIR: results.txt
in Go's benchmark format, index.html, and plots/*.png. The results.txt of an
earlier run is kept as results.old.txt. Each sample is in results.txt as soon as
it is taken, whatever ends the run; a run that has none yet is
results.partial.txt, and replaces nothing. One run at a time uses a folder.`

	benchModels = `Models are that of --model, or those of --preset: gopher-ternary and gopher-1bit,
which are small, trained and inside the program, so that their errors are those of
trained weights, and full-size ones with random weights, which are as fast as the
real ones. They are made on the spot, in a temporary file that is gone when the run
ends, however it ends.

With all threads, and with the best variant that packs the weights and the best that
does not, they are loaded, started, given a prompt of 512 tokens (pp512) and asked
for a text of 128 (tg128), in the words of llama-bench: five to eight minutes on two
cores. --short does so with shorter tests to gopher-ternary and bonsai-1.7b alone, in
under a minute. --threads 1,2 measures with one thread too, --all-variants with every
other SIMD variant that runs here, and streaming. A --filter chooses among all
variants, those in pure Go and the reference too, which take patience, and among one
thread and all.

A model of 27 billion weights wants -p 64 -n 8 --lockstep 4. If a model has more than
3 Gi multiply-adds a token, some blocks are verified against pure Go, not all, and
the report says which.

Speed is worth its error: where q8_32, llama.cpp's activation scheme, has a fast
kernel, prompt and text are measured with it too, on all threads, and --act lists
other schemes, the first of which is the main one. The error of each, against the
reference engine, stands beside its speed. With --engine, compare at q8_32
first.`

	benchFilter = `Filters are written in benchproc's syntax over the parts of a benchmark's name;
--list shows the names that a run would measure:`
	filterKernels = `
  --filter '/format:q1_0_g128 /variant:(avx2 OR scalar) /cache:warm'`
	filterModels = `
  --filter '/test:tg128 /variant:avx2'`
)

func paragraphs(p ...string) string { return strings.Join(p, "\n\n") }

func newBench() *cobra.Command {
	cmd := benchVerb{
		use:     "bench [kernels|models|all]",
		short:   "Measure kernel variants or whole models, and write a report",
		example: "  onebit bench --short\n  onebit bench --filter '/format:(q1_0_g128 OR i2_s) /threads:1'",
		long: paragraphs("Measure every kernel variant that runs here (kernels, the default), whole models\n"+
			"(models), or both (all): speed, memory and numeric error. These flags are those of\n"+
			"kernels; onebit bench models --help has those of models.", benchReport, benchFilter+filterKernels),
		kernels: true,
	}.command()
	kernels := benchVerb{
		use:     "kernels",
		short:   "Measure every kernel variant that runs here",
		example: "  onebit bench kernels --filter /cache:cold --threads 1,2",
		long:    paragraphs("Measure every kernel variant that runs here: speed, memory and numeric error.", benchReport, benchFilter+filterKernels),
		kernels: true,
	}.command()
	models := benchVerb{
		use:     "models",
		short:   "Measure whole models",
		example: "  onebit bench models --preset bonsai-1.7b\n  onebit bench models --model model.gguf -p 512 -n 128 --n-depth 0,4096",
		long:    paragraphs("Measure whole models: speed, memory and numeric error.", benchReport, benchModels, benchFilter+filterModels),
		models:  true,
	}.command()
	models.Aliases = []string{"model"}
	all := benchVerb{
		use:     "all",
		short:   "Measure kernels, then models",
		example: "  onebit bench all --short --preset tiny",
		long:    paragraphs("Measure kernels, then whole models: speed, memory and numeric error.", benchReport, benchModels, benchFilter+filterKernels+filterModels),
		kernels: true, models: true,
	}.command()
	cmd.AddCommand(kernels, models, all)
	return cmd
}

func (v benchVerb) command() *cobra.Command {
	f := benchFlags{kernels: v.kernels, models: v.models}
	cmd := &cobra.Command{
		Use:     v.use,
		Short:   v.short,
		Long:    v.long,
		Example: v.example,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return nil
			case cmd.HasSubCommands():
				return cli.Usagef("unknown suite %q (known: kernels, models, all)", args[0])
			}
			return cli.Usagef("unexpected argument %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.bench(cmd) },
	}
	f.register(cmd.Flags())
	return cmd
}

// modelsFlags are of no use to kernels.
var modelsFlags = []string{"preset", "tokenizer", "head", "cache", "all-variants", "n-prompt", "tokens", "n-depth", "parallel", "speculate", "lockstep", "engine", "engine-args"}

// useless are the flags that measure nothing here.
func (f *benchFlags) useless() []string {
	if f.models {
		return nil
	}
	return modelsFlags
}

// register adds the flags. The other suite's are hidden: bench says whose they
// are, and finds the suite's name behind them.
func (f *benchFlags) register(flags *pflag.FlagSet) {
	usual := "all but kernels of the formats of heads and embeddings, and models in pure Go"
	acts := "activation schemes f32, q8_row, q8_128, q8_32 (default: each format's own"
	short := "fewer shapes, formats, models and variants: under 30 s for kernels, a minute for models"
	threads := "1, and one a core, of performance cores where there are others"
	switch {
	case f.kernels && f.models:
		acts += "; models have q8_32, which is llama.cpp's, beside it where there is SIMD for it)"
		threads += "; of models the latter, or both with --filter"
	case !f.models:
		usual = "all but the formats of heads and embeddings"
		acts += ")"
		short = "fewer shapes, formats and variants: under 30 s"
	case !f.kernels:
		usual = "all but those in pure Go"
		acts += "; beside it q8_32, which is llama.cpp's, where there is SIMD for it)"
		short = "two models, shorter tests: under a minute"
		threads = "one a core, of performance cores where there are others; with --filter 1 too"
	}
	f.measureFlags.register(flags, "onebit-report", "case")
	flags.StringVar(&f.filter, "filter", "", "measure only the cases that match `EXPR` (default: "+usual+")")
	flags.BoolVar(&f.short, "short", false, short)
	flags.BoolVar(&f.all, "all", false, "print the fastest variants of each shape, threads and cache too, as with --filter")
	flags.Var(&f.precision, "precision", "go on until each ratio between variants is known to ±`PERCENT`, such as 2%, or the budget ends")
	flags.DurationVar(&f.most, "budget", 10*time.Minute, "how long a run with --precision may take")
	flags.BoolVar(&f.counters, "counters", false, "count cycles, misses, page faults, switches and energy per operation, as far as they can be counted here")
	flags.IntSliceVar(&f.threads, "threads", nil, "thread counts, such as 1,2,4,8, whose speed-up the report draws (default: "+threads+")")
	flags.StringVar(&f.model, "model", "", "measure this model: a GGUF or .cellm `FILE` or a Hugging Face directory")
	flags.StringVar(&f.machine, "machine", "", "take ceilings from the results `FILE` of onebit machine instead of measuring them")
	registerTypes(flags, &f.types)
	flags.Uint64Var(&f.seed, "seed", 1, "of the random weights, the activations and the order of the rounds")
	flags.StringVar(&f.host, "host", "", "`NAME` of this machine in reports of several, written into results.txt (default: by its CPU)")
	flags.StringSliceVar(&f.acts, "act", nil, acts)
	flags.StringVar(&f.tokenizer, "tokenizer", "", "models: take the tokenizer of another `MODEL`, as a .cellm file needs, which holds none")
	flags.StringSliceVar(&f.presets, "preset", nil, "models: made with random weights, which onebit synth lists, or inside the program (default: gopher-ternary and gopher-1bit, if their context of 512 tokens holds the tests, bonsai-1.7b and bitnet-2b-4t)")
	flags.StringSliceVar(&f.heads, "head", []string{ownHead}, "models: convert the output head to a `FORMAT`, such as q8_0 for one in f16, or keep the file's (own); a list is possible")
	flags.StringVar(&f.cache, "cache", "", "models: `FORMAT` of keys and values, as that of run (default: f16)")
	flags.BoolVar(&f.allVariants, "all-variants", false, "models: every SIMD variant, and streaming, instead of the best that packs and the best that does not")
	flags.IntVarP(&f.prompt, "n-prompt", "p", 512, "models: tokens of the prompt, 32 with --short; 0: no such test")
	flags.IntVarP(&f.tokens, "tokens", "n", 128, "models: tokens of text, 16 with --short; 0: no such test")
	flags.IntSliceVarP(&f.depths, "n-depth", "d", nil, "models: tokens in the KV cache before a test (default 0; a list is possible)")
	flags.IntSliceVar(&f.parallel, "parallel", nil, "models: also decode `N` texts together, with all threads, each a token longer than the one before; tok/s is theirs in all (a list is possible, such as 1,2,4,8)")
	flags.IntVar(&f.drafts, "speculate", 0, "models: also decode from real texts, without drafts and with those of up to `N` tokens, with all threads (see run --speculate)")
	flags.Lookup("speculate").NoOptDefVal = strconv.Itoa(models.UsualDraft)
	flags.IntVar(&f.lockstep, "lockstep", 32, "models: tokens of text that go through the variants and the reference engine side by side, for the error of each block, 16 with --short, more where the model is small and trained; 0: none")
	flags.StringArrayVar(&f.others, "engine", nil, "models: measure the same files with another engine's llama-bench at `NAME=PATH`, interleaved; repeatable")
	flags.StringVar(&f.otherFlags, "engine-args", "", "models: `ARGUMENTS` to add to those of each --engine, separated by spaces, such as '-fa 1'")
	for _, name := range f.useless() {
		flags.MarkHidden(name)
	}
	if !f.kernels || !f.models {
		flags.VisitAll(func(flag *pflag.Flag) {
			flag.Usage = strings.TrimPrefix(flag.Usage, "models: ")
		})
	}
}
