package reports

import "onebit/bench"

func init() {
	registerChart(chart{
		order: 5, name: "trade", heading: "What speed costs in memory and error", models: true,
		about:   "Right is faster, down is better: less memory, or less error. Ringed variants are beaten in one respect only by giving up the other.",
		figures: tradeFigures,
	})
}

// tradeFigures shows each model's decode speed, or that of its prompt, against its memory and its error.
func tradeFigures(d *digest) []*figure {
	var figures []*figure
	for _, m := range d.models {
		for _, t := range []*trade{m.memoryTrade(), m.errorTrade()} {
			if t != nil {
				if f := d.tradeFigure(t); f != nil {
					figures = append(figures, f)
				}
			}
		}
	}
	return figures
}

// rated is the test whose rate stands for the model's speed; nil if there is none.
func (m *model) rated() *task {
	for _, kind := range []int{testDecode, testPrompt} {
		if t := m.test(kind); t != nil && measured(t.cases, bench.TokenRate) {
			return t
		}
	}
	return nil
}

// pointsOf makes a point of each run under a condition whose cost is known.
func (m *model) pointsOf(p panel, t *task, cost func(*run) (float64, bool)) []tradeoff {
	var points []tradeoff
	for _, r := range m.runs {
		if r.panel != p || r.cases[t] == nil {
			continue
		}
		speed, ok := r.cases[t].center(bench.TokenRate)
		if v, known := cost(r); ok && known && speed > 0 {
			points = append(points, tradeoff{r.contender, speed, v})
		}
	}
	return points
}

func (m *model) memoryTrade() *trade {
	t := m.rated()
	if t == nil {
		return nil
	}
	tr := newTrade(fileName("memory-speed", m.name), m.title("peak memory against "+testLabel(t)), bench.PeakRSS, bench.TokenRate)
	tr.cost = "memory"
	for _, p := range panels(m.cases()) {
		tr.add(p, m.pointsOf(p, t, func(r *run) (float64, bool) {
			c := r.peak()
			if c == nil {
				return 0, false
			}
			return c.center(bench.PeakRSS)
		}))
	}
	return tr
}

// errorTrade is drawn in the first measure of error that any run has.
func (m *model) errorTrade() *trade {
	t := m.rated()
	if t == nil {
		return nil
	}
	for _, unit := range modelErrorUnits {
		tr := newTrade(fileName("error-speed", m.name), m.title(unit+" against "+testLabel(t)), unit, bench.TokenRate)
		for _, p := range panels(m.cases()) {
			tr.add(p, m.pointsOf(p, t, func(r *run) (float64, bool) {
				u, v, ok := m.errorOf(r.cases[t])
				return v, ok && u == unit
			}))
		}
		if len(tr.shown) > 0 {
			return tr
		}
	}
	return nil
}
