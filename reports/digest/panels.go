package digest

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// A Panel is the condition under which a variant ran; charts show panels as small multiples.
type Panel struct{ Threads, Cache string }

// onGPU stands for the threads of what a GPU does.
const onGPU = "GPU"

func PanelOf(n results.Name) Panel {
	if names.OnGPU(n) {
		return Panel{onGPU, n.Get(names.Cache)}
	}
	return Panel{n.Get(names.Threads), n.Get(names.Cache)}
}

func (p Panel) String() string {
	var parts []string
	switch p.Threads {
	case "":
	case onGPU:
		parts = append(parts, "the GPU")
	case "1":
		parts = append(parts, "1 thread")
	default:
		parts = append(parts, p.Threads+" threads")
	}
	if p.Cache != "" {
		parts = append(parts, p.Cache+" cache")
	}
	return strings.Join(parts, ", ")
}

// Plot is an empty panel of a figure, which a reader may choose by its condition and shape.
func (p Panel) Plot(shape string) *figure.Panel {
	empty := figure.NewPanel(p.String())
	empty.Threads, empty.Cache, empty.Shape = p.Threads, p.Cache, shape
	return empty
}

// Panels lists the conditions under which any of the cases ran, in order.
func Panels(cases []*Case) []Panel {
	var all []Panel
	for _, c := range cases {
		all = append(all, c.Panel)
	}
	slices.SortFunc(all, func(a, b Panel) int {
		return cmp.Or(words.Compare(a.Threads, b.Threads), words.Compare(a.Cache, b.Cache))
	})
	return slices.Compact(all)
}

// Emulated reports whether times under a condition are an emulator's: all of a program that runs in
// one, or those of a GPU that is played.
func (d *Digest) Emulated(p Panel) bool {
	e := d.Results.Machine().Emulator
	return e != "" && (e != results.PlayedGPU || p.Threads == onGPU)
}

// Measured are the conditions that were not emulated; all of them if each was.
func (d *Digest) Measured(all []Panel) []Panel {
	some := slices.DeleteFunc(slices.Clone(all), d.Emulated)
	if len(some) == 0 {
		return all
	}
	return some
}

// Decisive are the conditions by whose fastest a choice is made: most threads, and the GPU; of each
// the cold cache, if that was measured. What was emulated is none, if there is anything else.
func (d *Digest) Decisive(all []Panel) []Panel {
	var some []Panel
	for _, p := range d.Measured(all) {
		last := len(some) - 1
		switch {
		case last < 0 || (p.Threads == onGPU) != (some[last].Threads == onGPU):
			some = append(some, p)
		case p.Threads != some[last].Threads || some[last].Cache != names.Cold:
			some[last] = p
		}
	}
	return some
}

// In returns the cases that ran under a condition.
func In(p Panel, cases []*Case) []*Case {
	var some []*Case
	for _, c := range cases {
		if c.Panel == p {
			some = append(some, c)
		}
	}
	return some
}

// Conditions names a panel within a sentence.
func Conditions(p Panel) string {
	if s := p.String(); s != "" {
		return s
	}
	return "all conditions"
}

// Lead is the last condition by which formats are ranked, or the last of all where none is.
func (d *Digest) Lead(all []Panel) (lead Panel) {
	for _, some := range [][]Panel{all, d.Decisive(all)} {
		if len(some) > 0 {
			lead = some[len(some)-1]
		}
	}
	return lead
}
