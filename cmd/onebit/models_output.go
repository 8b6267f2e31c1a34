package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"onebit/cmd/internal/cli"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
	"onebit/models/forecast"
)

// A modelList is what onebit models found.
type modelList struct {
	CPU     string            `json:"cpu"`
	Machine *forecast.Machine `json:"machine"`
	Models  []listedModel     `json:"models"`
}

// A listedModel is a model in one of its published formats.
type listedModel struct {
	Model      string            `json:"model"` // the preset
	Summary    string            `json:"summary"`
	Format     string            `json:"format"`
	Bytes      int64             `json:"bytes"`
	Decode     forecast.Figure   `json:"decode_tokens_per_s"`
	Prompt     forecast.Figure   `json:"prompt_tokens_per_s"`
	NMSE       float64           `json:"nmse"`
	Memory     []forecast.Memory `json:"memory"`
	Fits       bool              `json:"fits"`
	Repository string            `json:"repository,omitempty"`
	File       string            `json:"file,omitempty"`
	Run        string            `json:"run"`

	elements float64
}

func newListedModel(f *forecast.Forecast, m *forecast.Machine) listedModel {
	e := f.Edition
	file := cmp.Or(e.File, "FILE")
	if e.Directory {
		file = e.Repository[strings.LastIndexByte(e.Repository, '/')+1:]
	}
	return listedModel{
		Model: f.Preset.Name, Summary: f.Preset.Summary, Format: e.Format, Bytes: f.Bytes, Decode: f.Decode, Prompt: f.Prompt, NMSE: f.NMSE,
		Memory: f.Memory, Fits: f.Fits(m), Repository: e.Repository, File: e.File, Run: "onebit run " + file + " -p TEXT", elements: f.Elements(),
	}
}

// readingSpeed is the tokens a second that a person reads.
const readingSpeed = 5

// print prints a sentence, the ranking and what to do next.
func (l *modelList) print(w io.Writer, width int) error {
	fmt.Fprintf(w, "%s\n\n", strings.Join(cli.Wrapped(l.sentence(), width, " "), "\n"))
	rows := [][]string{{"MODEL", "FORMAT", "DECODE tok/s", "PROMPT tok/s", "AT 4k", "AT 32k", "ERROR", "REPOSITORY", "RUN"}}
	for _, m := range l.Models {
		rows = append(rows, []string{
			m.Model, m.Format, m.figure(m.Decode), m.figure(m.Prompt), m.memory(0), m.memory(1), fmt.Sprintf("%.0e", m.NMSE),
			cmp.Or(m.Repository, "none known"), m.Run,
		})
	}
	fit, dropped := cli.Fitted(rows, width, "ERROR", "AT 32k", "REPOSITORY")
	t := cli.NewTable(w)
	for _, row := range fit {
		t.Texts(row...)
	}
	if err := t.Flush(); err != nil {
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
	for _, text := range append(notes, l.next()) {
		if _, err := fmt.Fprintln(w, strings.Join(cli.Wrapped(text, width, " "), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// sentence says what runs here.
func (l *modelList) sentence() string {
	where := fmt.Sprintf("%s with %d threads", term.Text(cmp.Or(l.CPU, "this machine")), l.Machine.Threads)
	fastest := l.Models[0]
	if !fastest.Fits {
		return fmt.Sprintf("None of the %d published models fits the memory of %s: %s is available.", len(l.Models), where, sysinfo.Bytes(l.Machine.Available))
	}
	text := fmt.Sprintf("%s is the fastest published model on %s: %.3g tok/s.", fastest.Model, where, fastest.Decode.Center)
	if largest := l.largest(); largest != nil && largest.Model != fastest.Model {
		text += fmt.Sprintf(" %s is the largest that decodes %d tok/s or more, in %s: %.3g.", largest.Model, readingSpeed, largest.Format, largest.Decode.Center)
	}
	return text
}

// largest is the model of the most weights that fits and is as fast as one reads, in its
// fastest format; nil if there is none.
func (l *modelList) largest() (best *listedModel) {
	for i := range l.Models {
		m := &l.Models[i]
		if m.Fits && m.Decode.Center >= readingSpeed && (best == nil || m.elements > best.elements) {
			best = m
		}
	}
	return best
}

// next is what to type.
func (l *modelList) next() string {
	m := l.largest()
	if m == nil || m.Repository == "" {
		return "Next: onebit bench models --preset " + l.Models[0].Model
	}
	return fmt.Sprintf("Next: hf download %s, then %s; or without a download: onebit bench models --preset %s",
		strings.TrimSpace(m.Repository+" "+m.File), m.Run, m.Model)
}

// figure is a speed with its interval.
func (m *listedModel) figure(f forecast.Figure) string {
	text := fmt.Sprintf("%.3g (%.3g to %.3g)", f.Center, f.Low, f.High)
	if f.Measured {
		text += "*"
	}
	return text
}

// memory is what a context takes, and whether that fits.
func (m *listedModel) memory(i int) string {
	if i >= len(m.Memory) {
		return "–"
	}
	text := sysinfo.Bytes(m.Memory[i].Bytes).String()
	if i == 0 && !m.Fits {
		text += " (does not fit)"
	}
	return text
}
