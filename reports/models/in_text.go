package models

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/reports/digest"
	"onebit/reports/doc"
)

// What a terminal shows of a run where a page has charts and matrices.

// modelTop is how many runs of each number of threads are shown unless asked for more.
const modelTop = 6

// profileTop is how many variants' time by operation is shown.
const profileTop = 2

// modelsInText shows speed, memory and error, and where the time of decoding and of the prompt goes.
func (d *report) modelsInText(top int) *doc.Section {
	s := &doc.Section{ID: "models-in-text", Only: doc.Terminal}
	for _, m := range d.models {
		seen := make(map[digest.Panel]int)
		runs := slices.DeleteFunc(slices.Clone(m.runs), func(r *run) bool {
			seen[r.panel]++
			return top >= 0 && seen[r.panel] > cmp.Or(top, modelTop) && !strings.HasPrefix(r.variant, names.LlamaBench)
		})
		s.Add(d.runSheet(m, runs), d.textsSheet(m), d.draftsSheet(m), d.errorSheet(m), d.headSheet(m))
		shown := make(map[string]bool) // kinds of tests
		for _, p := range m.profiles {
			if !shown[p.kind] {
				shown[p.kind] = true
				s.Add(profileSheet(m, p, p.variants[:min(len(p.variants), profileTop)]))
			}
		}
	}
	return s
}
