package doc

import (
	"math"
	"strings"
)

// A Bar is a value as a length beside others, with its interval: shares of the width.
type Bar struct {
	From, To, Low, High float64 // 0 to 1
	Cut                 bool    // whether it is longer than what fits
	Open                bool    // whether its interval is
	Ratio               bool    // whether it begins in the middle
	Tone                Tone
}

// A Tone is what a bar's colour says.
type Tone string

// The tones; the zero value is beside the point.
const (
	Leading Tone = "best"
	Worse   Tone = "worse"
	Better  Tone = "better"
)

// barRange is how many times as long as the shortest a bar can be: the ranking is about the best ones.
const barRange = 5

// whiskerReach is how many times as long as the longest bar an interval can be.
const whiskerReach = 1.5

// A Length is a value with its interval; both ends are the value where that is unknown.
type Length struct{ Value, Low, High float64 }

// A Scale turns values into bars.
type Scale struct {
	best, full float64
	ratios     bool // whether values are ratios, of which 1 stands in the middle
}

// NewScale is the scale on which all rows fit, with as much of their intervals as whiskerReach allows. Where less is better, it
// ends where barRange leaves off.
func NewScale[R any](rows []R, length func(R) Length, more bool) Scale {
	shortest, longest, reach := math.Inf(1), 0.0, 0.0
	for _, r := range rows {
		if l := length(r); !math.IsNaN(l.Value) {
			shortest, longest, reach = min(shortest, l.Value), max(longest, l.Value), max(reach, l.High)
		}
	}
	s := Scale{best: longest, full: max(longest, min(reach, longest*whiskerReach))}
	if !more {
		s.best, s.full = shortest, min(s.full, barRange*shortest)
	}
	return s
}

// NewRatioScale is that of ratios of new to old, with equal factors to both sides of 1.
func NewRatioScale[R any](rows []R, length func(R) Length) Scale {
	s := Scale{ratios: true, full: math.Log(1.01)}
	for _, r := range rows {
		for _, v := range []float64{length(r).Low, length(r).High} {
			if reach := math.Abs(math.Log(v)); reach < math.Log(barRange) {
				s.full = max(s.full, reach)
			}
		}
	}
	return s
}

// at is where a value stands, as a share of the width.
func (s Scale) at(v float64) float64 {
	v /= s.full
	if s.ratios {
		v = (1 + math.Log(v*s.full)/s.full) / 2
	}
	return max(0, min(v, 1))
}

// Cell is a bar, which in text is made of blocks. Values that are no lengths have none.
func (s Scale) Cell(l Length) Cell {
	if !(l.Value >= 0 && s.full > 0) || math.IsInf(s.full, 1) || s.ratios && !(l.Value > 0) {
		return Cell{}
	}
	b := &Bar{To: s.at(l.Value), Low: s.at(l.Low), High: s.at(l.High), Cut: !s.ratios && l.Value > s.full, Open: !s.ratios && l.High > s.full, Ratio: s.ratios}
	if s.ratios {
		b.From, b.To = min(b.To, 0.5), max(b.To, 0.5)
	} else if l.Value == s.best {
		b.Tone = Leading
	}
	return Cell{Text: b.Text(Blocks), Bar: b}
}

// Blocks is how many characters the longest bar takes where there is room.
const Blocks = 20

// Text draws the bar in so many characters, to an eighth of one, or a ratio's to both sides of a stroke.
func (b *Bar) Text(blocks int) string {
	if b.Ratio {
		left, right := int(math.Round((0.5-b.From)*float64(blocks))), int(math.Round((b.To-0.5)*float64(blocks)))
		return strings.Repeat(" ", blocks/2-left) + strings.Repeat("█", left) + "│" + strings.Repeat("█", right)
	}
	if b.Cut {
		return strings.Repeat("█", blocks-1) + "▶"
	}
	eighths := max(1, int(math.Round(8*float64(blocks)*b.To)))
	whole, rest := eighths/8, eighths%8
	return strings.Repeat("█", whole) + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[rest]))
}

// Percent is a share for a style sheet.
func (b *Bar) Percent(share float64) float64 { return math.Round(1000*share) / 10 }

// Length is that of the bar, and Interval that of the whisker.
func (b *Bar) Length() float64   { return b.To - b.From }
func (b *Bar) Interval() float64 { return b.High - b.Low }
