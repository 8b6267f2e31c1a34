package main

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/kernels"
)

type benchFlags struct {
	measureFlags
	kernels, models bool // what to measure

	process *bench.Job        // of this process, if it is a child of bench's
	handed  []cases.ModelFile // models that bench made
	folder  string            // where its processes share random matrices; "" if there is none

	counters  bool
	model     string
	tokenizer string
	machine   string // a results file with ceilings
	types     []string
	host      string
	precision percentFlag   // to which ratios are to be known
	most      time.Duration // for that

	acts        []string
	activations []kernels.Scheme

	presets    []string // of models
	heads      []string
	headTypes  []*formats.Type
	cache      string
	cacheType  *formats.Type // of keys and values; nil: the usual one
	prompt     int
	tokens     int
	depths     []int
	parallel   []int
	drafts     int
	lockstep   int
	others     []string
	otherFlags string
	engines    []cases.OtherEngine

	allVariants bool

	all bool // whether to print more than the ranking
}

// again reports whether this process measures what another one has before.
func (f *benchFlags) again() bool { return f.process != nil && !f.process.First() }

// once is the verb of what only the first process of a run measures.
func (f *benchFlags) once(verb string) string {
	if f.again() {
		return ""
	}
	return verb
}

func (f *benchFlags) check(cmd *cobra.Command) error {
	if err := f.measureFlags.check(cmd, sysinfo.Probe()); err != nil {
		return err
	}
	if f.most <= 0 || cmd.Flags().Changed("budget") && !f.precision.set {
		return cli.Usagef("--budget %v: give a time such as 10m, with --precision", f.most)
	}
	// An unset shell variable must not start the default run.
	for _, name := range []string{"model", "tokenizer", "machine", "gguf-types", "act", "preset", "engine", "engine-args", "host"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && strings.Trim(flag.Value.String(), "[]") == "" {
			return cli.Usagef("--%s is empty", name)
		}
	}
	if term.Text(f.host) != f.host || strings.TrimSpace(f.host) != f.host || utf8.RuneCountInString(f.host) > longestHost {
		return cli.Usagef("--host %s: give a name of at most %d printable characters", term.QuoteAlways(f.host), longestHost)
	}
	if err := checkTypes(f.types); err != nil {
		return err
	}
	if f.model == "" && len(f.types) > 0 {
		return cli.Usagef("--gguf-types says how to read the file of --model")
	}
	for _, name := range f.useless() {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s is a flag of bench models", name)
		}
	}
	if f.model == "" && f.tokenizer != "" {
		return cli.Usagef("--tokenizer is for the file of --model")
	}
	if err := f.checkActivations(); err != nil {
		return err
	}
	if !f.models {
		return nil
	}
	return f.checkModels()
}

// checkThreads refuses numbers of threads that the CPUs which this process may use
// could only run by turns.
func checkThreads(threads []int, usable int) error {
	for _, n := range threads {
		if n < 1 || n > usable {
			return cli.Usagef("--threads %d: this process may use %s; give 1 to %d", n, count.Of(usable, "CPU"), usable)
		}
	}
	return nil
}

// longestHost is how long the name of a host may be: that of a label in DNS.
const longestHost = 63

// checkActivations reads --act.
func (f *benchFlags) checkActivations() error {
	for _, name := range f.acts {
		act, err := kernels.ParseScheme(name)
		if err != nil {
			return cli.Usagef("--act: %w", err)
		}
		if slices.Contains(f.activations, act) {
			return cli.Usagef("--act: %s twice", name)
		}
		f.activations = append(f.activations, act)
	}
	return nil
}
