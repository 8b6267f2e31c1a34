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
// ignored, each file would get tables of its own, and nothing be compared.
var runKeys = strings.Join(append(slices.Clone(bench.RunKeys), "commit"), ",")

func newCompare() *cobra.Command {
	var opt reports.BenchstatOptions
	var plots string
	cmd := &cobra.Command{
		Use:   "compare OLD NEW…",
		Short: "What benchstat says of results files",
		Long: `Compare results files, as benchstat does and with its flags. What a header says of
the run alone is ignored: benchstat prints the same with
  -ignore ` + runKeys + `

A file may be written label=FILE. A difference is reported, it does not fail; files
without benchmarks do.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("give two results files to compare")
			}
			if err := opt.Check(); err != nil {
				return usagef("%w", err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := reports.Benchstat(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), opt, args...); err != nil {
				return err
			}
			if plots == "" {
				return nil
			}
			drawn, err := reports.WriteComparePlots(cmd.Context(), plots, opt, args...)
			for _, path := range drawn {
				fmt.Fprintf(cmd.ErrOrStderr(), "plot: %s\n", path)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Filter, "filter", "", "use only benchmarks that match `EXPR`")
	flags.StringVar(&opt.Table, "table", "", "split results into tables by `PROJECTION`")
	flags.StringVar(&opt.Row, "row", "", "make a row of each `PROJECTION`")
	flags.StringVar(&opt.Col, "col", "", "compare `PROJECTION` side by side")
	flags.StringVar(&opt.Ignore, "ignore", runKeys, "ignore differences in `KEYS`")
	flags.Float64Var(&opt.Alpha, "alpha", 0, "a difference is significant when p < `ALPHA` (default 0.05)")
	flags.Float64Var(&opt.Confidence, "confidence", 0, "`LEVEL` of the intervals (default 0.95)")
	flags.StringVar(&opt.Format, "format", "text", "text or csv")
	flags.StringVar(&plots, "plots", "", "also draw the differences into `DIR`")
	return cmd
}
