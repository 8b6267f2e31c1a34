package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
)

// ofSeveral reports whether a test takes in more than a token a pass, or is what those are held
// against: it has a row of a table of its own, not a column among all tests.
func (t *task) ofSeveral() bool {
	n := t.cases[0].name
	return n.Get(names.Texts) != "" || n.Get(names.Text) != ""
}

// A several is a test of more than a token a pass, beside the one of a token a pass.
type several struct {
	*caseStats
	one *caseStats // nil if it was not measured
}

// severals are the tests that have a part in their names, with the test that has it not, or where
// that was not measured, the one in which it is base.
func (m *model) severals(part, base string) (all []several) {
	for _, r := range m.runs {
		first := len(all)
		for _, t := range m.tests {
			c := r.cases[t]
			if c == nil || c.name.Get(part) == "" {
				continue
			}
			s := several{c, nil}
			for _, other := range r.cases {
				has := other.name.Get(part)
				if (has == "" || has == base) && sameBut(c.name, other.name, part) && (s.one == nil || has == base) {
					s.one = other
				}
			}
			all = append(all, s)
		}
		slices.SortStableFunc(all[first:], func(a, b several) int { return naturalCompare(a.name.Get(names.Depth), b.name.Get(names.Depth)) })
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
	rate, ok := s.center(results.TokenRate)
	one, known := s.one.center(results.TokenRate)
	if !ok || !known || !(one > 0) {
		return ""
	}
	return fmt.Sprintf("%.2f×", rate/one)
}

// eachOf divides the rate among the texts, and gives how long a pass of all of them takes.
func (s several) eachOf() (rate, pass string) {
	texts, err := strconv.Atoi(s.name.Get(names.Texts))
	all, ok := s.center(results.TokenRate)
	if err != nil || !ok || !(all > 0) {
		return "", ""
	}
	return results.UnitOf(results.TokenRate).Format(all / float64(texts)), formatSeconds(float64(texts) / all)
}

// severalFields begin both tables.
func (d *digest) severalFields() []field[several] {
	return []field[several]{
		{label: names.Variant, text: true, drop: 9, cell: func(s several) sheetCell {
			return sheetCell{Text: s.contender, Mark: markHTML(d.marks[s.contender])}
		}},
		{label: names.Threads, drop: 8, cell: func(s several) sheetCell { return sheetCell{Text: s.panel.threads} }},
		{label: names.Depth, drop: 7, cell: func(s several) sheetCell { return sheetCell{Text: s.name.Get(names.Depth)} }},
	}
}

// textsSheet shows several texts decoded together; nil if none were.
func (d *digest) textsSheet(m *model) *sheet {
	rows := m.severals(names.Texts, "1")
	if len(rows) == 0 {
		return nil
	}
	fields := append([]field[several]{{label: names.Texts, cell: func(s several) sheetCell { return sheetCell{Text: s.name.Get(names.Texts)} }}}, d.severalFields()...)
	fields = append(fields,
		field[several]{label: "together", about: "tokens per second of all texts", cell: func(s several) sheetCell { return signedSpeed(s.caseStats) }},
		field[several]{label: "times one", about: "how many times as many as of one text", cell: func(s several) sheetCell { return sheetCell{Text: s.times()} }},
		field[several]{label: "each", about: "tokens per second of a text", drop: 1, cell: func(s several) sheetCell { rate, _ := s.eachOf(); return sheetCell{Text: rate} }},
		field[several]{label: "a pass", about: "how long a token of each takes", drop: 2, cell: func(s several) sheetCell { _, pass := s.eachOf(); return sheetCell{Text: pass} }},
	)
	return newSheet(fileName("texts", m.name), m.title("several texts at once"), textsCaption, rows, fields)
}

const textsCaption = "Texts that are decoded together, a token of each in a pass, which reads the weights once. Text i holds i tokens more than the first; " +
	"each is held to the bit to what it is alone."

// draftsSheet shows what drafts give on real texts; nil if none were measured.
func (d *digest) draftsSheet(m *model) *sheet {
	rows := m.severals(names.Drafts, "")
	if len(rows) == 0 {
		return nil
	}
	fields := append([]field[several]{{label: names.Text, text: true, cell: func(s several) sheetCell { return sheetCell{Text: s.name.Get(names.Text)} }}}, d.severalFields()...)
	fields = append(fields,
		field[several]{label: "plain", about: "without drafts, tokens per second", cell: func(s several) sheetCell { return signedSpeed(s.one) }},
		field[several]{label: names.Drafts, about: "most tokens of a draft", drop: 3, cell: func(s several) sheetCell { return sheetCell{Text: s.name.Get(names.Drafts)} }},
		field[several]{label: "with drafts", about: "tokens per second", cell: func(s several) sheetCell { return signedSpeed(s.caseStats) }},
		field[several]{label: "times plain", cell: func(s several) sheetCell { return sheetCell{Text: s.times()} }},
	)
	for i, unit := range []string{results.PassTokens, results.Accepted} {
		fields = append(fields, field[several]{label: cmp.Or(map[string]string{results.PassTokens: "tokens a pass"}[unit], unit), about: results.UnitOf(unit).About, drop: 1 + i,
			cell: func(s several) sheetCell { return sheetCell{Text: valueIn(s.caseStats, unit)} }})
	}
	return newSheet(fileName("drafts", m.name), m.title("drafts on real texts"), draftsCaption, rows, fields)
}

const draftsCaption = "The model goes on greedily from a real text, without drafts and with those of tokens that the text has said before: the text is the same, " +
	"only the passes are fewer."
