package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/render"
)

// measureFlags are those of the verbs that measure cases: bench and machine.
type measureFlags struct {
	out     string
	force   bool
	filter  string
	short   bool
	list    bool
	json    bool
	count   int
	time    time.Duration
	threads []int
	seed    uint64
}

// register adds those that mean the same to each verb, whose cases are called so.
func (m *measureFlags) register(flags *pflag.FlagSet, dir, what string) {
	flags.StringVarP(&m.out, "output", "o", dir, "`DIR` to write the report to")
	flags.BoolVar(&m.force, "force", false, forceUsage)
	flags.BoolVar(&m.list, "list", false, "print the names of the "+what+"s that would be measured, and those that can't be here, with the reason")
	flags.BoolVar(&m.json, "json", false, "print JSON instead of tables")
	flags.IntVar(&m.count, "count", 0, "samples of each "+what+" in all processes (default: as many as the time allows, up to 12)")
	flags.DurationVar(&m.time, "time", 0, "length of a sample (default: as long as the time allows)")
}

// check refuses values that no run could have. 0 is what flags have that aren't given.
func (m *measureFlags) check(cmd *cobra.Command, host sysinfo.Host) error {
	changed := cmd.Flags().Changed
	if changed("count") && m.count < 1 {
		return cli.Usagef("--count %d: give at least 1 sample, or leave it out for as many as the time allows", m.count)
	}
	if changed("time") && m.time <= 0 {
		return cli.Usagef("--time %v: give a length such as 20ms, or leave it out for the length that the time allows", m.time)
	}
	if changed("output") && m.out == "" {
		return cli.Usagef("--output is empty")
	}
	if _, err := results.ParseFilter(m.filter); err != nil {
		return cli.Usagef("--filter: %w", err)
	}
	return checkThreads(m.threads, host.UsableCPUs)
}

// run measures a suite, and says before what that is, and then what comes behind it.
func (m *measureFlags) run(cmd *cobra.Command, runner bench.Runner, suite bench.Suite, file io.Writer, then string) (*results.Set, error) {
	stderr := cmd.ErrOrStderr()
	plan := runner.Plan(suite)
	fmt.Fprintf(stderr, "measuring %s, for about %v\n", planned(suite, plan, m.count > 0), plan.Estimate.Round(time.Second))
	if then != "" {
		fmt.Fprintln(stderr, then)
	}
	bar := cli.NewBenchProgress(stderr)
	defer bar.Close()
	runner.Progress = bar.Show
	return runner.Run(cmd.Context(), suite, file)
}

// planned says what is measured: a filter may leave only studies. Unless their number
// was asked for, slow cases get fewer samples.
func planned(s bench.Suite, plan bench.Plan, exact bool) string {
	var parts []string
	if n := len(s.Cases); n > 0 {
		samples := count.Of(plan.Count, "sample")
		if !exact {
			samples = "up to " + samples
		}
		parts = append(parts, fmt.Sprintf("%s, %s each", count.Of(n, "case"), samples))
	}
	if n := len(s.Studies); n > 0 {
		parts = append(parts, count.Of(n, "study"))
	}
	return strings.Join(parts, ", and ")
}

// report renders the samples, also of a run that did not finish, which failure says: they
// must not be lost. brief is the first screen alone, named that variants were asked for by name.
func (m *measureFlags) report(cmd *cobra.Command, res *results.Set, file *resultsFile, failure error, brief, named bool) error {
	path := file.path()
	stderr := cmd.ErrOrStderr()
	samples := func() {
		fmt.Fprintf(stderr, "the finished samples are in %s; onebit report %[1]s renders them\n", path)
	}
	if failure != nil {
		if res != nil && len(res.Samples) > 0 {
			samples()
		}
		return nil
	}
	if len(res.Samples) == 0 {
		return fmt.Errorf("no case could be timed, and nothing was replaced; %s says why", path)
	}
	source := &reports.Source{Paths: []string{path}, Machines: []*results.Set{res}}
	if named {
		source.Top = -1 // a variant that was asked for by name is shown, however slow
	}
	d, err := reports.Build(cmd.Context(), source)
	if err == nil {
		err = render.Folder(cmd.Context(), m.out, d, file.options(m.force))
	}
	if err != nil {
		samples()
		return err
	}
	if err := printDocument(cmd, d, m.json, brief); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "report: %s\n", filepath.Join(m.out, "index.html"))
	if n := len(res.Failures); n > 0 {
		return fmt.Errorf("wrong and not timed: %s; %s names them", count.Of(n, "case"), path)
	}
	return nil
}

// print prints the cases that would be measured.
func (m *measureFlags) print(cmd *cobra.Command, all []names.Listed) error {
	out := cmd.OutOrStdout()
	if m.json {
		return cli.PrintJSON(out, struct {
			Cases []names.Listed `json:"cases"`
		}{all})
	}
	missing, width := 0, cli.TerminalWidth(out)
	for _, c := range all {
		if c.Unavailable != "" {
			missing++
		}
		if err := printListed(c, out, width); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s, %d of them unavailable here\n", count.Of(len(all), "case"), missing)
	return err
}

// printListed prints a line, or as many as a narrow terminal needs.
func printListed(c names.Listed, w io.Writer, width int) error {
	text := term.Quote(c.Name)
	if c.Unavailable != "" {
		text += " (unavailable: " + term.Text(c.Unavailable) + ")"
	}
	for i, line := range cli.Wrapped(text, width, "/ ") {
		if i > 0 {
			line = "    " + line
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
