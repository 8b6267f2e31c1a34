package reports

import (
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A role is what a colour is for. Charts are drawn once, in the light palette; in HTML each role
// becomes a CSS variable, so that the same drawing follows the reader's light or dark scheme.
type role int

const (
	roleInk role = iota
	roleMuted
	roleGrid
	rolePaper
	roleBand
	roleFront
	roleSeries // the first of seriesCount
)

const seriesCount = 8

// A tone is one role's colour in both schemes. Light colours are pairwise different, because they
// stand for the role in a drawing. Series colours keep a contrast of 3:1 with the paper in both
// schemes, stay apart under the common forms of colour blindness, and never stand alone: each
// series has its shape, and its name beside it or in the legend.
type tone struct {
	role        role
	css         string
	light, dark uint32 // 0xRRGGBB
}

var tones = []tone{
	{roleInk, "ink", 0x1B1F24, 0xE6EAEF},
	{roleMuted, "muted", 0x57606A, 0x9AA4AF},
	{roleGrid, "grid", 0xDDE2E7, 0x333B44},
	{rolePaper, "paper", 0xFFFFFF, 0x14181D},
	{roleBand, "band", 0xE3ECF7, 0x22303F},
	{roleFront, "front", 0x8C1D40, 0xFF8FA8},
	{roleSeries + 0, "s0", 0x0067A5, 0x58B2F0},
	{roleSeries + 1, "s1", 0xC44E00, 0xFF8F40},
	{roleSeries + 2, "s2", 0x00795A, 0x35C79A},
	{roleSeries + 3, "s3", 0xA83E8F, 0xE88FCB},
	{roleSeries + 4, "s4", 0x836800, 0xDDBE3A},
	{roleSeries + 5, "s5", 0x4338A8, 0xA9A0FF},
	{roleSeries + 6, "s6", 0x0B8296, 0x4FD3E6},
	{roleSeries + 7, "s7", 0x5E5E5E, 0xBDBDBD},
}

// inkOf returns the colour that stands for a role in a drawing.
func inkOf(r role) color.Color {
	v := tones[r].light
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}

// seriesRole is the colour of the i'th series.
func seriesRole(i int) role { return roleSeries + role(i%seriesCount) }

var drawnColor = regexp.MustCompile(`(fill|stroke):#[0-9A-F]{6}`)

// colorsToVariables replaces the colours of a drawing's styles by CSS variables.
func colorsToVariables(svg string) string {
	return drawnColor.ReplaceAllStringFunc(svg, func(s string) string {
		property, hex, _ := strings.Cut(s, ":")
		light, _ := strconv.ParseInt(hex[1:], 16, 32) // which the expression has checked
		for _, t := range tones {
			if int64(t.light) == light {
				return property + ":var(--" + t.css + ")"
			}
		}
		return s
	})
}

// strokeWidths are those of strokes that have a class, in pixels.
var strokeWidths = []string{"0.5", "0.6", "0.7", "1.2", "1.4", "1.6", "1.8"}

var drawnStyle = regexp.MustCompile(` style="(?:fill:none;stroke:var\(--(\w+)\);stroke-width:([0-9.]+)|fill:var\(--(\w+)\))"`)

// stylesToClasses replaces the styles that thousands of elements have by the classes of drawingCSS.
func stylesToClasses(svg string) string {
	return drawnStyle.ReplaceAllStringFunc(svg, func(s string) string {
		m := drawnStyle.FindStringSubmatch(s)
		if m[3] != "" {
			return ` class="f-` + m[3] + `"`
		}
		if i := slices.Index(strokeWidths, m[2]); i >= 0 {
			return fmt.Sprintf(` class="k-%s w%d"`, m[1], i)
		}
		return s
	})
}

// drawingCSS are the rules of the classes in drawings: f- fills, k- strokes, w is the width of strokes.
func drawingCSS() string {
	var b strings.Builder
	for _, t := range tones {
		fmt.Fprintf(&b, ".f-%[1]s{fill:var(--%[1]s)}.k-%[1]s{fill:none;stroke:var(--%[1]s)}", t.css)
	}
	for i, w := range strokeWidths {
		fmt.Fprintf(&b, ".w%d{stroke-width:%s}", i, w)
	}
	return b.String()
}

// paletteCSS declares the variables of one scheme.
func paletteCSS(dark bool) string {
	var b strings.Builder
	for _, t := range tones {
		v := t.light
		if dark {
			v = t.dark
		}
		fmt.Fprintf(&b, "--%s:#%06X;", t.css, v)
	}
	return b.String()
}
