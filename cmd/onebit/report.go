package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"onebit/bench/gate"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/reports"
)

func newReport() *cobra.Command {
	var out, kind string
	var asJSON, force bool
	var kinds []string
	for _, k := range reports.Kinds() {
		kinds = append(kinds, k.Name)
	}
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
			form, known := reports.KindNamed(kind)
			if kind != "" && !known {
				return cli.Usagef("unknown format %q (known: %s)", kind, strings.Join(kinds, ", "))
			}
			res, err := readFleet(cmd.Context(), args)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(res.Machines, gate.IsResults) {
				return reportGate(cmd, args, kind, out, force)
			}
			if machines := ceilingsOf(res); machines != nil {
				return reportMachines(cmd, machines, kind, out, force)
			}
			switch kind {
			case "":
			case "table":
				return reports.WriteFleetTable(cmd.Context(), cmd.OutOrStdout(), res, cli.TerminalWidth(cmd.OutOrStdout()))
			default:
				return form.RenderFleet(cmd.Context(), cmd.OutOrStdout(), res)
			}
			return intoFolder(cmd, out, force, func(opt reports.WriteOptions) error { return reports.WriteFleet(cmd.Context(), out, res, opt) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "onebit-report", "`DIR` to write to")
	cmd.Flags().BoolVar(&force, "force", false, forceUsage)
	cmd.Flags().StringVar(&kind, "format", "", "print as "+strings.Join(kinds, ", ")+", instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return cmd
}

// reportGate renders the results of a gate.
func reportGate(cmd *cobra.Command, paths []string, kind, dir string, force bool) error {
	if len(paths) > 1 {
		return fmt.Errorf("%s: results of a gate are rendered one file at a time", strings.Join(paths, ", "))
	}
	res, err := readGate(paths[0])
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch kind {
	case "":
	case "html":
		return reports.WriteGateHTML(out, res)
	case "markdown":
		return reports.WriteGateMarkdown(out, res, math.MaxInt)
	case "table":
		return reports.WriteGateTable(out, res, cli.TerminalWidth(out))
	case "json":
		return cli.PrintJSON(out, gate.NewDocument(res.Report, res.Profiles))
	default:
		return cli.Usagef("results of a gate have no form %q: choose html, markdown, table or json", kind)
	}
	return intoFolder(cmd, dir, force, func(opt reports.WriteOptions) error { return reports.WriteGate(dir, res, opt) })
}

// readFleet reads the files of the command line.
func readFleet(ctx context.Context, args []string) (*results.Fleet, error) {
	var files []results.File
	for _, arg := range args {
		file, err := labelledFile(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	res, err := results.ReadFleet(ctx, files...)
	if err != nil {
		return nil, err
	}
	if first := res.Machines[0]; len(first.Samples)+len(first.Failures) == 0 && !gate.IsResults(first) {
		return nil, fmt.Errorf("%s: no measurements; give a results.txt of onebit bench", strings.Join(args, ", "))
	}
	return res, nil
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

// intoFolder writes a report into a folder that no run is using.
func intoFolder(cmd *cobra.Command, dir string, force bool, write func(reports.WriteOptions) error) error {
	folder, err := cli.OpenFolder(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(write(reports.WriteOptions{Force: force, Folder: folder.Root}), folder.Close()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(dir, "index.html"))
	return nil
}
