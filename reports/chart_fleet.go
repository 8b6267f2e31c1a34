package reports

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/figure"
)

const (
	rowsInFleetFigure = 60 // machines and their variants
	rowsInPicture     = 14 // machines
	fleetVariants     = 5  // of each machine
)

var fleetChart = chart{
	name: "fleet", heading: "The same work on each machine",
	about: "Each group is a machine, each row in it a variant, in the same order everywhere. On the left is the median time of one operation with its interval, left is faster; " +
		"on the right what share of its own machine the variant reaches, right is better, and the line at 100 % is what the machine did when it only read, or only multiplied. " +
		"A variant may be far right on a slow machine: the code is good there, and the machine is what limits it.",
}

// figures has one for each kind of work on several machines.
func (f *fleet) figures() []*figure.Figure {
	var all []*figure.Figure
	for _, l := range f.works {
		if len(l.ranked()) > 1 {
			all = append(all, f.figure(l, len(all) > 0))
		}
	}
	return all
}

// A fleetRow is a machine's heading or, below it, one of its variants.
type fleetRow struct {
	place   *place
	variant string // "" for the heading
}

// figure draws a work's largest shape: the variants of each machine by time, and beside it by share.
func (f *fleet) figure(l *work, folded bool) *figure.Figure {
	who := l.variants(fleetVariants)
	var places []*place
	for _, p := range l.places {
		if p.missing == "" && !p.member.emulated() {
			places = append(places, p)
		}
	}
	shown := places[:min(len(places), max(1, rowsInFleetFigure/(len(who)+1)))]
	var rows []fleetRow
	for _, p := range shown {
		rows = append(rows, fleetRow{place: p})
		for _, name := range who {
			rows = append(rows, fleetRow{p, name})
		}
	}
	fig := &figure.Figure{
		Name: figure.FileName("fleet", l.base, l.subject), Heading: figure.Label(l.title() + textIf(l.base != names.BaseModel, " "+l.shapes[len(l.shapes)-1])),
		Reading: l.comparison(), Height: figure.RowsHeight(len(rows), 1), Folded: folded,
		Panels: [][]*plot.Plot{{f.timePanel(rows), f.sharePanel(rows)}},
	}
	if len(shown) < len(places) {
		fig.Notes = append(fig.Notes, fmt.Sprintf("The first %d of %d machines are drawn: CSV and JSON have all.", len(shown), len(places)))
	}
	if n := len(f.members) - len(places); n > 0 {
		fig.Notes = append(fig.Notes, fmt.Sprintf("%s not drawn: without this work, or emulated.", count.Of(n, "machine")))
	}
	return fig
}

// last is the case of a row's variant at the largest shape; nil if there is none.
func (r fleetRow) last() *caseStats {
	return r.place.largest().find(r.variant)
}

func (r fleetRow) mark(x, y float64) figure.Mark {
	return figure.Mark{X: x, Y: y, Style: figure.Glyph(r.place.member.marks[r.variant], 4)}
}

func (f *fleet) timePanel(rows []fleetRow) *plot.Plot {
	var values []float64
	for _, r := range rows {
		if c := r.last(); c != nil {
			s := c.stats[results.NsPerOp]
			if values = append(values, s.Center); s.bounded() {
				values = append(values, max(s.Lo, s.Center/2), min(s.Hi, s.Center*2))
			}
		}
	}
	axis := figure.NewAxis(values, false, 4, results.UnitOf(results.NsPerOp).Format)
	p := fleetPanel("time", axis, rows, true)
	for i, r := range rows {
		row := figure.RowAt(i, len(rows))
		c := r.last()
		switch {
		case r.variant == "":
			p.Add(figure.Note{X: axis.Min, Y: row, Dx: 4, Dy: -4, Text: figure.Label(r.place.member.name), Style: figure.TextStyle(figure.Ink)})
		case c == nil:
			p.Add(figure.Besides{Lo: axis.Min, Hi: axis.Min, Row: row, Text: r.place.whyNot(r.variant)})
		default:
			s := c.stats[results.NsPerOp]
			lo, hi := s.Center, s.Center
			if s.bounded() {
				lo, hi = s.Lo, s.Hi
				p.Add(figure.Interval{Lo: lo, Hi: hi, Row: row, Color: figure.Color(figure.Series(r.place.member.marks[r.variant]))})
			}
			p.Add(r.mark(s.Center, row), figure.Besides{Lo: lo, Hi: hi, Row: row, Text: valueOf(c, results.NsPerOp)})
		}
	}
	return p
}

func (f *fleet) sharePanel(rows []fleetRow) *plot.Plot {
	values := []float64{100}
	for _, r := range rows {
		if c := r.last(); c != nil {
			if s, ok := shareOf(c); ok {
				values = append(values, s.percent)
			}
		}
	}
	axis := shareAxis(values)
	p := fleetPanel("share of the machine's own roofline", axis, rows, false)
	addWhole(p)
	for i, r := range rows {
		if c := r.last(); c != nil {
			if s, ok := shareOf(c); ok {
				row := figure.RowAt(i, len(rows))
				p.Add(figure.Behind{Value: s.percent, Row: row, Text: s.text() + " " + s.of}, r.mark(s.percent, row))
			}
		}
	}
	return p
}

// shareAxis goes from nothing to what the largest share takes.
func shareAxis(values []float64) figure.Axis {
	axis := figure.NewAxis(values, false, 5, func(v float64) string { return fmt.Sprintf("%.4g %%", v) }).FromZero()
	axis.Max *= 1.12 // room for what is written beside the last
	return axis
}

// addWhole draws the line of what a machine can do.
func addWhole(p *plot.Plot) {
	p.Add(figure.Polyline{Points: [][2]float64{{100, p.Y.Min}, {100, p.Y.Max}}, Color: figure.Color(figure.Front), Width: 1, Dashes: figure.Dashed})
}

func fleetPanel(title string, axis figure.Axis, rows []fleetRow, labelled bool) *plot.Plot {
	p := figure.NewPanel(title)
	axis.Apply(&p.X)
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = r.variant
	}
	figure.NominalAxis(p, labels, labelled)
	figure.AddGrid(p, true, false)
	return p
}

// picture is the share that the best variant of each machine reaches of it, fit for a phone; nil if no share
// was measured.
func (f *fleet) picture(l *work) *figure.Figure {
	var rows []fleetRow
	var shares []share
	values := []float64{100}
	for _, p := range l.ranked() {
		if s, ok := p.share(p.variant); ok {
			rows = append(rows, fleetRow{p, p.variant})
			shares = append(shares, s)
			values = append(values, s.percent)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	all := len(rows)
	rows, shares = rows[:min(all, rowsInPicture)], shares[:min(all, rowsInPicture)]
	axis := shareAxis(values)
	lines := 2 * len(rows)
	p := fleetPanel("", axis, make([]fleetRow, lines), false)
	addWhole(p)
	for i, r := range rows {
		upper, lower := figure.RowAt(2*i, lines), figure.RowAt(2*i+1, lines)
		s := shares[i]
		p.Add(figure.Note{X: axis.Min, Y: upper, Dx: 4, Dy: -4, Text: figure.Label(r.place.member.name + ": " + r.variant + ", " + r.place.speed()), Style: figure.TextStyle(figure.Ink)},
			figure.Bar{From: 0, To: s.percent, Row: lower, Half: 6, Color: figure.Color(figure.Series(r.place.member.marks[r.variant]))},
			figure.Behind{Value: s.percent, Row: lower, Text: s.text()})
	}
	fig := &figure.Figure{
		Name: "first-screen", Heading: figure.Label(l.title() + ": how much of each machine its best variant uses"), Width: figure.NarrowWidth,
		Reading: "The share of its own roofline that the best variant of each machine reaches, " + l.workText() + "; the fastest machine on top.",
		Height:  vg.Length(lines*20 + 50), Panels: [][]*plot.Plot{{p}},
	}
	if len(rows) < all {
		fig.Notes = []string{fmt.Sprintf("The fastest %d of %d machines are drawn.", len(rows), all)}
	}
	return fig
}
