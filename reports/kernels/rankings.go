package kernels

import (
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// isCeiling reports whether a case measures the machine.
func isCeiling(c *digest.Case) bool {
	_, ok := c.Stats[results.ReadRate]
	return ok || c.Name.Base == names.BaseDotPeak
}

// A ranked is a case of a ranking, by its rank.
type ranked struct {
	*digest.Ranking
	rank int
}

func (r ranked) c() *digest.Case { return r.Ranked[r.rank] }

// rankingTable has the fastest of each task and condition, best first.
func (d report) rankingTable(m *matrix, top int) *doc.Table {
	var rows []ranked
	scales := make(map[*digest.Ranking]doc.Scale)
	for _, s := range m.rankings() {
		shown := len(s.Ranked)
		if top >= 0 {
			shown = min(shown, top)
		}
		scales[s] = digest.NewScale(s.Ranked[:shown], results.NsPerOp)
		for i := range shown {
			rows = append(rows, ranked{s, i})
		}
	}
	fields := []doc.Field[ranked]{
		{Label: strings.ToLower(m.base), Text: true, Group: true, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: r.Task.Title} }},
		{Label: names.Threads, Group: true, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: r.Panel.Threads} }},
		{Label: names.Cache, Text: true, Group: true, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: r.Panel.Cache} }},
		{Label: names.Variant, Text: true, Cell: func(r ranked) doc.Cell { return d.Named(r.c().Variant) }},
		{Label: "time/op", Cell: func(r ranked) doc.Cell { return doc.Cell{Text: digest.SignedValue(r.c(), results.NsPerOp)} }},
		{Label: "time", About: "shorter is better; the line is the interval", Text: true, Drop: 7, Cell: func(r ranked) doc.Cell {
			return scales[r.Ranking].Cell(digest.LengthOf(r.c().Stats[results.NsPerOp]))
		}},
		{Label: "±", Drop: 4, Cell: func(r ranked) doc.Cell {
			return doc.Cell{Text: strings.TrimPrefix(r.c().Stats[results.NsPerOp].SpreadText(results.NsPerOp), "±")}
		}},
		{Label: words.VersusBest, Cell: func(r ranked) doc.Cell {
			ratio, spread := r.Versus(r.rank)
			return doc.Cell{Text: ratio, Remark: spread}
		}},
	}
	for _, u := range []struct {
		name string
		drop int
	}{{results.GPUTime, 3}, {results.TokenRate, 0}, {results.PctRoof, 1}, {results.NMSE, 2}, {results.KLD, 2}, {results.Perplexity, 2}, {results.WeightRate, 5}, {results.PackedBytes, 6}} {
		fields = append(fields, doc.Field[ranked]{Label: u.name, Drop: u.drop, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: digest.ValueOf(r.c(), u.name)} }})
	}
	t := words.NewTable("rankings-"+m.base, m.base+": the fastest variants", words.Sentences("Medians. A tie can't be told from the best.", digest.AboveText(words.Mapped(rows, ranked.c))), rows, fields)
	t.Sortable = true
	return t
}

// summaryText says what a summary's columns are.
const summaryText = "A row names the variant that is the fastest, or tied with it, most often over the shapes. Each shape is in the page, and in CSV."

// summaryTable has a row for each section and condition.
func (d report) summaryTable(m *matrix) *doc.Table {
	type row struct {
		*summary
		title string
	}
	var rows []row
	for _, section := range m.sections() {
		for _, s := range section.summaries(m.columns) {
			if s != nil {
				rows = append(rows, row{s, section.subject})
			}
		}
	}
	typical := func(unit string) func(row) doc.Cell {
		return func(r row) doc.Cell { return doc.Cell{Text: r.typicalText(unit)} }
	}
	t := words.NewTable("summary-"+m.base, m.base+": the fastest variants over all shapes", "", rows, []doc.Field[row]{
		{Label: strings.ToLower(m.base), Text: true, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.title} }},
		{Label: names.Threads, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.panel.Threads} }},
		{Label: names.Cache, Text: true, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.panel.Cache} }},
		{Label: names.Variant, Text: true, Cell: func(r row) doc.Cell { return d.Named(r.winner) }},
		{Label: "fastest in", Drop: 4, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.leadText()} }},
		{Label: "vs " + baselines[0], Cell: func(r row) doc.Cell { return doc.Cell{Text: r.speedText(baselines[0])} }},
		{Label: results.TokenRate, Cell: typical(results.TokenRate)},
		{Label: results.WeightRate, Drop: 3, Cell: typical(results.WeightRate)},
		{Label: results.PctRoof, Drop: 1, Cell: typical(results.PctRoof)},
		{Label: results.NMSE, Drop: 2, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.nmse.Text(results.UnitOf(results.NMSE).Format)} }},
		{Label: "bits/weight", Drop: 5, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.weightText()} }},
	})
	t.Sortable = true
	return t
}

// unknownTable shows benchmarks that nothing is known of.
func (d report) unknownTable(cases []*digest.Case) *doc.Table {
	fields := []doc.Field[*digest.Case]{{Label: "benchmark", Text: true, Cell: func(c *digest.Case) doc.Cell { return doc.Cell{Text: c.Name.Full} }}}
	for i, u := range d.UnitsIn(cases) {
		fields = append(fields, doc.Field[*digest.Case]{Label: u, Drop: i, Cell: func(c *digest.Case) doc.Cell {
			s, ok := c.Stats[u]
			if !ok {
				return doc.Cell{}
			}
			return doc.Cell{Text: digest.SignedValue(c, u) + words.If(s.SpreadText(u) != "", " "+s.SpreadText(u))}
		}})
	}
	t := doc.NewTable("unknown", "", "", cases, fields)
	t.Only = doc.Terminal // a page has them in the tables of all cases
	return t
}
