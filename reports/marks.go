package reports

import (
	"image/color"

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

// strip draws samples as short upright strokes on a row.
type strip struct {
	values []float64
	row    float64
	color  color.Color
}

func (s strip) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const half = 4
	var path vg.Path
	for _, v := range s.values {
		if at := x(v); c.ContainsX(at) {
			path.Move(vg.Point{X: at, Y: y(s.row) - half})
			path.Line(vg.Point{X: at, Y: y(s.row) + half})
		}
	}
	strokePath(c, path, s.color, 0.6)
}

// interval draws a bar with caps from lo to hi on a row.
type interval struct {
	lo, hi float64
	row    float64
	color  color.Color
}

func (s interval) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const cap = 3.5
	lo, hi, mid := x(s.lo), x(s.hi), y(s.row)
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
	strokePath(c, path, s.color, 1.6)
}

// bar fills a row from one value to another.
type bar struct {
	from, to float64
	row      float64
	half     vg.Length // half its height
	color    color.Color
	outline  bool
}

func (s bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi, mid := acrossIn(c, x(s.from)), acrossIn(c, x(s.to)), y(s.row)
	var path vg.Path
	path.Move(vg.Point{X: lo, Y: mid - s.half})
	path.Line(vg.Point{X: hi, Y: mid - s.half})
	path.Line(vg.Point{X: hi, Y: mid + s.half})
	path.Line(vg.Point{X: lo, Y: mid + s.half})
	path.Close()
	if s.outline {
		strokePath(c, path, s.color, 1.2)
		return
	}
	c.SetColor(s.color)
	c.Fill(path)
}

// mark draws one glyph.
type mark struct {
	x, y  float64
	style draw.GlyphStyle
}

func (m mark) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if at := (vg.Point{X: x(m.x), Y: y(m.y)}); holds(c, at) {
		c.DrawGlyphNoClip(m.style, at)
	}
}

// polyline joins points given in data coordinates, clipped to the panel.
type polyline struct {
	points [][2]float64
	color  color.Color
	width  vg.Length
	dashes []vg.Length
}

func (l polyline) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(l.points))
	for i, q := range l.points {
		points[i] = vg.Point{X: x(q[0]), Y: y(q[1])}
	}
	style := draw.LineStyle{Color: l.color, Width: l.width, Dashes: l.dashes}
	c.StrokeLines(style, c.ClipLinesXY(points)...)
}

// besides writes a value right of what stands on a row from lo to hi, or left of it where the panel
// ends too soon. What lies beyond the panel has its value at the edge, with an arrow.
type besides struct {
	lo, hi float64
	row    float64
	text   string
}

func (b besides) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const gap = 8
	style := textStyle(roleMuted)
	style.YAlign = draw.YCenter
	at, text := x(b.hi)+gap, b.text
	switch {
	case x(b.lo) > c.Max.X:
		style.XAlign = draw.XRight
		at, text = c.Max.X+gap, text+" →"
	case !(at+style.Width(text) <= c.Max.X+gap):
		style.XAlign = draw.XRight
		at = acrossIn(c, x(b.lo)) - gap
	}
	c.FillText(style, vg.Point{X: at, Y: y(b.row) + centerShift}, text)
}

// centerShift moves text that gonum centers by its box to where it looks centered.
const centerShift = 1.2

// frontLabels names the points of a front, fastest and least accurate first. Right of and below a
// front there is nothing else, so names that stand there need only keep clear of each other.
type frontLabels struct {
	points []tradeoff
}

func (l frontLabels) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := textStyle(roleFront)
	style.YAlign = draw.YCenter
	ceiling := c.Max.Y
	for _, q := range l.points {
		at := min(y(drawnError(q.error)), ceiling)
		c.FillText(style, vg.Point{X: x(q.speed) + 11, Y: at + centerShift}, label(q.contender))
		ceiling = at - 13
	}
}

// upright is a stroke across a row.
type upright struct {
	at    float64
	row   float64
	color color.Color
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if !c.ContainsX(x(u.at)) {
		return
	}
	var path vg.Path
	path.Move(vg.Point{X: x(u.at), Y: y(u.row - 0.5)})
	path.Line(vg.Point{X: x(u.at), Y: y(u.row + 0.5)})
	strokePath(c, path, u.color, 1.4)
}

// behind writes text right of a bar, or right of its ceiling where that would cross the text.
type behind struct {
	value, ceiling float64
	limited        bool
	row            float64
	text           string
}

func (b behind) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const gap = 5
	style := textStyle(roleInk)
	style.YAlign = draw.YCenter
	at := acrossIn(c, x(b.value)) + gap
	if b.limited && x(b.ceiling) > at-gap && x(b.ceiling) < at+style.Width(b.text)+gap {
		at = x(b.ceiling) + gap
	}
	c.FillText(style, vg.Point{X: at, Y: y(b.row) + centerShift}, b.text)
}

// A segment is a part of a stacked bar.
type segment struct {
	length float64
	role   role
}

// addStack draws segments end to end, with paper between them, and returns where they end.
func addStack(p *plot.Plot, parts []segment, row float64) float64 {
	at := 0.0
	for _, s := range parts {
		if !(s.length > 0) {
			continue
		}
		p.Add(bar{from: at, to: at + s.length, row: row, half: 6, color: inkOf(s.role)})
		if at > 0 {
			p.Add(upright{at: at, row: row, color: inkOf(rolePaper)})
		}
		at += s.length
	}
	return at
}

// note writes text beside a point; dx and dy move it.
type note struct {
	x, y   float64
	dx, dy vg.Length
	text   string
	style  draw.TextStyle
}

func (n note) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if at := (vg.Point{X: x(n.x), Y: y(n.y)}); holds(c, at) {
		c.FillText(n.style, vg.Point{X: at.X + n.dx, Y: at.Y + n.dy}, n.text)
	}
}

func strokePath(c draw.Canvas, path vg.Path, color color.Color, width vg.Length) {
	if len(path) == 0 {
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: color, Width: width})
	c.Stroke(path)
}

// glyph is the mark of series i.
func glyph(i int, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: inkOf(seriesRole(i)), Radius: radius, Shape: seriesShape(i)}
}

// dashed is the dash pattern of borders, which are no data.
var dashed = []vg.Length{4, 3}
