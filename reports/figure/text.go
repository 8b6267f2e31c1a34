package figure

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"onebit/internal/term"
)

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// TextStyle is the style of all text that a figure adds to its panels.
func TextStyle(r Role) draw.TextStyle {
	return draw.TextStyle{Color: Color(r), Font: sans(labelSize), Handler: plot.DefaultTextHandler}
}

func linesHeight(lines []string) vg.Length {
	if len(lines) == 0 {
		return 0
	}
	return vg.Length(len(lines))*noteLine + 8
}

const textMargin = 8

// wrapped breaks texts between words into lines that fit a figure of some width.
func wrapped(style draw.TextStyle, texts []string, width vg.Length) []string {
	var lines []string
	for _, text := range texts {
		line := ""
		for word := range strings.FieldsSeq(text) {
			longer := strings.TrimSpace(line + " " + word)
			if line != "" && style.Width(longer) > width-2*textMargin {
				lines = append(lines, line)
				longer = word
			}
			line = longer
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// drawLines writes lines below each other, from a height downwards.
func drawLines(c draw.Canvas, style draw.TextStyle, lines []string, top vg.Length) {
	style.YAlign = draw.YCenter
	for i, line := range lines {
		c.FillText(style, vg.Point{X: c.Min.X + textMargin, Y: top - noteLine*(vg.Length(i)+0.5)}, line)
	}
}

// Label makes text from a results file fit to stand in a figure.
func Label(s string) string {
	const longest = 60
	runes := []rune(term.Text(s))
	if len(runes) > longest {
		runes = append(runes[:longest-1], '…')
	}
	return string(runes)
}
