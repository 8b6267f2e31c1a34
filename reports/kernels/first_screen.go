package kernels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// screens are those of each benchmark that has formats.
func (d report) screens() []doc.First {
	var all []doc.First
	for _, m := range d.matrices() {
		if s, ok := d.formatScreen(m); ok {
			all = append(all, s)
		}
	}
	return all
}

// formatScreen ranks the formats of a matrix under the condition of a model that makes text: with most
// threads or on the GPU, its weights not in a cache if that was measured.
func (d report) formatScreen(m *matrix) (doc.First, bool) {
	decisive := d.Decisive(m.columns)
	rows, shapes := d.place(m, decisive)
	if len(rows) == 0 {
		return doc.First{}, false
	}
	var conditioned []string
	for _, p := range decisive {
		conditioned = append(conditioned, digest.Conditions(p))
	}
	where := strings.Join(conditioned, " or ")
	caption := fmt.Sprintf("%s with %s, best first. ", m.base, where)
	if len(shapes) > 1 {
		caption = fmt.Sprintf("%s with %s over %d shapes (%s to %s), best first: the time is a geometric mean, the rest are medians. ",
			m.base, where, len(shapes), shapes[0], shapes[len(shapes)-1])
	}
	what := "Formats"
	if len(m.sections()) == 1 {
		what = "Kernels"
	}
	s := doc.First{Table: words.NewTable(term.FileName("ranked", m.base), what+", ranked", caption+d.RankedLegend(), rows, d.formatFields(doc.NewScale(rows, digest.FormatRow.Length, false)))}
	d.judgeFormats(&s, rows, shapes)
	return s, true
}

// judgeFormats says what to take, and what bounds it.
func (d report) judgeFormats(s *doc.First, rows []digest.FormatRow, shapes []string) {
	best := rows[0]
	where := best.Cases[0].Panel
	if d.Emulated(where) {
		s.Verdict = d.NoAdvice()
		return
	}
	s.Verdict = d.formatVerdict(rows)
	over := shapes[0]
	if len(shapes) > 1 {
		over = fmt.Sprintf("%d shapes (geometric mean)", len(shapes))
	}
	s.Number = words.Microseconds(best.Ns) + " µs"
	s.NumberOf = fmt.Sprintf("%s for %s by %s with %s", best.SpreadText(), over, best.By(), digest.Conditions(where))
	kernel := best.Subject + "/" + digest.VariantOf(best.Variant)
	s.Next = doc.Command{Line: "onebit profile --kernel " + kernel, Does: "says what bounds it"}
	if roof, ok := best.Typical(results.PctRoof); ok {
		s.Why = boundText(roof, words.If(len(best.Cases) > 1, " (median)"))
		if roof >= MemoryBound {
			s.Next = doc.Command{Line: "onebit bench models", Does: "says what that makes of whole models"}
		}
	}
	s.Why = words.Sentences(s.Why, d.FloorDoubt(best.Cases[0].Stats[results.NsPerOp].Class))
}

// formatVerdict names the fastest format, or those that can't be told apart; of a single format, its fastest
// variant.
func (d report) formatVerdict(rows []digest.FormatRow) string {
	best := rows[0]
	name, kind := func(p digest.FormatRow) string { return p.Subject }, "format"
	if slices.ContainsFunc(rows[1:], func(p digest.FormatRow) bool { return p.Subject == best.Subject }) {
		name, kind = func(p digest.FormatRow) string { return p.Variant }, "kernel of "+best.Subject
	}
	first := []string{name(best)}
	for _, p := range rows[1:] {
		if !p.Tie {
			break
		}
		first = append(first, name(p))
	}
	switch {
	case len(rows) == 1:
		return fmt.Sprintf("%s is the fastest kernel of %s here.", best.Variant, best.Subject)
	case len(first) > 1:
		return fmt.Sprintf("%s are the fastest here: this run can't tell them apart.", words.Names(first))
	}
	next := []string{name(rows[1])}
	for _, p := range rows[2:] {
		if !d.NearOver(rows[1].Cases, p.Cases) {
			break
		}
		next = append(next, name(p))
	}
	slices.SortFunc(next, words.Compare)
	return fmt.Sprintf("%s is the fastest %s here, %s ahead of %s.", first[0], kind, digest.Lead(d.RatioOver(best, rows[1])), words.Names(next))
}

// place ranks the formats by the geometric mean of their fastest variant, under any of the conditions, over
// the shapes that all of them ran; none if there is no such shape. Of a single format it ranks the variants.
func (d report) place(m *matrix, conditions []digest.Panel) (rows []digest.FormatRow, shapes []string) {
	formats := make(map[string]map[string]bool) // by shape
	ranked := make(map[*digest.Task]*digest.Ranking)
	sections := m.sections()
	for _, s := range sections {
		for _, r := range s.rows {
			if ranked[r.task] = d.rankUnder(r.task, conditions); ranked[r.task] != nil {
				if formats[r.task.Shape] == nil {
					formats[r.task.Shape] = make(map[string]bool)
				}
				formats[r.task.Shape][s.subject] = true
			}
		}
	}
	for _, s := range sections {
		var over []*digest.Ranking
		shapes = nil
		for _, r := range s.rows {
			if ranked[r.task] != nil && len(formats[r.task.Shape]) == len(sections) {
				over, shapes = append(over, ranked[r.task]), append(shapes, r.task.Shape)
			}
		}
		variants := d.PlaceOver(s.subject, over)
		if len(sections) > 1 {
			variants = variants[:min(len(variants), 1)]
		}
		rows = append(rows, variants...)
	}
	slices.SortStableFunc(rows, func(a, b digest.FormatRow) int { return cmp.Compare(a.Ns, b.Ns) })
	for i := range rows {
		rows[i].Tie = i > 0 && d.TiedOver(rows[i-1].Cases, rows[i].Cases)
	}
	return rows, shapes
}

// rankUnder ranks all that ran under one of the conditions; nil if nothing was timed.
func (d report) rankUnder(t *digest.Task, conditions []digest.Panel) *digest.Ranking {
	var cases []*digest.Case
	for _, p := range conditions {
		cases = append(cases, digest.In(p, t.Cases)...)
	}
	s, ok := d.RankCases(&digest.Ranking{Task: t}, cases)
	if !ok {
		return nil
	}
	return s
}

func (d report) formatFields(scale doc.Scale) []doc.Field[digest.FormatRow] {
	return []doc.Field[digest.FormatRow]{
		{Label: names.Format, Text: true, Cell: func(p digest.FormatRow) doc.Cell { return doc.Cell{Text: p.Subject} }},
		{Label: "µs/op", About: results.UnitOf(results.NsPerOp).About, Cell: func(p digest.FormatRow) doc.Cell {
			return doc.Cell{Text: words.Microseconds(p.Ns) + digest.SignsOf(p.Cases), Remark: p.SpreadText() + words.If(p.Tie, ", tie")}
		}},
		{Label: "time", About: "shorter is better; the line is the interval", Text: true, Drop: 1, Cell: func(p digest.FormatRow) doc.Cell { return scale.Cell(p.Length()) }},
		{Label: "by", About: "the variant that is the fastest", Text: true, Cell: func(p digest.FormatRow) doc.Cell { return d.Named(p.Variant) }},
		{Label: "bits/weight", About: "of the packed weights", Drop: 3, Cell: func(p digest.FormatRow) doc.Cell {
			bytes, ok := p.Over[0].Task.BytesPerWeight(p.Cases[0])
			return doc.Cell{Text: words.If(ok, words.Bits(8*bytes))}
		}},
		{Label: "memory", About: results.UnitOf(results.PeakRSS).About, Drop: 4, Cell: func(p digest.FormatRow) doc.Cell {
			v, ok := p.Typical(results.PeakRSS)
			return doc.Cell{Text: words.If(ok, results.UnitOf(results.PeakRSS).Format(v))}
		}},
		{Label: "error", About: results.UnitOf(results.NMSE).About, Drop: 2, Cell: func(p digest.FormatRow) doc.Cell {
			v, ok := p.Typical(results.NMSE)
			return doc.Cell{Text: words.If(ok, words.Decibels(v))}
		}},
	}
}

// MemoryBound is the share of the roof from which on reading the weights is most of the time.
const MemoryBound = 60

// boundText says what bounds a case that reaches a share of the read bandwidth; of follows the share.
func boundText(roof float64, of string) string {
	share := "it reads its weights at " + results.UnitOf(results.PctRoof).Format(roof) + of + " of what reading alone reaches"
	switch {
	case roof > 100:
		return "I" + share[1:] + ": the reading loop was disturbed, or found less of them in a cache."
	case roof >= MemoryBound:
		return "It is bound by memory: " + share + "."
	}
	return "It is not bound by memory: " + share + "."
}
