package reports

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A shape is the form of a series' mark. gonum's own outlines are too thin for dark paper.
type shape struct {
	corners  int     // of a polygon; 0 is a circle
	rotation float64 // of its first corner, in radians from the right
	filled   bool
	strokes  int // instead of a polygon, lines through the center
}

var shapes = []shape{
	{filled: true},
	{corners: 4, rotation: math.Pi / 4},
	{corners: 3, rotation: math.Pi / 2, filled: true},
	{},
	{corners: 4, rotation: math.Pi / 4, filled: true},
	{strokes: 2, rotation: math.Pi / 4},
	{corners: 3, rotation: -math.Pi / 2},
	{strokes: 2},
}

// seriesShape is the shape of the i'th series. Series that share a colour, and neighbours, differ
// in their shape.
func seriesShape(i int) draw.GlyphDrawer { return shapes[(i+i/seriesCount)%len(shapes)] }

// DrawGlyph implements draw.GlyphDrawer.
func (s shape) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	path := s.path(style.Radius, at)
	if s.filled {
		c.SetColor(style.Color)
		c.Fill(path)
		return
	}
	strokePath(*c, path, style.Color, 1.4)
}

func (s shape) path(radius vg.Length, at vg.Point) vg.Path {
	corner := func(i, n int) vg.Point {
		angle := s.rotation + 2*math.Pi*float64(i)/float64(n)
		r := radius * 1.2 // polygons look smaller than circles of their radius
		return vg.Point{X: at.X + r*vg.Length(math.Cos(angle)), Y: at.Y + r*vg.Length(math.Sin(angle))}
	}
	var path vg.Path
	switch {
	case s.strokes > 0:
		for i := range s.strokes {
			path.Move(corner(i, 2*s.strokes))
			path.Line(corner(i+s.strokes, 2*s.strokes))
		}
		return path
	case s.corners == 0:
		path.Move(vg.Point{X: at.X + radius, Y: at.Y})
		path.Arc(at, radius, 0, 2*math.Pi)
	default:
		path.Move(corner(0, s.corners))
		for i := 1; i < s.corners; i++ {
			path.Line(corner(i, s.corners))
		}
	}
	path.Close()
	return path
}

// square is a legend's entry for a filled area.
func square(text string, r role) legendEntry {
	return legendEntry{text, draw.GlyphStyle{Color: inkOf(r), Radius: 5, Shape: shape{corners: 4, rotation: math.Pi / 4, filled: true}}}
}
