package kernels

import (
	"cmp"
	"fmt"

	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/words"
)

// manyTasks is from how many tasks on reports begin with a row per format and give the tasks later.
const manyTasks = 12

// A section is the rows of a matrix that belong to one format or, without formats, all of them.
type section struct {
	subject string
	rows    []matrixRow
}

// sections splits a matrix by format.
func (m *matrix) sections() []section {
	var all []section
	for _, row := range m.rows {
		subject := cmp.Or(row.task.Subject, m.base)
		if len(all) == 0 || all[len(all)-1].subject != subject {
			all = append(all, section{subject: subject})
		}
		last := &all[len(all)-1]
		last.rows = append(last.rows, row)
	}
	return all
}

// rankings lists the cells that hold something, row by row.
func (m *matrix) rankings() []*digest.Ranking { return section{rows: m.rows}.rankings() }

func (s section) rankings() []*digest.Ranking {
	var all []*digest.Ranking
	for _, r := range s.rows {
		for _, c := range r.cells {
			if c != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// A summary is a section's verdict under one condition, over all of its tasks.
type summary struct {
	verdict
	panel digest.Panel
	over  []*digest.Ranking
}

// summaries sums a section up for each column of its matrix; nil where nothing was timed.
func (s section) summaries(columns []digest.Panel) []*summary {
	all := make([]*summary, len(columns))
	for i, p := range columns {
		var over []*digest.Ranking
		for _, r := range s.rows {
			if r.cells[i] != nil {
				over = append(over, r.cells[i])
			}
		}
		if len(over) > 0 {
			all[i] = &summary{judge(s.subject, over), p, over}
		}
	}
	return all
}

// typical is the median over the tasks of what the winner reached in a unit.
func (s *summary) typical(unit string) (float64, bool) {
	var cases []*digest.Case
	for _, o := range s.over {
		if c := o.Find(s.winner); c != nil {
			cases = append(cases, c)
		}
	}
	return digest.Typical(cases, unit)
}

func (s *summary) typicalText(unit string) string {
	v, ok := s.typical(unit)
	if !ok {
		return ""
	}
	return results.UnitOf(unit).Format(v)
}

// leadText says in how many of the tasks the winner leads.
func (s *summary) leadText() string { return fmt.Sprintf("%d of %d", s.leads, s.rankings) }

// speedText is the winner's speed-up over the baseline, which is named unless the reader knows it.
func (s *summary) speedText(known string) string {
	switch {
	case s.baseline == "":
		return ""
	case digest.VariantOf(s.baseline) == known:
		return words.Times(s.speedup)
	}
	return words.Times(s.speedup) + " " + s.baseline
}
