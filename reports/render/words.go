package render

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"onebit/reports/doc"
)

// wordPattern finds words; those with a sign in front have no boundary there.
func wordPattern(words []doc.Word) *regexp.Regexp {
	var all []string
	for _, w := range words {
		if !w.Sign {
			all = append(all, regexp.QuoteMeta(w.Text))
		}
	}
	if all == nil {
		return regexp.MustCompile(`$.`) // finds nothing
	}
	return regexp.MustCompile(`(?:\b|%)(?:` + strings.ReplaceAll(strings.Join(all, "|"), "%", "") + `)\b`)
}

// wordsIn are the words that a text uses.
func wordsIn(words []doc.Word, text string) map[string]bool {
	used := make(map[string]bool)
	for _, w := range wordPattern(words).FindAllString(text, -1) {
		used[w] = true
	}
	return used
}

// An abbreviator explains words of a page where they first stand.
type abbreviator struct {
	pattern *regexp.Regexp
	about   map[string]string
	done    map[string]bool
}

func newAbbreviator(words []doc.Word) *abbreviator {
	a := &abbreviator{pattern: wordPattern(words), about: make(map[string]string), done: make(map[string]bool)}
	for _, w := range words {
		a.about[w.Text] = w.About
	}
	return a
}

// html is a text with its new words marked up.
func (a *abbreviator) html(text string) template.HTML {
	var b strings.Builder
	written := 0
	for _, at := range a.pattern.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if about, known := a.about[word]; known && !a.done[word] {
			a.done[word] = true
			fmt.Fprintf(&b, `%s<abbr title="%s">%s</abbr>`, template.HTMLEscapeString(text[written:at[0]]),
				template.HTMLEscapeString(about), template.HTMLEscapeString(word))
			written = at[1]
		}
	}
	b.WriteString(template.HTMLEscapeString(text[written:]))
	return template.HTML(b.String())
}
