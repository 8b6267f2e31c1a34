package main

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"onebit/bench/cases"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
)

// suites returns the selected cases of each kind, and what to call when they
// are done with.
func (f *benchFlags) suites(cmd *cobra.Command, host sysinfo.Host) (suites []*cases.Suite, done func(), err error) {
	var closers []func()
	done = func() {
		for _, c := range slices.Backward(closers) {
			c()
		}
	}
	add := func(s *cases.Suite, closeFiles func(), suiteErr error) {
		if closeFiles != nil {
			closers = append(closers, closeFiles)
		}
		if s != nil {
			closers = append(closers, func() { s.Close() })
			suites = append(suites, s)
		}
		err = errors.Join(err, suiteErr)
	}
	if f.kernels {
		add(f.kernelsSuite(host))
	}
	if f.models && err == nil {
		add(f.modelsSuite(cmd, host))
	}
	if err == nil {
		suites, err = f.selected(suites)
	}
	if err == nil && f.machine != "" && !f.list {
		err = cases.TakeCeilings(cmd.Context(), f.machine, suites, host)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return suites, done, nil
}

// selected applies the filter.
func (f *benchFlags) selected(suites []*cases.Suite) ([]*cases.Suite, error) {
	if f.filter != "" {
		var names []results.Name
		for _, s := range suites {
			names = append(names, s.Names()...)
		}
		if err := results.CheckFilter(f.filter, names); err != nil {
			return nil, cli.Usagef("--filter: %w", err)
		}
	}
	return cases.Selected(suites, f.filter, f.list)
}

// kernelsSuite returns the cases of kernels, and what closes their file.
func (f *benchFlags) kernelsSuite(host sysinfo.Host) (*cases.Suite, func(), error) {
	opt := cases.Options{
		Threads: f.threads, Features: cpu.Detected(), Seed: f.seed, Host: host, Model: f.model, GGUFTypes: f.types,
		MemoryVerb: f.once(memoryVerb), Activations: f.activations, Again: f.again(), Folder: f.folder,
	}
	var closeModel func()
	switch {
	case f.model != "":
		model, sources, err := cases.OpenModel(f.model, cases.ModelOptions{Types: f.types})
		if err != nil {
			return nil, nil, err
		}
		opt.Sources, closeModel = sources, func() { model.Close() }
	case f.short:
		opt.Sources = cases.ShortSources(f.seed)
	default:
		opt.Sources = cases.DefaultSources(f.seed)
	}
	suite, err := cases.Kernels(opt)
	return suite, closeModel, err
}

// childCommand runs a verb of this program; nil if the program can't be found.
func childCommand(verb ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return append([]string{exe}, verb...)
}
