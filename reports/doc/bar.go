package doc

import (
	"math"
	"strings"
)

// A Bar is a value as a length beside others, with its interval: shares of the longest that fits.
type Bar struct {
	Length, Low, High float64 // 0 to 1
	Cut               bool    // whether it is longer than what fits
	Best              bool
}

// barRange is how many times as long as the shortest a bar can be: the ranking is about the best ones.
const barRange = 5

// A Length is a value with its interval; both ends are the value where that is unknown.
type Length struct{ Value, Low, High float64 }

// A Scale turns values into bars.
type Scale struct {
	best, full float64
	more       bool // whether more is better
}

// NewScale is the scale on which the intervals of all fit. Where less is better, it ends where barRange leaves off.
func NewScale(all []Length, more bool) Scale {
	s := Scale{best: math.Inf(1), more: more}
	if more {
		s.best = 0
	}
	for _, l := range all {
		s.full = max(s.full, l.High)
		if more {
			s.best = max(s.best, l.Value)
		} else {
			s.best = min(s.best, l.Value)
		}
	}
	if !more {
		s.full = min(s.full, barRange*s.best)
	}
	return s
}

// Cell is a bar, which in text is made of blocks. Values that are no lengths have none.
func (s Scale) Cell(l Length) Cell {
	if !(l.Value >= 0 && s.full > 0) || math.IsInf(s.full, 1) {
		return Cell{}
	}
	share := func(v float64) float64 { return max(0, min(v/s.full, 1)) }
	b := &Bar{Length: share(l.Value), Low: share(l.Low), High: share(l.High), Cut: l.Value > s.full, Best: l.Value == s.best}
	return Cell{Text: b.text(), Bar: b}
}

// barBlocks is how many characters the longest bar takes.
const barBlocks = 20

// text draws the bar to an eighth of a character.
func (b *Bar) text() string {
	if b.Cut {
		return strings.Repeat("█", barBlocks-1) + "▶"
	}
	eighths := max(1, int(math.Round(8*barBlocks*b.Length)))
	whole, rest := eighths/8, eighths%8
	return strings.Repeat("█", whole) + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[rest]))
}

// Percent is a share for a style sheet.
func (b *Bar) Percent(share float64) float64 { return math.Round(1000*share) / 10 }

// Interval is the length of the whisker.
func (b *Bar) Interval() float64 { return b.High - b.Low }
