package models

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// ofSeveral reports whether a test takes in more than a token a pass, or is what those are held
// against: it has a row of a table of its own, not a column among all tests.
func ofSeveral(t *digest.Task) bool {
	n := t.Cases[0].Name
	return n.Get(names.Texts) != "" || n.Get(names.Text) != ""
}

// A several is a test of more than a token a pass, beside the one of a token a pass.
type several struct {
	*digest.Case
	one *digest.Case // nil if it was not measured
}

// severals are the tests that have a part in their names, with the test that has it not, or where
// that was not measured, the one in which it is base.
func (m *model) severals(part, base string) (all []several) {
	for _, r := range m.runs {
		first := len(all)
		for _, t := range m.tests {
			c := r.cases[t]
			if c == nil || c.Name.Get(part) == "" {
				continue
			}
			s := several{c, nil}
			for _, other := range r.cases {
				has := other.Name.Get(part)
				if (has == "" || has == base) && sameBut(c.Name, other.Name, part) && (s.one == nil || has == base) {
					s.one = other
				}
			}
			all = append(all, s)
		}
		slices.SortStableFunc(all[first:], func(a, b several) int { return words.Compare(a.Name.Get(names.Depth), b.Name.Get(names.Depth)) })
	}
	return all
}

// sameBut reports whether two tests differ in nothing but a part of their names.
func sameBut(a, b results.Name, part string) bool {
	for _, other := range []string{names.Test, names.Depth, names.Texts, names.Text, names.Drafts} {
		if other != part && a.Get(other) != b.Get(other) {
			return false
		}
	}
	return true
}

// times is how many times as fast as one token a pass it is.
func (s several) times() string {
	if s.one == nil {
		return ""
	}
	rate, ok := s.Center(results.TokenRate)
	one, known := s.one.Center(results.TokenRate)
	if !ok || !known || !(one > 0) {
		return ""
	}
	return fmt.Sprintf("%.2f×", rate/one)
}

// eachOf divides the rate among the texts, and gives how long a pass of all of them takes.
func (s several) eachOf() (rate, pass string) {
	texts, err := strconv.Atoi(s.Name.Get(names.Texts))
	all, ok := s.Center(results.TokenRate)
	if err != nil || !ok || !(all > 0) {
		return "", ""
	}
	return results.UnitOf(results.TokenRate).Format(all / float64(texts)), words.Seconds(float64(texts) / all)
}

// severalFields begin both tables.
func (d *report) severalFields() []doc.Field[several] {
	return []doc.Field[several]{
		{Label: names.Variant, Text: true, Drop: 9, Cell: func(s several) doc.Cell {
			return d.Named(s.Variant)
		}},
		{Label: names.Threads, Drop: 8, Cell: func(s several) doc.Cell { return doc.Cell{Text: s.Panel.Threads} }},
		{Label: names.Depth, Drop: 7, Cell: func(s several) doc.Cell { return doc.Cell{Text: s.Name.Get(names.Depth)} }},
	}
}

// textsSheet shows several texts decoded together.
func (d *report) textsSheet(m *model) *doc.Table {
	rows := m.severals(names.Texts, "1")
	fields := append([]doc.Field[several]{{Label: names.Texts, Cell: func(s several) doc.Cell { return doc.Cell{Text: s.Name.Get(names.Texts)} }}}, d.severalFields()...)
	fields = append(fields,
		doc.Field[several]{Label: "together", About: "tokens per second of all texts", Cell: func(s several) doc.Cell { return signedSpeed(s.Case) }},
		doc.Field[several]{Label: "times one", About: "how many times as many as of one text", Cell: func(s several) doc.Cell { return doc.Cell{Text: s.times()} }},
		doc.Field[several]{Label: "each", About: "tokens per second of a text", Drop: 1, Cell: func(s several) doc.Cell { rate, _ := s.eachOf(); return doc.Cell{Text: rate} }},
		doc.Field[several]{Label: "a pass", About: "how long a token of each takes", Drop: 2, Cell: func(s several) doc.Cell { _, pass := s.eachOf(); return doc.Cell{Text: pass} }},
	)
	return words.NewTable(term.FileName("texts", m.name), m.title("several texts at once"), textsCaption, rows, fields)
}

const textsCaption = "Texts decoded together read the weights once a pass. Each is equal to the bit to what it is alone."

// draftsSheet shows what drafts give on real texts.
func (d *report) draftsSheet(m *model) *doc.Table {
	rows := m.severals(names.Drafts, "")
	fields := append([]doc.Field[several]{{Label: names.Text, Text: true, Cell: func(s several) doc.Cell { return doc.Cell{Text: s.Name.Get(names.Text)} }}}, d.severalFields()...)
	fields = append(fields,
		doc.Field[several]{Label: "plain", About: "without drafts, tokens per second", Cell: func(s several) doc.Cell { return signedSpeed(s.one) }},
		doc.Field[several]{Label: names.Drafts, About: "most tokens of a draft", Drop: 3, Cell: func(s several) doc.Cell { return doc.Cell{Text: s.Name.Get(names.Drafts)} }},
		doc.Field[several]{Label: "with drafts", About: "tokens per second", Cell: func(s several) doc.Cell { return signedSpeed(s.Case) }},
		doc.Field[several]{Label: "times plain", Cell: func(s several) doc.Cell { return doc.Cell{Text: s.times()} }},
	)
	for i, unit := range []string{results.PassTokens, results.Accepted} {
		fields = append(fields, doc.Field[several]{Label: cmp.Or(map[string]string{results.PassTokens: "tokens a pass"}[unit], unit), About: results.UnitOf(unit).About, Drop: 1 + i,
			Cell: func(s several) doc.Cell { return doc.Cell{Text: digest.ValueOf(s.Case, unit)} }})
	}
	return words.NewTable(term.FileName("drafts", m.name), m.title("drafts on real texts"), draftsCaption, rows, fields)
}

const draftsCaption = "The model goes on greedily from a real text: with drafts the text is the same, and the passes are fewer."
