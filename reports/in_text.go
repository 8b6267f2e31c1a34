package reports

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
)

// What a terminal shows of a run where a page has charts and matrices.

// modelTop is how many runs of each number of threads are shown unless asked for more.
const modelTop = 6

// profileTop is how many variants' time by operation is shown.
const profileTop = 2

// modelsInText shows speed, memory and error, and where the time of decoding and of the prompt goes.
func (d *modelReport) modelsInText(top int) *doc.Section {
	s := &doc.Section{ID: "models-in-text", Only: doc.Terminal}
	for _, m := range d.models {
		seen := make(map[panel]int)
		runs := slices.DeleteFunc(slices.Clone(m.runs), func(r *run) bool {
			seen[r.panel]++
			return top >= 0 && seen[r.panel] > cmp.Or(top, modelTop) && !strings.HasPrefix(r.variant, names.LlamaBench)
		})
		s.Add(d.runSheet(m, runs), d.textsSheet(m), d.draftsSheet(m), d.errorSheet(m), d.headSheet(m))
		shown := make(map[string]bool) // kinds of tests
		for _, p := range m.profiles {
			if !shown[p.kind] {
				shown[p.kind] = true
				s.Add(profileSheet(m, p, p.variants[:min(len(p.variants), profileTop)]))
			}
		}
	}
	return s
}

// isCeiling reports whether a case measures the machine.
func isCeiling(c *caseStats) bool {
	_, ok := c.stats[results.ReadRate]
	return ok || c.name.Base == names.BaseDotPeak
}

// A ranked is a case of a ranking, by its rank.
type ranked struct {
	*ranking
	rank int
}

func (r ranked) c() *caseStats { return r.ranked[r.rank] }

// rankingTable has the fastest of each task and condition, best first.
func (d kernelReport) rankingTable(m *matrix, top int) *doc.Table {
	var rows []ranked
	scales := make(map[*ranking]doc.Scale)
	for _, s := range m.rankings() {
		shown := len(s.ranked)
		if top >= 0 {
			shown = min(shown, top)
		}
		scales[s] = newScale(s.ranked[:shown], results.NsPerOp)
		for i := range shown {
			rows = append(rows, ranked{s, i})
		}
	}
	fields := []doc.Field[ranked]{
		{Label: strings.ToLower(m.base), Text: true, Group: true, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: r.task.title} }},
		{Label: names.Threads, Group: true, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: r.panel.threads} }},
		{Label: names.Cache, Text: true, Group: true, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: r.panel.cache} }},
		{Label: names.Variant, Text: true, Cell: func(r ranked) doc.Cell { return d.named(r.c().variant) }},
		{Label: "time/op", Cell: func(r ranked) doc.Cell { return doc.Cell{Text: signedValue(r.c(), results.NsPerOp)} }},
		{Label: "time", About: "shorter is better; the line is the interval", Text: true, Drop: 7, Cell: func(r ranked) doc.Cell {
			return scales[r.ranking].Cell(lengthOf(r.c().stats[results.NsPerOp]))
		}},
		{Label: "±", Drop: 4, Cell: func(r ranked) doc.Cell {
			return doc.Cell{Text: strings.TrimPrefix(r.c().stats[results.NsPerOp].spread(results.NsPerOp), "±")}
		}},
		{Label: versusBest, Cell: func(r ranked) doc.Cell {
			ratio, spread := r.versus(r.rank)
			return doc.Cell{Text: ratio, Remark: spread}
		}},
	}
	for _, u := range []struct {
		name string
		drop int
	}{{results.GPUTime, 3}, {results.TokenRate, 0}, {results.PctRoof, 1}, {results.NMSE, 2}, {results.KLD, 2}, {results.Perplexity, 2}, {results.WeightRate, 5}, {results.PackedBytes, 6}} {
		fields = append(fields, doc.Field[ranked]{Label: u.name, Drop: u.drop, Cell: func(r ranked) doc.Cell { return doc.Cell{Text: valueOf(r.c(), u.name)} }})
	}
	t := newTable("rankings-"+m.base, m.base+": the fastest variants", sentences("Medians; the share of the roof is of what reading alone reached in the same round. A tie can't be told from the best.", aboveText(casesOf(rows))), rows, fields)
	t.Sortable = true
	return t
}

func casesOf(rows []ranked) []*caseStats {
	var all []*caseStats
	for _, r := range rows {
		all = append(all, r.c())
	}
	return all
}

// summaryText says what a summary's columns are.
const summaryText = "Each row names the variant that is the fastest, or tied with it, most often; its speed-up is the geometric " +
	"mean over the shapes, its rates are medians. Each shape and variant is in the HTML, Markdown and CSV reports."

// summaryTable has a row for each section and condition.
func (d kernelReport) summaryTable(m *matrix) *doc.Table {
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
	t := newTable("summary-"+m.base, m.base+": the fastest variants over all shapes", "", rows, []doc.Field[row]{
		{Label: strings.ToLower(m.base), Text: true, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.title} }},
		{Label: names.Threads, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.panel.threads} }},
		{Label: names.Cache, Text: true, Group: true, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.panel.cache} }},
		{Label: names.Variant, Text: true, Cell: func(r row) doc.Cell { return d.named(r.winner) }},
		{Label: "fastest in", Drop: 4, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.leadText()} }},
		{Label: "vs " + baselines[0], Cell: func(r row) doc.Cell { return doc.Cell{Text: r.speedText(baselines[0])} }},
		{Label: results.TokenRate, Cell: typical(results.TokenRate)},
		{Label: results.WeightRate, Drop: 3, Cell: typical(results.WeightRate)},
		{Label: results.PctRoof, Drop: 1, Cell: typical(results.PctRoof)},
		{Label: results.NMSE, Drop: 2, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.nmse.text(results.UnitOf(results.NMSE).Format)} }},
		{Label: "bits/weight", Drop: 5, Cell: func(r row) doc.Cell { return doc.Cell{Text: r.weightText()} }},
	})
	t.Sortable = true
	return t
}

// versus says how a ranked case compares with the first, and how far the interval of the ratio reaches.
func (s *ranking) versus(i int) (ratio, spread string) {
	if i == 0 {
		return "", ""
	}
	if d := s.diffs[i]; d.Bounded() && d.Lo < d.Hi { // not of a single round, or of copies of one
		spread = formatSpread(d.Spread())
	}
	if s.diffs[i].Tie {
		return "tie", spread
	}
	return times(s.diffs[i].Ratio), spread
}

// unknownTable shows benchmarks that nothing is known of.
func (d kernelReport) unknownTable(cases []*caseStats) *doc.Table {
	fields := []doc.Field[*caseStats]{{Label: "benchmark", Text: true, Cell: func(c *caseStats) doc.Cell { return doc.Cell{Text: c.name.Full} }}}
	for i, u := range d.unitsIn(cases) {
		fields = append(fields, doc.Field[*caseStats]{Label: u, Drop: i, Cell: func(c *caseStats) doc.Cell {
			s, ok := c.stats[u]
			if !ok {
				return doc.Cell{}
			}
			return doc.Cell{Text: signedValue(c, u) + textIf(s.spread(u) != "", " "+s.spread(u))}
		}})
	}
	t := doc.NewTable("unknown", "", "", cases, fields)
	t.Only = doc.Terminal // a page has them in the tables of all cases
	return t
}
