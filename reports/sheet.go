package reports

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"onebit/internal/term"
)

// A sheet is a table that the page, Markdown and the terminal show alike.
type sheet struct {
	ID, Heading, Caption string
	Folded               bool // whether HTML shows the heading alone until asked
	Columns              []sheetColumn
	Rows                 [][]sheetCell
}

// A sheetColumn is a column's head.
type sheetColumn struct {
	Label, About string
	Number       bool
	drop         int // as that of a textColumn
}

// A sheetCell is a value.
type sheetCell struct {
	Text, Remark string        // Remark is less important: a spread, a share
	Best         bool          // whether nothing in this column, under this condition, is better
	Mark         template.HTML // of a contender
	Bar          *timeBar      // nil if there is none; Text is the same in blocks
}

// A field makes a column's cells from what a sheet's rows are about.
type field[R any] struct {
	label, about string
	text         bool // whether it is no number
	drop         int
	cell         func(R) sheetCell
}

// newSheet has a row for each of the subjects, and the columns in which any of them has a text.
func newSheet[R any](id, heading, caption string, subjects []R, fields []field[R]) *sheet {
	s := &sheet{ID: id, Heading: heading, Caption: caption, Rows: make([][]sheetCell, len(subjects))}
	for _, f := range fields {
		cells := make([]sheetCell, len(subjects))
		for i, subject := range subjects {
			cells[i] = f.cell(subject)
		}
		if !slices.ContainsFunc(cells, func(c sheetCell) bool { return c.Text != "" }) {
			continue
		}
		s.Columns = append(s.Columns, sheetColumn{f.label, f.about, !f.text, f.drop})
		for i := range cells {
			s.Rows[i] = append(s.Rows[i], cells[i])
		}
	}
	var texts strings.Builder
	for _, row := range s.Rows {
		for _, c := range row {
			texts.WriteString(c.Text)
		}
	}
	s.Caption = sentences(s.Caption, signsText(texts.String()))
	return s
}

// text is a cell in one line.
func (c sheetCell) text() string { return strings.TrimSpace(c.Text + " " + c.Remark) }

// textColumns are the sheet's columns for a terminal.
func (s *sheet) textColumns() []*textColumn {
	columns := make([]*textColumn, len(s.Columns))
	for i, c := range s.Columns {
		columns[i] = &textColumn{title: c.Label, right: c.Number, drop: c.drop}
		for _, row := range s.Rows {
			columns[i].add(row[i].text())
			columns[i].brief = append(columns[i].brief, term.Text(row[i].Text))
		}
	}
	return columns
}

func (s *sheet) writeMarkdown(b *strings.Builder) {
	write := func() {
		b.WriteString(markdown(s.Caption) + "\n\n")
		header := make([]string, len(s.Columns))
		left := 0
		for i, c := range s.Columns {
			header[i] = c.Label
			if !c.Number && left == i {
				left++
			}
		}
		writeMarkdownRow(b, header)
		writeMarkdownRule(b, left, len(header))
		for _, row := range s.Rows {
			for _, c := range row {
				if text := markdown(c.text()); c.Best {
					b.WriteString("| **" + text + "** ")
				} else {
					b.WriteString("| " + text + " ")
				}
			}
			b.WriteString("|\n")
		}
		b.WriteByte('\n')
	}
	if s.Folded {
		writeMarkdownFold(b, markdown(s.Heading), write)
		return
	}
	b.WriteString("### " + markdown(s.Heading) + "\n\n")
	write()
}

// Label names the region of the page that scrolls.
func (s *sheet) Label() string { return cmp.Or(s.Heading, s.ID) }
