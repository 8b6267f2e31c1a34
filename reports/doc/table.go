package doc

import (
	"math"
	"slices"
	"strings"
)

// A Table is what the page, Markdown and the terminal show alike.
type Table struct {
	ID, Heading, Caption string
	Folded               bool // whether a page shows the heading alone until asked
	Only                 Medium
	Sortable             bool // whether a page lets a reader sort and filter it
	Listing              bool // whether it is code, a line a row
	Records              bool // whether paper leaves it out: it holds every case
	Columns              []Column
	Rows                 [][]Cell
}

// A Column is a column's head.
type Column struct {
	Label, About string
	Number       bool
	Drop         int  // when a width is short, the column of the highest goes first; 0 never goes
	Group        bool // whether a cell stands for the rows up to the next
}

// A Cell is a value. The zero value is an empty one.
type Cell struct {
	Text, Remark string  // Remark is less important: a spread, a share
	Link         string  // of a file beside the page that Text leads to; "" for none
	Best         bool    // whether nothing in this column, under this condition, is better
	Strong       bool    // whether its row stands out
	Mark         Mark    // of the name
	Bar          *Bar    // the value as a length; Text is the same in blocks
	Shade        float64 // 0 to 1, of its ground
}

// A Mark is the sign of a name, in every figure and table: a series of its colour and shape, from 1 on. 0 is none.
type Mark int

// MarkOf is the mark of a series.
func MarkOf(series int) Mark { return Mark(series + 1) }

// Series is the number of the series.
func (m Mark) Series() int { return int(m) - 1 }

// A Field makes a column's cells from what a table's rows are about.
type Field[R any] struct {
	Label, About string
	Text         bool // whether it is no number
	Drop         int
	Group        bool
	Cell         func(R) Cell
}

// NewTable has a row for each of the subjects, and the columns in which any of them has a text.
func NewTable[R any](id, heading, caption string, subjects []R, fields []Field[R]) *Table {
	t := &Table{ID: id, Heading: heading, Caption: caption, Rows: make([][]Cell, len(subjects))}
	for _, f := range fields {
		cells := make([]Cell, len(subjects))
		for i, subject := range subjects {
			cells[i] = f.Cell(subject)
		}
		if !slices.ContainsFunc(cells, func(c Cell) bool { return c.Text != "" }) {
			continue
		}
		t.Columns = append(t.Columns, Column{f.Label, f.About, !f.Text, f.Drop, f.Group})
		for i := range cells {
			t.Rows[i] = append(t.Rows[i], cells[i])
		}
	}
	return t
}

// Line is a cell in one line.
func (c Cell) Line() string { return strings.TrimSpace(c.Text + " " + c.Remark) }

// CutMiddle leaves out the middle of a long text, since names differ at their ends.
func CutMiddle(s string, most int) string { return Cut(s, most, 0.4) }

// Cut keeps as many characters, a share of them from the beginning and the others from the end.
func Cut(s string, most int, beginning float64) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	head := int(math.Ceil(beginning * float64(most-1)))
	return string(runes[:head]) + "…" + string(runes[len(runes)-(most-1-head):])
}
