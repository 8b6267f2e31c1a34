package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench/gate"
	"onebit/cmd/internal/cli"
	"onebit/internal/clock"
	"onebit/internal/count"
)

type gateFlags struct {
	base         string
	baseline     string
	baseGo       string
	headGo       string
	baseBinary   string
	headBinary   string
	suite        string
	filter       string
	model        string
	preset       string
	match        string
	threshold    percentFlag
	rules        string
	budget       time.Duration
	limit        time.Duration
	cpus         int
	allowMissing bool
	prove        bool
	measureAll   bool
	keepGoing    bool
	instructions bool
	out          string
	resume       string
	force        bool
	profiles     int
	asJSON       bool
}

func newGate() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate --base REF [PACKAGE…] [-- BENCH-FLAGS]",
		Short: "Tell whether the benchmarks of a Go module became slower",
		Long: paragraphs(`Compare the benchmarks of any Go module between a git revision (base) and the
files as they are now (head), and exit with 0 if nothing is proved to be worse
than its threshold, 1 if something is, 2 if it could not be measured, and 3 if the
machine was unfit or the budget too short. --prove demands proof that nothing is: 2
where there is none.`,
			`Both revisions are built, base in a directory of its own that is removed again:
the repository is only read. Submodules are what the revision says; a replacement
or workspace outside of the repository is the same for both. Benchmarks run
interleaved, in processes of their own, and in every round the test binaries are
linked with their functions in another order: a time that depends on unrelated code
is noise here, not a verdict. Benchmarks of a package whose process takes
long to start share one. The chance of any false alarm is below 1%, for all
benchmarks together. In onebit's repository, go doc ./bench/gate says how.`,
			`--base-binary and --head-binary compare two test binaries (go test -c), which run
in the current directory, or two onebits.`,
			`--suite compares onebit's own cases in its repository, or of two onebits: time,
memory and error. Sizes, which are computed, may not grow at all, and errors by no
more than 0.1%. Flags of onebit bench follow --.`,
			`  onebit gate --base main
  onebit gate --base v1.2.0 --bench 'Encode|Decode' ./codec
  onebit gate --base-binary old.test --head-binary new.test
  onebit gate --base main --suite kernels --filter /cache:warm -- --threads 1
  onebit gate --base main --suite models --preset tiny -- -p 32 -n 16`),
		Args: func(cmd *cobra.Command, _ []string) error { return f.check() },
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "compare with this git `REVISION`")
	flags.StringVar(&f.baseGo, "base-go", "", "build base with this `RELEASE` of Go, such as 1.26.8, which go downloads if need be")
	flags.StringVar(&f.headGo, "head-go", "", "build head with this `RELEASE` of Go")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the results that were recorded in `FILE` earlier, instead of a revision")
	flags.StringVar(&f.baseBinary, "base-binary", "", "compare this test binary, or onebit, with that of --head-binary: a `FILE`")
	flags.StringVar(&f.headBinary, "head-binary", "", "the `FILE` that is judged")
	flags.StringVar(&f.suite, "suite", "", "compare onebit's own cases: `kernels`, models or all")
	flags.StringVar(&f.filter, "filter", "", "of a suite: only the cases that match `EXPR`, as bench has it")
	flags.StringVar(&f.model, "model", "", "of a suite: measure this model `FILE`")
	flags.StringVar(&f.preset, "preset", "", "of a suite: measure a model of this `NAME`, which base makes with random weights")
	flags.StringVar(&f.match, "bench", ".", "run the benchmarks that match `REGEXP`, as go test -bench does")
	f.threshold.Percentage = 3
	flags.Var(&f.threshold, "threshold", thresholdUsage+", where no rule says otherwise")
	flags.StringVar(&f.rules, "rules", "", "take thresholds, and benchmarks to leave out, from `FILE` (default "+gate.RulesFile+" in the module's root, if it is there)")
	flags.DurationVar(&f.budget, "budget", 5*time.Minute, "take no longer in all, building and listing included")
	flags.DurationVar(&f.limit, "case-limit", time.Minute, "a benchmark that runs for longer hangs")
	flags.IntVar(&f.cpus, "cpu", 0, "GOMAXPROCS of the benchmarks, as go test -cpu has it (default: all)")
	flags.BoolVar(&f.prove, "prove", false, "pass only with proof that everything is within its threshold, else exit 2")
	flags.BoolVar(&f.measureAll, "measure-all", false, "measure also benchmarks that run the same code on both sides")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "measure the rest too after a regression is certain, which ends the gate otherwise")
	flags.BoolVar(&f.instructions, "instructions", false, "count the instructions of an operation too, by perf events or else valgrind, within a third of the budget")
	flags.BoolVar(&f.allowMissing, "allow-missing", false, "benchmarks that one side lacks are no error")
	flags.StringVarP(&f.out, "output", "o", "", "write a page, all measurements, profiles and files for benchstat to `DIR`")
	flags.StringVar(&f.resume, "resume", "", "add rounds, for a further --budget, to the finished gate over the same that -o wrote to `DIR`")
	flags.BoolVar(&f.force, "force", false, forceUsage)
	flags.IntVar(&f.profiles, "profiles", 3, "profile up to `N` benchmarks that became slower, the worst first, for 6 s each within the budget")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON, whose fields go doc ./bench/gate.Document explains in onebit's repository")
	return cmd
}

func (f *gateFlags) check() error {
	switch {
	case f.base+f.baseline+f.baseBinary+f.headBinary == "":
		return cli.Usagef("--base is missing: name the git revision to compare with")
	case f.base != "" && f.baseline != "":
		return cli.Usagef("--base and --baseline exclude each other: compare with a revision or with a file")
	case f.base+f.baseline != "" && f.baseBinary+f.headBinary != "":
		return cli.Usagef("--base and binaries exclude each other")
	case f.base+f.baseline == "" && (f.baseBinary == "" || f.headBinary == ""):
		return cli.Usagef("--base-binary and --head-binary go together")
	case f.base == "" && f.baseGo+f.headGo != "":
		return cli.Usagef("--base-go and --head-go build revisions: name one by --base, such as HEAD for the same code")
	case f.baseline != "" && f.suite != "":
		return cli.Usagef("--baseline is for go test's benchmarks, and --suite for onebit's own")
	case f.resume != "" && f.base == "":
		return cli.Usagef("--resume is for revisions: name the same --base")
	case f.resume != "" && f.out != "":
		return cli.Usagef("--resume and -o exclude each other: the folder keeps all rounds")
	case f.instructions && (f.baseline != "" || f.suite != ""):
		return cli.Usagef("--instructions counts go test's benchmarks of two revisions or binaries, not those of --baseline or --suite")
	case !slices.Contains([]string{"", kernelsOnly, modelsOnly, everything}, f.suite):
		return cli.Usagef("--suite %s: known are kernels, models and all", f.suite)
	case f.suite == "" && f.baseBinary == "" && f.filter+f.model+f.preset != "":
		return cli.Usagef("--filter, --model and --preset are for a --suite")
	case f.model != "" && f.preset != "":
		return cli.Usagef("--model and --preset exclude each other")
	case f.budget <= 0 || f.limit <= 0 || f.cpus < 0:
		return cli.Usagef("--budget, --case-limit and --cpu take positive values")
	case f.profiles < 0:
		return cli.Usagef("--profiles %d: give a number of benchmarks; 0 is none", f.profiles)
	}
	f.out = cmp.Or(f.out, f.resume)
	if f.baseline != "" && !f.threshold.set {
		f.threshold.Percentage = baselineThreshold
	}
	return nil
}

// run measures and judges. Whatever keeps it from a verdict ends with 2, for it
// is never a pass and no regression; too short a budget with 3: more time may do.
func (f *gateFlags) run(cmd *cobra.Command, patterns []string) error {
	compare := f.compare
	if f.baseline != "" {
		compare = f.compareBaseline
	}
	report, err := f.recorded(cmd, patterns, compare)
	var budget gate.BudgetError
	switch {
	case errors.As(err, &budget):
		return &cli.EndError{Status: 3, Err: err}
	case errors.Is(err, context.Canceled) && report == nil:
		return &cli.EndError{Status: 2, Err: fmt.Errorf("no round was measured: %w", context.Canceled)}
	case errors.Is(err, context.Canceled) && report != nil:
		return &cli.EndError{Status: 2, Err: fmt.Errorf("after %s: %w", count.Of(report.Rounds, "round"), context.Canceled)}
	case err != nil:
		return &cli.EndError{Status: 2, Err: err}
	case report.Exit() == 0:
		return nil
	}
	return &cli.EndError{Status: report.Exit()}
}

// recorded lets a comparison have its record, whose temporary folder goes when
// the gate ends.
func (f *gateFlags) recorded(cmd *cobra.Command, patterns []string, compare gateComparison) (report *gate.Report, err error) {
	// A reader that has gone is an error of writing; as a signal it would end the
	// program before its folder is removed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	temp, remove, err := cli.TempFolder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	record, err := f.openRecord(temp)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, record.close()) }()
	return compare(cmd, patterns, record)
}

// A gateComparison measures and judges, and prints what it found.
type gateComparison func(cmd *cobra.Command, patterns []string, record *gateRecord) (*gate.Report, error)

// compare builds both sides, measures them and prints what it found, also of a
// gate that was interrupted.
func (f *gateFlags) compare(cmd *cobra.Command, patterns []string, record *gateRecord) (report *gate.Report, err error) {
	ctx := cmd.Context()
	start := clock.Now()
	signs := cli.NewGateSigns(cmd.ErrOrStderr(), "building both sides and listing their benchmarks")
	defer signs.Close()
	c, err := f.compared(ctx, patterns, record.temp)
	if err != nil {
		return nil, aboutDisk(err)
	}
	rules, err := f.readRules(c.head)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "base: %s\nhead: %s\n", c.old, c.now)
	benchmarks, differ, err := f.find(ctx, c, start)
	if err != nil {
		return nil, aboutDisk(err)
	}
	counting, err := f.counting(cmd, rules, c.gateTarget)
	if err != nil {
		return nil, err
	}
	var changes []string
	if c.base != nil { // no binaries
		if changes, err = rules.ChangesSince(c.base.Dir, c.head.Dir); err != nil {
			return nil, err
		}
	}
	code := c.code()
	benchmarks, left, differ := rules.SelectBoth(benchmarks, differ)
	for _, said := range code.Sentences() {
		if len(benchmarks) > 0 { // else the report follows at once, and says it
			fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", said)
		}
	}
	if err := f.missing(cmd, differ); err != nil {
		return nil, err
	}
	options := gate.Options{
		Threshold: f.thresholdOf(rules), ThresholdOf: c.thresholds(rules), Better: c.Better,
		Prove: f.prove, Code: code, KeepGoing: f.keepGoing, Budget: f.budget, Reserve: f.reserve(c.gateTarget) + counting.reserve(f.budget, len(benchmarks)), Start: start, Seed: uint64(time.Now().UnixNano()),
		Warn:     func(text string) { f.warn(cmd, record, text) },
		Progress: signs.Show,
	}
	settings := f.settings(cmd, c.old, c.now, options)
	if options.Resume, err = f.resumable(cmd, settings); err != nil {
		return nil, err
	}
	record.begin(settings, options.Better)
	options.Record = record.after(options.Resume)
	report, err = gate.Run(ctx, c, benchmarks, options)
	if err == nil {
		signs.Do("counting instructions")
		err = counting.count(ctx, rules, report, record)
	}
	signs.Do("profiling the benchmarks that became slower")
	if report == nil || err != nil && report.Rounds == 0 {
		return nil, record.failed(err)
	}
	report.LeftOut, report.Changes = left, changes
	if err == nil {
		f.warnUnused(cmd, rules, report, patterns)
	}
	if c.Fixed() {
		f.warn(cmd, record, c.caveat)
	}
	profiles := f.profile(cmd, report, c.gateTarget, record)
	signs.Close()
	if where, ok := c.gateTarget.(gate.Locator); ok && os.Getenv("GITHUB_ACTIONS") == "true" {
		gate.Annotate(cmd.ErrOrStderr(), report, profiles, where, os.Getenv("GITHUB_WORKSPACE"))
	}
	return report, errors.Join(aboutDisk(err), f.publish(cmd, report, profiles, record))
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
