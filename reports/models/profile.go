package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// A profile is where the time of one test under one condition goes: by variant, block and
// operation, per token of a decode test and per prompt else.
type profile struct {
	test     string // tg128, with its depth
	kind     string // of the test
	panel    digest.Panel
	variants []string // fastest first
	ops      []string // dearest first
	blocks   []string // without what is outside
	cases    map[profileKey]*digest.Case
}

type profileKey struct{ variant, block, op string }

// newProfiles sorts the cases of one model by test and condition: decoding first, most threads first.
func newProfiles(cases []*digest.Case) []*profile {
	byTest := make(map[string]*profile)
	var all []*profile
	for _, c := range cases {
		key := c.Name.Get(names.Test) + "/" + c.Name.Get(names.Depth) + "/" + c.Panel.String()
		p := byTest[key]
		if p == nil {
			t := digest.NewTask(results.Name{Base: names.BaseOp, Keys: slices.DeleteFunc(slices.Clone(c.Name.Keys), func(k results.Setting) bool {
				return k.Key != names.Test && k.Key != names.Depth
			})})
			p = &profile{test: t.Shape, kind: t.Kind, panel: c.Panel, cases: make(map[profileKey]*digest.Case)}
			byTest[key] = p
			all = append(all, p)
		}
		k := profileKey{c.Variant, c.Name.Get(names.Block), c.Name.Get(names.Op)}
		p.cases[k] = c
		p.variants, p.ops = append(p.variants, k.variant), append(p.ops, k.op)
		if k.block != names.Outside {
			p.blocks = append(p.blocks, k.block)
		}
	}
	for _, p := range all {
		p.sort()
	}
	slices.SortStableFunc(all, func(a, b *profile) int {
		return cmp.Or(cmp.Compare(digest.TestOrder(b.kind), digest.TestOrder(a.kind)), words.Compare(a.test, b.test), words.Compare(b.panel.Threads, a.panel.Threads))
	})
	return all
}

func (p *profile) sort() {
	for _, list := range []*[]string{&p.variants, &p.ops, &p.blocks} {
		slices.SortFunc(*list, words.Compare)
		*list = slices.Compact(*list)
	}
	digest.SortBy(p.variants, func(name string) (float64, bool) { return p.total(name), true })
	digest.SortBy(p.ops, func(op string) (float64, bool) {
		all := 0.0
		for _, name := range p.variants {
			all -= p.sum(name, op).ns
		}
		return all, true
	})
}

// A cost is the time of an operation and the weights that it reads.
type cost struct {
	ns, readNs, bytes float64 // readNs is the part of ns in which bytes are read
}

func (c *cost) add(of *digest.Case) {
	ns, ok := of.Center(results.NsPerOp)
	if !ok {
		return
	}
	c.ns += ns
	if rate, ok := of.Center(results.WeightRate); ok {
		c.readNs += ns
		c.bytes += rate * ns / 1e9
	}
}

// rateText is the bytes read per second; "" if none are.
func (c cost) rateText() string {
	if c.readNs <= 0 {
		return ""
	}
	return results.UnitOf(results.WeightRate).Format(c.bytes / c.readNs * 1e9)
}

// sum is what a variant spends on an operation in all blocks.
func (p *profile) sum(variant, op string) cost {
	var all cost
	for _, block := range append(slices.Clone(p.blocks), names.Outside) {
		if c := p.cases[profileKey{variant, block, op}]; c != nil {
			all.add(c)
		}
	}
	return all
}

// total is the time of all operations.
func (p *profile) total(variant string) float64 {
	all := 0.0
	for _, op := range p.ops {
		all += p.sum(variant, op).ns
	}
	return all
}

// per says what the times are of.
func (p *profile) per() string {
	if p.kind == names.Decode {
		return "token"
	}
	return "prompt"
}

func (p *profile) title() string { return p.test + ", " + digest.Conditions(p.panel) }

// profileSheets show each profile's operations, summed over the blocks.
func profileSheets(m *model) []*doc.Table {
	var all []*doc.Table
	for _, p := range m.profiles {
		s := profileSheet(m, p, p.variants)
		s.Folded = true
		all = append(all, s)
	}
	return all
}

// Rows of a profile's sheet that are no operation.
const (
	rowTotal = "all operations"
	rowTimed = "timed apart"
)

func profileSheet(m *model, p *profile, variants []string) *doc.Table {
	fields := []doc.Field[string]{{Label: "operation", Text: true, Cell: func(op string) doc.Cell { return doc.Cell{Text: op} }}}
	for i, name := range variants {
		total := p.total(name)
		fields = append(fields, doc.Field[string]{Label: name, Drop: i, Cell: func(op string) doc.Cell {
			switch op {
			case rowTotal:
				return doc.Cell{Text: words.Time(total)}
			case rowTimed:
				return doc.Cell{Text: m.timedText(p, name)}
			}
			sum := p.sum(name, op)
			if sum.ns <= 0 || total <= 0 {
				return doc.Cell{}
			}
			return doc.Cell{Text: words.Time(sum.ns), Remark: strings.TrimSpace(words.Percent(sum.ns/total) + " " + sum.rateText())}
		}})
	}
	caption := fmt.Sprintf("Time per %s, summed over %s and what is outside them; its share; the weights read per second. The last line is without looking at the clock.", p.per(), count.Of(len(p.blocks), "block"))
	return words.NewTable(term.FileName("ops", m.name, p.title()), m.title("time by operation, "+p.title()), caption,
		append(slices.Clone(p.ops), rowTotal, rowTimed), fields)
}

// timedText is the time of the profile's test as the rounds measured it; "" if they did not.
func (m *model) timedText(p *profile, variant string) string {
	r := m.run(variant, p.panel)
	if r == nil {
		return ""
	}
	for _, t := range m.tests {
		c := r.cases[t]
		if c == nil || t.Shape != p.test {
			continue
		}
		if rate, ok := c.Center(results.TokenRate); ok && rate > 0 && p.kind == names.Decode {
			return words.Time(1e9 / rate)
		}
		if ns, ok := c.Center(results.NsPerOp); ok && p.kind != names.Decode {
			return words.Time(ns)
		}
	}
	return ""
}
