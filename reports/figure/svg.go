package figure

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A page may hold tens of thousands of strokes, and gonum writes each line of an axis or a grid as an
// element of its own, with its style and five digits. The functions below say the same in a fraction
// of the bytes.

var (
	svgPath     = regexp.MustCompile(`^<path d="([^"]*)" style="([^"]*)" />$`)
	svgText     = regexp.MustCompile(`^<text x="([^"]*)" y="([^"]*)"`)
	svgWords    = regexp.MustCompile(`^<text [^>]*>(.*)</text>$`)
	svgFontSize = regexp.MustCompile(`font-size:([0-9.]+)px`)
	svgCommand  = regexp.MustCompile(`[A-Z][^A-Z]*`)
	svgArgument = regexp.MustCompile(`-?[0-9.]+(e[-+]?[0-9]+)?`)
)

// CompactSVG shortens the elements of a drawing, one per line as gonum writes them, and joins the
// strokes of one style that follow each other, which looks the same because they are opaque.
func CompactSVG(body string) string {
	var b strings.Builder
	style := "" // of the path that is still open
	closePath := func() {
		if style != "" {
			b.WriteString(`" style="` + style + `"/>` + "\n")
			style = ""
		}
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if words := svgWords.FindStringSubmatch(line); words != nil && strings.TrimSpace(words[1]) == "" {
			continue // a tick without a label
		}
		m := svgPath.FindStringSubmatch(line)
		if m == nil {
			closePath()
			b.WriteString(roundText(line) + "\n")
			continue
		}
		joins := m[2] == style && strings.Contains(style, "fill:none")
		if !joins {
			closePath()
			b.WriteString(`<path d="`)
			style = m[2]
		}
		b.WriteString(shortenPath(m[1]))
	}
	closePath()
	return b.String()
}

// roundText rounds where a text stands, and says how long it is: the drawing left room for its words in
// the embedded font, and a page has to take whatever font the reader has. The words may hold numbers too.
func roundText(line string) string {
	at := svgText.FindString(line)
	rest := line[len(at):]
	if words := svgWords.FindStringSubmatch(line); words != nil {
		size := vg.Length(labelSize)
		if m := svgFontSize.FindStringSubmatch(line); m != nil {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil {
				size = vg.Length(v)
			}
		}
		style := draw.TextStyle{Font: sans(size), Handler: plot.DefaultTextHandler}
		if width := style.Width(html.UnescapeString(words[1])); width > 0 {
			rest = fmt.Sprintf(` textLength="%.1f"`, width.Points()) + rest
		}
	}
	return svgArgument.ReplaceAllStringFunc(at, roundCoordinate) + rest
}

// shortenPath rounds a path's coordinates, and writes lines along an axis with one of them.
func shortenPath(path string) string {
	var b strings.Builder
	var atX, atY string
	for _, command := range svgCommand.FindAllString(path, -1) {
		command = svgArgument.ReplaceAllStringFunc(command, roundCoordinate)
		x, y, _ := strings.Cut(command[1:], ",")
		switch {
		case command[0] == 'L' && x == atX:
			command = "V" + y
		case command[0] == 'L' && y == atY:
			command = "H" + x
		case command[0] != 'L' && command[0] != 'M':
			x, y = "", "" // where an arc or a closed path ends need not be known
		}
		atX, atY = x, y
		b.WriteString(command)
	}
	return b.String()
}

// roundCoordinate rounds to a tenth of a pixel.
func roundCoordinate(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
