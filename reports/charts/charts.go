// Package charts draws what kernels and models have in common: a chart as a section of figures, speed against what it costs, and
// speed-ups by threads.
package charts

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

// A Chart draws one question's answer about a report, as figures: one per format or task, or none if the results
// don't hold what it shows.
type Chart[R any] struct {
	Order   int    // where it stands in the report
	Name    string // start of its files' names
	Heading string
	About   string // how to read its figures
	Figures func(R) []*figure.Figure
}

// Charts are those of one kind of report.
type List[R any] []Chart[R]

// Add is called by the init function of each chart's file.
func (c *List[R]) Add(one Chart[R]) {
	*c = append(*c, one)
	slices.SortFunc(*c, func(a, b Chart[R]) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name)) })
}

// maxFigures is how many figures of a chart are drawn, and maxHeight how high they may be together if
// they are several: nobody looks at more, and a page of hundreds opens slowly.
const (
	MaxFigures = 12
	maxHeight  = 20000
)

// Sections has a section for each chart that has something to show of a report, with the source below its figures.
func (c List[R]) Sections(of R, source []string) []doc.Part {
	var all []doc.Part
	for _, one := range c {
		if s := one.Section(one.Figures(of), source); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Section has a chart's figures, with the source below each; nil if there is none.
func (c Chart[R]) Section(figures []*figure.Figure, source []string) *doc.Section {
	shown := enough(figures)
	if len(shown) == 0 {
		return nil
	}
	about := c.About
	if len(shown) < len(figures) {
		about += fmt.Sprintf(" The first %d of %d figures are shown: render fewer results at a time to see others.", len(shown), len(figures))
	}
	s := (&doc.Section{ID: c.Name, Heading: c.Heading, Only: doc.Page}).Add(doc.Text{Words: about})
	for _, f := range shown {
		f.Source = source
		s.Add(&doc.Figure{Figure: f, Folded: f.Folded})
	}
	return s
}

// enough are the first figures, as many as a page holds.
func enough(figures []*figure.Figure) []*figure.Figure {
	var height vg.Length
	for i, f := range figures {
		if height += f.Height; i == MaxFigures || i > 0 && height > maxHeight {
			return figures[:i]
		}
	}
	return figures
}
