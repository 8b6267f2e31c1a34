package reports

import (
	"cmp"
	"fmt"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// A chart draws one question's answer about a report, as figures: one per format or task, or none if the results
// don't hold what it shows.
type chart[R any] struct {
	order   int    // where it stands in the report
	name    string // start of its files' names
	heading string
	about   string // how to read its figures
	figures func(R) []*figure.Figure
}

// Charts are those of one kind of report.
type charts[R any] []chart[R]

// Add is called by the init function of each chart's file.
func (c *charts[R]) Add(one chart[R]) {
	*c = append(*c, one)
	slices.SortFunc(*c, func(a, b chart[R]) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.name, b.name)) })
}

// maxFigures is how many figures of a chart are drawn, and maxHeight how high they may be together if
// they are several: nobody looks at more, and a page of hundreds opens slowly.
const (
	maxFigures = 12
	maxHeight  = 20000
)

// sections has a section for each chart that has something to show of a report, with the source below its figures.
func (c charts[R]) sections(of R, source []string) []doc.Part {
	var all []doc.Part
	for _, one := range c {
		if s := one.section(one.figures(of), source); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// section has a chart's figures, with the source below each; nil if there is none.
func (c chart[R]) section(figures []*figure.Figure, source []string) *doc.Section {
	shown := enough(figures)
	if len(shown) == 0 {
		return nil
	}
	about := c.about
	if len(shown) < len(figures) {
		about += fmt.Sprintf(" The first %d of %d figures are shown: render fewer results at a time to see others.", len(shown), len(figures))
	}
	s := (&doc.Section{ID: c.name, Heading: c.heading, Only: doc.Page}).Add(doc.Text{Words: about})
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
		if height += f.Height; i == maxFigures || i > 0 && height > maxHeight {
			return figures[:i]
		}
	}
	return figures
}

// source says of a picture that stands alone where and when its results were taken, and their noise.
func (d *digest) source() []string {
	var parts []string
	add := func(format, key string) {
		// A value that could not be found out is its reason.
		if v := d.res.Setting(key); v != "" && !strings.HasPrefix(v, "unavailable") {
			parts = append(parts, fmt.Sprintf(format, figure.Label(v)))
		}
	}
	add("%s", "cpu")
	add("%s CPUs", "cpus-usable")
	add("%s", "platform")
	add("measured %s", "started")
	add("commit %s", "commit")
	return []string{strings.Join(parts, " · "), d.noiseLine()}
}

// families groups the tasks whose variants are drawn together: by benchmark and format.
func (d *digest) families() []*family {
	var all []*family
	for _, t := range d.tasks {
		if n := len(all); n == 0 || all[n-1].base != t.base || all[n-1].subject != t.subject {
			all = append(all, &family{base: t.base, subject: t.subject})
		}
		f := all[len(all)-1]
		f.tasks = append(f.tasks, t)
		f.cases = append(f.cases, t.cases...)
	}
	return all
}

// A family is the tasks of one benchmark and format.
type family struct {
	base, subject string
	tasks         []*task
	cases         []*caseStats
}

func (f *family) title() string { return cmp.Or(f.subject, f.base) }

// variants lists who competes in some cases, in natural order.
func variants(cases []*caseStats) []string {
	var names []string
	for _, c := range cases {
		names = append(names, c.variant)
	}
	slices.SortFunc(names, naturalCompare)
	return slices.Compact(names)
}

// sortBy orders names by a score, lowest first; names without one come last.
func sortBy(names []string, score func(string) (float64, bool)) {
	type scored struct {
		score float64
		known bool
	}
	scores := make(map[string]scored, len(names))
	for _, name := range names {
		v, ok := score(name)
		scores[name] = scored{v, ok}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		x, okX := scores[a].score, scores[a].known
		y, okY := scores[b].score, scores[b].known
		switch {
		case okX && okY:
			return cmp.Compare(x, y)
		case okX:
			return -1
		case okY:
			return 1
		}
		return 0
	})
}
