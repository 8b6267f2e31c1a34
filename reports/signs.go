package reports

import (
	"strings"

	"onebit/bench/results"
	"onebit/reports/doc"
)

// Signs stand behind a time that deserves less trust.
const (
	doubtSign  = "†"
	statesSign = "‡"
)

// sign marks the cases whose group raised a doubt while it was measured, and those of a machine in two
// states.
func (d *digest) sign() {
	doubted := make(map[string]bool)
	for _, s := range d.res.Samples {
		if len(s.Doubts) > 0 {
			doubted[s.Name.Full] = true
		}
	}
	for _, c := range d.cases {
		if doubted[c.name.Full] {
			c.signs = doubtSign
		}
		if len(c.stats[results.NsPerOp].States) > 0 {
			c.signs += statesSign
		}
	}
}

// signWords explain signs.
var signWords = []doc.Word{
	{Text: doubtSign, About: "a warning tells of a disturbance while this was measured.", Sign: true},
	{Text: statesSign, About: "the machine was in two states, its threads near each other and far apart: the time mixes both.", Sign: true},
}

// newTable is doc.NewTable with the signs of its cells explained.
func newTable[R any](id, heading, caption string, subjects []R, fields []doc.Field[R]) *doc.Table {
	t := doc.NewTable(id, heading, caption, subjects, fields)
	var texts strings.Builder
	for _, row := range t.Rows {
		for _, c := range row {
			texts.WriteString(c.Text)
		}
	}
	t.Caption = sentences(t.Caption, signsText(texts.String()))
	return t
}

// signsOf are the signs that any of the cases has.
func signsOf(cases []*caseStats) string {
	all := ""
	for _, c := range cases {
		all += c.signs
	}
	signs := ""
	for _, sign := range []string{doubtSign, statesSign} {
		if strings.Contains(all, sign) {
			signs += sign
		}
	}
	return signs
}

// signsText explains signs, such as those in a text; "" if there are none.
func signsText(text string) string {
	var said []string
	for _, w := range signWords {
		if strings.Contains(text, w.Text) {
			said = append(said, w.Text+" "+w.About)
		}
	}
	return strings.Join(said, " ")
}

// aboveText explains shares of more than 100% where any of the cases has one; "" if none has.
func aboveText(cases []*caseStats) string {
	above := func(unit string) bool {
		for _, c := range cases {
			if v, ok := c.center(unit); ok && v > 100 {
				return true
			}
		}
		return false
	}
	var said []string
	if above(results.PctRoof) {
		said = append(said, "More than 100 % of the roof: part of the weights was in a cache that the reading alone did not find them in, or the reading was disturbed.")
	}
	if above(results.PctPeak) {
		said = append(said, "More than 100 % of the peak: look-ups of 1-bit weights multiply nothing, so that the peak of multiply-adds does not bound them.")
	}
	return strings.Join(said, " ")
}

// sentences joins those that are not empty.
func sentences(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, " ")
}
