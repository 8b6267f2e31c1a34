package reports

import (
	"context"

	"onebit/reports/doc"
	"onebit/reports/figure"
)

func init() {
	RegisterKind(Kind{
		Name:      "models",
		Recognise: func(s *Source) bool { return isBench(s) && hasModels(s.Machines[0]) },
		Build:     buildModels,
	})
}

var modelCharts charts[*modelReport]

func init() {
	modelCharts.Add(threadsChart(func(d *modelReport) []*figure.Figure { return threadsFigures(d.digest, true) }))
}

func buildModels(_ context.Context, s *Source) (*doc.Document, error) {
	d := newDigest(s.Machines[0], s.Warnings...)
	x, m := benchDocument(d, s.Top), newModelReport(d)
	if first, ok := m.modelScreen(); ok {
		x.First = append([]doc.First{first}, x.First...)
	}
	var front doc.Document
	front.Add(m.modelsInText(s.Top), m.modelsSection())
	x.Sections = append(front.Sections, x.Sections...)
	return x, nil
}

// modelsSection has the models' tables and charts.
func (d *modelReport) modelsSection() *doc.Section {
	s := &doc.Section{ID: "models", Heading: "Models", Only: doc.Page | doc.Markdown}
	for _, m := range d.models {
		for _, t := range d.sheets(m) {
			s.Add(t)
		}
	}
	return s.Add(modelCharts.sections(d, d.source())...)
}
