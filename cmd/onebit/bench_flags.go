package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchproc"

	"onebit/formats"
)

type benchFlags struct {
	kernels, models bool // what to measure

	out     string
	filter  string
	short   bool
	count   int
	time    time.Duration
	threads []int
	model   string
	types   []string
	seed    uint64

	acts []string // of kernels

	presets    []string // of models
	heads      []string
	headTypes  []*formats.Type
	prompt     int
	tokens     int
	depths     []int
	lockstep   int
	llamaBench string

	allVariants bool
}

// modelsFlags are of no use to kernels, and kernelsFlags of none to models.
var (
	modelsFlags  = []string{"preset", "head", "all-variants", "n-prompt", "n-gen", "n-depth", "lockstep", "llama-bench"}
	kernelsFlags = []string{"act"}
)

// choose sets what to measure.
func (f *benchFlags) choose(what string) error {
	switch what {
	case "kernels":
		f.kernels = true
	case "models", "model":
		f.models = true
	case "all":
		f.kernels, f.models = true, true
	default:
		return usagef("unknown suite %q (known: kernels, models, all)", what)
	}
	return nil
}

func (f *benchFlags) check(cmd *cobra.Command) error {
	if f.count < 0 || f.time < 0 {
		return usagef("--count and --time take positive values")
	}
	if _, err := benchproc.NewFilter(cmp.Or(f.filter, "*")); err != nil {
		return usagef("--filter: %w", err)
	}
	for _, n := range f.threads {
		if n < 1 || n > 1024 {
			return usagef("--threads %d: give a number from 1 to 1024", n)
		}
	}
	// What an unset shell variable leaves must not start the default run.
	for _, name := range []string{"output", "model", "gguf-types", "act", "preset", "llama-bench"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && strings.Trim(flag.Value.String(), "[]") == "" {
			return usagef("--%s is empty", name)
		}
	}
	for _, name := range f.types {
		if _, err := formats.Lookup(name); err != nil {
			return usagef("--gguf-types: %w", err)
		}
	}
	if f.model == "" && len(f.types) > 0 {
		return usagef("--gguf-types says how to read the file of --model")
	}
	useless, what := modelsFlags, "models"
	if f.models {
		useless, what = kernelsFlags, "kernels"
	}
	for _, name := range useless {
		if f.kernels != f.models && cmd.Flags().Changed(name) {
			return usagef("--%s is a flag of bench %s", name, what)
		}
	}
	if !f.models {
		return nil
	}
	return f.checkModels()
}
