package figure

import (
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Role is what a colour is for. Charts are drawn once, in the light palette; in HTML each role
// becomes a CSS variable, so that the same drawing follows the reader's light or dark scheme.
type Role int

const (
	Ink Role = iota
	Muted
	GridRole
	Paper
	Band
	Front
	FirstSeries // the first of seriesCount
)

const SeriesCount = 8

// A tone is one role's colour in both schemes. Light colours are pairwise different, because they
// stand for the role in a drawing. Series colours keep a contrast of 3:1 with the paper in both
// schemes, stay apart under the common forms of colour blindness, and never stand alone: each
// series has its shape, and its name beside it or in the legend.
type tone struct {
	Role        Role
	Css         string
	Light, Dark uint32 // 0xRRGGBB
}

var Tones = []tone{
	{Ink, "ink", 0x1B1F24, 0xE6EAEF},
	{Muted, "muted", 0x57606A, 0x9AA4AF},
	{GridRole, "grid", 0xDDE2E7, 0x333B44},
	{Paper, "paper", 0xFFFFFF, 0x14181D},
	{Band, "band", 0xE3ECF7, 0x22303F},
	{Front, "front", 0x8C1D40, 0xFF8FA8},
	{FirstSeries + 0, "s0", 0x0067A5, 0x58B2F0},
	{FirstSeries + 1, "s1", 0xC44E00, 0xFF8F40},
	{FirstSeries + 2, "s2", 0x00795A, 0x35C79A},
	{FirstSeries + 3, "s3", 0xA83E8F, 0xE88FCB},
	{FirstSeries + 4, "s4", 0x836800, 0xDDBE3A},
	{FirstSeries + 5, "s5", 0x4338A8, 0xA9A0FF},
	{FirstSeries + 6, "s6", 0x0B8296, 0x4FD3E6},
	{FirstSeries + 7, "s7", 0x5E5E5E, 0xBDBDBD},
}

// Color returns the colour that stands for a role in a drawing.
func Color(r Role) color.Color {
	v := Tones[r].Light
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}

// Series is the colour of the i'th series.
func Series(i int) Role { return FirstSeries + Role(i%SeriesCount) }

var drawnColor = regexp.MustCompile(`(fill|stroke):#[0-9A-F]{6}`)

// ColorsToVariables replaces the colours of a drawing's styles by CSS variables.
func ColorsToVariables(svg string) string {
	return drawnColor.ReplaceAllStringFunc(svg, func(s string) string {
		property, hex, _ := strings.Cut(s, ":")
		light, _ := strconv.ParseInt(hex[1:], 16, 32) // which the expression has checked
		for _, t := range Tones {
			if int64(t.Light) == light {
				return property + ":var(--" + t.Css + ")"
			}
		}
		return s
	})
}

// strokeWidths are those of strokes that have a class, in pixels.
var strokeWidths = []string{"0.5", "0.6", "0.7", "1.2", "1.4", "1.6", "1.8"}

var drawnStyle = regexp.MustCompile(` style="(?:fill:none;stroke:var\(--(\w+)\);stroke-width:([0-9.]+)|fill:var\(--(\w+)\))"`)

// stylesToClasses replaces the styles that thousands of elements have by the classes of DrawingCSS.
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

// DrawingCSS are the rules of the classes in drawings: f- fills, k- strokes, w is the width of strokes.
func DrawingCSS() string {
	var b strings.Builder
	for _, t := range Tones {
		fmt.Fprintf(&b, ".f-%[1]s{fill:var(--%[1]s)}.k-%[1]s{fill:none;stroke:var(--%[1]s)}", t.Css)
	}
	for i, w := range strokeWidths {
		fmt.Fprintf(&b, ".w%d{stroke-width:%s}", i, w)
	}
	return b.String()
}

// PaletteCSS declares the variables of one scheme.
func PaletteCSS(dark bool) string {
	var b strings.Builder
	for _, t := range Tones {
		v := t.Light
		if dark {
			v = t.Dark
		}
		fmt.Fprintf(&b, "--%s:#%06X;", t.Css, v)
	}
	return b.String()
}
