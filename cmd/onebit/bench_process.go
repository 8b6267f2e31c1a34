package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/counters"
	"onebit/cmd/internal/cli"
	"onebit/internal/sysinfo"
)

// How many processes measure each case: three are the fewest that say how much
// they differ by and survive one that is out of line. Five make intervals half
// as wide, where setting up takes a second and not, as with models, half a minute.
const (
	kernelProcesses = 5
	modelProcesses  = 3
)

func (f *benchFlags) processes() int {
	if f.models {
		return modelProcesses
	}
	return kernelProcesses
}

// processVerb is the hidden verb that measures in a child process. It takes
// what is to be measured, the flags of bench, and an assignment on standard
// input; when that closes it ends as if interrupted.
const processVerb = "bench-process"

// An assignment is what a child process gets to do.
type assignment struct {
	bench.Job
	Models []cases.HandedFile // that the parent made
	Folder string             // where the processes share random matrices
}

func newBenchProcess() *cobra.Command {
	cmd := &cobra.Command{
		Use:    processVerb,
		Short:  "Measure one pass; bench runs this as a child process",
		Hidden: true,
	}
	for _, what := range []benchFlags{{kernels: true}, {models: true}, {kernels: true, models: true}} {
		f := what
		verb := &cobra.Command{
			Use:    f.suite(),
			Hidden: true,
			Args:   cli.ExactArgs(),
			RunE:   func(cmd *cobra.Command, _ []string) error { return f.pass(cmd) },
		}
		f.register(verb.Flags())
		cmd.AddCommand(verb)
	}
	cmd.AddCommand(newMachineProcess(), newStepProcess())
	return cmd
}

// pass is the child process's side.
func (f *benchFlags) pass(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	var todo assignment
	ctx, cancel, err := takeOrders(cmd, &todo)
	if err != nil {
		return err
	}
	defer cancel()
	cmd.SetContext(ctx)
	f.process, f.handed, f.folder = &todo.Job, cases.Taken(todo.Models), todo.Folder
	host := sysinfo.Probe()
	suites, done, err := f.suites(cmd, host)
	if err != nil {
		return err
	}
	defer done()
	runner := bench.Runner{Seed: f.seed}
	if f.counters {
		meter := counters.Open()
		defer meter.Close()
		runner.Meter = meter
	}
	return runner.Pass(ctx, todo.Job, f.joined(cmd, suites, host), cmd.OutOrStdout())
}

// takeOrders reads what this process gets to do.
func takeOrders(cmd *cobra.Command, todo any) (context.Context, context.CancelFunc, error) {
	ctx, cancel, err := bench.Orders(cmd.Context(), cmd.InOrStdin(), todo)
	if err != nil {
		err = fmt.Errorf("%s: the assignment is not for people: %w", processVerb, err)
	}
	return ctx, cancel, err
}

// runChild runs a hidden verb of this program on what it gets to do.
func runChild(ctx context.Context, args []string, todo any, inherited []*os.File, out io.Writer) error {
	return bench.Child{Name: "onebit", Args: append([]string{processVerb}, args...), Files: inherited}.Run(ctx, todo, out)
}

// start returns what runs a job in a child process to its end.
func (f *benchFlags) start(cmd *cobra.Command) func(context.Context, bench.Job, io.Writer) error {
	return func(ctx context.Context, job bench.Job, out io.Writer) error {
		models, inherited := cases.Hand(f.handed)
		return runChild(ctx, append([]string{f.suite()}, arguments(cmd.Flags())...), assignment{job, models, f.folder}, inherited, out)
	}
}
