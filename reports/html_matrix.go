package reports

import (
	"cmp"
	"fmt"
	"html/template"
	"math"

	"onebit/bench/results"
)

type pageMatrix struct {
	Columns []string
	Parts   []pageMatrixPart
}

// A pageMatrixPart is a table; with a heading it is shown when asked for.
type pageMatrixPart struct {
	Heading, Label, Caption, RowTitle string
	Rows                              []pageMatrixRow
}

type pageMatrixRow struct {
	Subject, Shape string
	Cells          []pageCell
}

type pageCell struct {
	Winner, Time, Spread, Roof, Share, Error, Ties string
	Missing                                        string // why there is no winner; "" says that none was timed
	Mark                                           template.HTML
}

// pageMatrix shows a matrix as one table or, if its formats have many rows, as a table of a row per
// format, followed by the formats' own.
func (d *digest) pageMatrix(m *matrix) pageMatrix {
	p := pageMatrix{}
	for _, c := range m.columns {
		p.Columns = append(p.Columns, cmp.Or(c.String(), "all"))
	}
	rowTitle := "format"
	if m.rows[0].task.subject == "" {
		rowTitle = "task"
	}
	if !m.crowded() {
		part := pageMatrixPart{Label: m.base + ": the fastest variants", Caption: sentences(m.base+": "+matrixCaption, noteText(m.standings())), RowTitle: rowTitle}
		for _, r := range m.rows {
			part.Rows = append(part.Rows, d.pageMatrixRow(r))
		}
		p.Parts = []pageMatrixPart{part}
		return p
	}
	over := pageMatrixPart{Label: m.base + ": the fastest variants over all shapes", Caption: sentences(m.base+": "+overviewCaption, aboveText(fastest(m.standings()))), RowTitle: rowTitle}
	p.Parts = []pageMatrixPart{over}
	for _, s := range m.sections() {
		row := pageMatrixRow{Subject: s.subject}
		for _, summary := range s.summaries(m.columns) {
			row.Cells = append(row.Cells, d.summaryCell(summary))
		}
		p.Parts[0].Rows = append(p.Parts[0].Rows, row)
		part := pageMatrixPart{
			Heading: s.heading(), Label: s.subject + ": the fastest variants", Caption: sentences(s.subject+": "+matrixCaption, noteText(s.standings())), RowTitle: "shape",
		}
		for _, r := range s.rows {
			row := d.pageMatrixRow(r)
			row.Subject, row.Shape = cmp.Or(r.task.shape, r.task.title), ""
			part.Rows = append(part.Rows, row)
		}
		p.Parts = append(p.Parts, part)
	}
	return p
}

const (
	matrixCaption = "the fastest variant, its median time, its share of what reading alone reached in the same round (the roof), " +
		"and its error. Ties are variants that can't be told from it."
	overviewCaption = "the variant that is the fastest, or tied with it, most often; in how many of the tasks; its speed-up, a geometric mean; " +
		"the median of its shares of what reading alone reached in the same rounds (the roof); and its error."
)

// fastest lists the best of each standing.
func fastest(standings []*standing) []*caseStats {
	var all []*caseStats
	for _, s := range standings {
		all = append(all, s.best())
	}
	return all
}

// noteText explains what stands behind the values of the best: signs, and shares above 100%.
func noteText(standings []*standing) string {
	cases := fastest(standings)
	return sentences(signsText(signsOf(cases)), aboveText(cases))
}

func (d *digest) pageMatrixRow(r matrixRow) pageMatrixRow {
	row := pageMatrixRow{Subject: r.task.title}
	if r.task.subject != "" {
		row.Subject, row.Shape = r.task.subject, r.task.shape
	}
	for _, s := range r.cells {
		row.Cells = append(row.Cells, d.pageCell(s))
	}
	return row
}

func (d *digest) summaryCell(s *summary) pageCell {
	if s == nil {
		return pageCell{}
	}
	cell := pageCell{
		Winner: s.champion, Time: s.leadText(), Roof: s.roofText(),
		Error: s.nmse.text(results.UnitOf(results.NMSE).Format), Mark: markHTML(d.marks[s.champion]),
	}
	if speed := s.speedText(""); speed != "" {
		cell.Time += ", " + speed
	}
	cell.Share = barShare(s.typical(results.PctRoof))
	return cell
}

// barShare is the width of the bar that shows a share of the roof; "" without one.
func barShare(roof float64, ok bool) string {
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.1f%%", math.Max(0, math.Min(100, roof)))
}

func (d *digest) pageCell(s *standing) pageCell {
	if s == nil {
		return pageCell{}
	}
	c := s.best()
	cell := pageCell{
		Winner: c.contender, Time: signedValue(c, results.NsPerOp), Spread: c.stats[results.NsPerOp].spread(results.NsPerOp),
		Roof: roofOf(c), Error: valueOf(c, results.NMSE), Ties: namesOf(s.leaders()[1:]),
		Mark: markHTML(d.marks[c.contender]),
	}
	cell.Share = barShare(c.center(results.PctRoof))
	return cell
}
