package reports

import (
	"fmt"
	"regexp"
	"strconv"

	"onebit/internal/count"
)

// A doubt is one warning, or several that differ in their numbers and groups alone.
type doubt struct {
	Text string   // what they say, in a sentence
	All  []string // the warnings that Text stands for; none if it stands for itself
}

// alike is from how many warnings on one sentence stands for them.
const alike = 3

var (
	warningGroup  = regexp.MustCompile(`^group ([^:]+): `)
	warningNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

// doubts gathers the warnings of each kind, in the order of their first appearance.
func (d *digest) doubts() []doubt {
	var kinds []string
	byKind := make(map[string][]string)
	for _, text := range d.warnings() {
		kind := warningGroup.ReplaceAllString(text, "group: ")
		kind = warningNumber.ReplaceAllString(kind, "0")
		if byKind[kind] == nil {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], text)
	}
	var all []doubt
	for _, kind := range kinds {
		warnings := byKind[kind]
		if len(warnings) >= alike {
			all = append(all, doubt{d.commonText(warnings), warnings})
			continue
		}
		for _, text := range warnings {
			all = append(all, doubt{Text: text})
		}
	}
	return all
}

// commonText says how many warnings there are, and gives each of their numbers as a range.
func (d *digest) commonText(warnings []string) string {
	groups := make(map[string]bool)
	numbers := func(text string) []string {
		return warningNumber.FindAllString(warningGroup.ReplaceAllString(text, ""), -1)
	}
	ranges := make([]extent, len(numbers(warnings[0])))
	for _, text := range warnings {
		if m := warningGroup.FindStringSubmatch(text); m != nil {
			groups[m[1]] = true
		}
		for i, s := range numbers(text) {
			v, err := strconv.ParseFloat(s, 64)
			ranges[i].add(v, err == nil)
		}
	}
	i := -1
	text := warningNumber.ReplaceAllStringFunc(warningGroup.ReplaceAllString(warnings[0], ""), func(s string) string {
		i++
		return ranges[i].text(func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })
	})
	switch {
	case len(groups) == 0:
		return fmt.Sprintf("%d times: %s", len(warnings), text)
	case d.areTasks(groups):
		return fmt.Sprintf("%d of %d groups: %s", len(groups), len(d.tasks), text)
	}
	return fmt.Sprintf("%s: %s", count.Of(len(groups), "group"), text)
}

// areTasks reports whether the groups are named after tasks, so that their number tells something.
func (d *digest) areTasks(groups map[string]bool) bool {
	found := 0
	for _, t := range d.tasks {
		if groups[t.title] {
			found++
		}
	}
	return found == len(groups)
}
