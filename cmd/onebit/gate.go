package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench/gate"
	"onebit/internal/clock"
)

type gateFlags struct {
	base         string
	baseline     string
	match        string
	threshold    percentFlag
	rules        string
	budget       time.Duration
	limit        time.Duration
	cpus         int
	allowMissing bool
	out          string
	force        bool
	profiles     int
	asJSON       bool
}

func newGate() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate --base REF [PACKAGE…]",
		Short: "Tell whether the benchmarks of a Go module became slower",
		Long: `Compare the benchmarks of any Go module between a git revision (base) and the
files as they are now (head), and exit with 0 if nothing became worse, 1 if
something did, and 2 if that could not be decided or measured.

Both revisions are built, base in a git worktree of its own that is removed again.
Their benchmarks run interleaved, in processes of their own, and in every round the
test binaries are linked with their functions in another order: what moves when
unrelated code changes is noise here, not a verdict. The chance of any false alarm
is below 1%, for all benchmarks together. go doc onebit/bench/gate says how.

  onebit gate --base main
  onebit gate --base v1.2.0 --bench 'Encode|Decode' ./codec`,
		Args: func(cmd *cobra.Command, _ []string) error { return f.check() },
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "compare with this git `REVISION`")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the results that were recorded in `FILE` earlier, instead of a revision")
	flags.StringVar(&f.match, "bench", ".", "run the benchmarks that match `REGEXP`, as go test -bench does")
	f.threshold.Percentage = 3
	flags.Var(&f.threshold, "threshold", "a change of so many `PERCENT` matters, such as 3%, where no rule says otherwise")
	flags.StringVar(&f.rules, "rules", "", "take thresholds, and benchmarks to leave out, from `FILE` (default "+gate.RulesFile+" in the module's root, if it is there)")
	flags.DurationVar(&f.budget, "budget", 5*time.Minute, "measure for no longer, building included")
	flags.DurationVar(&f.limit, "case-limit", time.Minute, "a process that runs for longer hangs")
	flags.IntVar(&f.cpus, "cpu", 0, "GOMAXPROCS of what is measured, as go test -cpu has it (default: all)")
	flags.BoolVar(&f.allowMissing, "allow-missing", false, "benchmarks that one side lacks are no error")
	flags.StringVarP(&f.out, "output", "o", "", "write a page, all measurements and profiles to `DIR`, and what benchstat reads")
	flags.BoolVar(&f.force, "force", false, "replace an index.html that onebit did not write")
	flags.IntVar(&f.profiles, "profiles", 3, "profile as many as `N` of what became slower, the worst first, for 6 s each after the budget")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.AddCommand(newGateCalibrate())
	return cmd
}

func (f *gateFlags) check() error {
	switch {
	case f.base == "" && f.baseline == "":
		return usagef("--base is missing: name the git revision to compare with")
	case f.base != "" && f.baseline != "":
		return usagef("--base and --baseline exclude each other: compare with a revision or with a file")
	case f.budget <= 0 || f.limit <= 0 || f.cpus < 0:
		return usagef("--budget, --case-limit and --cpu take positive values")
	case f.profiles < 0:
		return usagef("--profiles %d: give a number of benchmarks; 0 is none", f.profiles)
	}
	if f.baseline != "" && !f.threshold.set {
		f.threshold.Percentage = baselineThreshold
	}
	return nil
}

// run measures and judges. Whatever keeps it from a verdict ends with 2, for it
// is never a pass and no regression.
func (f *gateFlags) run(cmd *cobra.Command, patterns []string) error {
	compare := f.compare
	if f.baseline != "" {
		compare = f.compareBaseline
	}
	report, err := compare(cmd, patterns)
	switch {
	case err != nil:
		return &endError{2, err}
	case report.Exit() == 0:
		return nil
	}
	return &endError{report.Exit(), nil}
}

// compare builds both sides, measures them and prints what it found, also of a
// gate that was interrupted.
func (f *gateFlags) compare(cmd *cobra.Command, patterns []string) (report *gate.Report, err error) {
	ctx := cmd.Context()
	start := clock.Now()
	head, err := gate.FindModule(ctx, ".")
	if err != nil {
		return nil, err
	}
	rules, err := f.readRules(head)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "onebit-gate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	record, err := f.openRecord(temp)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, record.close()) }()
	base, err := head.Checkout(ctx, f.base, filepath.Join(temp, "worktree"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, base.Remove()) }()

	old, now, err := f.announce(cmd, base, head)
	if err != nil {
		return nil, err
	}
	tests := &gate.Tests{
		Base: base, Head: head, Patterns: patterns, Match: f.match, Limit: f.limit, CPUs: f.cpus,
		Layouts: rand.IntN(1 << 20), Temp: filepath.Join(temp, "bin"),
	}
	benchmarks, differ, err := tests.Find(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := ruleChanges(rules, base, head)
	if err != nil {
		return nil, err
	}
	benchmarks, left, differ := selectCases(rules, benchmarks, differ)
	if err := f.missing(cmd, differ); err != nil {
		return nil, err
	}
	progress := newBenchProgress(cmd.ErrOrStderr())
	defer progress.close()
	options := gate.Options{
		Threshold: f.thresholdOf(rules), ThresholdOf: rules.ThresholdOf, Better: tests.Better,
		Budget: f.budget, Start: start, Seed: uint64(time.Now().UnixNano()),
		Warn:     func(text string) { f.warn(cmd, record, text) },
		Progress: func(p gate.Progress) { progress.show(gateProgress(p)) },
	}
	record.begin(f.settings(cmd, old, now, options), options.Better)
	options.Record = record.Record
	report, err = gate.Run(ctx, tests, benchmarks, options)
	progress.close()
	if report == nil || report.Rounds == 0 {
		return nil, errors.Join(err, record.Err())
	}
	report.LeftOut, report.Changes = left, changes
	if err == nil {
		f.warnUnused(cmd, rules, report, patterns)
	}
	if tests.Fixed() {
		f.warn(cmd, record, "this Go's linker has no -randlayout: where functions happen to lie can pass for a change")
	}
	profiles := f.profile(cmd, report, tests, record)
	return report, errors.Join(err, f.publish(cmd, report, profiles, record))
}

// announce says what is compared.
func (f *gateFlags) announce(cmd *cobra.Command, base, head *gate.Module) (old, now string, err error) {
	if old, err = base.Describe(cmd.Context()); err != nil {
		return "", "", err
	}
	if now, err = head.Describe(cmd.Context()); err != nil {
		return "", "", err
	}
	old = f.base + ", " + old
	fmt.Fprintf(cmd.ErrOrStderr(), "base: %s\nhead: %s\n", old, now)
	return old, now, nil
}

// missing names benchmarks that one side lacks, which are an error unless they
// are allowed.
func (f *gateFlags) missing(cmd *cobra.Command, differ []gate.Difference) error {
	missing := 0
	for _, d := range differ {
		fmt.Fprintf(cmd.ErrOrStderr(), "not compared: %v\n", d)
		if !d.Both {
			missing++
		}
	}
	if f.allowMissing || missing == 0 {
		return nil
	}
	return fmt.Errorf("%s not on both sides (--allow-missing compares the others)", differing(missing))
}

func differing(n int) string {
	if n == 1 {
		return "1 benchmark is"
	}
	return fmt.Sprintf("%d benchmarks are", n)
}
