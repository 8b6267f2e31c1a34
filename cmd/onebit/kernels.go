package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"onebit/internal/cpu"
	"onebit/kernels"
	_ "onebit/kernels/all"
)

func newKernels() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "List every kernel variant, what it requires and whether it runs here",
		Long: "List the variants of every weight format and activation scheme. HERE says whether\n" +
			"this machine runs a variant, and what it lacks if not; a star marks the one that a\n" +
			"model would use.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			l := listKernels()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), l)
			}
			return l.print(cmd.OutOrStdout(), terminalWidth(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// A kernelList is what kernels prints, in the form of its JSON.
type kernelList struct {
	Arch     string        `json:"arch"`
	Features []string      `json:"features"` // of this machine
	Variants []variantInfo `json:"variants"`
	Foreign  []string      `json:"foreign_isas"` // levels of other architectures
}

type variantInfo struct {
	Format     string   `json:"format"`
	Activation string   `json:"activation"`
	Variant    string   `json:"variant"`
	Layout     string   `json:"layout"`
	ISA        string   `json:"isa"`
	Requires   []string `json:"requires"`
	Available  bool     `json:"available"`
	Missing    string   `json:"missing,omitempty"` // why it is not available
	Best       bool     `json:"best"`              // what Best picks for the format
	Summary    string   `json:"summary"`
}

func listKernels() kernelList {
	l := kernelList{Arch: runtime.GOARCH, Features: append([]string{}, cpu.Detected().Names()...), Foreign: []string{}}
	for _, v := range kernels.Variants() {
		// A format that only the reference multiplies has no best.
		best, _ := kernels.Best(v.Format.Name)
		info := variantInfo{
			Format: v.Format.Name, Activation: string(v.Scheme), Variant: v.Name,
			Layout: v.Layout.Name, ISA: v.ISA.Name, Requires: append([]string{}, v.ISA.Requires.Names()...),
			Available: true, Best: v == best, Summary: v.Summary,
		}
		if err := v.Available(); err != nil {
			info.Available = false
			info.Missing = cpu.Detected().Missing(v.ISA.Requires).String()
		}
		l.Variants = append(l.Variants, info)
	}
	for _, isa := range kernels.ISAs() {
		if isa.Foreign() != nil {
			l.Foreign = append(l.Foreign, fmt.Sprintf("%s (%s)", isa.Name, isa.Arch))
		}
	}
	return l
}

func (l kernelList) print(w io.Writer, width int) error {
	features := strings.Join(l.Features, " ")
	if features == "" {
		features = "none that a variant uses"
	}
	machine := wrapped(l.Arch+": "+features, width, " ")
	if _, err := fmt.Fprintf(w, "%s\n\n", strings.Join(machine, "\n    ")); err != nil {
		return err
	}
	rows := [][]string{{"FORMAT", "ACTIVATION", "VARIANT", "LAYOUT", "HERE", "REQUIRES", "WHAT IT IS"}}
	for _, v := range l.Variants {
		rows = append(rows, []string{v.Format, v.Activation, v.Variant, v.Layout, v.here(), v.requires(), v.Summary})
	}
	rows, dropped := fitted(rows, width, "REQUIRES", "WHAT IT IS", "LAYOUT")
	t := newTable(w)
	for _, row := range rows {
		t.texts(row...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	notes := []string{"* used for its format on this machine", "not in this program: " + strings.Join(l.Foreign, ", ")}
	if len(dropped) > 0 {
		notes = append(notes, "not shown for lack of width: "+strings.ToLower(strings.Join(dropped, ", ")))
	}
	fmt.Fprintln(w)
	for _, note := range notes {
		if _, err := fmt.Fprintln(w, strings.Join(wrapped(note, width, " "), "\n    ")); err != nil {
			return err
		}
	}
	return nil
}

func (v variantInfo) here() string {
	switch {
	case !v.Available:
		return "no: " + v.Missing
	case v.Best:
		return "yes *"
	}
	return "yes"
}

func (v variantInfo) requires() string {
	if len(v.Requires) == 0 {
		return "-"
	}
	return strings.Join(v.Requires, " ")
}
