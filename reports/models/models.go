// Package models reports runs of whole models, beside what kernels shows of the same run: how fast, how big and how wrong
// each is, where its time goes, and what a long text costs.
package models

import (
	"context"

	"onebit/reports"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/kernels"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "models",
		Recognise: func(s *reports.Source) bool { return kernels.IsBench(s) && kernels.HasModels(s.Machines[0]) },
		Build:     buildModels,
	})
}

var drawings charts.List[*report]

func init() {
	drawings.Add(charts.ThreadsChart(func(d *report) []*figure.Figure { return charts.Threads(d.Digest, true) }))
}

func buildModels(_ context.Context, s *reports.Source) (*doc.Document, error) {
	d := digest.Of(s.Machines[0], s.Warnings...)
	x, m := kernels.Document(d, s.Top), newReport(d)
	if first, ok := m.modelScreen(); ok {
		x.First = append([]doc.First{first}, x.First...)
	}
	var front doc.Document
	front.Add(m.modelsInText(s.Top), m.modelsSection())
	x.Sections = append(front.Sections, x.Sections...)
	return x, nil
}

// modelsSection has the models' tables and charts.
func (d *report) modelsSection() *doc.Section {
	s := &doc.Section{ID: "models", Heading: "Models", Only: doc.Page | doc.Markdown}
	for _, m := range d.models {
		for _, t := range d.sheets(m) {
			s.Add(t)
		}
	}
	return s.Add(drawings.Sections(d, d.Source())...)
}
