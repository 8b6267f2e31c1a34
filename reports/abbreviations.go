package reports

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
)

// words explains in few words what headings and tables are full of; the glossary says more.
var words = []fact{
	{names.Act, "activation scheme, how the numbers that meet the weights are rounded"},
	{"q8_128", "8 bits, a scale for 128 values"},
	{"q8_32", "8 bits, a scale for 32 values"},
	{"q8_row", "8 bits, one scale"},
	{"packed", "weights repacked on loading"},
	{"native", "weights read as the file holds them"},
	{results.PctRoof, "share of what reading alone reached in the same round"},
	{results.PctPeak, "share of what multiplying alone reached in the same round"},
	{versusBest, versusAbout},
	{results.NMSE, "squared error over squared result"},
	{results.KLD, "divergence of the predictions from those in float64, in nats"},
	{"A/A", "the same code measured as if it were two"},
}

// wordPattern finds words; those with a sign in front have no boundary there.
var wordPattern = func() *regexp.Regexp {
	var all []string
	for _, w := range words {
		all = append(all, regexp.QuoteMeta(w.Name))
	}
	return regexp.MustCompile(`(?:\b|%)(?:` + strings.ReplaceAll(strings.Join(all, "|"), "%", "") + `)\b`)
}()

// legend explains the words that a text uses, in a line; "" if it uses none.
func legend(text string) string {
	used := make(map[string]bool)
	for _, w := range wordPattern.FindAllString(text, -1) {
		used[w] = true
	}
	var said []string
	for _, w := range words {
		if used[w.Name] {
			said = append(said, w.Name+": "+w.Value)
		}
	}
	return strings.Join(said, "; ")
}

// abbreviations explains words of a page where they first stand.
type abbreviations map[string]bool // those explained

// html is a text with its new words marked up.
func (a abbreviations) html(text string) template.HTML {
	var b strings.Builder
	written := 0
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		for _, w := range words {
			if w.Name == word && !a[word] {
				a[word] = true
				fmt.Fprintf(&b, `%s<abbr title="%s">%s</abbr>`, template.HTMLEscapeString(text[written:at[0]]),
					template.HTMLEscapeString(w.Value), template.HTMLEscapeString(word))
				written = at[1]
			}
		}
	}
	b.WriteString(template.HTMLEscapeString(text[written:]))
	return template.HTML(b.String())
}
