package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/bench/counters"
	"onebit/bench/results"
	"onebit/internal/build"
	"onebit/internal/term"
)

// runSettings are what the results file of any measuring verb says of its run.
func runSettings(command string, seed uint64) []results.Setting {
	return []results.Setting{{Key: "commit", Value: build.This().Commit}, {Key: "command", Value: command}, {Key: "seed", Value: strconv.FormatUint(seed, 10)}}
}

// settings are bench's own.
func (f *benchFlags) settings(cmd *cobra.Command) []results.Setting {
	out := runSettings(f.command(cmd.Flags()), f.seed)
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
	words := []string{"bench"}
	if suite := f.suite(); suite != kernelsOnly {
		words = append(words, suite)
	}
	return commandLine(append(words, arguments(flags)...)...)
}

// commandLine is a command of this program in words for a shell.
func commandLine(words ...string) string {
	line := "onebit"
	for _, w := range words {
		line += " " + term.ShellWord(w)
	}
	return line
}

// The names of the suites.
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
// and how to report, and without some more.
func arguments(flags *pflag.FlagSet, without ...string) (words []string) {
	flags.Visit(func(flag *pflag.Flag) {
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case flag.Name == "output" || flag.Name == "json" || flag.Name == "all" || flag.Name == "host" || slices.Contains(without, flag.Name):
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
