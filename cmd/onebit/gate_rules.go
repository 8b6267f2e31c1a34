package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"onebit/bench/gate"
	"onebit/bench/gate/sides"
)

// A percentFlag is a flag's percentage, with or without its sign.
type percentFlag struct {
	gate.Percentage
	set bool
}

func (p *percentFlag) Set(text string) (err error) {
	p.Percentage, err = gate.ParsePercentage(text)
	if err == nil && p.Percentage == 0 {
		err = fmt.Errorf("%q: give a percentage above 0", text)
	}
	p.set = err == nil
	return err
}

func (p *percentFlag) Type() string { return "PERCENT" }

// readRules reads the rules of head: from the file that --rules names, or from
// that in the module's root, if there is one, or beside the user of binaries.
func (f *gateFlags) readRules(head *sides.Module) (*gate.Rules, error) {
	if f.rules != "" {
		return gate.ReadRules(f.rules)
	}
	if head == nil {
		return gate.ReadRulesIfAny(gate.RulesFile)
	}
	return gate.ReadRulesIfAny(filepath.Join(head.Dir, gate.RulesFile))
}

// thresholdOf is the threshold where no rule says otherwise.
func (f *gateFlags) thresholdOf(rules *gate.Rules) float64 {
	if !f.threshold.set && rules.Threshold != nil {
		return rules.Threshold.Fraction()
	}
	return f.threshold.Fraction()
}

// warnUnused names rules that nothing matched, of a gate that measured all
// benchmarks.
func (f *gateFlags) warnUnused(cmd *cobra.Command, rules *gate.Rules, r *gate.Report, patterns []string) {
	if f.match != "." || len(patterns) > 0 || len(r.Options.Code.Settled()) > 0 {
		return
	}
	for _, w := range rules.Unused(r) {
		fmt.Fprintf(cmd.ErrOrStderr(), "onebit: warning: %s\n", w)
	}
}
