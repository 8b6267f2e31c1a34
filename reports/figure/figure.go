package figure

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Figure is one drawing: a grid of panels with a common legend. It is drawn the same way to PNG
// and to SVG.
type Figure struct {
	Name    string // file name without extension, from FileName
	Heading string
	Reading string    // how to read it, and what it says, in a line
	Width   vg.Length // 0: Width
	Height  vg.Length
	Margin  vg.Length  // room right of each panel for what is written beside it
	Panels  [][]*Panel // rows of equal length; nil where a panel is lacking
	Upward  []string   // written upwards beside each row of panels: what its vertical axes or the row show
	Legend  []LegendEntry
	Notes   []string // what is not drawn or stands elsewhere, a sentence each; axes that were cut say so by themselves
	Source  []string // where and when the results were taken, and their noise: for a picture that stands alone
	Folded  bool     // whether HTML shows the heading alone until asked: there are figures more telling
}

// A LegendEntry explains one mark.
type LegendEntry struct {
	Label string
	Glyph draw.GlyphStyle
}

const (
	Width       = 960 // points, and CSS pixels
	NarrowWidth = 440 // of a figure that a phone shows whole, its words still legible
	PanelsInRow = 4
	titleSize   = 13
	labelSize   = 12
	legendLine  = 18 // height of a line of the legend
	noteLine    = 15 // height of a line of notes
	headingSize = 15
	pngDPI      = 144
)

// Names is a legend of names by their marks.
func Names(names []string, marks map[string]int) []LegendEntry {
	var all []LegendEntry
	for _, name := range names {
		all = append(all, LegendEntry{Label(name), Glyph(marks[name], 4)})
	}
	return all
}

// Split is each panel as a narrow figure of its own, row by row, and last the legend: so a page can show some of them, and
// a phone one below the other.
func (f *Figure) Split() (parts []*Figure, panels []*Panel) {
	for i, row := range f.Panels {
		for _, p := range row {
			if p == nil {
				continue
			}
			part := &Figure{Heading: f.Heading, Width: NarrowWidth, Height: f.Height / vg.Length(len(f.Panels)), Margin: f.Margin, Panels: [][]*Panel{{p}}}
			if f.Upward != nil {
				part.Upward = f.Upward[i : i+1]
			}
			parts, panels = append(parts, part), append(panels, p)
		}
	}
	if f.Legend != nil {
		parts, panels = append(parts, &Figure{Heading: f.Heading, Width: NarrowWidth, Legend: f.Legend}), append(panels, new(Panel))
	}
	return parts, panels
}

// Draw draws the figure without a background, heading, notes and source.
func (f *Figure) Draw(c draw.Canvas) { f.draw(c, nil) }

// draw is Draw; spots takes what a pointer shows.
func (f *Figure) draw(c draw.Canvas, spots *[]spot) {
	c.Canvas = onPaper{c.Canvas, c.Rectangle, spots}
	whole := c
	c.Rectangle.Min.Y += f.legendHeight()
	if f.Upward != nil {
		c.Rectangle.Min.X += upwardWidth
	}
	if grid := f.grid(); len(grid) > 0 {
		tiles := draw.Tiles{
			Rows: len(grid), Cols: len(grid[0]),
			PadTop: 4, PadBottom: 4, PadLeft: 4, PadRight: 12 + f.Margin, PadX: 14 + f.Margin, PadY: 14,
		}
		for i, row := range plot.Align(grid, tiles, c) {
			for j, canvas := range row {
				if p := grid[i][j]; p != nil {
					p.Draw(canvas)
				}
			}
		}
	}
	f.drawUpward(whole)
	f.drawLegend(whole)
}

// grid is the plots; those whose rows have their names left of them go without.
func (f *Figure) grid() [][]*plot.Plot {
	var grid [][]*plot.Plot
	for _, row := range f.Panels {
		plots := make([]*plot.Plot, len(row))
		for j, p := range row {
			if p == nil {
				continue
			}
			plots[j] = p.Plot
			if j > 0 && p.rows != nil && row[0] != nil && slices.Equal(row[0].rows, p.rows) {
				unnamed := *p.Plot
				unnamed.Y.Tick.Marker = rowTicks(p.rows, false)
				plots[j] = &unnamed
			}
		}
		grid = append(grid, plots)
	}
	return grid
}

const upwardWidth = 18

// drawUpward writes the titles of the rows of panels. A title on a panel's own axis would make gonum
// shrink the panel.
func (f *Figure) drawUpward(c draw.Canvas) {
	style := TextStyle(Muted)
	style.Rotation = math.Pi / 2
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	for i, title := range f.Upward {
		rowHeight := f.Height / vg.Length(len(f.Panels))
		y := c.Max.Y - rowHeight*(vg.Length(i)+0.5)
		c.FillText(style, vg.Point{X: c.Min.X + 4, Y: y}, title)
	}
}

// fullWidth is the width of the figure.
func (f *Figure) fullWidth() vg.Length { return cmp.Or(f.Width, Width) }

// FullHeight is the height of the figure with its legend.
func (f *Figure) FullHeight() vg.Length { return f.Height + f.legendHeight() }

// Remarks are the notes, and of axes that were cut that they were.
func (f *Figure) Remarks() []string {
	notes := slices.Clone(f.Notes)
	for _, row := range f.Panels {
		for _, p := range row {
			if p == nil {
				continue
			}
			for _, axis := range []plot.Axis{p.X, p.Y} {
				if a, ok := axis.Tick.Marker.(Axis); ok && a.beyond > 0 && !slices.Contains(notes, a.note()) {
					notes = append(notes, a.note())
				}
			}
		}
	}
	return notes
}

const legendMark = 16 // room for a mark in front of its label

// legendRows breaks the legend into lines that fit the width.
func (f *Figure) legendRows() [][]LegendEntry {
	var rows [][]LegendEntry
	var x vg.Length
	for _, e := range f.Legend {
		w := legendWidth(e)
		if len(rows) == 0 || x+w > f.fullWidth()-16 {
			rows = append(rows, nil)
			x = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		x += w
	}
	return rows
}

func legendWidth(e LegendEntry) vg.Length {
	return legendMark + TextStyle(Ink).Width(e.Label) + 16
}

func (f *Figure) legendHeight() vg.Length {
	rows := len(f.legendRows())
	if rows == 0 {
		return 0
	}
	return vg.Length(rows)*legendLine + 6
}

func (f *Figure) drawLegend(c draw.Canvas) {
	style := TextStyle(Ink)
	style.YAlign = draw.YCenter
	y := c.Min.Y + f.legendHeight() - legendLine/2
	for _, row := range f.legendRows() {
		x := c.Min.X + 8
		for _, e := range row {
			c.DrawGlyphNoClip(e.Glyph, vg.Point{X: x + 5, Y: y})
			c.FillText(style, vg.Point{X: x + legendMark, Y: y}, e.Label)
			x += legendWidth(e)
		}
		y -= legendLine
	}
}

// WritePNG draws the figure in the light palette on opaque paper, with what a page says around it: its
// heading above, and its source below.
func (f *Figure) WritePNG(w io.Writer) error {
	title := draw.TextStyle{Color: Color(Ink), Font: sans(headingSize), Handler: plot.DefaultTextHandler}
	title.Font.Weight = xfont.WeightBold
	source := wrapped(TextStyle(Muted), slices.Concat(f.Remarks(), f.Source), f.fullWidth())
	heading := wrapped(title, []string{f.Heading}, f.fullWidth())
	above := vg.Length(len(heading))*(noteLine+4) + 12
	below := linesHeight(source)
	img := vgimg.NewWith(vgimg.UseWH(f.fullWidth(), above+f.FullHeight()+below), vgimg.UseDPI(pngDPI),
		vgimg.UseBackgroundColor(Color(Paper)))
	c := draw.New(img)
	for i, line := range heading {
		c.FillText(title, vg.Point{X: textMargin, Y: c.Max.Y - (noteLine+4)*vg.Length(i+1)}, line)
	}
	drawLines(c, TextStyle(Muted), source, below)
	f.Draw(draw.Crop(c, 0, 0, below, -above))
	// Compressing harder makes a report take a fifth longer, and its plots a thirtieth smaller.
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoder.Encode(w, img.Image())
}

// SVG returns the figure as an SVG element to be put into HTML: colours and font come from the page, the element scales
// with its view box, and has a label.
func (f *Figure) SVG() (string, error) {
	canvas := vgsvg.New(f.fullWidth(), f.FullHeight())
	var spots []spot
	f.draw(draw.New(canvas), &spots)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	body := b.String()
	// The prologue of a file has no place in a page, and its size is the page's affair.
	start, end := strings.Index(body, "<g "), strings.LastIndex(body, "</g>")
	if start < 0 || end < start {
		return "", fmt.Errorf("drawing %s: no group in the SVG", f.Name)
	}
	body = stylesToClasses(CompactSVG(pageFont.Replace(ColorsToVariables(body[start:end]))))
	class := ""
	if f.fullWidth() < Width {
		class = ` class="narrow"`
	}
	label := html.EscapeString(strings.TrimPrefix(strings.TrimSpace(f.Heading+". "+f.Reading), ". "))
	return fmt.Sprintf(`<svg role="img"%s aria-label="%s" viewBox="0 0 %.0f %.0f">%s%s</g></svg>`, class, label, f.fullWidth().Points(), f.FullHeight().Points(), body, spotsSVG(spots)), nil
}

// pageFont leaves to the page's style sheet what all texts have in common: the font, which has the
// same metrics there, the size of labels, and that a drawing's upward axis is a page's downward one.
var pageFont = strings.NewReplacer(
	"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;", "",
	fmt.Sprintf("font-size:%dpx;", labelSize), "",
	` transform="scale(1, -1)"`+"\n\tstyle=", " style=",
	"\n\t", " ",
)

// RowsHeight is the height of panels with n rows each, stacked.
func RowsHeight(n, stacked int) vg.Length { return vg.Length((float64(n)*20 + 62) * float64(stacked)) }
