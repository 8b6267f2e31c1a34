package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/reports"
)

// runKeys are the lines of a header that differ between two runs. Were they not
// ignored, benchstat would give each file tables of its own, and compare nothing.
var runKeys = strings.Join(append(slices.Clone(bench.RunKeys), "commit"), ",")

// A comparison is the flags of compare.
type comparison struct {
	benchstat bool
	reports.BenchstatOptions
	all, json bool
	plots     string
}

func newCompare() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "What changed between two results files, beyond noise",
		Long: `Compare two results files: a verdict in a line, what it rests on, and the cases that
differ by more than two runs of one program do. Each case counts by the fastest sample
of each process. Noise is that of the processes, of the A/A pairs and, because two
runs at different times differ by more, the spread of all cases; what the machine's
ceilings did is not the program's doing. The chance that any of the cases is named by
accident is 5%. Errors and bytes, which are computed, are named when they differ at all.
In onebit's repository, go doc ./bench CompareRuns has the formula and its limits.

A file may be written label=FILE. The exit status is 0 whatever differs; it is 1 for
files without measurements, or without a case in common.

With --benchstat it prints byte for byte what benchstat prints, for any number of
files, with benchstat's flags. What a header says of the run alone is ignored:
  benchstat -ignore ` + runKeys,
		Args: func(cmd *cobra.Command, args []string) error { return c.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.benchstat {
				return reports.Benchstat(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), c.BenchstatOptions, args...)
			}
			return c.compare(cmd, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Filter, "filter", "", "use only benchmarks that match `EXPR`")
	flags.BoolVar(&c.all, "all", false, "show every case, not only those beyond noise")
	flags.BoolVar(&c.json, "json", false, "print the verdict and all cases as JSON")
	flags.StringVar(&c.plots, "plots", "", "also draw the differences into `DIR`")
	flags.BoolVar(&c.benchstat, "benchstat", false, "print benchstat's tables instead; the flags below are its own")
	flags.StringVar(&c.Table, "table", "", "split results into tables by `PROJECTION`")
	flags.StringVar(&c.Row, "row", "", "make a row of each `PROJECTION`")
	flags.StringVar(&c.Col, "col", "", "compare `PROJECTION` side by side")
	flags.StringVar(&c.Ignore, "ignore", runKeys, "ignore differences in `KEYS`")
	flags.Float64Var(&c.Alpha, "alpha", 0, "a difference is significant when p < `ALPHA` (default 0.05)")
	flags.Float64Var(&c.Confidence, "confidence", 0, "`LEVEL` of the intervals (default 0.95)")
	flags.StringVar(&c.Format, "format", "text", "text or csv")
	flags.SortFlags = false
	return cmd
}

// check reports what makes no sense on the command line.
func (c *comparison) check(cmd *cobra.Command, args []string) error {
	foreign, why := []string{"table", "row", "col", "ignore", "alpha", "confidence", "format"}, "is a flag of --benchstat"
	if c.benchstat {
		foreign, why = []string{"all", "json", "plots"}, "does not go with --benchstat"
	}
	for _, name := range foreign {
		if cmd.Flags().Changed(name) {
			return usagef("--%s %s", name, why)
		}
	}
	switch {
	case len(args) == 0 || !c.benchstat && len(args) == 1:
		return usagef("give two results files to compare")
	case !c.benchstat && len(args) > 2:
		return usagef("unexpected argument %q: more than two files go side by side with --benchstat", args[2])
	}
	if err := c.Check(); err != nil {
		return usagef("%w", err)
	}
	return nil
}

func (c *comparison) compare(cmd *cobra.Command, old, new string) error {
	found, err := reports.Compare(cmd.Context(), reports.CompareOptions{Filter: c.Filter}, old, new)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if c.json {
		err = printJSON(out, found)
	} else {
		err = found.WriteText(out, reports.CompareTextOptions{Width: terminalWidth(out), All: c.all})
	}
	if err != nil || c.plots == "" {
		return err
	}
	drawn, err := found.WritePlots(cmd.Context(), c.plots)
	for _, path := range drawn {
		fmt.Fprintf(cmd.ErrOrStderr(), "plot: %s\n", path)
	}
	return err
}
