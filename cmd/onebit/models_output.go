package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"onebit/cmd/internal/cli"
	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/models/forecast"
)

// printModels prints a sentence, the ranking and what to do next.
func printModels(w io.Writer, l *forecast.List, width int) error {
	if err := cli.PrintWrapped(w, width, "", l.Sentence(), ""); err != nil {
		return err
	}
	rows := [][]string{{"MODEL", "FORMAT", "DECODE tok/s", "PROMPT tok/s", "AT 4k", "AT 32k", "ERROR", "REPOSITORY", "RUN"}}
	for _, m := range l.Models {
		rows = append(rows, []string{
			m.Model, m.Format, speedText(m.Decode), speedText(m.Prompt), memoryText(m, 0), memoryText(m, 1), fmt.Sprintf("%.0e", m.NMSE),
			cmp.Or(m.Repository, "none known"), m.Run,
		})
	}
	dropped, err := cli.PrintFitted(w, rows, width, "ERROR", "AT 32k", "REPOSITORY")
	if err != nil {
		return err
	}
	if dropped != nil {
		fmt.Fprintf(w, "No room for: %s; --json has all.\n", strings.Join(dropped, ", "))
	}
	read := l.Machine.Read
	notes := []string{
		"Tokens a second, with the interval that the figure is expected in; * was measured, the others are predicted.",
		fmt.Sprintf("Memory was read at %.3g GB/s (%.3g to %.3g) meanwhile; decoding follows it.", read.Center/1e9, read.Low/1e9, read.High/1e9),
		"ERROR is the NMSE of a product by int8 activations; weights are as published.",
		"Files are named as their repositories' patterns have it; nothing was downloaded to check.",
	}
	fmt.Fprintln(w)
	return cli.PrintWrapped(w, width, "", append(notes, l.Next())...)
}

// speedText is a speed with its interval.
func speedText(f forecast.Figure) string {
	text := fmt.Sprintf("%s (%s to %s)", count.Significant(f.Center), count.Significant(f.Low), count.Significant(f.High))
	if f.Measured {
		text += "*"
	}
	return text
}

// memoryText is what a context takes, and whether that fits.
func memoryText(m forecast.ListedModel, i int) string {
	if i >= len(m.Memory) {
		return "–"
	}
	text := sysinfo.Bytes(m.Memory[i].Bytes).String()
	if i == 0 && !m.Fits {
		text += " (does not fit)"
	}
	return text
}
