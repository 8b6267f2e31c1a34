package forecast

import (
	"cmp"
	"fmt"
	"strings"

	"onebit/internal/count"
	"onebit/internal/sysinfo"
	"onebit/internal/term"
)

// A List is the published models on a machine, the fastest first, for JSON.
type List struct {
	CPU     string        `json:"cpu"`
	Machine *Machine      `json:"machine"`
	Models  []ListedModel `json:"models"`
}

// NewList lists forecasts, which are sorted, of a machine with that CPU.
func NewList(all []*Forecast, m *Machine, cpu string) *List {
	l := &List{CPU: cpu, Machine: m}
	for _, of := range all {
		l.Models = append(l.Models, newListed(of, m))
	}
	return l
}

// A ListedModel is a model in one of its published formats.
type ListedModel struct {
	Model      string   `json:"model"` // the preset
	Summary    string   `json:"summary"`
	Format     string   `json:"format"`
	Bytes      int64    `json:"bytes"`
	Decode     Figure   `json:"decode_tokens_per_s"`
	Prompt     Figure   `json:"prompt_tokens_per_s"`
	NMSE       float64  `json:"nmse"`
	Memory     []Memory `json:"memory"`
	Fits       bool     `json:"fits"`
	Repository string   `json:"repository,omitempty"`
	File       string   `json:"file,omitempty"`
	Run        string   `json:"run"`

	elements float64
}

func newListed(f *Forecast, m *Machine) ListedModel {
	e := f.Edition
	file := cmp.Or(e.File, "FILE")
	if e.Directory {
		file = e.Repository[strings.LastIndexByte(e.Repository, '/')+1:]
	}
	return ListedModel{
		Model: f.Preset.Name, Summary: f.Preset.Summary, Format: e.Format, Bytes: f.Bytes, Decode: f.Decode, Prompt: f.Prompt, NMSE: f.NMSE,
		Memory: f.Memory, Fits: f.Fits(m), Repository: e.Repository, File: e.File, Run: "onebit run " + file + " -p TEXT", elements: f.Elements(),
	}
}

// readingSpeed is the tokens a second that a person reads.
const readingSpeed = 5

// Sentence says which models run here, and how fast.
func (l *List) Sentence() string {
	where := fmt.Sprintf("%s with %d threads", term.Text(cmp.Or(l.CPU, "this machine")), l.Machine.Threads)
	fastest := l.Models[0]
	if !fastest.Fits {
		return fmt.Sprintf("None of the %d published models fits the memory of %s: %s is available.", len(l.Models), where, sysinfo.Bytes(l.Machine.Available))
	}
	text := fmt.Sprintf("%s is the fastest published model on %s: %s tok/s.", fastest.Model, where, count.Significant(fastest.Decode.Center))
	if largest := l.Largest(); largest != nil && largest.Model != fastest.Model {
		text += fmt.Sprintf(" %s is the largest that decodes %d tok/s or more, in %s: %s.", largest.Model, readingSpeed, largest.Format, count.Significant(largest.Decode.Center))
	}
	return text
}

// Largest is the model of the most weights that fits and is as fast as one reads, in its
// fastest format; nil if there is none.
func (l *List) Largest() (best *ListedModel) {
	for i := range l.Models {
		m := &l.Models[i]
		if m.Fits && m.Decode.Center >= readingSpeed && (best == nil || m.elements > best.elements) {
			best = m
		}
	}
	return best
}

// Next is the command to type next.
func (l *List) Next() string {
	m := l.Largest()
	if m == nil || m.Repository == "" {
		return "Next: onebit bench models --preset " + l.Models[0].Model
	}
	return fmt.Sprintf("Next: hf download %s, then %s; or without a download: onebit bench models --preset %s",
		strings.TrimSpace(m.Repository+" "+m.File), m.Run, m.Model)
}
