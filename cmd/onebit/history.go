package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/history"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/term"
	historypage "onebit/reports/history"
)

type historyFlags struct {
	filter    string
	unit      string
	repo      string
	threshold percentFlag
	alpha     float64
	shuffles  int
	seed      uint64
	csv, json bool
	out       string
	force     bool
}

func newHistory() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history DIR",
		Short: "Find when benchmarks became slower or faster, in many files",
		Long: `Read all results files below DIR, of onebit or of go test -bench, and tell where
the level of a benchmark changed for good: by how much, and between which commits.

The files of one commit are runs of one point. Points are put in order by
the commits' dates if files say them (commit-date: …), by the repository that --repo
names, by the time of measuring, by dates in file names, and at last by the files'
own times. Each machine has series of its own.

The chance of any false change is at most 5%, for all benchmarks together, unless
noise carries over from point to point. The output says if it does; --shuffles
counts false alarms in your own files, in random order. A change shows after a dozen
points of a few benchmarks, and after twenty of hundreds. A slow drift and a replaced
machine are changes too. In onebit's repository, go doc ./bench/history says how it
is done.

  onebit history results/
  onebit history results/ --repo . --unit all -o trends`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cli.ExactArgs("DIR")(cmd, args); err != nil {
				return err
			}
			return f.check()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.filter, "filter", "", "read only benchmarks that match `EXPR`, such as .name:Sort")
	flags.StringVar(&f.unit, "unit", "time", "time, all (of known direction), or `UNITS` such as B/op,allocs/op")
	flags.StringVar(&f.repo, "repo", "", "order commits as the git repository in `DIR` has them, and count those between")
	flags.Var(&f.threshold, "threshold", thresholdUsage)
	flags.Lookup("threshold").DefValue = "" // every change matters
	flags.Float64Var(&f.alpha, "alpha", 0.05, "`CHANCE` of any false change")
	flags.IntVar(&f.shuffles, "shuffles", 0, "count false alarms in `N` histories of the same points in random order")
	flags.Uint64Var(&f.seed, "seed", 1, "`SEED` of the random orders")
	flags.StringVarP(&f.out, "output", "o", "", "write index.html, history.csv and results.txt, for report, to `DIR`")
	flags.BoolVar(&f.force, "force", false, forceUsage)
	flags.BoolVar(&f.csv, "csv", false, "print every point and its level as CSV")
	flags.BoolVar(&f.json, "json", false, "print the changes as JSON")
	flags.SortFlags = false
	return cmd
}

// mostShuffles is more than anyone waits for.
const mostShuffles = 100_000

func (f *historyFlags) check() error {
	switch {
	case f.csv && f.json:
		return cli.Usagef("--csv and --json exclude each other")
	case !(f.alpha >= 1e-6 && f.alpha <= 0.5):
		return cli.Usagef("--alpha %v: give a chance from 0.000001 to 0.5", f.alpha)
	case f.shuffles < 0 || f.shuffles > mostShuffles:
		return cli.Usagef("--shuffles %d: give a number from 0 to %d", f.shuffles, mostShuffles)
	case f.unit == "":
		return cli.Usagef("--unit is empty: give time, all or units")
	}
	return nil
}

// units are those that are read; nil: all of known direction.
func (f *historyFlags) units() []string {
	switch f.unit {
	case "time":
		return []string{results.NsPerOp}
	case "all":
		return nil
	}
	return strings.Split(f.unit, ",")
}

func (f *historyFlags) run(cmd *cobra.Command, dir string) error {
	ctx := cmd.Context()
	opt := history.LoadOptions{Filter: f.filter, Units: f.units()}
	if f.repo != "" {
		opt.Commits = history.Repository{Dir: f.repo}.Commits
	}
	read, err := history.Load(ctx, dir, opt)
	if err != nil {
		return err
	}
	for _, n := range read.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", term.Text(n))
	}
	how := history.Options{Alpha: f.alpha, Seed: f.seed}
	found, err := read.Trends(ctx, how)
	if err != nil {
		return fmt.Errorf("looking for changes: %w", err)
	}
	view := historypage.View{History: read, Trends: found, Least: f.threshold.Fraction(), Options: how}
	if f.repo != "" {
		if view.Between, err = read.Between(ctx, history.Repository{Dir: f.repo}, found); err != nil {
			return err
		}
	}
	if f.shuffles > 0 {
		shuffles, err := read.Shuffled(ctx, f.shuffles, how)
		if err != nil {
			return fmt.Errorf("counting false alarms: %w", err)
		}
		view.Shuffles = &shuffles
	}
	return f.publish(cmd, view)
}

func (f *historyFlags) publish(cmd *cobra.Command, view historypage.View) error {
	d := view.Document()
	form := "table"
	switch {
	case f.json:
		form = "json"
	case f.csv:
		form = "csv"
	}
	if err := printAs(cmd, d, form, false); err != nil || f.out == "" {
		return err
	}
	return recordInto(cmd, f.out, d, f.force, view.Sidecar())
}
