package words

import (
	"strings"

	"onebit/reports/doc"
)

// Signs stand behind a time that deserves less trust.
const (
	DoubtSign  = "†"
	StatesSign = "‡"
)

// Signs explain signs.
var Signs = []doc.Word{
	{Text: DoubtSign, About: "a warning tells of a disturbance while this was measured.", Sign: true},
	{Text: StatesSign, About: "the machine was in two states, its threads near each other and far apart: the time mixes both.", Sign: true},
}

// NewTable is doc.NewTable with the signs of its cells explained.
func NewTable[R any](id, heading, caption string, subjects []R, fields []doc.Field[R]) *doc.Table {
	t := doc.NewTable(id, heading, caption, subjects, fields)
	var texts strings.Builder
	for _, row := range t.Rows {
		for _, c := range row {
			texts.WriteString(c.Text)
		}
	}
	t.Caption = Sentences(t.Caption, SignsText(texts.String()))
	return t
}

// SignsText explains signs, such as those in a text; "" if there are none.
func SignsText(text string) string {
	var said []string
	for _, w := range Signs {
		if strings.Contains(text, w.Text) {
			said = append(said, w.Text+" "+w.About)
		}
	}
	return strings.Join(said, " ")
}

// Sentences joins those that are not empty.
func Sentences(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, " ")
}
