package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/sysinfo"
	"onebit/models/forecast"
)

type publishedFlags struct {
	machine string
	threads int
	memory  memorySize
	json    bool
}

// lastResults are those of the run before, where onebit bench writes them.
var lastResults = filepath.Join("onebit-report", resultsName)

func newModels() *cobra.Command {
	var f publishedFlags
	cmd := &cobra.Command{
		Use:   "models [RESULTS…]",
		Short: "List the published models that run here, and how fast",
		Long: `List every published model in every format that it is published in: how fast it
would decode and take in a prompt of 512 tokens on this machine, its error and memory,
and the command that runs it. Nothing is downloaded.

This machine is measured for ten to twenty seconds: how fast it reads memory, and products
of two shapes in each format. docs/models.md has predictions beside measurements.
Results of onebit bench models replace predictions: those of the files given, or of
onebit-report/results.txt.`,
		Example: `  onebit models
  onebit models --machine machine/results.txt --json
  onebit models onebit-report/results.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.machine, "machine", "", "take memory's rate and the int8 peak from this `FILE` of onebit machine")
	flags.IntVar(&f.threads, "threads", 0, "threads (default: one a core, of performance cores where there are others)")
	f.memory.register(flags)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *publishedFlags) run(cmd *cobra.Command, files []string) error {
	host := sysinfo.Probe()
	if f.threads != 0 {
		if err := checkThreads([]int{f.threads}, host.UsableCPUs); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	measured, err := f.measured(ctx, host, files)
	if err != nil {
		return err
	}
	m, err := f.measure(cmd, host)
	if err != nil {
		return err
	}
	all, err := forecast.All(m)
	if err != nil {
		return err
	}
	for _, res := range measured {
		cases.UseMeasured(all, res, m.Threads)
	}
	forecast.Sort(all, m)
	list := forecast.NewList(all, m, host.CPU.V)
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), list)
	}
	return printModels(cmd.OutOrStdout(), list, cli.TerminalWidth(cmd.OutOrStdout()))
}

// measured reads results of this machine. The last run's are not asked for, and need not
// be of it.
func (f *publishedFlags) measured(ctx context.Context, host sysinfo.Host, files []string) (all []*results.Set, err error) {
	here := cases.Settings(host, time.Now())
	for _, file := range files {
		res, err := cases.ReadMachine(ctx, file, here)
		if err == nil && len(res.Samples) == 0 {
			err = fmt.Errorf("%s: no measurements; give a results.txt of onebit bench models", file)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, res)
	}
	if files != nil {
		return all, nil
	}
	res, err := cases.ReadMachine(ctx, lastResults, here)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case res == nil:
		return nil, err
	case err != nil: // another machine's
		return nil, nil
	}
	return []*results.Set{res}, nil
}

func (f *publishedFlags) measure(cmd *cobra.Command, host sysinfo.Host) (*forecast.Machine, error) {
	opt := cases.ForecastOptions{Threads: f.threads, Host: host}
	if opt.Threads == 0 {
		opt.Threads = host.Threads()
	}
	var err error
	if f.machine != "" {
		if opt.Ceilings, err = cases.ReadCeilings(cmd.Context(), f.machine, cases.Settings(host, time.Now())); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "measuring this machine for ten to twenty seconds")
	progress := cli.NewBenchProgress(cmd.ErrOrStderr())
	defer progress.Close()
	opt.Progress = func(format string, done, total int) {
		progress.Show(bench.Progress{Group: format, Doing: "measure", Done: done, Total: total})
	}
	m, err := cases.MeasureForecast(cmd.Context(), opt)
	if err != nil {
		return nil, err
	}
	if available := f.memory.available(); available.OK() {
		m.Available = int64(available.V)
	}
	return m, nil
}
