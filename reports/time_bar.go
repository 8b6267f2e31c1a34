package reports

import (
	"math"
	"strings"
)

// A timeBar is a time as a length beside others, with its interval: shares of the longest that fits.
type timeBar struct {
	Length, Low, High float64 // 0 to 1
	Cut               bool    // whether it is longer than what fits
	Best              bool
}

// barRange is how many times as long as the shortest a bar can be: the ranking is about the fast ones.
const barRange = 5

// A timeScale turns times into bars.
type timeScale struct{ shortest, full float64 }

// newTimeScale is the scale on which the intervals of all rows fit, or those that barRange leaves.
func newTimeScale(rows []placed) timeScale {
	s := timeScale{shortest: math.Inf(1)}
	for _, p := range rows {
		_, high := p.interval()
		s.shortest, s.full = min(s.shortest, p.ns), max(s.full, high)
	}
	s.full = min(s.full, barRange*s.shortest)
	return s
}

// interval is where the next run's time is expected; the time itself where that is unknown.
func (p placed) interval() (low, high float64) {
	spread, _ := p.spread()
	return p.ns / (1 + spread), p.ns * (1 + spread)
}

// cell is a bar, which in text is made of blocks.
func (s timeScale) cell(p placed) sheetCell {
	low, high := p.interval()
	share := func(ns float64) float64 { return min(ns/s.full, 1) }
	b := &timeBar{Length: share(p.ns), Low: share(low), High: share(high), Cut: p.ns > s.full, Best: p.ns == s.shortest}
	return sheetCell{Text: b.text(), Bar: b}
}

// barBlocks is how many characters the longest bar takes.
const barBlocks = 20

// text draws the bar to an eighth of a character.
func (b *timeBar) text() string {
	if b.Cut {
		return strings.Repeat("█", barBlocks-1) + "▶"
	}
	eighths := max(1, int(math.Round(8*barBlocks*b.Length)))
	whole, rest := eighths/8, eighths%8
	return strings.Repeat("█", whole) + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[rest]))
}

// Percent is a share for a style sheet.
func (b *timeBar) Percent(share float64) float64 { return math.Round(1000*share) / 10 }

// Interval is the length of the whisker.
func (b *timeBar) Interval() float64 { return b.High - b.Low }
