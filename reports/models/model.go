package models

import (
	"cmp"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// A model is what results say of a whole model: how fast, how big, how wrong.
type model struct {
	name     string
	tests    []*digest.Task // those without depth of a kind come first
	runs     []*run
	profiles []*profile
	lockstep []*digest.Case
	alike    [][]string // variants whose errors are the same in every tensor and block
	errors   map[tensorRow][]errorSeries
	logits   []*digest.Case
	heads    []*digest.Case
}

// A run is what one variant did in a model's tests under one condition.
type run struct {
	variant string
	panel   digest.Panel
	cases   map[*digest.Task]*digest.Case
}

// formRuns makes the rows of the model's table: most threads first, and of one number of threads the
// fastest first.
func (m *model) formRuns() {
	for _, p := range m.panels() {
		for _, name := range digest.Variants(m.cases()) {
			r := &run{variant: name, panel: p, cases: make(map[*digest.Task]*digest.Case)}
			for _, t := range m.tests {
				for _, c := range digest.In(p, t.Cases) {
					if c.Variant == name {
						r.cases[t] = c
					}
				}
			}
			if len(r.cases) > 0 {
				m.runs = append(m.runs, r)
			}
		}
	}
	lead := m.lead()
	slices.SortStableFunc(m.runs, func(a, b *run) int {
		if a.panel != b.panel {
			return words.Compare(b.panel.Threads, a.panel.Threads)
		}
		x, y := a.cases[lead], b.cases[lead]
		switch {
		case x == nil && y == nil:
			return 0
		case x == nil:
			return 1
		case y == nil:
			return -1
		}
		return cmp.Compare(x.Stats[results.NsPerOp].Center, y.Stats[results.NsPerOp].Center)
	})
}

func (m *model) cases() []*digest.Case {
	var all []*digest.Case
	for _, t := range m.tests {
		all = append(all, t.Cases...)
	}
	return all
}

// panels lists the conditions of the tests, most threads first.
func (m *model) panels() []digest.Panel {
	all := digest.Panels(m.cases())
	slices.Reverse(all)
	return all
}

// test returns the first test of a kind, that of the least depth; nil if there is none.
func (m *model) test(kind string) *digest.Task {
	i := slices.IndexFunc(m.tests, func(t *digest.Task) bool { return t.Kind == kind })
	if i < 0 {
		return nil
	}
	return m.tests[i]
}

// lead is the test by which variants are ordered: the first that there is of decoding, the prompt,
// the first token, and loading. Any other test leads only where it is alone.
func (m *model) lead() *digest.Task {
	for _, kind := range []string{names.Decode, names.Prompt, names.TTFT, names.Load, ""} {
		if t := m.test(kind); t != nil {
			return t
		}
	}
	return nil
}

// fastest is the variant that leads the lead test with most threads, or on the GPU if that is faster; ok is
// false if none was timed.
func (d *report) fastest(m *model) (s *digest.Ranking, ok bool) {
	if m.lead() == nil {
		return nil, false
	}
	timed := slices.DeleteFunc(slices.Clone(m.lead().Cases), func(c *digest.Case) bool {
		_, ok := c.Center(results.NsPerOp)
		return !ok
	})
	for _, p := range d.Decisive(digest.Panels(timed)) {
		if other, _ := d.Rank(m.lead(), p); s == nil || other.Best().Stats[results.NsPerOp].Center < s.Best().Stats[results.NsPerOp].Center {
			s = other
		}
	}
	return s, s != nil
}

// run returns that of a variant under a condition; nil if there is none.
func (m *model) run(variant string, p digest.Panel) *run {
	for _, r := range m.runs {
		if r.variant == variant && r.panel == p {
			return r
		}
	}
	return nil
}

// peak is the case that held most memory; nil if none was measured.
func (r *run) peak() *digest.Case {
	var most *digest.Case
	for _, c := range r.cases {
		v, ok := c.Center(results.PeakRSS)
		if !ok {
			continue
		}
		if most == nil {
			most = c
			continue
		}
		w, _ := most.Center(results.PeakRSS)
		if v > w || v == w && c.Name.Full < most.Name.Full {
			most = c
		}
	}
	return most
}

// title heads a figure of the model.
func (m *model) title(what string) string {
	if m.name == "" {
		return what
	}
	return m.name + ": " + what
}

// fastestFirst lists a model's variants in the order of its lead test.
func (m *model) fastestFirst() []string {
	var who []string
	for _, r := range m.runs {
		if !slices.Contains(who, r.variant) {
			who = append(who, r.variant)
		}
	}
	return who
}

// ceilingOf is the rate at which a case would use all that the machine gives; ok is false if that
// was not measured.
func ceilingOf(c *digest.Case) (rate float64, ok bool) {
	rate, ok = c.Center(results.TokenRate)
	if !ok {
		return 0, false
	}
	for _, unit := range []string{results.PctRoof, results.PctPeak} {
		if share, ok := c.Center(unit); ok && share > 0 {
			return rate / share * 100, true
		}
	}
	return 0, false
}

// speedOf is a test's rate, or its time where it makes no tokens.
func speedOf(c *digest.Case) doc.Cell {
	if c == nil {
		return doc.Cell{}
	}
	for _, unit := range []string{results.TokenRate, results.NsPerOp} {
		if s, ok := c.Stats[unit]; ok {
			return doc.Cell{Text: results.UnitOf(unit).Format(s.Center), Remark: s.SpreadText(unit)}
		}
	}
	return doc.Cell{}
}

// signedSpeed is speedOf with the signs of less trust.
func signedSpeed(c *digest.Case) doc.Cell {
	cell := speedOf(c)
	if cell.Text != "" {
		cell.Text += c.Signs
	}
	return cell
}

// testLabel names a test for people.
func testLabel(t *digest.Task) string {
	switch t.Kind {
	case names.TTFT:
		return "first token"
	case names.Decode:
		return "decode " + t.Shape
	case names.Prompt:
		return "prompt " + t.Shape
	}
	return t.Shape
}

// memoryPart is a part of a case's peak; "" where the parts are of another moment and exceed it, as in
// files of before they were looked at together.
func memoryPart(c *digest.Case, unit string) string {
	if c == nil || sum(c, results.AnonBytes, results.FileBytes) > sum(c, results.PeakRSS) {
		return ""
	}
	return digest.ValueOf(c, unit)
}

func sum(c *digest.Case, units ...string) float64 {
	all := 0.0
	for _, u := range units {
		v, _ := c.Center(u)
		all += v
	}
	return all
}
