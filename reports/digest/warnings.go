package digest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// alike is from how many warnings on one sentence stands for them.
const alike = 3

var (
	warningGroup  = regexp.MustCompile(`^group ([^:]+): `)
	warningNumber = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)( (?:ns|µs|ms|s)\b)?`)
)

// A measure is a number in a warning. Times in different units are alike.
type measure struct {
	text, unit string // unit is "" or one of time, with its blank
	value      float64
}

// secondsIn are units of time.
var secondsIn = map[string]float64{" ns": 1e-9, " µs": 1e-6, " ms": 1e-3, " s": 1}

func measures(text string) (all []measure) {
	for _, m := range warningNumber.FindAllStringSubmatch(text, -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		all = append(all, measure{m[0], m[2], v * cmp.Or(secondsIn[m[2]], 1)})
	}
	return all
}

// A spanOf is the least and the most of what warnings say in one place.
type spanOf struct{ lo, hi measure }

func (s *spanOf) add(m measure) {
	if s.lo.text == "" || m.value < s.lo.value {
		s.lo = m
	}
	if s.hi.text == "" || m.value > s.hi.value {
		s.hi = m
	}
}

// String has the unit once, where both have one.
func (s spanOf) String() string {
	switch {
	case s.lo.text == s.hi.text:
		return s.lo.text
	case s.lo.unit == s.hi.unit:
		return strings.TrimSuffix(s.lo.text, s.lo.unit) + " to " + s.hi.text
	}
	return s.lo.text + " to " + s.hi.text
}

// Doubts gathers the warnings of each kind, in the order of their first appearance.
func (d *Digest) Doubts() []doc.Doubt {
	var kinds words.UniqueList
	for _, text := range d.warnings() {
		kind := warningGroup.ReplaceAllString(text, "group: ")
		kind = warningNumber.ReplaceAllStringFunc(kind, func(s string) string {
			if measures(s)[0].unit != "" {
				return "a time"
			}
			return "0"
		})
		kinds.Add(kind, text)
	}
	var all []doc.Doubt
	for _, kind := range kinds.List {
		warnings := kinds.With[kind]
		if len(warnings) >= alike {
			all = append(all, doc.Doubt{Text: d.commonText(warnings), All: warnings})
			continue
		}
		for _, text := range warnings {
			all = append(all, doc.Doubt{Text: text})
		}
	}
	return all
}

// commonText says how many warnings there are, and gives each of their numbers as a range.
func (d *Digest) commonText(warnings []string) string {
	groups := make(map[string]bool)
	spans := make([]spanOf, len(measures(warningGroup.ReplaceAllString(warnings[0], ""))))
	for _, text := range warnings {
		if m := warningGroup.FindStringSubmatch(text); m != nil {
			groups[m[1]] = true
		}
		for i, m := range measures(warningGroup.ReplaceAllString(text, "")) {
			spans[i].add(m)
		}
	}
	i := -1
	text := warningNumber.ReplaceAllStringFunc(warningGroup.ReplaceAllString(warnings[0], ""), func(string) string {
		i++
		return spans[i].String()
	})
	switch {
	case len(groups) == 0:
		return fmt.Sprintf("%d times: %s", len(warnings), text)
	case d.areTasks(groups):
		return fmt.Sprintf("%d of %d groups: %s", len(groups), len(d.Tasks), text)
	}
	return fmt.Sprintf("%s: %s", count.Of(len(groups), "group"), text)
}

// areTasks reports whether the groups are named after tasks, so that their number tells something.
func (d *Digest) areTasks(groups map[string]bool) bool {
	found := 0
	for _, t := range d.Tasks {
		if groups[t.Title] {
			found++
		}
	}
	return found == len(groups)
}

// graveDoubt is what a warning says that may change a verdict.
var graveDoubt = regexp.MustCompile(`slower|busy|steal|emulat|clock|other processes|faster than|throttled`)

// VerdictDoubts are the warnings that stand beside the verdict; the others follow it.
func (d *Digest) VerdictDoubts() []string {
	var grave []string
	for _, w := range d.Doubts() {
		if graveDoubt.MatchString(w.Text) {
			grave = append(grave, w.Text)
		}
	}
	if n := len(grave) - fewGrave; n > 1 {
		grave = append(grave[:fewGrave], fmt.Sprintf("%d more warnings are as grave.", n))
	}
	return grave
}

// fewGrave is how many warnings a verdict has room for.
const fewGrave = 2

// warnings lists the run's own warnings and what the header makes doubtful.
func (d *Digest) warnings() []string {
	warnings := slices.Clone(d.Results.Warnings)
	if m := d.Results.Machine(); m.Emulated() {
		warnings = append(warnings, fmt.Sprintf("These results were taken under emulation, by %s: they say nothing about speed.", m.Emulator))
	}
	if len(d.Results.Samples) == 0 {
		warnings = append(warnings, "The file holds no samples.")
	}
	return warnings
}
