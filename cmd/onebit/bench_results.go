package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports"
	"onebit/reports/render"
)

// report renders what was measured, also when the run did not finish: what
// there is must not be lost. failure is why it did not.
func (f *benchFlags) report(cmd *cobra.Command, res *results.Set, file *resultsFile, failure error) error {
	path := file.path()
	stderr := cmd.ErrOrStderr()
	samples := func() {
		fmt.Fprintf(stderr, "the finished samples are in %s; onebit report %[1]s renders them\n", path)
	}
	if failure != nil {
		if res != nil && len(res.Samples) > 0 {
			samples()
		}
		return nil
	}
	if len(res.Samples) == 0 {
		return fmt.Errorf("no case could be timed, and nothing was replaced; %s says why", path)
	}
	source := &reports.Source{Paths: []string{path}, Machines: []*results.Set{res}}
	if results.FilterNames(f.filter, "/"+names.Variant) {
		source.Top = -1 // what was asked for by name is shown, however slow
	}
	d, err := reports.Build(cmd.Context(), source)
	if err == nil {
		err = render.Folder(cmd.Context(), f.out, d, file.options(f.force))
	}
	if err != nil {
		samples()
		return err
	}
	if err := printDocument(cmd, d, f.json, !f.all && f.filter == ""); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "report: %s\n", filepath.Join(f.out, "index.html"))
	if n := len(res.Failures); n > 0 {
		return fmt.Errorf("wrong and not timed: %s; %s names them", count.Of(n, "case"), path)
	}
	return nil
}
