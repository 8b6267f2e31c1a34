package reports

import (
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

// modelsSection has the models' tables and charts.
func (d *digest) modelsSection() *doc.Section {
	s := &doc.Section{ID: "models", Heading: "Models", Only: doc.Page | doc.Markdown}
	for _, m := range d.models {
		for _, t := range d.sheets(m) {
			s.Add(t)
		}
	}
	return s.Add(d.charts(true)...)
}
