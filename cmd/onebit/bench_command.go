package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/bench/counters"
	"onebit/bench/results"
	"onebit/internal/term"
)

// settings are what the results file says of the run itself.
func (f *benchFlags) settings(cmd *cobra.Command) []results.Setting {
	out := []results.Setting{
		{Key: "commit", Value: thisBuild().Commit},
		{Key: "command", Value: f.command(cmd.Flags())},
		{Key: "seed", Value: strconv.FormatUint(f.seed, 10)},
	}
	if f.model != "" {
		out = append(out, results.Setting{Key: "model", Value: filepath.Base(f.model)})
	}
	if f.host != "" {
		out = append(out, results.Setting{Key: results.HostKey, Value: f.host})
	}
	if f.counters && f.process == nil { // a child writes no header
		meter := counters.Open()
		defer meter.Close()
		out = append(out, meter.Settings()...)
	}
	return out
}

// command is a command line that measures the same, wherever it reports to.
func (f *benchFlags) command(flags *pflag.FlagSet) string {
	words := []string{"onebit", "bench"}
	suite := f.suite()
	if suite == kernelsOnly {
		words = append(words, arguments(flags)...)
	} else {
		words = append(append(words, suite), arguments(flags)...)
	}
	return strings.Join(quoted(words), " ")
}

// quoted makes arguments words for a shell.
func quoted(words []string) []string {
	for i, w := range words {
		words[i] = term.ShellWord(w)
	}
	return words
}

// The names of what can be measured.
const (
	kernelsOnly = "kernels"
	modelsOnly  = "models"
	everything  = "all"
)

// suite names what is measured.
func (f *benchFlags) suite() string {
	switch {
	case f.kernels && f.models:
		return everything
	case f.models:
		return modelsOnly
	}
	return kernelsOnly
}

// arguments are the flags that were given, but for those that say where it is
// and how to report.
func arguments(flags *pflag.FlagSet) (words []string) {
	flags.Visit(func(flag *pflag.Flag) {
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case flag.Name == "output" || flag.Name == "json" || flag.Name == "all" || flag.Name == "host":
		case flag.NoOptDefVal == "":
			words = append(words, "--"+flag.Name, value)
		case value == flag.NoOptDefVal: // as --short, which needs no value
			words = append(words, "--"+flag.Name)
		default:
			words = append(words, "--"+flag.Name+"="+value)
		}
	})
	return words
}
