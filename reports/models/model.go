package models

import (
	"cmp"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
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

// A modelReport is what results say of whole models.
type report struct {
	*digest.Digest
	models []*model
}

func newReport(d *digest.Digest) *report {
	r := &report{Digest: d}
	r.formModels()
	return r
}

// formModels gathers what belongs to each model.
func (d *report) formModels() {
	byName := make(map[string]*model)
	modelOf := func(n results.Name) *model {
		name := n.Get(names.Model)
		if byName[name] == nil {
			byName[name] = &model{name: name}
			d.models = append(d.models, byName[name])
		}
		return byName[name]
	}
	for _, t := range d.Tasks {
		if t.Base == names.BaseModel {
			m := modelOf(t.Cases[0].Name)
			m.tests = append(m.tests, t)
		}
	}
	profiled := make(map[*model][]*digest.Case)
	for _, c := range d.Cases {
		if c.Variant == "" {
			continue
		}
		switch c.Name.Base {
		case names.BaseOp:
			m := modelOf(c.Name)
			profiled[m] = append(profiled[m], c)
		case names.BaseLockstep:
			m := modelOf(c.Name)
			m.lockstep = append(m.lockstep, c)
		case names.BaseLogits:
			m := modelOf(c.Name)
			m.logits = append(m.logits, c)
		case names.BaseHead:
			m := modelOf(c.Name)
			m.heads = append(m.heads, c)
		}
	}
	for _, m := range d.models {
		m.profiles = newProfiles(profiled[m])
		m.formErrors()
		m.formRuns()
	}
	slices.SortFunc(d.models, func(a, b *model) int { return words.Compare(a.name, b.name) })
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
