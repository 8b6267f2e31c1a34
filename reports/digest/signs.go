package digest

import (
	"strings"

	"onebit/bench/results"
	"onebit/reports/words"
)

// SignsOf are the signs that any of the cases has.
func SignsOf(cases []*Case) string {
	all := ""
	for _, c := range cases {
		all += c.Signs
	}
	signs := ""
	for _, sign := range []string{words.DoubtSign, words.StatesSign} {
		if strings.Contains(all, sign) {
			signs += sign
		}
	}
	return signs
}

// AboveText explains shares of more than 100% where any of the cases has one; "" if none has.
func AboveText(cases []*Case) string {
	above := func(unit string) bool {
		for _, c := range cases {
			if v, ok := c.Center(unit); ok && v > 100 {
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
