package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/sysinfo"
	"onebit/reports/digest"
)

// How long a run of kernels may take in all, setting up included: people are
// promised 4 minutes, and 30 seconds with --short. Models have theirs beside it.
const (
	kernelsBudget      = 200 * time.Second
	shortKernelsBudget = 20 * time.Second
	modelsBudget       = 240 * time.Second
	shortModelsBudget  = 30 * time.Second
)

// ceilingTime is the length of a sample in a run of models: that of the
// ceilings, since a test of a model is longer.
const ceilingTime = 50 * time.Millisecond

func (f *benchFlags) bench(cmd *cobra.Command) (err error) {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.list {
		return f.printList(cmd)
	}
	// First, so that a second run into the folder costs this one nothing.
	file, err := takeFolder(f.out, f.force)
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
	if f.kernels {
		if dir, err := os.MkdirTemp("", "onebit-bench-"); err == nil { // without it each process makes all
			f.folder = dir
			defer os.RemoveAll(dir)
		}
	}
	res, err := f.measure(cmd, suites, host, file)
	return errors.Join(err, f.report(cmd, res, file, err, !f.all && f.filter == "", results.FilterNames(f.filter, "/"+names.Variant)))
}

// printList prints the cases that a run would measure.
func (f *benchFlags) printList(cmd *cobra.Command) error {
	suites, done, err := f.suites(cmd, sysinfo.Probe())
	if err != nil {
		return err
	}
	defer done()
	return f.print(cmd, cases.List(suites))
}

func (f *benchFlags) measure(cmd *cobra.Command, suites []*cases.Suite, host sysinfo.Host, file io.Writer) (*results.Set, error) {
	runner := bench.Runner{
		Count: f.count, Time: f.time, Budget: f.budget(), Seed: f.seed, Processes: f.processes(), Start: f.start(cmd),
	}
	if f.time == 0 && !f.kernels {
		runner.Time = ceilingTime
	}
	all := f.joined(cmd, suites, host)
	then := ""
	if f.precision.set {
		runner.Most, runner.Further = f.most, f.loose
		then = fmt.Sprintf("then the ratios that are not known to ±%v, until %v are over", f.precision.Percentage, f.most)
	}
	start := time.Now()
	res, err := f.run(cmd, runner, all, file, then)
	if f.precision.set && err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), digest.PrecisionText(res, float64(f.precision.Percentage)/100, time.Since(start)))
	}
	return res, err
}

// loose are the groups with ratios that are not known to the precision.
func (f *benchFlags) loose(res *results.Set) (groups []string) {
	ratios, _ := digest.LooseRatios(res, float64(f.precision.Percentage)/100)
	for _, r := range ratios {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}

// joined is the suites in one.
func (f *benchFlags) joined(cmd *cobra.Command, suites []*cases.Suite, host sysinfo.Host) bench.Suite {
	return cases.Join(suites, host, time.Now(), f.settings(cmd)...)
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

// memoryVerb is the hidden verb that measures memory in a child process.
const memoryVerb = "measure-memory"

func newMeasureMemory() *cobra.Command {
	return &cobra.Command{
		Use:    memoryVerb,
		Short:  "Measure the memory of a product or of a model; bench runs this as a child process",
		Hidden: true,
		Args:   cli.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cases.MeasureMemory(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
