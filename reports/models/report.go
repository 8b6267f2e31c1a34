package models

import (
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/words"
)

// A report is what results say of whole models.
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
