package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"onebit/bench/cases"
	"onebit/bench/names"
	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
)

// printList prints what a run would measure.
func (f *benchFlags) printList(cmd *cobra.Command) error {
	suites, done, err := f.suites(cmd, sysinfo.Probe())
	if err != nil {
		return err
	}
	defer done()
	return f.print(cmd, cases.List(suites))
}

func (f *benchFlags) print(cmd *cobra.Command, all []names.Listed) error {
	out := cmd.OutOrStdout()
	if f.json {
		return cli.PrintJSON(out, struct {
			Cases []names.Listed `json:"cases"`
		}{all})
	}
	missing, width := 0, cli.TerminalWidth(out)
	for _, c := range all {
		if c.Unavailable != "" {
			missing++
		}
		if err := printListed(c, out, width); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s, %d of them unavailable here\n", count.Of(len(all), "case"), missing)
	return err
}

// printListed prints a line, or as many as a narrow terminal needs.
func printListed(c names.Listed, w io.Writer, width int) error {
	text := term.Quote(c.Name)
	if c.Unavailable != "" {
		text += " (unavailable: " + term.Text(c.Unavailable) + ")"
	}
	for i, line := range cli.Wrapped(text, width, "/ ") {
		if i > 0 {
			line = "    " + line
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
