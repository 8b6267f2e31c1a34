package reports

import (
	"cmp"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
)

// testOrder is where reports list tests of a kind: in the order of names.TestKinds, those of no known
// kind last.
func testOrder(kind string) int {
	if i := slices.Index(names.TestKinds, kind); i >= 0 {
		return i
	}
	return len(names.TestKinds)
}

// A model is what results say of a whole model: how fast, how big, how wrong.
type model struct {
	name     string
	tests    []*task // those without depth of a kind come first
	runs     []*run
	profiles []*profile
	lockstep []*caseStats
	alike    [][]string // variants whose errors are the same in every tensor and block
	errors   map[tensorRow][]errorSeries
	logits   []*caseStats
	heads    []*caseStats
}

// A run is what one variant did in a model's tests under one condition.
type run struct {
	variant string
	panel   panel
	cases   map[*task]*caseStats
}

// partOfModel reports whether a case tells of a part of a model, and so has no row of its own.
func (c *caseStats) partOfModel() bool {
	return names.IsPartOfModel(c.name)
}

// A modelReport is what results say of whole models.
type modelReport struct {
	*digest
	models []*model
}

func newModelReport(d *digest) *modelReport {
	r := &modelReport{digest: d}
	r.formModels()
	return r
}

// formModels gathers what belongs to each model.
func (d *modelReport) formModels() {
	byName := make(map[string]*model)
	modelOf := func(n results.Name) *model {
		name := n.Get(names.Model)
		if byName[name] == nil {
			byName[name] = &model{name: name}
			d.models = append(d.models, byName[name])
		}
		return byName[name]
	}
	for _, t := range d.tasks {
		if t.base == names.BaseModel {
			m := modelOf(t.cases[0].name)
			m.tests = append(m.tests, t)
		}
	}
	profiled := make(map[*model][]*caseStats)
	for _, c := range d.cases {
		if c.variant == "" {
			continue
		}
		switch c.name.Base {
		case names.BaseOp:
			m := modelOf(c.name)
			profiled[m] = append(profiled[m], c)
		case names.BaseLockstep:
			m := modelOf(c.name)
			m.lockstep = append(m.lockstep, c)
		case names.BaseLogits:
			m := modelOf(c.name)
			m.logits = append(m.logits, c)
		case names.BaseHead:
			m := modelOf(c.name)
			m.heads = append(m.heads, c)
		}
	}
	for _, m := range d.models {
		m.profiles = newProfiles(profiled[m])
		m.formErrors()
		m.formRuns()
	}
	slices.SortFunc(d.models, func(a, b *model) int { return naturalCompare(a.name, b.name) })
}

// formRuns makes the rows of the model's table: most threads first, and of one number of threads the
// fastest first.
func (m *model) formRuns() {
	for _, p := range m.panels() {
		for _, name := range variants(m.cases()) {
			r := &run{variant: name, panel: p, cases: make(map[*task]*caseStats)}
			for _, t := range m.tests {
				for _, c := range in(p, t.cases) {
					if c.variant == name {
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
			return naturalCompare(b.panel.threads, a.panel.threads)
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
		return cmp.Compare(x.stats[results.NsPerOp].Center, y.stats[results.NsPerOp].Center)
	})
}

func (m *model) cases() []*caseStats {
	var all []*caseStats
	for _, t := range m.tests {
		all = append(all, t.cases...)
	}
	return all
}

// panels lists the conditions of the tests, most threads first.
func (m *model) panels() []panel {
	all := panels(m.cases())
	slices.Reverse(all)
	return all
}

// test returns the first test of a kind, that of the least depth; nil if there is none.
func (m *model) test(kind string) *task {
	i := slices.IndexFunc(m.tests, func(t *task) bool { return t.kind == kind })
	if i < 0 {
		return nil
	}
	return m.tests[i]
}

// lead is the test by which variants are ordered: the first that there is of decoding, the prompt,
// the first token, and loading. Any other test leads only where it is alone.
func (m *model) lead() *task {
	for _, kind := range []string{names.Decode, names.Prompt, names.TTFT, names.Load, ""} {
		if t := m.test(kind); t != nil {
			return t
		}
	}
	return nil
}

// fastest is the variant that leads the lead test with most threads, or on the GPU if that is faster; ok is
// false if none was timed.
func (d *modelReport) fastest(m *model) (s *ranking, ok bool) {
	if m.lead() == nil {
		return nil, false
	}
	timed := slices.DeleteFunc(slices.Clone(m.lead().cases), func(c *caseStats) bool {
		_, ok := c.center(results.NsPerOp)
		return !ok
	})
	for _, p := range d.decisive(panels(timed)) {
		if other, _ := d.rank(m.lead(), p); s == nil || other.best().stats[results.NsPerOp].Center < s.best().stats[results.NsPerOp].Center {
			s = other
		}
	}
	return s, s != nil
}

// run returns that of a variant under a condition; nil if there is none.
func (m *model) run(variant string, p panel) *run {
	for _, r := range m.runs {
		if r.variant == variant && r.panel == p {
			return r
		}
	}
	return nil
}

// peak is the case that held most memory; nil if none was measured.
func (r *run) peak() *caseStats {
	var most *caseStats
	for _, c := range r.cases {
		v, ok := c.center(results.PeakRSS)
		if !ok {
			continue
		}
		if most == nil {
			most = c
			continue
		}
		w, _ := most.center(results.PeakRSS)
		if v > w || v == w && c.name.Full < most.name.Full {
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
func ceilingOf(c *caseStats) (rate float64, ok bool) {
	rate, ok = c.center(results.TokenRate)
	if !ok {
		return 0, false
	}
	for _, unit := range []string{results.PctRoof, results.PctPeak} {
		if share, ok := c.center(unit); ok && share > 0 {
			return rate / share * 100, true
		}
	}
	return 0, false
}
