package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
)

// A glance is what is said of a model in a few words.
type glance struct {
	ranking *ranking // of the lead test
	facts   []doc.Fact
}

// headline names the test in which the model's winner leads.
func (g glance) headline() string {
	t := g.ranking.task
	text := "fastest at " + testLabel(t) + " with " + conditions(g.ranking.panel)
	if g.ranking.ties > 0 {
		text += ", tied with " + namesOf(g.ranking.fastest()[1:])
	}
	return text
}

// glance sums a model up; ok is false if it was not timed.
func (d *digest) glance(m *model) (g glance, ok bool) {
	s, ok := d.fastest(m)
	if !ok {
		return glance{}, false
	}
	r := m.run(s.best().variant, s.panel)
	g = glance{ranking: s}
	add := func(name, value string) {
		if value != "" {
			g.facts = append(g.facts, doc.Fact{Name: name, Value: value})
		}
	}
	add("decode", m.speedText(r, names.Decode))
	add("prompt", m.speedText(r, names.Prompt))
	add("first token", m.speedText(r, names.TTFT))
	add("load", m.speedText(r, names.Load))
	if rival := m.rival(s); rival != "" && !slices.Contains(s.fastest(), s.find(rival)) {
		add("against", times(s.ratio(rival))+" "+rival)
	}
	add("memory", memoryText(r.peak()))
	add("error", cmp.Or(m.errorText(r), "not measured in this run"))
	return g, true
}

// rival returns what the winner is compared with: the other engine, or a kernel's rival.
func (m *model) rival(s *ranking) string {
	for _, c := range s.ranked[1:] {
		if c.name.Get(names.Variant) == names.LlamaBench {
			return c.variant
		}
	}
	return baseline([]*ranking{s}, s.best().variant)
}

// speedText says what a run reached in a kind of test, and of which ceiling.
func (m *model) speedText(r *run, kind string) string {
	t := m.test(kind)
	if t == nil || r.cases[t] == nil {
		return ""
	}
	c := r.cases[t]
	text := speedOf(c).Text
	if share := ceilingText(c); share != "" {
		text += " (" + share + ")"
	}
	return text
}

// roofOf is a case's share of the roof in words; "" without one.
func roofOf(c *caseStats) string {
	text := valueOf(c, results.PctRoof)
	return textIf(text != "", text+" of roof")
}

// ceilingText is the share that a case reached of what the machine allows; "" without one.
func ceilingText(c *caseStats) string {
	if roof := roofOf(c); roof != "" {
		return roof
	}
	if peak := valueOf(c, results.PctPeak); peak != "" {
		return peak + " of peak"
	}
	return ""
}

// memoryPart is a part of a case's peak; "" where the parts are of another moment and exceed it, as in
// files of before they were looked at together.
func memoryPart(c *caseStats, unit string) string {
	if c == nil || sum(c, results.AnonBytes, results.FileBytes) > sum(c, results.PeakRSS) {
		return ""
	}
	return valueOf(c, unit)
}

func memoryText(c *caseStats) string {
	text := valueIn(c, results.PeakRSS)
	if text == "" {
		return ""
	}
	if anon, file := memoryPart(c, results.AnonBytes), memoryPart(c, results.FileBytes); anon != "" && file != "" {
		text += fmt.Sprintf(": %s anonymous, %s file", anon, file)
	}
	if plan := planText(c); plan != "" {
		text += "; planned " + plan
	}
	return text
}

// planText is what a case was planned to take of memory, in parts; "" if nothing was.
func planText(c *caseStats) string {
	var parts []string
	for _, part := range []struct{ name, unit string }{
		{"weights", results.PlanWeights}, {"keys and values", results.PlanKV}, {"state", results.PlanState}, {"scratch", results.PlanScratch},
	} {
		if v, ok := c.center(part.unit); ok && v > 0 {
			parts = append(parts, part.name+" "+results.UnitOf(part.unit).Format(v))
		}
	}
	text := valueOf(c, results.PlanBytes)
	return text + textIf(text != "" && parts != nil, " ("+strings.Join(parts, ", ")+")")
}
