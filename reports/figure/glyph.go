package figure

import (
	"cmp"
	"hash/fnv"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Shape is the form of a series' mark. gonum's own outlines are too thin for dark paper.
type Shape struct {
	corners  int     // of a polygon; 0 is a circle
	Rotation float64 // of its first corner, in radians from the right
	filled   bool
	Strokes  int // instead of a polygon, lines through the center
}

var Shapes = []Shape{
	{filled: true},
	{corners: 4, Rotation: math.Pi / 4},
	{corners: 3, Rotation: math.Pi / 2, filled: true},
	{},
	{corners: 4, Rotation: math.Pi / 4, filled: true},
	{Strokes: 2, Rotation: math.Pi / 4},
	{corners: 3, Rotation: -math.Pi / 2},
	{Strokes: 2},
}

// SeriesShape is the shape of the i'th series. Series that share a colour, and neighbours, differ
// in their shape.
func SeriesShape(i int) draw.GlyphDrawer { return Shapes[(i+i/SeriesCount)%len(Shapes)] }

// DrawGlyph implements draw.GlyphDrawer.
func (s Shape) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	path := s.path(style.Radius, at)
	if s.filled {
		c.SetColor(style.Color)
		c.Fill(path)
		return
	}
	strokePath(*c, path, style.Color, 1.4)
}

func (s Shape) path(radius vg.Length, at vg.Point) vg.Path {
	corner := func(i, n int) vg.Point {
		angle := s.Rotation + 2*math.Pi*float64(i)/float64(n)
		r := radius * 1.2 // polygons look smaller than circles of their radius
		return vg.Point{X: at.X + r*vg.Length(math.Cos(angle)), Y: at.Y + r*vg.Length(math.Sin(angle))}
	}
	var path vg.Path
	switch {
	case s.Strokes > 0:
		for i := range s.Strokes {
			path.Move(corner(i, 2*s.Strokes))
			path.Line(corner(i+s.Strokes, 2*s.Strokes))
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

// Marks belong to names, so that a variant or a format looks the same in every chart of every report.
// A variant's colour says with which instructions it computes, its shape how its weights lie and how the
// activation is rounded. A format's colour is that of the letters that its name begins with, such as q or tq.
var (
	familyColors = map[string]int{
		"reference": 7, "scalar": 4, "unrolled": 3,
		"avx2": 0, "avxvnni": 2, "avx512": 6, "avx512vnni": 1,
		"neon": 0, "neondot": 2, "neoni8mm": 1, "metal": 6, "llama": 5,
	}
	layoutShapes = map[string]int{
		"": 0, "native": 1, "lookup": 2, "f32": 3, "packed": 4, "int8": 4, "stream": 6, "q8_row": 5, "q8_128": 7, "q8_32": 6, "bench": 7,
		"simd": 4, "rows": 1, "naive": 3,
	}
)

const marksCount = 64 // pairs of a colour and a shape

// VariantMark is the series of a variant's mark.
func VariantMark(name string) int {
	family, layout, _ := strings.Cut(strings.ReplaceAll(name, "-", " "), " ")
	color, known := familyColors[family]
	if !known {
		return hashed(name) % marksCount
	}
	form, known := layoutShapes[layout]
	if !known {
		form = hashed(layout) % len(Shapes)
	}
	return lookOf(color, form)
}

// formSalt is by what the formats of today have a mark each.
const formSalt = 208

// FormatMark is the series of a format's mark.
func FormatMark(name string) int {
	family := name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	return lookOf(hashed(family)%SeriesCount, hashed(name)/formSalt%len(Shapes))
}

// lookOf is the series of a colour and a shape: the inverse of Series and SeriesShape.
func lookOf(color, form int) int {
	return color + SeriesCount*((form-color+len(Shapes))%len(Shapes))
}

func hashed(name string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name) // a hash takes everything
	return int(h.Sum32() >> 1)
}

// AssignMarks gives each name its own mark; of names that would share one, the later in their order
// takes another shape or, if there is none, another colour.
func AssignMarks(names []string, own func(string) int) map[string]int {
	marks := make(map[string]int)
	taken := make(map[int]bool)
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, name := range slices.Compact(names) {
		mark := own(name)
		for tries := 0; taken[mark] && tries < marksCount; tries++ {
			mark = (mark + SeriesCount) % marksCount
			if tries%len(Shapes) == len(Shapes)-1 {
				mark = (mark + 1) % marksCount
			}
		}
		marks[name], taken[mark] = mark, true
	}
	return marks
}

// Glyph is the mark of series i.
func Glyph(i int, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: Color(Series(i)), Radius: radius, Shape: SeriesShape(i)}
}

func strokePath(c draw.Canvas, path vg.Path, color color.Color, width vg.Length) {
	if len(path) == 0 {
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: color, Width: width})
	c.Stroke(path)
}

// Square is a legend's entry for a filled area.
func Square(text string, r Role) LegendEntry {
	return LegendEntry{text, draw.GlyphStyle{Color: Color(r), Radius: 5, Shape: Shape{corners: 4, Rotation: math.Pi / 4, filled: true}}}
}
