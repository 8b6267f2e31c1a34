package figure

import (
	"errors"
	"io"
	"math"
	"slices"

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
	f := &Figure{Heading: c.Heading, Notes: c.Notes}
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
		y.Min, y.Max = c.Span[0], c.Span[1]
	}
	var names []string
	var panels []*Panel
	for _, p := range c.Panels {
		panel := NewPanel(p.Title).XY(x, y, c.X)
		for _, l := range p.Lines {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
				f.Legend = append(f.Legend, LegendEntry{l.Name, Glyph(len(names)-1, 4)})
			}
			c.addCurve(panel, l, slices.Index(names, l.Name))
		}
		panels = append(panels, panel)
	}
	f.Panels = Arrange(panels, max(1, c.Columns))
	f.Upward = slices.Repeat([]string{c.Y}, len(f.Panels))
	f.Height = vg.Length(250 * len(f.Panels))
	return f.WritePNG(w)
}

// drawable returns the points that the axes can show.
func (c *Curves) drawable(l Curve) []CurvePoint {
	return slices.DeleteFunc(slices.Clone(l.Points), func(q CurvePoint) bool {
		return math.IsNaN(q.X+q.Y) || math.IsInf(q.X+q.Y, 0) || c.LogX && q.X <= 0 || c.LogY && q.Y <= 0
	})
}

func (c *Curves) addCurve(panel *Panel, l Curve, series int) {
	ink := Color(Series(series))
	var line [][2]float64
	points := c.drawable(l)
	every := (len(points) + marksOnCurve - 1) / marksOnCurve
	for i, q := range points {
		line = append(line, [2]float64{q.X, q.Y})
		if q.High > q.Low {
			panel.Add(UpInterval{X: q.X, Lo: q.Low, Hi: q.High, Color: ink})
		}
		if i%every == 0 {
			panel.Add(Mark{X: q.X, Y: q.Y, Style: Glyph(series, 3)})
		}
	}
	panel.Add(Polyline{Points: line, Color: ink, Width: 1.2})
}

// curveAxis covers the values up to top, where that is not 0.
func curveAxis(values []float64, log bool, top float64) Axis {
	if top != 0 {
		values = slices.DeleteFunc(values, func(v float64) bool { return v > top })
	}
	if len(values) == 0 {
		values = []float64{top}
	}
	a := NewAxis(values, log, 6, BareNumber)
	if log || !a.Log {
		return a
	}
	a.Log = false
	low, high := slices.Min(values), slices.Max(values)
	margin := (high - low) * 0.06
	a.Min, a.Max = low-margin, high+margin
	return a
}
