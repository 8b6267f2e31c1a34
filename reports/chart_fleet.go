package reports

import (
	"context"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
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

// draw draws the picture of the first screen and a figure for each kind of work on several machines.
func (f *fleet) draw(ctx context.Context) (drawing, error) {
	var figures []*figure
	for _, l := range f.lineups {
		if len(l.ranked()) > 1 {
			figures = append(figures, f.figure(l, len(figures) > 0))
		}
	}
	var first *figure
	if l := f.lead(); l != nil {
		first = f.picture(l)
	}
	return drawAll(ctx, first, []chartFigures{{fleetChart, figures}}, []string{f.subtitle(), f.noiseLine()})
}

// A fleetRow is a machine's heading or, below it, one of its variants.
type fleetRow struct {
	place     *place
	contender string // "" for the heading
}

// figure draws a lineup's largest shape: the variants of each machine by time, and beside it by share.
func (f *fleet) figure(l *lineup, folded bool) *figure {
	who := l.contenders(fleetVariants)
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
	fig := &figure{
		name: fileName("fleet", l.base, l.subject), heading: label(l.title() + textIf(l.base != names.BaseModel, " "+l.shapes[len(l.shapes)-1])),
		reading: l.comparison(), height: rowsHeight(len(rows), 1), folded: folded,
		panels: [][]*plot.Plot{{f.timePanel(rows), f.sharePanel(rows)}},
	}
	if len(shown) < len(places) {
		fig.notes = append(fig.notes, fmt.Sprintf("The first %d of %d machines are drawn: CSV and JSON have all.", len(shown), len(places)))
	}
	if n := len(f.members) - len(places); n > 0 {
		fig.notes = append(fig.notes, fmt.Sprintf("%s not drawn: without this work, or emulated.", count.Of(n, "machine")))
	}
	return fig
}

// last is the case of a row's variant at the largest shape; nil if there is none.
func (r fleetRow) last() *caseStats {
	return r.place.largest().find(r.contender)
}

func (r fleetRow) mark(x, y float64) mark {
	return mark{x: x, y: y, style: glyph(r.place.member.marks[r.contender], 4)}
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
	axis := newAxis(values, false, 4, results.UnitOf(results.NsPerOp).Format)
	p := fleetPanel("time", axis, rows, true)
	for i, r := range rows {
		row := rowAt(i, len(rows))
		c := r.last()
		switch {
		case r.contender == "":
			p.Add(note{x: axis.min, y: row, dx: 4, dy: -4, text: label(r.place.member.name), style: textStyle(roleInk)})
		case c == nil:
			p.Add(besides{lo: axis.min, hi: axis.min, row: row, text: r.place.whyNot(r.contender)})
		default:
			s := c.stats[results.NsPerOp]
			lo, hi := s.Center, s.Center
			if s.bounded() {
				lo, hi = s.Lo, s.Hi
				p.Add(interval{lo: lo, hi: hi, row: row, color: inkOf(seriesRole(r.place.member.marks[r.contender]))})
			}
			p.Add(r.mark(s.Center, row), besides{lo: lo, hi: hi, row: row, text: valueOf(c, results.NsPerOp)})
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
				row := rowAt(i, len(rows))
				p.Add(behind{value: s.percent, row: row, text: s.text() + " " + s.of}, r.mark(s.percent, row))
			}
		}
	}
	return p
}

// shareAxis goes from nothing to what the largest share takes.
func shareAxis(values []float64) valueAxis {
	axis := newAxis(values, false, 5, func(v float64) string { return fmt.Sprintf("%.4g %%", v) }).fromZero()
	axis.max *= 1.12 // room for what is written beside the last
	return axis
}

// addWhole draws the line of what a machine can do.
func addWhole(p *plot.Plot) {
	p.Add(polyline{points: [][2]float64{{100, p.Y.Min}, {100, p.Y.Max}}, color: inkOf(roleFront), width: 1, dashes: dashed})
}

func fleetPanel(title string, axis valueAxis, rows []fleetRow, labelled bool) *plot.Plot {
	p := newPanel(title)
	axis.apply(&p.X)
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = r.contender
	}
	nominalAxis(p, labels, labelled)
	addGrid(p, true, false)
	return p
}

// picture is the share that the best variant of each machine reaches of it, fit for a phone; nil if no share
// was measured.
func (f *fleet) picture(l *lineup) *figure {
	var rows []fleetRow
	var shares []share
	values := []float64{100}
	for _, p := range l.ranked() {
		if s, ok := p.share(p.contender); ok {
			rows = append(rows, fleetRow{p, p.contender})
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
		upper, lower := rowAt(2*i, lines), rowAt(2*i+1, lines)
		s := shares[i]
		p.Add(note{x: axis.min, y: upper, dx: 4, dy: -4, text: label(r.place.member.name + ": " + r.contender + ", " + r.place.speed()), style: textStyle(roleInk)},
			bar{from: 0, to: s.percent, row: lower, half: 6, color: inkOf(seriesRole(r.place.member.marks[r.contender]))},
			behind{value: s.percent, row: lower, text: s.text()})
	}
	fig := &figure{
		name: "first-screen", heading: label(l.title() + ": how much of each machine its best variant uses"), width: narrowWidth,
		reading: "The share of its own roofline that the best variant of each machine reaches, " + l.workText() + "; the fastest machine on top.",
		height:  vg.Length(lines*20 + 50), panels: [][]*plot.Plot{{p}},
	}
	if len(rows) < all {
		fig.notes = []string{fmt.Sprintf("The fastest %d of %d machines are drawn.", len(rows), all)}
	}
	return fig
}
