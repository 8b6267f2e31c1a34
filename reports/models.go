package reports

import (
	"cmp"
	"context"
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
)

func init() {
	RegisterKind(Kind{
		Name:      "models",
		Recognise: func(s *Source) bool { return isBench(s) && hasModels(s.Machines[0]) },
		Build:     func(ctx context.Context, s *Source) (*doc.Document, error) { return buildBench(ctx, s) },
	})
}

// hasModels reports whether any case is of a model.
func hasModels(res *results.Set) bool {
	return slices.ContainsFunc(res.Samples, func(s results.Sample) bool { return s.Name.Get(names.Model) != "" })
}

// modelsSection has a card of each model, its tables and charts.
func (d *digest) modelsSection() *doc.Section {
	s := &doc.Section{ID: "models", Heading: "Models", Only: doc.Page | doc.Markdown}
	var cards doc.Cards
	var tables []doc.Part
	for _, m := range d.models {
		sheets := d.sheets(m)
		for _, t := range sheets {
			tables = append(tables, t)
		}
		card := doc.Card{Subject: cmp.Or(m.name, names.BaseModel), Section: "models", Headline: "was not timed"}
		if g, ok := d.glance(m); ok {
			card.Winner, card.Headline, card.Facts = g.ranking.best().variant, g.headline(), g.facts
			card.Mark = doc.MarkOf(d.marks[card.Winner])
		}
		cards = append(cards, card)
	}
	if len(cards) > 0 {
		s.Add(cards)
	}
	return s.Add(tables...).Add(d.charts(true)...)
}
