package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"onebit/bench"
	"onebit/reports"
)

// createResults makes the results file, keeping that of an earlier run.
func createResults(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cannot write the report: %w (-o names another directory)", err)
	}
	path := filepath.Join(dir, "results.txt")
	if err := os.Rename(path, filepath.Join(dir, "results.old.txt")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot keep the earlier results: %w (-o names another directory)", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write the report: %w (-o names another directory)", err)
	}
	return file, nil
}

// report renders what was measured, also when the run did not finish: what
// there is must not be lost. failure is why it did not.
func (f *benchFlags) report(cmd *cobra.Command, results *bench.Results, failure error) error {
	stderr := cmd.ErrOrStderr()
	samples := func() {
		fmt.Fprintf(stderr, "the finished samples are in %s; onebit report %[1]s renders them\n", filepath.Join(f.out, "results.txt"))
	}
	if failure != nil {
		if results != nil && len(results.Samples) > 0 {
			samples()
		}
		return nil
	}
	if err := reports.Write(f.out, results); err != nil {
		samples()
		return err
	}
	if err := reports.WriteTable(cmd.OutOrStdout(), results, reports.TableOptions{Width: terminalWidth(cmd.OutOrStdout())}); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "report: %s\n", filepath.Join(f.out, "index.html"))
	if n := len(results.Failures); n > 0 {
		return fmt.Errorf("%d cases are wrong and were not timed; results.txt names them", n)
	}
	return nil
}
