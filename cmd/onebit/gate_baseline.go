package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"onebit/bench/cases"
	"onebit/bench/gate"
	"onebit/bench/gate/sides"
	"onebit/cmd/internal/cli"
	"onebit/internal/clock"
	"onebit/internal/sysinfo"
)

// baselineThreshold is the change that matters to a comparison with an earlier
// time where nobody says otherwise: two such times differ by less seldom enough.
const baselineThreshold = 30

// compareBaseline measures head and judges it against a file that was recorded
// earlier.
func (f *gateFlags) compareBaseline(cmd *cobra.Command, patterns []string, record *gateRecord) (report *gate.Report, err error) {
	ctx := cmd.Context()
	start := clock.Now()
	signs := cli.NewGateSigns(cmd.ErrOrStderr(), "building and listing its benchmarks")
	defer signs.Close()
	baseline, err := gate.ReadBaseline(ctx, f.baseline)
	if err != nil {
		return nil, err
	}
	head, err := sides.ModuleAt(ctx, ".")
	if err != nil {
		return nil, err
	}
	rules, err := f.readRules(head)
	if err != nil {
		return nil, err
	}
	if err := f.warnBaseline(cmd, baseline); err != nil {
		return nil, err
	}
	now, err := head.Describe(ctx)
	if err != nil {
		now = "not in a repository" // which is no condition
	}
	tests := &sides.Tests{Head: head, Patterns: patterns, Running: f.running(filepath.Join(record.temp, "bin"))}
	found, err := tests.FindHead(ctx)
	if err != nil {
		return nil, err
	}
	both, differ := baseline.Match(found)
	if f.match != "." || len(patterns) > 0 {
		// The file may have what nobody asked for.
		differ = slices.DeleteFunc(differ, func(d gate.Difference) bool { return d.Missing == gate.Head })
	}
	benchmarks, left, differ := rules.SelectBoth(both, differ)
	if err := f.missing(cmd, differ); err != nil {
		return nil, err
	}
	options := gate.Options{
		Threshold: f.thresholdOf(rules), ThresholdOf: rules.ThresholdOf, Better: tests.Better,
		Prove: f.prove, Budget: f.budget, Start: start, Seed: uint64(time.Now().UnixNano()),
		Warn:     func(text string) { f.warn(cmd, record, text) },
		Progress: signs.Show,
	}
	record.begin(f.settings(cmd, filepath.Base(baseline.File), now, options), options.Better)
	options.Record = record.Record
	report, err = baseline.Compare(ctx, tests, benchmarks, options)
	signs.Close()
	if report == nil || report.Rounds == 0 {
		return nil, record.failed(err)
	}
	report.LeftOut = left
	return report, errors.Join(err, f.publish(cmd, report, nil, record))
}

// warnBaseline says what is compared, and what else than the code may decide.
func (f *gateFlags) warnBaseline(cmd *cobra.Command, b *gate.Baseline) error {
	host := sysinfo.Probe()
	if host.Emulated() {
		return errors.New("an emulator runs this program: its times say nothing about a CPU, so nothing is compared with them")
	}
	err := cmd.ErrOrStderr()
	fmt.Fprintf(err, "base: %s, recorded %s, commit %s\n", b.File, cmp.Or(b.Setting("started"), "at no stated time"), cmp.Or(b.Setting("commit"), "not stated"))
	for _, w := range append(b.Warnings, b.Differences(cases.Settings(host, time.Now()))...) {
		fmt.Fprintf(err, "onebit: warning: %s\n", w)
	}
	fmt.Fprintln(err, "base and head are measured at different times: differences that such times make by themselves prove nothing")
	return nil
}
