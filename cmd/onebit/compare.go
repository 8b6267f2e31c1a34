package main

import (
	"github.com/spf13/cobra"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/reports/compare"
)

// A comparison is the flags of compare.
type comparison struct {
	compare.Options
	all, json bool
	force     bool
	out       string
}

func newCompare() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:     "compare OLD NEW",
		Short:   "Name the changes between two results files, beyond noise",
		Example: "  onebit compare old/results.txt onebit-report/results.txt",
		Long: `Compare two results files: name the cases that differ by more than two runs of one
program do, say how large a change would have been seen, and which command decides the
rest. Two runs at different times differ in all cases of a class (threads and cache)
alike, so a case's change is its own beyond its class's; a variant is judged as a whole
where its cases agree. Noise is that of the processes and the spread of all cases; a
change of the machine's ceilings is not the program's. One in twenty of the changes that
are named may be false (Benjamini and Hochberg). Errors and bytes, which are computed,
are named when they differ at all. In onebit's repository, go doc ./bench/noise CompareRuns has the
formula and its limits, and docs/measurements/noise.md how often it is right.

A file is a results.txt, the output of go test -bench, or that of llama-bench, Google
Benchmark or hyperfine; it may be written label=FILE. The exit status is 0
whatever differs; it is 1 for files without measurements, without a case in common,
or of two machines, which onebit report shows side by side.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) < 2:
				return cli.Usagef("give two results files to compare")
			case len(args) > 2:
				return cli.Usagef("unexpected argument %q: onebit report takes more than two files", args[2])
			}
			if _, err := results.ParseFilter(c.Filter); err != nil {
				return cli.Usagef("filter %q: %w", c.Filter, err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.compare(cmd, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Filter, "filter", "", "use only benchmarks that match `EXPR`")
	flags.BoolVar(&c.all, "all", false, "show every case, and not the first screen alone")
	flags.BoolVar(&c.json, "json", false, "print the verdict and all cases as JSON")
	flags.StringVarP(&c.out, "output", "o", "", "write index.html and results.txt, for report, to `DIR`")
	flags.BoolVar(&c.force, "force", false, forceUsage)
	flags.SortFlags = false
	return cmd
}

func (c *comparison) compare(cmd *cobra.Command, old, new string) error {
	found, err := compare.Files(cmd.Context(), c.Options, old, new)
	if err != nil {
		return err
	}
	d := found.Document(c.all)
	if err := printDocument(cmd, d, c.json, !c.all); err != nil || c.out == "" {
		return err
	}
	return recordInto(cmd, c.out, d, c.force, found.Sidecar(c.all))
}
