package reports

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"time"

	profiles "onebit/bench/profile"
	"onebit/internal/term"
	"onebit/reports/figure"
)

// Sizes of a flame graph, in pixels.
const (
	flameWidth  = 1200
	flameRow    = 22
	flameLetter = 7   // about the width of a letter
	flameLeast  = 0.5 // width of the narrowest frame that is drawn
)

// WriteFlame writes a profile's flame graph as SVG: the width of a frame is the
// time that all threads spent in it, in all observed passes. Whoever points at
// a frame reads its time.
func WriteFlame(w io.Writer, p *profiles.Profile) error {
	root := p.Flame()
	out := &flame{out: bufio.NewWriter(w), all: max(root.Time, 1)}
	height := (depth(root) + 1) * flameRow
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", flameWidth, height)
	out.printf(`<style>:root{%s}@media(prefers-color-scheme:dark){:root{%s}}text{fill:#fff;pointer-events:none}@media(prefers-color-scheme:dark){text{fill:#14181D}}</style>`+"\n", figure.PaletteCSS(false), figure.PaletteCSS(true))
	out.frame(root, 0, height-flameRow, 0)
	out.printf("</svg>\n")
	if out.err != nil {
		return out.err
	}
	return out.out.Flush()
}

func depth(f *profiles.Frame) int {
	deepest := 0
	for _, c := range f.Children {
		deepest = max(deepest, depth(c))
	}
	return deepest + 1
}

type flame struct {
	out *bufio.Writer
	all time.Duration
	err error
}

func (f *flame) printf(format string, args ...any) {
	if f.err == nil {
		_, f.err = fmt.Fprintf(f.out, format, args...)
	}
}

// frame draws one at (x, y) and its parts above it. Neighbours differ in colour.
func (f *flame) frame(frame *profiles.Frame, x float64, y, series int) {
	width := float64(frame.Time) / float64(f.all) * flameWidth
	if width < flameLeast {
		return
	}
	name := term.Text(frame.Name)
	f.printf(`<g><title>%s: %v, %s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="var(--s%d)"/>`,
		html.EscapeString(name), frame.Time.Round(time.Microsecond), percent(float64(frame.Time)/float64(f.all)), x, y, max(width-1, flameLeast), flameRow-1, series%figure.SeriesCount)
	if runes, room := []rune(name), int(width/flameLetter)-1; room >= 3 {
		if len(runes) > room {
			runes = append(runes[:room-1], '…')
		}
		f.printf(`<text x="%.1f" y="%d">%s</text>`, x+4, y+flameRow-7, html.EscapeString(string(runes)))
	}
	f.printf("</g>\n")
	for i, c := range frame.Children {
		f.frame(c, x, y-flameRow, series+i+1)
		x += float64(c.Time) / float64(f.all) * flameWidth
	}
}
