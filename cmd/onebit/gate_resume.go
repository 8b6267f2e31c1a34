package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"onebit/bench/gate"
	"onebit/bench/results"
	gatepage "onebit/reports/gate"
)

// unequal are the flags in which a gate may differ from one that it adds rounds to:
// comparisonKey is the setting that has all others.
var unequal = []string{"budget", "profiles", "resume", "keep-going", "prove", "force"}

const comparisonKey = "comparison"

// resumable reads the finished gate of a folder to which rounds are to be added,
// which is nil if there is none, and says in what it differs from this one.
func (f *gateFlags) resumable(cmd *cobra.Command, settings []results.Setting) (*gate.Results, error) {
	if f.resume == "" {
		return nil, nil
	}
	before, err := gatepage.Read(filepath.Join(f.resume, resultsName))
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	now := gate.Results{Settings: settings}
	for _, key := range []string{"base", "head", comparisonKey, "times", "cpu", "go-version"} {
		if was, is := before.Setting(key), now.Setting(key); was != is {
			return nil, fmt.Errorf("--resume %s: its gate's %s is %q, and this one's is %q: rounds of both prove nothing together", f.resume, key, was, is)
		}
	}
	if strings.Contains(now.Setting("head"), "not committed") {
		fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: head has changes that are not committed: whether they are those of %s is not known\n", f.resume)
	}
	return before, nil
}

// after records what a finished gate measured before the first new measurement.
func (r *gateRecord) after(before *gate.Results) func(gate.Measurement) {
	if before == nil {
		return r.Record
	}
	again := sync.OnceFunc(func() {
		for _, m := range before.Measurements {
			r.Record(m)
		}
	})
	return func(m gate.Measurement) {
		again()
		r.Record(m)
	}
}
