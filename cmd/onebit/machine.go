package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
)

// How long a run may take in all: people are promised 90 seconds, and 15 with
// --short.
const (
	machineBudget      = 75 * time.Second
	shortMachineBudget = 11 * time.Second
	leastMachineBudget = time.Second
)

// machineProcesses is how many processes measure each ceiling: pages lie
// elsewhere in each.
const machineProcesses = 3

// machineName is the verb, and what bench-process calls it.
const machineName = "machine"

type machineFlags struct {
	measureFlags
	budget time.Duration
}

func newMachine() *cobra.Command {
	var f machineFlags
	cmd := &cobra.Command{
		Use:   machineName,
		Short: "Measure this machine's ceilings: bandwidth, latency, peaks",
		Long: `Measure the most that this machine does, on one to all threads: bytes read, written
and copied per second from each cache and from memory, on huge and on small pages;
the latency of a load over sizes; multiply-adds of int8, float32 and bfloat16 with
each instruction set; a cache line's round trip between every two CPUs; the cost of
reading the clock and of handing out work; and meanwhile the clock's frequency and the
CPU time of others. It takes 80 seconds, or 12 with --short.

All is interleaved, in several processes, and each figure has an interval. The report
goes to DIR: results.txt in Go's benchmark format, and index.html. Ceilings that can't be
measured here are listed with the reason. onebit bench --machine DIR/results.txt takes
its ceilings from there, and onebit report shows the results of several machines side
by side.`,
		Example: `  onebit machine --short -o machine
  onebit machine --filter '.name:Bandwidth /level:dram' --threads 1,2
  onebit bench --machine machine/results.txt`,
		Args: cli.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.measure(cmd) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *machineFlags) register(flags *pflag.FlagSet) {
	f.measureFlags.register(flags, "onebit-machine", "ceiling")
	flags.StringVar(&f.filter, "filter", "", "measure only the ceilings that match `EXPR`")
	flags.BoolVar(&f.short, "short", false, "fewer sizes, huge pages alone: under 15 s")
	flags.DurationVar(&f.budget, "budget", 0, "time for the whole run (default 75s, 11s with --short)")
	flags.IntSliceVar(&f.threads, "threads", nil, "thread counts (default: 1, its doublings, and all)")
	flags.Uint64Var(&f.seed, "seed", 1, "of the order of the rounds, and of the lines of latency's chains")
}

func (f *machineFlags) check(cmd *cobra.Command, host sysinfo.Host) error {
	if cmd.Flags().Changed("budget") && f.budget < leastMachineBudget {
		return cli.Usagef("--budget %v: give %v or more", f.budget, leastMachineBudget)
	}
	return f.measureFlags.check(cmd, host)
}

func (f *machineFlags) measure(cmd *cobra.Command) (err error) {
	host, started := sysinfo.Probe(), time.Now()
	if err := f.check(cmd, host); err != nil {
		return err
	}
	suite, err := f.suite(host, started)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, suite.Close()) }()
	if f.list {
		return f.print(cmd, cases.List([]*cases.Suite{suite}))
	}
	file, err := takeFolder(f.out, f.force)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	res, err := f.run(cmd, f.runner(cmd, started), f.joined(cmd, suite, host, started), file, "")
	return errors.Join(err, f.report(cmd, res, file, err, true, false))
}

// suite returns the ceilings to measure.
func (f *machineFlags) suite(host sysinfo.Host, started time.Time) (*cases.Suite, error) {
	suite, err := cases.Machine(cases.MachineOptions{
		Threads: f.threads, Features: cpu.Detected(), Host: host, Seed: f.seed, Short: f.short, Started: started,
	})
	if err != nil {
		return nil, err
	}
	if f.filter != "" {
		if err = results.CheckFilter(f.filter, suite.Names()); err != nil {
			err = cli.Usagef("--filter: %w", err)
		} else {
			err = suite.Select(f.filter)
		}
	}
	if err != nil {
		return nil, errors.Join(err, suite.Close())
	}
	return suite, nil
}

func (f *machineFlags) joined(cmd *cobra.Command, suite *cases.Suite, host sysinfo.Host, started time.Time) bench.Suite {
	command := commandLine(append([]string{machineName}, arguments(cmd.Flags())...)...)
	return cases.Join([]*cases.Suite{suite}, host, started, runSettings(command, f.seed)...)
}

func (f *machineFlags) total() time.Duration {
	switch {
	case f.budget > 0:
		return f.budget
	case f.short:
		return shortMachineBudget
	}
	return machineBudget
}

func (f *machineFlags) runner(cmd *cobra.Command, started time.Time) bench.Runner {
	return bench.Runner{
		Count: f.count, Time: f.time, Budget: f.total(), Seed: f.seed, Processes: machineProcesses,
		Start: func(ctx context.Context, job bench.Job, out io.Writer) error {
			return runChild(ctx, append([]string{machineName}, arguments(cmd.Flags())...), machineJob{job, started}, nil, out)
		},
	}
}

// A machineJob is what a child process gets to do.
type machineJob struct {
	bench.Job
	Started time.Time
}

// newMachineProcess is the hidden verb of a child process.
func newMachineProcess() *cobra.Command {
	var f machineFlags
	cmd := &cobra.Command{
		Use:    machineName,
		Hidden: true,
		Args:   cli.ExactArgs(),
		RunE:   func(cmd *cobra.Command, _ []string) error { return f.pass(cmd) },
	}
	f.register(cmd.Flags())
	return cmd
}

// pass is the child process's side.
func (f *machineFlags) pass(cmd *cobra.Command) error {
	host := sysinfo.Probe()
	if err := f.check(cmd, host); err != nil {
		return err
	}
	var todo machineJob
	ctx, cancel, err := takeOrders(cmd, &todo)
	if err != nil {
		return err
	}
	defer cancel()
	suite, err := f.suite(host, todo.Started)
	if err != nil {
		return err
	}
	defer suite.Close()
	runner := bench.Runner{Seed: f.seed}
	return runner.Pass(ctx, todo.Job, f.joined(cmd, suite, host, todo.Started), cmd.OutOrStdout())
}
