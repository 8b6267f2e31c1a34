package reports

import (
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/figure"
)

func init() {
	modelCharts.Add(chart[*modelReport]{
		order: 5, name: "trade", heading: "The cost of speed in memory and error",
		about: "Right is faster, down is better: less memory, or less error. A model's converted heads stand beside it. Variants whose errors are equal share a point, that of the " +
			"fastest. Ringed points are beaten in one respect only by giving up the other.",
		figures: tradeFigures,
	})
}

// tradeFigures shows each model's decode speed, or that of its prompt, against its memory and its error.
func tradeFigures(d *modelReport) []*figure.Figure {
	var figures []*figure.Figure
	for _, group := range d.modelsWithHeads() {
		for _, t := range []*trade{d.memoryTrade(group), d.errorTrade(group)} {
			if f := tradeFigure(t); f != nil {
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// modelsWithHeads groups the models that differ in their heads alone: the name of one with a converted
// head ends in + and its format.
func (d *modelReport) modelsWithHeads() [][]*model {
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
func (m *model) rated() *task {
	for _, kind := range []string{names.Decode, names.Prompt} {
		if t := m.test(kind); t != nil && measured(t.cases, results.TokenRate) {
			return t
		}
	}
	return nil
}

// tradeOf makes a point of each run of the models whose cost is known.
func (d *modelReport) tradeOf(group []*model, name, what, unit string, cost func(*model, *run, *tradePoint) bool) *trade {
	rated := ""
	var cases []*caseStats
	for _, m := range group {
		cases = append(cases, m.cases()...)
		if t := m.rated(); t != nil && rated == "" {
			rated = testLabel(t)
		}
	}
	t := newTrade(figure.FileName(name, group[0].withoutHead()), group[0].title(what+" against "+rated), unit, results.TokenRate)
	for _, p := range panels(cases) {
		var points []tradePoint
		for _, m := range group {
			points = append(points, d.pointsOf(m, p, cost)...)
		}
		if unit != results.PeakRSS {
			points = fastestOfEach(points, func(tradePoint) string { return "" })
		}
		t.add(p, points)
	}
	return t
}

func (d *modelReport) pointsOf(m *model, p panel, cost func(*model, *run, *tradePoint) bool) []tradePoint {
	var points []tradePoint
	t := m.rated()
	for _, r := range m.runs {
		if t == nil || r.panel != p || r.cases[t] == nil {
			continue
		}
		q := tradePoint{text: r.variant, series: d.marks[r.variant]}
		if _, head, converted := strings.Cut(m.name, "+"); converted {
			q.text += ", head " + head
		}
		q.variant, q.short = r.variant, q.text
		speed, ok := r.cases[t].center(results.TokenRate)
		if q.speed = speed; ok && speed > 0 && cost(m, r, &q) {
			points = append(points, q)
		}
	}
	return points
}

func (d *modelReport) memoryTrade(group []*model) *trade {
	t := d.tradeOf(group, "memory-speed", "peak memory", results.PeakRSS, func(_ *model, r *run, q *tradePoint) bool {
		c := r.peak()
		if c == nil {
			return false
		}
		v, ok := c.center(results.PeakRSS)
		q.error, q.lo, q.hi = v, v, v
		return ok
	})
	t.cost = "memory"
	return t
}

// errorTrade is drawn in the first measure of error that any run has. Perplexity is none: that of random
// weights says nothing, and that of others depends on the text.
func (d *modelReport) errorTrade(group []*model) *trade {
	var t *trade
	for _, unit := range modelErrorUnits {
		if unit == results.Perplexity {
			continue
		}
		t = d.tradeOf(group, "error-speed", unit, unit, func(m *model, r *run, q *tradePoint) bool {
			u, v, ok := m.errorOf(r.cases[m.rated()])
			q.error, q.lo, q.hi = v, v, v
			if logits := m.logitsOf(r); unit == results.KLD && logits != nil {
				q.lo, q.hi = divergenceBounds(logits)
			}
			return ok && u == unit
		})
		if len(t.shown) > 0 {
			if t.hasIntervals() {
				t.notes = append(t.notes, "Bars: 95 % intervals over the positions of the text.")
			}
			return t
		}
	}
	return t
}

// divergenceBounds is the interval of a divergence; where there is none, both ends are the divergence.
func divergenceBounds(logits *caseStats) (lo, hi float64) {
	lo, low := logits.center(results.KLDLow)
	hi, high := logits.center(results.KLDHigh)
	if !low || !high {
		e, _ := logits.center(results.KLD)
		return e, e
	}
	return lo, hi
}
