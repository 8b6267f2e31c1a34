package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/bench/gate"
)

// publish prints a report and writes the files that were asked for.
func (f *gateFlags) publish(cmd *cobra.Command, r *gate.Report, tests *gate.Tests) error {
	for _, alarm := range r.Alarms {
		fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: %s\n", alarm)
	}
	if tests.Fixed() {
		fmt.Fprintln(cmd.ErrOrStderr(), "onebit: warning: this Go's linker has no -randlayout: where functions happen to lie can pass for a change")
	}
	err := f.printReport(cmd.OutOrStdout(), r)
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
		err = errors.Join(err, appendFile(path, markdown(r)))
	}
	if f.out != "" {
		err = errors.Join(err, writeSides(f.out, r))
	}
	return err
}

func (f *gateFlags) printReport(w io.Writer, r *gate.Report) error {
	if f.asJSON {
		return printJSON(w, gateJSON(r))
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", summary(r)); err != nil {
		return err
	}
	t := newTable(w, "VERDICT", "BENCHMARK", "UNIT", "BASE", "HEAD", "CHANGE", "95% INTERVAL")
	for _, x := range shown(r) {
		t.row(row(x)...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	return writeRulesText(w, r)
}

// summary is the gate's answer in a line.
func summary(r *gate.Report) string {
	counts := map[gate.Verdict]int{}
	open := 0
	for _, x := range r.Findings {
		counts[x.Verdict]++
		if x.Verdict == gate.Unsure && !x.Pass {
			open++
		}
	}
	of := fmt.Sprintf("of %d compared, in %d rounds and %v, %v of it to set up", len(r.Findings), r.Rounds, r.Elapsed.Round(time.Second), r.Setup.Round(time.Second))
	switch r.Exit() {
	case 0:
		return fmt.Sprintf("no regression: nothing %s is worse by more than %.3g%%; %d better", of, 100*r.Options.Threshold, counts[gate.Faster])
	case 1:
		return fmt.Sprintf("regression: %d worse %s; %d better, %d undecided", counts[gate.Slower], of, counts[gate.Faster], open)
	}
	if len(r.Alarms) > 0 {
		return "undecided: base differs from itself here, so nothing is proved"
	}
	if r.Rounds < r.Needed {
		return fmt.Sprintf("undecided: %d rounds fit into the budget, and so many verdicts need %d (a longer --budget, or fewer benchmarks by --bench)", r.Rounds, r.Needed)
	}
	return fmt.Sprintf("undecided: %d %s may be worse by more than %.3g%% (a longer --budget decides more)", open, of, 100*r.Options.Threshold)
}

// shown lists what a reader looks at: times, and whatever else is not the same;
// the worst first.
func shown(r *gate.Report) []gate.Finding {
	rank := map[gate.Verdict]int{gate.Slower: 0, gate.Unsure: 1, gate.Faster: 2, gate.Same: 3}
	rows := slices.DeleteFunc(slices.Clone(r.Findings), func(x gate.Finding) bool {
		return x.Unit != bench.NsPerOp && (x.Verdict == gate.Same || !x.Judged)
	})
	slices.SortStableFunc(rows, func(a, b gate.Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Verdict], rank[b.Verdict]), -cmp.Compare(math.Abs(a.Change.Center), math.Abs(b.Change.Center)))
	})
	return rows
}

func row(x gate.Finding) []any {
	format := bench.UnitOf(x.Unit).Format
	interval := ""
	if !x.Exact && len(x.Base) > 0 {
		interval = gate.Percent(x.Change.Lo) + " to " + gate.Percent(x.Change.Hi)
	}
	return []any{x.Verdict, x.Name, x.Unit, format(typical(x.Base)), format(typical(x.Head)), gate.Percent(x.Change.Center), interval}
}

// typical is the middle of a side's values.
func typical(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return bench.Median(values)
}

func markdown(r *gate.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n| verdict | benchmark | unit | base | head | change | 95%% interval |\n|---|---|---|--:|--:|--:|---|\n", summary(r))
	for _, x := range shown(r) {
		b.WriteString("|")
		for _, cell := range row(x) {
			fmt.Fprintf(&b, " %s |", strings.ReplaceAll(fmt.Sprint(cell), "|", `\|`))
		}
		b.WriteString("\n")
	}
	for _, alarm := range r.Alarms {
		fmt.Fprintf(&b, "\n%s\n", alarm)
	}
	return b.String() + rulesMarkdown(r) + "\n"
}

func appendFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// writeSides writes each side's values in Go's benchmark format, a line per
// round.
func writeSides(dir string, r *gate.Report) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, side := range []gate.Side{gate.Base, gate.Head, gate.Twin} {
		var b strings.Builder
		for _, x := range r.Findings {
			for _, v := range x.Of(side) {
				fmt.Fprintf(&b, "Benchmark%s 1 %v %s\n", x.Name, v, x.Unit)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, side.String()+".txt"), []byte(b.String()), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// A gateDocument is what --json prints.
type gateDocument struct {
	Summary  string         `json:"summary"`
	Exit     int            `json:"exit"`
	Rounds   int            `json:"rounds"`
	Seconds  float64        `json:"seconds"`
	Alarms   []string       `json:"alarms"`
	LeftOut  []leftOutJSON  `json:"left_out"`
	Changes  []string       `json:"rule_changes"` // between base and head
	Findings []gateJSONCase `json:"findings"`
}

type gateJSONCase struct {
	Package   string       `json:"package"`
	Benchmark string       `json:"benchmark"`
	Unit      string       `json:"unit"`
	Verdict   gate.Verdict `json:"verdict"`
	Pass      bool         `json:"pass"`
	Ratio     *float64     `json:"ratio,omitempty"` // head over base, above 1 is worse; absent if base is 0
	Lo        *float64     `json:"lo,omitempty"`
	Hi        *float64     `json:"hi,omitempty"`
	Threshold float64      `json:"threshold"`
	Base      []float64    `json:"base"`
	Head      []float64    `json:"head"`
	Twin      []float64    `json:"twin"`
}

func gateJSON(r *gate.Report) gateDocument {
	d := gateDocument{Summary: summary(r), Exit: r.Exit(), Rounds: r.Rounds, Seconds: r.Elapsed.Seconds(), Alarms: append([]string{}, r.Alarms...), LeftOut: leftOut(r), Changes: append([]string{}, r.Changes...), Findings: []gateJSONCase{}}
	for _, x := range r.Findings {
		d.Findings = append(d.Findings, gateJSONCase{
			x.Package, x.Name, x.Unit, x.Verdict, x.Pass, ratio(x.Change.Center), ratio(x.Change.Lo), ratio(x.Change.Hi),
			x.Threshold, x.Base, x.Head, x.Twin,
		})
	}
	return d
}

// ratio is nil for what JSON has no number for.
func ratio(log float64) *float64 {
	if r := math.Exp(log); !math.IsInf(log, 0) && !math.IsNaN(r) {
		return &r
	}
	return nil
}
