package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// A Panel is a plot in a figure, and what a reader may choose it by.
type Panel struct {
	*plot.Plot
	Threads, Cache, Shape string
	rows                  []string
}

// NewPanel returns an empty plot in the report's style.
func NewPanel(title string) *Panel {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text = title
	p.Title.Padding = 6
	p.Title.TextStyle.Font = sans(titleSize)
	p.Title.TextStyle.Color = Color(Ink)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color = Color(Muted)
		a.Tick.LineStyle.Color = Color(Muted)
		a.Tick.LineStyle.Width = 0.5
		a.Tick.Length = 4
		a.Tick.Label.Font = sans(labelSize)
		a.Tick.Label.Color = Color(Ink)
		a.Label.TextStyle.Font = sans(labelSize)
		a.Label.TextStyle.Color = Color(Muted)
		a.Label.Padding = 3
		a.Padding = 4
	}
	return &Panel{Plot: p}
}

// XY has numbers on both axes.
func (p *Panel) XY(x, y Axis, across string) *Panel {
	x.Apply(&p.X)
	y.Apply(&p.Y)
	p.X.Label.Text = across
	p.addGrid(true)
	return p
}

// Rows has a name for each row, from the top.
func (p *Panel) Rows(x Axis, names []string) *Panel {
	x.Apply(&p.X)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.rows = names
	p.Y.Tick.Marker = rowTicks(names, true)
	p.Y.Tick.Length = 0
	p.Y.LineStyle.Width = 0
	p.addGrid(false)
	return p
}

// rowTicks label rows; without labels they only make room.
func rowTicks(names []string, labelled bool) plot.ConstantTicks {
	ticks := make([]plot.Tick, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: RowAt(i, len(names)), Label: " "}
		if labelled {
			ticks[i].Label = Label(name)
		}
	}
	return ticks
}

// Line draws points and what joins them.
func (p *Panel) Line(series int, points [][2]float64) {
	p.Add(Polyline{Points: points, Color: Color(Series(series)), Width: 1.4})
	for _, q := range points {
		p.Add(Mark{X: q[0], Y: q[1], Style: Glyph(series, 3)})
	}
}

// Arrange puts panels into rows of at most so many.
func Arrange(panels []*Panel, columns int) [][]*Panel {
	columns = min(len(panels), columns)
	var rows [][]*Panel
	for len(panels) > 0 {
		row := make([]*Panel, columns)
		panels = panels[copy(row, panels):]
		rows = append(rows, row)
	}
	return rows
}

// RowAt is the position of row i of n, counted from the top.
func RowAt(i, n int) float64 { return float64(n - 1 - i) }

// addGrid draws lines at the labelled ticks, behind what is added later; those across rows are left out.
func (p *Panel) addGrid(horizontal bool) {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = Color(GridRole), Color(GridRole)
	g.Vertical.Width, g.Horizontal.Width = 0.7, 0.7
	g.Vertical.Dashes, g.Horizontal.Dashes = nil, nil
	if !horizontal {
		g.Horizontal.Color = nil
	}
	p.Add(g)
}
