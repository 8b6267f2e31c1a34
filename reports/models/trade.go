package models

import (
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/figure"
)

func init() {
	drawings.Add(charts.Chart[*report]{
		Order: 5, Name: "trade", Heading: "The cost of speed in memory and error",
		About:   "Right is faster, down is less memory or error, and nothing beats the ringed points in both. Variants of equal error share a point, that of the fastest.",
		Figures: tradeFigures,
	})
}

// tradeFigures shows each model's decode speed, or that of its prompt, against its memory and its error.
func tradeFigures(d *report) []*figure.Figure {
	var figures []*figure.Figure
	for _, group := range d.modelsWithHeads() {
		for _, t := range []*charts.Trade{d.memoryTrade(group), d.errorTrade(group)} {
			if f := charts.Draw(t); f != nil {
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// modelsWithHeads groups the models that differ in their heads alone: the name of one with a converted
// head ends in + and its format.
func (d *report) modelsWithHeads() [][]*model {
	var groups [][]*model
	for _, m := range d.models {
		i := slices.IndexFunc(groups, func(g []*model) bool { return g[0].withoutHead() == m.withoutHead() })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

func (m *model) withoutHead() string {
	name, _, _ := strings.Cut(m.name, "+")
	return name
}

// rated is the test whose rate stands for the model's speed; nil if there is none.
func (m *model) rated() *digest.Task {
	for _, kind := range []string{names.Decode, names.Prompt} {
		if t := m.test(kind); t != nil && digest.Measured(t.Cases, results.TokenRate) {
			return t
		}
	}
	return nil
}

// tradeOf makes a point of each run of the models whose cost is known.
func (d *report) tradeOf(group []*model, name, what, unit string, cost func(*model, *run, *charts.Point) bool) *charts.Trade {
	rated := ""
	var cases []*digest.Case
	for _, m := range group {
		cases = append(cases, m.cases()...)
		if t := m.rated(); t != nil && rated == "" {
			rated = testLabel(t)
		}
	}
	t := charts.NewTrade(term.FileName(name, group[0].withoutHead()), group[0].title(what+" against "+rated), unit, results.TokenRate)
	for _, p := range digest.Panels(cases) {
		var points []charts.Point
		for _, m := range group {
			points = append(points, d.pointsOf(m, p, cost)...)
		}
		if unit != results.PeakRSS {
			points = charts.FastestOfEach(points, func(charts.Point) string { return "" })
		}
		t.Add(p, points)
	}
	t.Lead = d.Lead(t.Shown)
	return t
}

func (d *report) pointsOf(m *model, p digest.Panel, cost func(*model, *run, *charts.Point) bool) []charts.Point {
	var points []charts.Point
	t := m.rated()
	for _, r := range m.runs {
		if t == nil || r.panel != p || r.cases[t] == nil {
			continue
		}
		q := charts.Point{Text: r.variant, Series: d.Marks[r.variant]}
		if _, head, converted := strings.Cut(m.name, "+"); converted {
			q.Text += ", head " + head
		}
		q.Variant, q.Short = r.variant, q.Text
		speed, ok := r.cases[t].Center(results.TokenRate)
		if q.Speed = speed; ok && speed > 0 && cost(m, r, &q) {
			points = append(points, q)
		}
	}
	return points
}

func (d *report) memoryTrade(group []*model) *charts.Trade {
	t := d.tradeOf(group, "memory-speed", "peak memory", results.PeakRSS, func(_ *model, r *run, q *charts.Point) bool {
		c := r.peak()
		if c == nil {
			return false
		}
		v, ok := c.Center(results.PeakRSS)
		q.Error, q.Lo, q.Hi = v, v, v
		return ok
	})
	t.Cost = "memory"
	return t
}

// errorTrade is drawn in the first measure of error that any run has. Perplexity is none: that of random
// weights says nothing, and that of others depends on the text.
func (d *report) errorTrade(group []*model) *charts.Trade {
	var t *charts.Trade
	for _, unit := range modelErrorUnits {
		if unit == results.Perplexity {
			continue
		}
		t = d.tradeOf(group, "error-speed", unit, unit, func(m *model, r *run, q *charts.Point) bool {
			u, v, ok := m.errorOf(r.cases[m.rated()])
			q.Error, q.Lo, q.Hi = v, v, v
			if logits := m.logitsOf(r); unit == results.KLD && logits != nil {
				q.Lo, q.Hi = divergenceBounds(logits)
			}
			return ok && u == unit
		})
		if len(t.Shown) > 0 {
			if t.HasIntervals() {
				t.Notes = append(t.Notes, "Bars: 95 % intervals over the positions of the text.")
			}
			return t
		}
	}
	return t
}

// divergenceBounds is the interval of a divergence; where there is none, both ends are the divergence.
func divergenceBounds(logits *digest.Case) (lo, hi float64) {
	lo, low := logits.Center(results.KLDLow)
	hi, high := logits.Center(results.KLDHigh)
	if !low || !high {
		e, _ := logits.Center(results.KLD)
		return e, e
	}
	return lo, hi
}
