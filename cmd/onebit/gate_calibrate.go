package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/gate"
	"onebit/bench/gate/calibrate"
)

type calibrateFlags struct {
	record  string
	process time.Duration
	budget  time.Duration
	seed    uint64
}

func newGateCalibrate() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure how often the gate is wrong",
		Long:  `Measure how often the gate is wrong.`,
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.record, "record", "", "record the noise of this machine to `FILE`, from a module of 20 benchmarks")
	flags.DurationVar(&f.process, "process", 0, "a process of the recording measures for so long (0: as a gate's)")
	flags.DurationVar(&f.budget, "budget", 5*time.Minute, "record for so long, or gate for so long")
	flags.Uint64Var(&f.seed, "seed", 0, "of layouts and orders of a recording (0: of the clock)")
	return cmd
}

func (f *calibrateFlags) run(cmd *cobra.Command) error {
	return f.recordTo(cmd)
}

// recordTo records this machine's noise, as far as it came if it is interrupted.
func (f *calibrateFlags) recordTo(cmd *cobra.Command) (err error) {
	temp, err := os.MkdirTemp("", "onebit-gate-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	progress := newBenchProgress(cmd.ErrOrStderr())
	defer progress.close()
	recording, err := calibrate.Record(cmd.Context(), filepath.Join(temp, "module"), calibrate.RecordOptions{
		Budget: f.budget, Process: f.process, Seed: cmp.Or(f.seed, uint64(time.Now().UnixNano())),
		Progress: func(p gate.Progress) { progress.show(gateProgress(p)) },
	})
	progress.close()
	if recording == nil || len(recording.Measurements) == 0 {
		return err
	}
	out, createErr := os.Create(f.record)
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	_, writeErr := recording.WriteTo(out)
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d processes\n", f.record, len(recording.Measurements))
	return errors.Join(err, writeErr, out.Close())
}

// gateProgress shows a gate's progress as a share of its budget.
func gateProgress(p gate.Progress) bench.Progress {
	return bench.Progress{
		Group: fmt.Sprintf("round %d", p.Round+1), Doing: fmt.Sprintf("%s, %d of %d undecided", p.Doing, p.Undecided, p.All),
		Done: int(p.Elapsed.Seconds()), Total: int(p.Budget.Seconds()), Elapsed: p.Elapsed, Left: max(0, p.Budget-p.Elapsed),
	}
}
