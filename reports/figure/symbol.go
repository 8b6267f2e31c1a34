package figure

import (
	"bytes"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SymbolSize is the width and height of a symbol.
const SymbolSize = 13

// Symbol is a series' mark as it stands in figures: the inside of an SVG element.
func Symbol(series int) string {
	canvas := vgsvg.New(SymbolSize, SymbolSize)
	c := draw.New(canvas)
	c.DrawGlyphNoClip(Glyph(series, 4.5), vg.Point{X: SymbolSize / 2.0, Y: SymbolSize / 2.0})
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "" // a buffer takes everything
	}
	body := b.String()
	start, end := strings.Index(body, "<g "), strings.LastIndex(body, "</svg>")
	if start < 0 || end < start {
		return ""
	}
	return ColorsToVariables(strings.ReplaceAll(body[start:end], "\n", ""))
}
