package models

import (
	"cmp"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// sheets are the model's tables: speed and memory, error, and where the time goes.
func (d *report) sheets(m *model) []*doc.Table {
	return slices.Concat([]*doc.Table{d.runSheet(m, m.runs), d.textsSheet(m), d.draftsSheet(m), d.errorSheet(m), d.headSheet(m)}, profileSheets(m), []*doc.Table{d.tensorSheet(m)})
}

// runSheet shows how fast and how big some of the model's runs are.
func (d *report) runSheet(m *model, runs []*run) *doc.Table {
	fields := []doc.Field[*run]{
		{Label: names.Variant, Text: true, Cell: func(r *run) doc.Cell {
			return d.Named(r.variant)
		}},
		{Label: names.Threads, Cell: func(r *run) doc.Cell { return doc.Cell{Text: r.panel.Threads} }},
	}
	lead := m.lead()
	for _, kind := range []string{names.Decode, names.Prompt, names.TTFT, names.Load, ""} {
		for i, t := range m.tests {
			if t.Kind == kind && (t == lead || !ofSeveral(t)) {
				fields = append(fields, d.testFields(t, t == lead, i)...)
			}
		}
	}
	for i, unit := range []string{results.PeakRSS, results.AnonBytes, results.FileBytes} {
		fields = append(fields, m.memoryField(unit, 1+4*i))
	}
	fields = append(fields, doc.Field[*run]{Label: "planned", About: results.UnitOf(results.PlanBytes).About, Drop: 13, Cell: func(r *run) doc.Cell {
		return doc.Cell{Text: r.planned()}
	}})
	fields = append(fields, doc.Field[*run]{Label: "GPU memory", About: results.UnitOf(results.GPUBytes).About, Drop: 2, Cell: func(r *run) doc.Cell {
		return doc.Cell{Text: r.most(results.GPUBytes)}
	}})
	for _, unit := range []string{results.KLD, results.Top1} {
		fields = append(fields, doc.Field[*run]{Label: unit, About: results.UnitOf(unit).About, Drop: 2, Cell: func(r *run) doc.Cell {
			return errorCell(m.logitsOf(r), unit)
		}})
	}
	return words.NewTable(term.FileName("model", m.name), m.title("speed and memory"), words.Sentences(runCaption, digest.AboveText(m.cases())), runs, fields)
}

const runCaption = "Fastest first. Bold: the best of its column with as many threads, or tied with it. Memory is the peak of the test that is named."

// testFields are the columns of a test.
func (d *report) testFields(t *digest.Task, lead bool, number int) []doc.Field[*run] {
	drop, deep := map[string]int{names.Prompt: 1, names.TTFT: 2}[t.Kind], ""
	if depth := t.Cases[0].Name.Get(names.Depth); depth != "" {
		deep = " @ d" + depth
	}
	if deep != "" || t.Kind == names.Load || t.Kind == "" {
		drop = 20 + number
	}
	rankings := make(map[digest.Panel]*digest.Ranking)
	for _, p := range digest.Panels(t.Cases) {
		if s, ok := d.Rank(t, p); ok {
			rankings[p] = s
		}
	}
	fields := []doc.Field[*run]{{Label: testLabel(t), About: testAbout(t), Drop: drop, Cell: func(r *run) doc.Cell {
		cell, s := signedSpeed(r.cases[t]), rankings[r.panel]
		cell.Best = s != nil && len(s.Ranked) > 1 && slices.Contains(s.Fastest(), r.cases[t])
		return cell
	}}}
	if lead {
		fields = append(fields, doc.Field[*run]{Label: words.VersusBest, About: words.VersusAbout, Cell: func(r *run) doc.Cell {
			s := rankings[r.panel]
			if s == nil {
				return doc.Cell{}
			}
			if i := slices.Index(s.Ranked, r.cases[t]); i >= 0 {
				ratio, spread := s.Versus(i)
				return doc.Cell{Text: ratio, Remark: spread}
			}
			return doc.Cell{}
		}})
	}
	for _, unit := range []string{results.PctRoof, results.PctPeak, results.GPUTime} {
		fields = append(fields, doc.Field[*run]{Label: unit + deep, About: results.UnitOf(unit).About, Drop: drop + 3, Cell: func(r *run) doc.Cell {
			return doc.Cell{Text: digest.ValueOf(r.cases[t], unit)}
		}})
	}
	return fields
}

func testAbout(t *digest.Task) string {
	switch t.Kind {
	case names.Load:
		return "from opening the file until the model is ready"
	case names.TTFT:
		return "from the start of the process to the first token"
	case names.Decode:
		return "tokens generated per second, one at a time"
	case names.Prompt:
		return "tokens of a prompt read per second"
	}
	return ""
}

// memoryField is a column of the test that held most memory.
func (m *model) memoryField(unit string, drop int) doc.Field[*run] {
	labels := map[string]string{results.PeakRSS: "memory", results.AnonBytes: "anonymous", results.FileBytes: "file"}
	seen := make(map[digest.Panel]digest.Extent)
	for _, r := range m.runs {
		if c := r.peak(); c != nil {
			e := seen[r.panel]
			e.Add(c.Center(unit))
			seen[r.panel] = e
		}
	}
	return doc.Field[*run]{Label: labels[unit], About: results.UnitOf(unit).About, Drop: drop, Cell: func(r *run) doc.Cell {
		c := r.peak()
		if unit != results.PeakRSS {
			return doc.Cell{Text: memoryPart(c, unit)}
		}
		text := digest.ValueOf(c, unit)
		format, e := results.UnitOf(unit).Format, seen[r.panel]
		cell := doc.Cell{Text: text, Best: text != "" && format(e.Lo) != format(e.Hi) && text == format(e.Lo)}
		for t, of := range r.cases {
			if of == c {
				cell.Remark = t.Shape
			}
		}
		return cell
	}}
}

// planned is what the test that held most was planned to take, or the largest plan
// where memory was not measured.
func (r *run) planned() string {
	return cmp.Or(digest.ValueOf(r.peak(), results.PlanBytes), r.most(results.PlanBytes))
}

// most is the largest value of a unit in the run's tests; "" if none has it.
func (r *run) most(unit string) string {
	var e digest.Extent
	for _, c := range r.cases {
		e.Add(c.Center(unit))
	}
	if !e.Any {
		return ""
	}
	return results.UnitOf(unit).Format(e.Hi)
}
