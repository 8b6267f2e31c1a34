package reports

import (
	"cmp"
	"image/color"
	"slices"

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
	drawn := make(map[int]bool) // in quarters of a point: thousands of samples share their places
	for _, v := range s.values {
		if at := x(v); c.ContainsX(at) && !drawn[int(4*at)] {
			drawn[int(4*at)] = true
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

// upInterval draws a bar with caps from lo to hi above a value.
type upInterval struct {
	x, lo, hi float64
	color     color.Color
}

func (u upInterval) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const cap = 3.5
	at, lo, hi := x(u.x), max(c.Min.Y, y(u.lo)), min(c.Max.Y, y(u.hi))
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
	strokePath(c, path, u.color, 1.4)
}

// A fanLabel is the name of a point.
type fanLabel struct {
	x, y  float64
	group string // of which the topmost labels are written first, where there is no room for all
	text  string
	color color.Color
}

// fan writes the names of points that may stand close together: beside each column of points, on its
// roomier side, spread so that they keep clear of each other, with a line from each to its point.
type fan struct {
	labels []fanLabel
	most   int  // in a column; names beyond are left out, those of the lowest points of their group first
	joined bool // whether all points are one column, named on its right
}

const fanLine = 13

func (f fan) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var shown []fanLabel
	for _, l := range f.labels {
		if holds(c, vg.Point{X: x(l.x), Y: y(l.y)}) {
			shown = append(shown, l)
		}
	}
	slices.SortStableFunc(shown, func(a, b fanLabel) int { return cmp.Compare(a.x, b.x) })
	room := -c.Min.X // left of the column
	for len(shown) > 0 {
		n := 1
		for n < len(shown) && (f.joined || x(shown[n].x)-x(shown[n-1].x) < 45) {
			n++
		}
		last := x(shown[n-1].x)
		right := c.Max.X - last
		if n < len(shown) {
			right = x(shown[n].x) - last
		}
		f.plotColumn(c, p, shown[:n], !f.joined && x(shown[0].x)+room > right)
		room = -last
		shown = shown[n:]
	}
}

// plotColumn writes the names of points above each other.
func (f fan) plotColumn(c draw.Canvas, p *plot.Plot, column []fanLabel, left bool) {
	x, y := p.Transforms(&c)
	const lead = 14
	at, align, side := x(column[len(column)-1].x)+lead, draw.XLeft, vg.Length(1)
	if left {
		at, align, side = x(column[0].x)-lead, draw.XRight, -1
	}
	column = f.topmost(column)
	tops := make([]vg.Length, len(column))
	for i, l := range column {
		tops[i] = y(l.y)
	}
	spread(tops, fanLine, c.Min.Y+fanLine/2, c.Max.Y-fanLine/2)
	for i, l := range column {
		style := textStyle(roleInk)
		style.Color, style.XAlign, style.YAlign = l.color, align, draw.YCenter
		clearLine(c, at, tops[i], side*style.Width(l.text))
		var path vg.Path
		path.Move(vg.Point{X: x(l.x) + 4*side, Y: y(l.y)})
		path.Line(vg.Point{X: at - 2*side, Y: tops[i]})
		strokePath(c, path, inkOf(roleMuted), 0.5)
		c.FillText(style, vg.Point{X: at, Y: tops[i] + centerShift}, l.text)
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
	c.SetColor(inkOf(rolePaper))
	c.Fill(path)
}

// mostOfGroup is how many names a group has at most in a column.
const mostOfGroup = 8

// topmost chooses the names to write, from the top down: the highest of each group, then the second of
// each, while there is room.
func (f fan) topmost(column []fanLabel) []fanLabel {
	column = slices.Clone(column)
	down := func(a, b fanLabel) int { return cmp.Or(cmp.Compare(b.y, a.y), cmp.Compare(a.text, b.text)) }
	slices.SortStableFunc(column, down)
	rank := make(map[string]int)
	type ranked struct {
		fanLabel
		rank int
	}
	var all []ranked
	for _, l := range column {
		if rank[l.group]++; rank[l.group] <= mostOfGroup {
			all = append(all, ranked{l, rank[l.group]})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	column = column[:0]
	for _, l := range all[:min(len(all), f.most)] {
		column = append(column, l.fanLabel)
	}
	slices.SortStableFunc(column, down)
	return column
}

// lineNames writes what lines across a panel are called, right of it.
type lineNames []yardstick

func (l lineNames) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	shown := slices.DeleteFunc(slices.Clone(l), func(k yardstick) bool { return !c.ContainsY(y(k.error)) })
	slices.SortStableFunc(shown, func(a, b yardstick) int { return cmp.Compare(b.error, a.error) })
	tops := make([]vg.Length, len(shown))
	for i, k := range shown {
		tops[i] = y(k.error)
	}
	spread(tops, fanLine, c.Min.Y, c.Max.Y)
	style := textStyle(roleMuted)
	style.YAlign = draw.YCenter
	for i, k := range shown {
		c.FillText(style, vg.Point{X: c.Max.X + 3, Y: tops[i] + centerShift}, k.name)
	}
}

// axisBreak strikes through the vertical axis where it leaves out values.
type axisBreak struct{ y float64 }

func (b axisBreak) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	const gap, half = 2.5, 6
	left, middle := c.Min.X-p.Y.Padding, y(b.y)
	clearLine(c, left-half, middle, 2*half)
	for _, at := range []vg.Length{middle - gap, middle + gap} {
		var path vg.Path
		path.Move(vg.Point{X: left - half, Y: at - gap})
		path.Line(vg.Point{X: left + half, Y: at + gap})
		strokePath(c, path, inkOf(roleMuted), 0.8)
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

// behind writes text right of a bar, over whatever stroke stands there. Of a bar that leaves the panel, it
// stands at the edge, with an arrow.
type behind struct {
	value float64
	row   float64
	text  string
}

func (b behind) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const gap = 5
	style := textStyle(roleInk)
	style.YAlign = draw.YCenter
	at, text := x(b.value)+gap, b.text
	if !(at <= c.Max.X+gap) {
		text += " →"
		at = c.Max.X - style.Width(text)
	}
	clearLine(c, at, y(b.row), style.Width(text))
	c.FillText(style, vg.Point{X: at, Y: y(b.row) + centerShift}, text)
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

// dotted is that of what others are measured by.
var dotted = []vg.Length{1.5, 3}
