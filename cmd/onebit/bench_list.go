package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"onebit/bench/cases"
	"onebit/bench/results"
	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
)

// A listedCase is one case of a list, in the form of its JSON.
type listedCase struct {
	Name        string            `json:"name"`
	Base        string            `json:"base"`
	Keys        map[string]string `json:"keys"`
	Study       bool              `json:"study,omitempty"`       // it makes samples of its own
	Unavailable string            `json:"unavailable,omitempty"` // why it can't run here
}

func newListedCase(name string) listedCase {
	n := results.ParseName(name)
	c := listedCase{Name: n.Full, Base: n.Base, Keys: make(map[string]string)}
	for _, k := range n.Keys {
		if k.Key != "" {
			c.Keys[k.Key] = k.Value
		}
	}
	return c
}

func listCases(suites []*cases.Suite) (all []listedCase) {
	for _, s := range suites {
		for _, c := range s.Cases {
			all = append(all, newListedCase(c.Name))
		}
		for _, st := range s.Studies {
			c := newListedCase(st.Name)
			c.Study = true
			all = append(all, c)
		}
		for _, u := range s.Unavailable {
			c := newListedCase(u.Case.Name)
			c.Unavailable = u.Err.Error()
			all = append(all, c)
		}
	}
	return all
}

// printList prints what a run would measure.
func (f *benchFlags) printList(cmd *cobra.Command) error {
	suites, done, err := f.suites(cmd, sysinfo.Probe())
	if err != nil {
		return err
	}
	defer done()
	return f.print(cmd, listCases(suites))
}

func (f *benchFlags) print(cmd *cobra.Command, all []listedCase) error {
	out := cmd.OutOrStdout()
	if f.json {
		return cli.PrintJSON(out, struct {
			Cases []listedCase `json:"cases"`
		}{all})
	}
	missing, width := 0, cli.TerminalWidth(out)
	for _, c := range all {
		if c.Unavailable != "" {
			missing++
		}
		if err := c.print(out, width); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s, %d of them unavailable here\n", count.Of(len(all), "case"), missing)
	return err
}

// print prints a line, or as many as a narrow terminal needs.
func (c listedCase) print(w io.Writer, width int) error {
	text := term.Quote(c.Name)
	if c.Unavailable != "" {
		text += " (unavailable: " + term.Text(c.Unavailable) + ")"
	}
	for i, line := range wrapped(text, width, "/ ") {
		if i > 0 {
			line = "    " + line
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
