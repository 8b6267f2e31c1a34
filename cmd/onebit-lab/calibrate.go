package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/gate"
	"onebit/bench/gate/calibrate"
	"onebit/cmd/internal/cli"
	"onebit/internal/bounded"
)

type calibrateFlags struct {
	from    []string
	record  string
	real    int
	change  string
	share   float64
	gates   int
	sizes   []float64
	budget  time.Duration
	process time.Duration
	cpus    int
	seed    uint64
	asJSON  bool
}

func newCalibrate() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure how often the gate is wrong",
		Long: `Play recorded noise to the gate, many times: as it is, where every claim of a
difference is false, and with the times of one of 20 cases multiplied. Printed are
the shares of right and wrong answers with 95% intervals, and those of two other ways
to judge the same data: benchstat with a threshold, and a Mann-Whitney test per case.

The noise was recorded by real gates between the same sources, on a 2-core virtual
machine: quiet is alone, disturbed alone while the host was busy, shared beside other
work of the same niceness (docs/measurements/gate.md). --record does that here.
--end-to-end gates real programs here, whose --change is moved (functions in another
order, a comment, a test of functions that no benchmark calls), measured (the same, and
all is measured all the same) or slower (one of 20 cases has a --share of work added).

  onebit-lab calibrate
  onebit-lab calibrate --record noise.csv.gz --budget 10m
  onebit-lab calibrate --from noise.csv.gz --gates 100 --sizes 0,5
  onebit-lab calibrate --end-to-end 10 --change moved
  onebit-lab calibrate --end-to-end 10 --change slower --share 5`,
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(cli.ExactArgs()(cmd, args), f.check())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.from, "from", nil, "play the noise of these `FILES` (default: recordings within onebit)")
	flags.StringVar(&f.record, "record", "", "record the noise of this machine to `FILE`, with a module of 20 benchmarks")
	flags.IntVar(&f.gates, "gates", 200, "play to `N` gates of each size")
	flags.Float64SliceVar(&f.sizes, "sizes", []float64{0, 1, 2, 3, 5, 10}, "how much slower cases are, in `PERCENT` (default: 0, 1, 2, 3, 5 and 10)")
	flags.Lookup("sizes").DefValue = ""
	flags.IntVar(&f.real, "end-to-end", 0, "gate this many real programs")
	flags.StringVar(&f.change, "change", string(calibrate.Moved), "with --end-to-end, what head differs by: moved, measured or slower")
	flags.Float64Var(&f.share, "share", 5, "with --change slower, add this `PERCENT` of work")
	flags.DurationVar(&f.budget, "budget", 5*time.Minute, "of each gate; with --record, record for so long")
	flags.DurationVar(&f.process, "process", 0, "with --record, processes measure for so long (default: as a gate's)")
	flags.IntVar(&f.cpus, "cpu", 0, "with --record and --end-to-end, GOMAXPROCS of what is measured (default: all)")
	flags.Uint64Var(&f.seed, "seed", 0, "of what is drawn at random; with --record, 0 is that of the clock")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f *calibrateFlags) check() error {
	switch {
	case f.gates < 1 || f.gates > 1e6:
		return cli.Usagef("--gates %d: give a number from 1 to 1000000", f.gates)
	case f.budget <= 0 || f.process < 0 || f.cpus < 0:
		return cli.Usagef("--budget, --process and --cpu take positive values")
	case len(f.sizes) == 0:
		return cli.Usagef("--sizes is empty: 0 is a comparison of the same with itself")
	case f.record != "" && len(f.from) > 0 || f.real != 0 && (f.record != "" || len(f.from) > 0):
		return cli.Usagef("--record, --from and --end-to-end exclude each other")
	case f.real < 0 || !(f.share >= 0.5 && f.share <= 1000):
		return cli.Usagef("--end-to-end takes a number of gates, --share a percentage from 0.5 to 1000")
	case !slices.Contains([]calibrate.Change{calibrate.Moved, calibrate.Measured, calibrate.Slower}, calibrate.Change(f.change)):
		return cli.Usagef("--change %s: give moved, measured or slower", f.change)
	}
	for _, s := range f.sizes {
		if !(s >= 0 && s <= 1000) {
			return cli.Usagef("--sizes %v: give percentages from 0 to 1000", s)
		}
	}
	return nil
}

func (f *calibrateFlags) run(cmd *cobra.Command) error {
	if f.record != "" {
		return f.recordTo(cmd)
	}
	play := f.replay
	if f.real > 0 {
		play = f.endToEnd
	}
	played, err := play(cmd)
	if err != nil {
		return err
	}
	if f.asJSON {
		return cli.PrintJSON(cmd.OutOrStdout(), played)
	}
	return printPlayed(cmd.OutOrStdout(), played)
}

// A playedNoise is one kind of noise, with what gates made of it.
type playedNoise struct {
	Noise  string             `json:"noise"`
	Header []string           `json:"header,omitempty"` // of the recording
	Rates  []*calibrate.Rates `json:"rates"`
}

// endToEnd gates real programs.
func (f *calibrateFlags) endToEnd(cmd *cobra.Command) (all []playedNoise, err error) {
	temp, remove, err := cli.TempFolder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	progress := cli.NewBenchProgress(cmd.ErrOrStderr())
	defer progress.Close()
	rates, err := calibrate.Real(cmd.Context(), temp, calibrate.RealOptions{
		Gates: f.real, Change: calibrate.Change(f.change), Share: f.share / 100, Budget: f.budget, CPUs: f.cpus, Seed: cmp.Or(f.seed, uint64(time.Now().UnixNano())),
		Progress: func(p gate.Progress) { progress.Show(cli.GateProgress(p)) },
	})
	if err != nil {
		return nil, err
	}
	return []playedNoise{{Noise: fmt.Sprintf("%d gates of real programs: %s", rates.Alarm.Of, f.change), Rates: []*calibrate.Rates{rates}}}, nil
}

func (f *calibrateFlags) replay(cmd *cobra.Command) (all []playedNoise, err error) {
	recordings, err := f.recordings()
	if err != nil {
		return nil, err
	}
	progress := cli.NewBenchProgress(cmd.ErrOrStderr())
	defer progress.Close()
	for _, kind := range slices.Sorted(maps.Keys(recordings)) {
		noise, err := calibrate.NewNoise(recordings[kind]...)
		if err != nil {
			return nil, err
		}
		opt := calibrate.Options{Gates: f.gates, Budget: f.budget, Seed: f.seed}
		for _, s := range f.sizes {
			opt.Sizes = append(opt.Sizes, s/100)
		}
		opt.Done = func(gates int) {
			progress.Show(bench.Progress{Group: kind, Doing: "play", Done: gates, Total: f.gates * len(f.sizes)})
		}
		rates, err := calibrate.Replay(cmd.Context(), noise, opt)
		if err != nil {
			return nil, err
		}
		title := fmt.Sprintf("%s noise, %d rounds recorded", kind, noise.Rounds())
		all = append(all, playedNoise{title, recordings[kind][0].Header, rates})
	}
	return all, nil
}

// mostRecorded bounds a file of recorded noise.
const mostRecorded = 16 << 20

// recordings are those of --from, or those that onebit has, by kind.
func (f *calibrateFlags) recordings() (map[string][]*calibrate.Recording, error) {
	if len(f.from) == 0 {
		return calibrate.Embedded()
	}
	var all []*calibrate.Recording
	for _, name := range f.from {
		data, err := bounded.ReadFile(name, mostRecorded)
		if err != nil {
			return nil, err
		}
		r, err := calibrate.Read(data, name)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return map[string][]*calibrate.Recording{"recorded": all}, nil
}

// recordTo records this machine's noise, as far as it came if it is interrupted.
func (f *calibrateFlags) recordTo(cmd *cobra.Command) (err error) {
	out, err := os.Create(f.record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	temp, remove, err := cli.TempFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	progress := cli.NewBenchProgress(cmd.ErrOrStderr())
	defer progress.Close()
	recording, err := calibrate.Record(cmd.Context(), filepath.Join(temp, "module"), calibrate.RecordOptions{
		Budget: f.budget, Process: f.process, CPUs: f.cpus, Seed: cmp.Or(f.seed, uint64(time.Now().UnixNano())),
		Progress: func(p gate.Progress) { progress.Show(cli.GateProgress(p)) },
	})
	progress.Close()
	if recording == nil {
		return err
	}
	_, writeErr := recording.WriteTo(out)
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d processes\n", f.record, len(recording.Measurements))
	return errors.Join(err, writeErr)
}
