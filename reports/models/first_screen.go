package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/kernels"
	"onebit/reports/words"
)

// A modelRow is what a variant makes of a model in the test that leads.
type modelRow struct {
	m    *model
	s    *digest.Ranking
	rank int
}

func (r modelRow) c() *digest.Case { return r.s.Ranked[r.rank] }
func (r modelRow) run() *run       { return r.m.run(r.c().Variant, r.s.Panel) }
func (r modelRow) name() string    { return cmp.Or(r.m.name, names.BaseModel) }

// modelRows are the models by the speed of their fastest variant; of a single model, its variants. The slowest model
// leads, the one that a choice matters to: a small model is not a better large one.
func (d *report) modelRows() (rows []modelRow) {
	for _, m := range d.models {
		if s, ok := d.fastest(m); ok {
			rows = append(rows, modelRow{m, s, 0})
		}
	}
	if len(rows) == 1 {
		for i := range rows[0].s.Ranked[1:] {
			rows = append(rows, modelRow{rows[0].m, rows[0].s, i + 1})
		}
		return rows
	}
	rate := func(r modelRow) float64 { v, _ := r.c().Center(results.TokenRate); return v }
	slices.SortStableFunc(rows, func(a, b modelRow) int { return cmp.Compare(rate(a), rate(b)) })
	return rows
}

// modelScreen says how fast a model is, and ranks its variants, or the models.
func (d *report) modelScreen() (doc.First, bool) {
	rows := d.modelRows()
	if len(rows) == 0 {
		return doc.First{}, false
	}
	first := rows[0]
	one := len(rows) == 1 || rows[1].m == first.m
	heading, caption := "Models, ranked", "Each model by its fastest variant, the slowest model first"
	if one {
		heading, caption = first.name()+", by variant", "Variants, fastest first, in "+first.s.Task.Shape+" with "+digest.Conditions(first.s.Panel)
	}
	caption += ". " + strings.Split(d.RankedLegend(), ";")[0] + "."
	s := doc.First{Table: words.NewTable("ranked-models", heading, caption, rows, d.modelFields(rows, one))}
	if d.Emulated(first.s.Panel) {
		s.Verdict = d.NoAdvice()
		return s, true
	}
	best := first.c()
	speed := speedOf(best)
	s.Verdict, s.Number = modelVerdict(rows, one), speed.Text
	s.NumberOf = fmt.Sprintf("%s in %s by %s with %s", cmp.Or(speed.Remark, words.UnknownSpread), first.s.Task.Shape, best.ByScheme(), digest.Conditions(first.s.Panel))
	s.Next = doc.Command{Line: "onebit profile", Does: "says where a token's time goes"}
	if most, ok := ceilingOf(best); ok {
		s.Why = fmt.Sprintf("Reading its weights alone would allow %s", results.UnitOf(results.TokenRate).Format(most))
		if roof, known := best.Center(results.PctRoof); known && roof >= kernels.MemoryBound {
			s.Why += ": it is bound by memory"
		}
		s.Why += "."
	}
	for _, r := range rows {
		if r.rank == 0 {
			s.Why = words.Sentences(s.Why, d.depthVerdict(r.m, r.s))
		}
	}
	// Few models have enough pairs for a floor: the line below the tables says so.
	if class := best.Stats[results.NsPerOp].Class; d.Floors.Of(class).Known() {
		s.Why = words.Sentences(s.Why, d.FloorDoubt(class))
	}
	return s, true
}

// mostSaid is how many models a sentence names.
const mostSaid = 3

// modelVerdict says how fast the models are or, of one, which of its variants is the fastest.
func modelVerdict(rows []modelRow, one bool) string {
	first := rows[0]
	if one && len(rows) > 1 {
		switch best := first.s.Fastest(); len(best) {
		case 1:
		case 2:
			return fmt.Sprintf("%s are the fastest for %s here: this run can't tell them apart.", digest.NamesOf(best), first.name())
		default:
			return fmt.Sprintf("%s and %d others are the fastest for %s here: this run can't tell them apart.", best[0].Variant, len(best)-1, first.name())
		}
		return fmt.Sprintf("%s is the fastest for %s here, %s ahead of %s.", first.c().Variant, first.name(), digest.Lead(first.s.Diffs[1].Ratio), rows[1].c().Variant)
	}
	text := fmt.Sprintf("%s makes %s here", first.name(), speedOf(first.c()).Text)
	for _, r := range rows[1:min(len(rows), mostSaid)] {
		text += fmt.Sprintf(", %s %s", r.name(), speedOf(r.c()).Text)
	}
	return text + words.If(len(rows) > mostSaid, fmt.Sprintf(", and %d more", len(rows)-mostSaid)) + "."
}

// modelFields begin with the name and the speed: a phone shows no more.
func (d *report) modelFields(rows []modelRow, one bool) []doc.Field[modelRow] {
	scale := digest.NewScale(words.Mapped(rows, modelRow.c), results.TokenRate)
	unit := func(label, of string, drop int, text func(modelRow) string) doc.Field[modelRow] {
		return doc.Field[modelRow]{Label: label, About: results.UnitOf(of).About, Drop: drop, Cell: func(r modelRow) doc.Cell { return doc.Cell{Text: text(r)} }}
	}
	by := doc.Field[modelRow]{Label: names.Variant, Text: true, Cell: func(r modelRow) doc.Cell { return d.Named(r.c().Variant) }}
	fields := []doc.Field[modelRow]{
		{Label: names.Model, Text: true, Cell: func(r modelRow) doc.Cell { return doc.Cell{Text: r.name(), Remark: r.s.Task.Shape} }},
		{Label: "speed", About: "of the test that leads: making text, if that was measured", Cell: func(r modelRow) doc.Cell {
			sure := cmp.Or(speedOf(r.c()).Remark, words.UnknownSpread)
			switch {
			case one && r.s.Diffs[r.rank].Tie:
				sure += ", tie"
			case !one && r.s.Ties > 0:
				sure += ", " + count.Of(r.s.Ties, "tie")
			}
			return doc.Cell{Text: signedSpeed(r.c()).Text, Remark: sure}
		}},
		{Label: "rate", About: "longer is better; the line is the interval", Text: true, Drop: 1, Cell: func(r modelRow) doc.Cell {
			return scale.Cell(digest.LengthOf(r.c().Stats[results.TokenRate]))
		}},
	}
	if one {
		fields[0] = by
	} else {
		by.Drop = 2 // the sentence says it of the first
		fields = append(fields, by, unit(names.Threads, "", 6, func(r modelRow) string { return r.s.Panel.Threads }))
	}
	return append(fields,
		unit("at most", results.PctRoof, 5, func(r modelRow) string {
			most, ok := ceilingOf(r.c())
			return words.If(ok, results.UnitOf(results.TokenRate).Format(most))
		}),
		unit("memory", results.PeakRSS, 4, func(r modelRow) string { return digest.ValueOf(r.run().peak(), results.PeakRSS) }),
		unit("planned", results.PlanBytes, 7, func(r modelRow) string { return r.run().planned() }),
		doc.Field[modelRow]{Label: "kld", About: results.UnitOf(results.KLD).About, Drop: 3, Cell: func(r modelRow) doc.Cell { return doc.Cell{Text: digest.ValueOf(r.m.logitsOf(r.run()), results.KLD)} }})
}
