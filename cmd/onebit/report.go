package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/reports"
	_ "onebit/reports/all"
	"onebit/reports/doc"
	"onebit/reports/render"
)

func newReport() *cobra.Command {
	var out, kind string
	var asJSON, force bool
	kinds := kindNames()
	cmd := &cobra.Command{
		Use:     "report [NAME=]FILE…",
		Short:   "Render results files again",
		Example: "  onebit report onebit-report/results.txt -o rendered\n  onebit report here=a/results.txt there=b/results.txt",
		Long: `Render results files, also those of an interrupted run, without measuring.

Several files are rendered as one. With --format, one form goes to standard
output; else DIR gets index.html and plots/*.png, in the place of an earlier report's.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("give a results file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				if kind != "" && kind != "json" {
					return cli.Usagef("--json and --format %s exclude each other", kind)
				}
				kind = "json"
			}
			if _, known := render.Named(kind); kind != "" && !known {
				return cli.Usagef("unknown format %q (known: %s)", kind, strings.Join(kinds, ", "))
			}
			source, err := readSource(cmd.Context(), args)
			if err != nil {
				return err
			}
			d, err := reports.Build(cmd.Context(), source)
			if err != nil {
				return err
			}
			if kind != "" {
				return printAs(cmd, d, kind, false)
			}
			return intoFolder(cmd, out, d, force)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "onebit-report", "`DIR` to write to")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	cmd.Flags().StringVar(&kind, "format", "", "print as "+strings.Join(kinds, ", ")+", instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return cmd
}

// readSource reads the files of the command line.
func readSource(ctx context.Context, args []string) (*reports.Source, error) {
	var files []results.File
	source := new(reports.Source)
	for _, arg := range args {
		file, err := labelledFile(arg)
		if err != nil {
			return nil, err
		}
		files, source.Paths = append(files, file), append(source.Paths, file.Path)
	}
	fleet, err := results.ReadFleet(ctx, files...)
	if err != nil {
		return nil, err
	}
	source.Machines, source.Warnings = fleet.Machines, fleet.Warnings
	if source.Empty() {
		return nil, fmt.Errorf("%s: no measurements; give a results.txt of onebit bench", strings.Join(args, ", "))
	}
	return source, nil
}

// labelledFile takes NAME=FILE apart, unless a file has all of that as its name.
func labelledFile(arg string) (results.File, error) {
	name, path, ok := strings.Cut(arg, "=")
	if !ok {
		return results.File{Path: arg}, nil
	}
	if _, err := os.Stat(arg); err == nil {
		return results.File{Path: arg}, nil
	}
	if name == "" || path == "" {
		return results.File{}, cli.Usagef("%q: give NAME=FILE, the name of a machine and its results file", arg)
	}
	return results.File{Path: path, Label: name}, nil
}

// recordInto also writes results that make the report again. A measurement's results stay: there is no second copy.
func recordInto(cmd *cobra.Command, dir string, d *doc.Document, force bool, side reports.Sidecar) error {
	path := filepath.Join(dir, resultsName)
	if _, err := os.Lstat(path); err == nil {
		there, err := results.ReadFiles(cmd.Context(), path)
		if err != nil || !side.In(there) {
			return fmt.Errorf("%s holds other results: name another directory with -o", path)
		}
	}
	res := &results.Set{Settings: side.Settings()}
	return intoFolder(cmd, dir, d, force, side.File(), doc.File{Name: resultsName, Write: res.Write})
}

// intoFolder writes a report into a folder that no run is using.
func intoFolder(cmd *cobra.Command, dir string, d *doc.Document, force bool, beside ...doc.File) error {
	folder, err := cli.OpenFolder(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(render.Folder(cmd.Context(), dir, d, render.FolderOptions{Force: force, Folder: folder.Root, Beside: beside}), folder.Close()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(dir, "index.html"))
	return nil
}

// printDocument prints a report as JSON, or for a terminal: in brief, the first screen alone.
func printDocument(cmd *cobra.Command, d *doc.Document, asJSON, brief bool) error {
	form := "table"
	if asJSON {
		form = "json"
	}
	return printAs(cmd, d, form, brief)
}

// printAs prints a report in a form.
func printAs(cmd *cobra.Command, d *doc.Document, form string, brief bool) error {
	printer, known := render.Named(form)
	if !known {
		return cli.Usagef("unknown format %q", form)
	}
	out := cmd.OutOrStdout()
	return printer.Print(cmd.Context(), out, d, render.Options{Width: cli.TerminalWidth(out), Brief: brief})
}
