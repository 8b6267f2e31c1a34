package reports

import (
	"errors"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Curves is a figure of lines over a number, in panels with common axes: losses by
// step, accuracies by round. It is for what is no result of a benchmark, and
// stands alone.
type Curves struct {
	Heading string
	Notes   []string // what the lines are, and where they come from: a sentence each
	X, Y    string   // what the axes show
	LogX    bool
	LogY    bool
	Top     float64    // above which no point is drawn; 0: all are
	Span    [2]float64 // the ends of the vertical axis; both 0: what the points take
	Columns int        // of panels
	Panels  []CurvePanel
}

// A CurvePanel is lines in one pair of axes.
type CurvePanel struct {
	Title string
	Lines []Curve
}

// A Curve is one line. Lines of the same name look the same in every panel.
type Curve struct {
	Name   string
	Points []CurvePoint
}

// A CurvePoint is a value and its interval; Low and High are 0 where there is
// none. Values that are not finite, or not positive on a logarithmic axis, are left
// out.
type CurvePoint struct{ X, Y, Low, High float64 }

// marksOnCurve is how many points of a line have a mark at most.
const marksOnCurve = 24

// WritePNG draws the figure. Without a point to draw, it is an error.
func (c *Curves) WritePNG(w io.Writer) error {
	f := &figure{heading: c.Heading, notes: c.Notes}
	var xs, ys []float64
	for _, p := range c.Panels {
		for _, l := range p.Lines {
			for _, q := range c.drawable(l) {
				xs, ys = append(xs, q.X), append(ys, q.Y)
				if q.High > q.Low {
					ys = append(ys, q.Low, q.High)
				}
			}
		}
	}
	if len(xs) == 0 {
		return errors.New("nothing to draw: no point is finite")
	}
	x, y := curveAxis(xs, c.LogX, math.Inf(1)), curveAxis(ys, c.LogY, c.Top)
	if c.Span != [2]float64{} {
		y.min, y.max = c.Span[0], c.Span[1]
	}
	var names []string
	var panels []*plot.Plot
	for _, p := range c.Panels {
		panel := newPanel(p.Title)
		x.apply(&panel.X)
		y.apply(&panel.Y)
		panel.X.Label.Text = c.X
		addGrid(panel, true, true)
		for _, l := range p.Lines {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
				f.legend = append(f.legend, legendEntry{l.Name, glyph(len(names)-1, 4)})
			}
			c.addCurve(panel, l, slices.Index(names, l.Name))
		}
		panels = append(panels, panel)
	}
	f.panels = arrange(panels, max(1, c.Columns))
	f.upward = slices.Repeat([]string{c.Y}, len(f.panels))
	f.height = vg.Length(250 * len(f.panels))
	return f.writePNG(w)
}

// drawable returns the points that the axes can show.
func (c *Curves) drawable(l Curve) []CurvePoint {
	return slices.DeleteFunc(slices.Clone(l.Points), func(q CurvePoint) bool {
		return math.IsNaN(q.X+q.Y) || math.IsInf(q.X+q.Y, 0) || c.LogX && q.X <= 0 || c.LogY && q.Y <= 0
	})
}

func (c *Curves) addCurve(panel *plot.Plot, l Curve, series int) {
	ink := inkOf(seriesRole(series))
	var line [][2]float64
	points := c.drawable(l)
	every := (len(points) + marksOnCurve - 1) / marksOnCurve
	for i, q := range points {
		line = append(line, [2]float64{q.X, q.Y})
		if q.High > q.Low {
			panel.Add(upInterval{x: q.X, lo: q.Low, hi: q.High, color: ink})
		}
		if i%every == 0 {
			panel.Add(mark{x: q.X, y: q.Y, style: glyph(series, 3)})
		}
	}
	panel.Add(polyline{points: line, color: ink, width: 1.2})
}

// curveAxis covers the values up to top, where that is not 0.
func curveAxis(values []float64, log bool, top float64) valueAxis {
	if top != 0 {
		values = slices.DeleteFunc(values, func(v float64) bool { return v > top })
	}
	if len(values) == 0 {
		values = []float64{top}
	}
	a := newAxis(values, log, 6, bareRate)
	if log || !a.log {
		return a
	}
	a.log = false
	low, high := slices.Min(values), slices.Max(values)
	margin := (high - low) * 0.06
	a.min, a.max = low-margin, high+margin
	return a
}
