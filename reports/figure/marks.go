package figure

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The plotters below draw each series as one path, where gonum's own would write one element per
// sample into the SVG. Axes are set by the charts, so none of them has a data range.

// onPaper is a canvas that leaves out what would lie far off it, or nowhere: a path there costs time
// and memory by its extent, and nobody sees it.
type onPaper struct {
	vg.Canvas
	paper vg.Rectangle
	spots *[]spot // nil where there is no pointer
}

// A spot is a place of a drawing, and what a pointer shows there.
type spot struct {
	vg.Rectangle
	text string
}

// spotsSVG lays them over a drawing.
func spotsSVG(spots []spot) string {
	var b strings.Builder
	for _, s := range spots {
		fmt.Fprintf(&b, `<path class="at" d="M%.0f,%.0fH%.0fV%.0fH%[1]fz"><title>%[5]s</title></path>`, s.Min.X.Points(), s.Min.Y.Points(), s.Max.X.Points(), s.Max.Y.Points(), html.EscapeString(s.text))
	}
	return b.String()
}

// Spot is a place between data coordinates, or the panel's edges where they are infinite, that says more to a pointer.
type Spot struct {
	X0, X1, Y0, Y1 float64
	Text           string
}

// PointSpot is that around a point, and RowSpot that of a row.
func PointSpot(x, y float64, text string) Spot { return Spot{x, x, y, y, text} }
func RowSpot(row float64, text string) Spot {
	return Spot{math.Inf(-1), math.Inf(1), row - 0.5, row + 0.5, text}
}

func (s Spot) Plot(c draw.Canvas, p *plot.Plot) {
	within := c.Canvas
	for inner, ok := within.(draw.Canvas); ok; inner, ok = within.(draw.Canvas) { // as gonum cuts it up
		within = inner.Canvas
	}
	page, ok := within.(onPaper)
	if !ok || page.spots == nil {
		return
	}
	x, y := p.Transforms(&c)
	at := func(v float64, to func(float64) vg.Length, lo, hi vg.Length) vg.Length {
		switch {
		case math.IsInf(v, -1):
			return lo
		case math.IsInf(v, 1):
			return hi
		}
		return max(lo, min(hi, to(v)))
	}
	const half = 7 // of what a pointer can hit
	r := vg.Rectangle{Min: vg.Point{X: at(s.X0, x, c.Min.X, c.Max.X), Y: at(s.Y0, y, c.Min.Y, c.Max.Y)}, Max: vg.Point{X: at(s.X1, x, c.Min.X, c.Max.X), Y: at(s.Y1, y, c.Min.Y, c.Max.Y)}}
	if s.X0 == s.X1 {
		r.Min.X, r.Max.X, r.Min.Y, r.Max.Y = r.Min.X-half, r.Max.X+half, r.Min.Y-half, r.Max.Y+half
	}
	*page.spots = append(*page.spots, spot{r, s.Text})
}

// Dots are many values as one path: short strokes.
type Dots struct {
	Points [][2]float64
	Color  color.Color
}

func (d Dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const half = 1.6
	var path vg.Path
	for _, q := range d.Points {
		at := vg.Point{X: acrossIn(c, x(q[0])), Y: max(c.Min.Y, min(c.Max.Y, y(q[1])))}
		path.Move(vg.Point{X: at.X, Y: at.Y - half})
		path.Line(vg.Point{X: at.X, Y: at.Y + half})
	}
	strokePath(c, path, d.Color, 2*half)
}

// Ground fills the panel between two values.
type Ground struct {
	From, To float64
	Role     Role
}

func (g Ground) Plot(c draw.Canvas, p *plot.Plot) {
	Bar{From: g.From, To: g.To, Row: (p.Y.Min + p.Y.Max) / 2, Half: c.Size().Y / 2, Color: Color(g.Role)}.Plot(c, p)
}

func (p onPaper) holds(path vg.Path) bool {
	size := p.paper.Size()
	for _, c := range path {
		if x := c.Pos.X; !(x > p.paper.Min.X-size.X && x < p.paper.Max.X+size.X) && c.Type != vg.CloseComp {
			return false
		}
		if y := c.Pos.Y; !(y > p.paper.Min.Y-size.Y && y < p.paper.Max.Y+size.Y) && c.Type != vg.CloseComp {
			return false
		}
	}
	return true
}

// Stroke draws the lines of a path.
func (p onPaper) Stroke(path vg.Path) {
	if p.holds(path) {
		p.Canvas.Stroke(path)
	}
}

// Fill fills a path.
func (p onPaper) Fill(path vg.Path) {
	if p.holds(path) {
		p.Canvas.Fill(path)
	}
}

// holds reports whether a panel holds a point, its border included.
func holds(c draw.Canvas, at vg.Point) bool {
	const border = 0.5
	return at.X >= c.Min.X-border && at.X <= c.Max.X+border && at.Y >= c.Min.Y-border && at.Y <= c.Max.Y+border
}

// acrossIn moves a position across into the panel.
func acrossIn(c draw.Canvas, x vg.Length) vg.Length { return max(c.Min.X, min(c.Max.X, x)) }

// Strip draws samples as short upright strokes on a row.
type Strip struct {
	Values []float64
	Row    float64
	Color  color.Color
}

func (s Strip) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const half = 4
	var path vg.Path
	drawn := make(map[int]bool) // in quarters of a point: thousands of samples share their places
	for _, v := range s.Values {
		if at := x(v); c.ContainsX(at) && !drawn[int(4*at)] {
			drawn[int(4*at)] = true
			path.Move(vg.Point{X: at, Y: y(s.Row) - half})
			path.Line(vg.Point{X: at, Y: y(s.Row) + half})
		}
	}
	strokePath(c, path, s.Color, 0.6)
}

// Interval draws a bar with caps from lo to hi on a row.
type Interval struct {
	Lo, Hi float64
	Row    float64
	Color  color.Color
}

func (s Interval) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const cap = 3.5
	lo, hi, mid := x(s.Lo), x(s.Hi), y(s.Row)
	if !(hi >= c.Min.X && lo <= c.Max.X) {
		return
	}
	var path vg.Path
	path.Move(vg.Point{X: acrossIn(c, lo), Y: mid})
	path.Line(vg.Point{X: acrossIn(c, hi), Y: mid})
	for _, at := range []vg.Length{lo, hi} {
		if c.ContainsX(at) {
			path.Move(vg.Point{X: at, Y: mid - cap})
			path.Line(vg.Point{X: at, Y: mid + cap})
		}
	}
	strokePath(c, path, s.Color, 1.6)
}

// Bar fills a row from one value to another.
type Bar struct {
	From, To float64
	Row      float64
	Half     vg.Length // half its height
	Color    color.Color
	Outline  bool
}

func (s Bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi, mid := acrossIn(c, x(s.From)), acrossIn(c, x(s.To)), y(s.Row)
	var path vg.Path
	path.Move(vg.Point{X: lo, Y: mid - s.Half})
	path.Line(vg.Point{X: hi, Y: mid - s.Half})
	path.Line(vg.Point{X: hi, Y: mid + s.Half})
	path.Line(vg.Point{X: lo, Y: mid + s.Half})
	path.Close()
	if s.Outline {
		strokePath(c, path, s.Color, 1.2)
		return
	}
	c.SetColor(s.Color)
	c.Fill(path)
}

// Mark draws one glyph.
type Mark struct {
	X, Y  float64
	Style draw.GlyphStyle
}

func (m Mark) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if at := (vg.Point{X: x(m.X), Y: y(m.Y)}); holds(c, at) {
		c.DrawGlyphNoClip(m.Style, at)
	}
}

// Polyline joins points given in data coordinates, clipped to the panel.
type Polyline struct {
	Points [][2]float64
	Color  color.Color
	Width  vg.Length
	Dashes []vg.Length
}

func (l Polyline) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(l.Points))
	for i, q := range l.Points {
		points[i] = vg.Point{X: x(q[0]), Y: y(q[1])}
	}
	style := draw.LineStyle{Color: l.Color, Width: l.Width, Dashes: l.Dashes}
	c.StrokeLines(style, c.ClipLinesXY(points)...)
}

// Besides writes a value right of what stands on a row from lo to hi, or left of it where the panel
// ends too soon. What lies beyond the panel has its value at the edge, with an arrow.
type Besides struct {
	Lo, Hi float64
	Row    float64
	Text   string
}

func (b Besides) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const gap = 8
	style := TextStyle(Muted)
	style.YAlign = draw.YCenter
	at, text := x(b.Hi)+gap, b.Text
	switch {
	case x(b.Lo) > c.Max.X:
		style.XAlign = draw.XRight
		at, text = c.Max.X+gap, text+" →"
	case !(at+style.Width(text) <= c.Max.X+gap):
		style.XAlign = draw.XRight
		if at = acrossIn(c, x(b.Lo)) - gap; at-style.Width(text) < c.Min.X { // no room on either side
			at = c.Max.X + gap
			clearLine(c, at, y(b.Row), -style.Width(text))
		}
	}
	c.FillText(style, vg.Point{X: at, Y: y(b.Row) + centerShift}, text)
}

// centerShift moves text that gonum centers by its box to where it looks centered.
const centerShift = 1.2

// UpInterval draws a bar with caps from lo to hi above a value.
type UpInterval struct {
	X, Lo, Hi float64
	Color     color.Color
}

func (u UpInterval) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const cap = 3.5
	at, lo, hi := x(u.X), max(c.Min.Y, y(u.Lo)), min(c.Max.Y, y(u.Hi))
	if !c.ContainsX(at) || !(lo <= hi) {
		return
	}
	var path vg.Path
	path.Move(vg.Point{X: at, Y: lo})
	path.Line(vg.Point{X: at, Y: hi})
	for _, end := range []vg.Length{lo, hi} {
		path.Move(vg.Point{X: at - cap, Y: end})
		path.Line(vg.Point{X: at + cap, Y: end})
	}
	strokePath(c, path, u.Color, 1.4)
}

// A FanLabel is the name of a point.
type FanLabel struct {
	X, Y  float64
	Group string // of which the topmost labels are written first, where there is no room for all
	Text  string
	Color color.Color
}

// Fan writes the names of points that may stand close together: beside each column of points, on its
// roomier side, spread so that they keep clear of each other, with a line from each to its point.
type Fan struct {
	Labels []FanLabel
	Most   int  // in a column; names beyond are left out, those of the lowest points of their group first
	Joined bool // whether all points are one column, named on its right
}

const fanLine = 13

func (f Fan) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var shown []FanLabel
	for _, l := range f.Labels {
		if holds(c, vg.Point{X: x(l.X), Y: y(l.Y)}) {
			shown = append(shown, l)
		}
	}
	slices.SortStableFunc(shown, func(a, b FanLabel) int { return cmp.Compare(a.X, b.X) })
	room := -c.Min.X // left of the column
	for len(shown) > 0 {
		n := 1
		for n < len(shown) && (f.Joined || x(shown[n].X)-x(shown[n-1].X) < 45) {
			n++
		}
		last := x(shown[n-1].X)
		right := c.Max.X - last
		if n < len(shown) {
			right = x(shown[n].X) - last
		}
		f.plotColumn(c, p, shown[:n], !f.Joined && x(shown[0].X)+room > right)
		room = -last
		shown = shown[n:]
	}
}

// plotColumn writes the names of points above each other.
func (f Fan) plotColumn(c draw.Canvas, p *plot.Plot, column []FanLabel, left bool) {
	x, y := p.Transforms(&c)
	const lead = 14
	at, align, side := x(column[len(column)-1].X)+lead, draw.XLeft, vg.Length(1)
	if left {
		at, align, side = x(column[0].X)-lead, draw.XRight, -1
	}
	column = f.topmost(column)
	tops := make([]vg.Length, len(column))
	for i, l := range column {
		tops[i] = y(l.Y)
	}
	spread(tops, fanLine, c.Min.Y+fanLine/2, c.Max.Y-fanLine/2)
	for i, l := range column {
		style := TextStyle(Ink)
		style.Color, style.XAlign, style.YAlign = l.Color, align, draw.YCenter
		clearLine(c, at, tops[i], side*style.Width(l.Text))
		var path vg.Path
		path.Move(vg.Point{X: x(l.X) + 4*side, Y: y(l.Y)})
		path.Line(vg.Point{X: at - 2*side, Y: tops[i]})
		strokePath(c, path, Color(Muted), 0.5)
		c.FillText(style, vg.Point{X: at, Y: tops[i] + centerShift}, l.Text)
	}
}

// clearLine covers with paper what a line of text of some width, to the left where negative, will stand on.
func clearLine(c draw.Canvas, at, middle, width vg.Length) {
	const half = fanLine/2 - 0.5
	var path vg.Path
	path.Move(vg.Point{X: at, Y: middle - half})
	path.Line(vg.Point{X: at + width, Y: middle - half})
	path.Line(vg.Point{X: at + width, Y: middle + half})
	path.Line(vg.Point{X: at, Y: middle + half})
	path.Close()
	c.SetColor(Color(Paper))
	c.Fill(path)
}

// mostOfGroup is how many names a group has at most in a column.
const mostOfGroup = 8

// topmost chooses the names to write, from the top down: the highest of each group, then the second of
// each, while there is room.
func (f Fan) topmost(column []FanLabel) []FanLabel {
	column = slices.Clone(column)
	down := func(a, b FanLabel) int { return cmp.Or(cmp.Compare(b.Y, a.Y), cmp.Compare(a.Text, b.Text)) }
	slices.SortStableFunc(column, down)
	rank := make(map[string]int)
	type ranked struct {
		FanLabel
		rank int
	}
	var all []ranked
	for _, l := range column {
		if rank[l.Group]++; rank[l.Group] <= mostOfGroup {
			all = append(all, ranked{l, rank[l.Group]})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	column = column[:0]
	for _, l := range all[:min(len(all), f.Most)] {
		column = append(column, l.FanLabel)
	}
	slices.SortStableFunc(column, down)
	return column
}

// LineNames writes what lines across a panel are called, right of it.
type LineNames []Yardstick

func (l LineNames) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	shown := slices.DeleteFunc(slices.Clone(l), func(k Yardstick) bool { return !c.ContainsY(y(k.Error)) })
	slices.SortStableFunc(shown, func(a, b Yardstick) int { return cmp.Compare(b.Error, a.Error) })
	tops := make([]vg.Length, len(shown))
	for i, k := range shown {
		tops[i] = y(k.Error)
	}
	spread(tops, fanLine, c.Min.Y, c.Max.Y)
	style := TextStyle(Muted)
	style.YAlign = draw.YCenter
	for i, k := range shown {
		c.FillText(style, vg.Point{X: c.Max.X + 3, Y: tops[i] + centerShift}, k.Name)
	}
}

// AxisBreak strikes through the vertical axis where it leaves out values.
type AxisBreak struct{ Y float64 }

func (b AxisBreak) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	const gap, half = 2.5, 6
	left, middle := c.Min.X-p.Y.Padding, y(b.Y)
	clearLine(c, left-half, middle, 2*half)
	for _, at := range []vg.Length{middle - gap, middle + gap} {
		var path vg.Path
		path.Move(vg.Point{X: left - half, Y: at - gap})
		path.Line(vg.Point{X: left + half, Y: at + gap})
		strokePath(c, path, Color(Muted), 0.8)
	}
}

// spread moves heights, highest first, so far apart that neighbours keep a distance, and none leaves the
// room between bottom and top if that is large enough.
func spread(heights []vg.Length, distance, bottom, top vg.Length) {
	for i := range heights {
		highest := top
		if i > 0 {
			highest = heights[i-1] - distance
		}
		heights[i] = min(heights[i], highest)
	}
	for i, lowest := len(heights)-1, bottom; i >= 0; i-- {
		heights[i] = max(heights[i], lowest)
		lowest = heights[i] + distance
	}
}

// Upright is a stroke across a row.
type Upright struct {
	At    float64
	Row   float64
	Color color.Color
}

func (u Upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if !c.ContainsX(x(u.At)) {
		return
	}
	var path vg.Path
	path.Move(vg.Point{X: x(u.At), Y: y(u.Row - 0.5)})
	path.Line(vg.Point{X: x(u.At), Y: y(u.Row + 0.5)})
	strokePath(c, path, u.Color, 1.4)
}

// Behind writes text right of a bar, over whatever stroke stands there. Of a bar that leaves the panel, it
// stands at the edge, with an arrow.
type Behind struct {
	Value float64
	Row   float64
	Text  string
}

func (b Behind) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const gap = 5
	style := TextStyle(Ink)
	style.YAlign = draw.YCenter
	at, text := x(b.Value)+gap, b.Text
	if !(at <= c.Max.X+gap) {
		text += " →"
		at = c.Max.X - style.Width(text)
	}
	clearLine(c, at, y(b.Row), style.Width(text))
	c.FillText(style, vg.Point{X: at, Y: y(b.Row) + centerShift}, text)
}

// A Segment is a part of a stacked bar.
type Segment struct {
	Length float64
	Role   Role
}

// AddStack draws segments end to end, with paper between them, and returns where they end.
func AddStack(p *Panel, parts []Segment, row float64) float64 {
	at := 0.0
	for _, s := range parts {
		if !(s.Length > 0) {
			continue
		}
		p.Add(Bar{From: at, To: at + s.Length, Row: row, Half: 6, Color: Color(s.Role)})
		if at > 0 {
			p.Add(Upright{At: at, Row: row, Color: Color(Paper)})
		}
		at += s.Length
	}
	return at
}

// Note writes text beside a point; dx and dy move it.
type Note struct {
	X, Y   float64
	Dx, Dy vg.Length
	Text   string
	Style  draw.TextStyle
}

func (n Note) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if at := (vg.Point{X: x(n.X), Y: y(n.Y)}); holds(c, at) {
		c.FillText(n.Style, vg.Point{X: at.X + n.Dx, Y: at.Y + n.Dy}, n.Text)
	}
}

// Dashed is the dash pattern of borders, which are no data.
var Dashed = []vg.Length{4, 3}

// Dotted is that of what others are measured by.
var Dotted = []vg.Length{1.5, 3}

// A Yardstick is an error to measure others by.
type Yardstick struct {
	Name  string
	Error float64
}
