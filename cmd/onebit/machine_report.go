package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/reports"
)

// ceilingsOf are the results of onebit machine on several machines; nil if a
// fleet is anything else.
func ceilingsOf(fleet *results.Fleet) []reports.Machine {
	if len(fleet.Machines) < 2 {
		return nil
	}
	var machines []reports.Machine
	seen := map[string]int{}
	for i, res := range fleet.Machines {
		if !reports.IsMachine(res) {
			return nil
		}
		m := res.Machine()
		name := cmp.Or(m.Host, m.CPU, fmt.Sprintf("machine %d", i+1))
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
		machines = append(machines, reports.Machine{Name: name, Results: res})
	}
	return machines
}

// reportMachines renders machines side by side.
func reportMachines(cmd *cobra.Command, machines []reports.Machine, kind, dir string, force bool) error {
	out := cmd.OutOrStdout()
	switch kind {
	case "":
	case "html":
		return reports.WriteMachinesHTML(out, machines)
	case "table":
		return reports.WriteMachineTable(out, machines, reports.TableOptions{Width: cli.TerminalWidth(out)})
	default:
		return cli.Usagef("several machines side by side have no form %q: choose html or table, or give one file", kind)
	}
	return intoFolder(cmd, dir, force, func(opt reports.WriteOptions) error { return reports.WriteMachines(dir, machines, opt) })
}
