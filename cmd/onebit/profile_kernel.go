package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/bench"
	"onebit/bench/cases"
	"onebit/bench/hotspot"
	"onebit/bench/profile"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/formats"
	"onebit/internal/build"
	"onebit/internal/sysinfo"
	"onebit/kernels"
	"onebit/reports"
	profilepage "onebit/reports/profile"
)

// kernelFlags are those of profile --kernel.
type kernelFlags struct {
	name   string
	shape  string
	time   time.Duration
	rounds int
	mcaCPU string

	variant *kernels.Variant
	parsed  formats.Shape
}

// kernelOnly are flags that mean nothing without --kernel, and kernelToo those
// that go with it.
var (
	kernelOnly = []string{"shape", "time", "rounds", "mca-cpu"}
	kernelToo  = append([]string{"kernel", "output", "force", "json", "all", "seed"}, kernelOnly...)
)

func (f *kernelFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "kernel", "", "profile one kernel's instructions: `FORMAT/VARIANT[/SCHEME]` (onebit kernels lists them)")
	flags.StringVar(&f.shape, "shape", "2048x2048", "`ROWSxCOLS` of the kernel's matrix")
	flags.DurationVar(&f.time, "time", time.Second, "of taking samples of a kernel, from a cache and from memory each")
	flags.IntVar(&f.rounds, "rounds", 30, "of timing a kernel")
	flags.StringVar(&f.mcaCPU, "mca-cpu", "", "`CPU` whose tables llvm-mca takes (default: this machine's, or one that stands in)")
}

const (
	mostRounds  = 10_000
	longestTime = time.Minute
	longestSide = 1 << 20
)

// parse checks what the flags say of a kernel; it does nothing without one.
func (f *kernelFlags) parse(cmd *cobra.Command, args []string) (err error) {
	if f.name == "" {
		for _, name := range kernelOnly {
			if cmd.Flags().Changed(name) {
				return cli.Usagef("--%s goes with --kernel", name)
			}
		}
		if cmd.Flags().Changed("kernel") {
			return cli.Usagef("--kernel is empty: give FORMAT/VARIANT or FORMAT/VARIANT/SCHEME")
		}
		return nil
	}
	if len(args) > 0 {
		return cli.Usagef("a MODEL and --kernel exclude each other")
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(kernelToo, flag.Name) && err == nil {
			err = cli.Usagef("--%s goes with a model, not with --kernel", flag.Name)
		}
	})
	if err != nil {
		return err
	}
	if f.variant, err = kernels.Find(f.name); err != nil {
		return cli.Usagef("--kernel %s: %w", f.name, err)
	}
	if f.parsed, err = parseShape(f.shape); err == nil {
		_, err = f.variant.Layout.Bytes(f.variant.Format, f.parsed.Rows, f.parsed.Cols)
	}
	switch {
	case err != nil:
		return cli.Usagef("--shape %s: %w", f.shape, err)
	case f.time <= 0 || f.time > longestTime:
		return cli.Usagef("--time %v: give a length up to %v, such as 2s", f.time, longestTime)
	case f.rounds < 1 || f.rounds > mostRounds:
		return cli.Usagef("--rounds %d: give a number from 1 to %d", f.rounds, mostRounds)
	}
	return nil
}

func parseShape(text string) (formats.Shape, error) {
	rows, cols, _ := strings.Cut(text, "x")
	r, err1 := strconv.Atoi(rows)
	c, err2 := strconv.Atoi(cols)
	if err1 != nil || err2 != nil || r < 1 || c < 1 || r > longestSide || c > longestSide {
		return formats.Shape{}, fmt.Errorf("give ROWSxCOLS, from 1x1 to %[1]dx%[1]d", longestSide)
	}
	return formats.Shape{Rows: r, Cols: c}, nil
}

func (f *profileFlags) runKernel(cmd *cobra.Command) (err error) {
	if err := f.kernel.variant.Available(); err != nil {
		return fmt.Errorf("--kernel %s: %w", f.kernel.name, err)
	}
	out := io.Discard
	var file *resultsFile
	if f.out != "" {
		if file, err = takeFolder(f.out, f.force); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	progress := cli.NewBenchProgress(cmd.ErrOrStderr())
	defer progress.Close()
	start := time.Now()
	p, err := cases.NewKernelProfiling(cmd.Context(), cases.KernelOptions{
		Variant: f.kernel.variant, Shape: f.kernel.parsed, Time: f.kernel.time, Rounds: f.kernel.rounds, Seed: f.seed, MCACPU: f.kernel.mcaCPU, Host: sysinfo.Probe(),
		Step: f.kernel.step,
		Progress: func(doing string, done, total int) {
			progress.Show(bench.Progress{Group: f.kernel.name, Doing: doing, Done: done, Total: total, Elapsed: time.Since(start)})
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	res, err := runStudies(cmd, sysinfo.Probe(), p.Suite, out)
	progress.Close()
	return errors.Join(err, f.publishKernel(cmd, p.Kernel, res, file))
}

// runStudies measures a profile's suite. A study that fails is an error.
func runStudies(cmd *cobra.Command, host sysinfo.Host, suite bench.Suite, out io.Writer, more ...results.Setting) (*results.Set, error) {
	command := commandLine(slices.Concat([]string{"profile"}, cmd.Flags().Args(), arguments(cmd.Flags()))...)
	more = append(more, results.Setting{Key: "commit", Value: build.This().Commit}, results.Setting{Key: "command", Value: command})
	suite.Settings = cases.Settings(host, time.Now(), append(suite.Settings, more...)...)
	res, err := (&bench.Runner{Seed: 1}).Run(cmd.Context(), suite, out)
	if err == nil && len(res.Failures) > 0 {
		err = errors.New(res.Failures[0].Reason)
	}
	// Ctrl-C ends the measuring alone: what there is is printed and kept.
	cmd.SetContext(context.WithoutCancel(cmd.Context()))
	return res, err
}

// publishKernel prints and writes what was found, also of a run that did not
// finish.
func (f *profileFlags) publishKernel(cmd *cobra.Command, k *profile.Kernel, res *results.Set, file *resultsFile) error {
	if k.Rounds == 0 {
		return nil
	}
	if res != nil {
		k.Warnings = append(k.Warnings, res.Warnings...)
	}
	if res == nil {
		res = &results.Set{}
	}
	side := reports.Sidecar{Kind: "kernel", Of: k}
	res.Settings = append(res.Settings, side.Settings()...)
	d := profilepage.KernelDocument(k, res)
	err := printDocument(cmd, d, f.asJSON, f.brief())
	if f.out == "" || len(res.Samples) == 0 {
		return err
	}
	return errors.Join(err, f.intoFolder(cmd, file, side, d))
}

// stepVerb is the hidden verb, below processVerb, of the process that is stepped
// through.
const stepVerb = "kernel"

// step starts this program as a child that multiplies rows × cols.
func (f *kernelFlags) step(ctx context.Context, rows, cols int) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	child := exec.CommandContext(ctx, exe, processVerb, stepVerb, f.variant.String(), fmt.Sprintf("%dx%d", rows, cols))
	child.WaitDelay = bench.Dying
	return child
}

// newStepProcess is the child's side.
func newStepProcess() *cobra.Command {
	return &cobra.Command{
		Use:    stepVerb,
		Hidden: true,
		Args:   cli.ExactArgs("KERNEL", "SHAPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := kernels.Find(args[0])
			if err != nil {
				return cli.Usagef("%w", err)
			}
			shape, err := parseShape(args[1])
			if err != nil {
				return cli.Usagef("%w", err)
			}
			return cases.StepKernel(v, shape, 1, func() (func() error, error) { return hotspot.Stepped(cmd.InOrStdin(), cmd.OutOrStdout()) })
		},
	}
}
