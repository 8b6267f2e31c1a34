package reports

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"onebit/bench/results"
	"onebit/internal/count"
)

// A pageMachine is what one of several machines says of itself.
type pageMachine struct {
	Name, Noise string
	Environment []fact
}

// WriteFleet writes a report of several machines into dir, as Write does of one.
func WriteFleet(ctx context.Context, dir string, found *results.Fleet, opt WriteOptions) error {
	if len(found.Machines) == 1 {
		return Write(ctx, dir, oneMachine(found), opt)
	}
	return writeFolder(ctx, dir, opt, func(w io.Writer) (drawing, error) {
		f := newFleet(found)
		drawn, err := f.draw(ctx)
		if err != nil {
			return drawn, err
		}
		return drawn, f.writePage(w, drawn, plotsFolder+"/")
	})
}

// oneMachine is a fleet of one as the results of a machine.
func oneMachine(found *results.Fleet) *results.Set {
	res := *found.Machines[0]
	res.Warnings = slices.Concat(res.Warnings, found.Warnings)
	return &res
}

// writeFleetHTML writes the page that needs nothing beside it.
func writeFleetHTML(ctx context.Context, w io.Writer, f *fleet) error {
	drawn, err := f.draw(ctx)
	if err != nil {
		return err
	}
	return f.writePage(w, drawn, "")
}

func (f *fleet) writePage(w io.Writer, drawn drawing, plots string) error {
	p := page{
		shell:           newShell(f.title(), f.subtitle()),
		ProblemsHeading: f.problemsHeading(), Doubts: f.doubts(), Grave: f.grave(),
		Screens: []screen{{Verdict: f.advice(), Sheet: f.bestSheet()}}, Kernels: "Case by case",
		Noise: f.noiseLine(), NoiseLine: f.noiseLine(), Glossary: f.glossary(), Tables: f.pageTables(), Raw: f.rawText(),
	}
	for _, s := range []*sheet{f.codeSheet(), f.machinesSheet()} {
		if len(s.Rows) > 0 {
			p.Screens = append(p.Screens, screen{Sheet: s})
		}
	}
	for _, failure := range f.failures() {
		p.Failures = append(p.Failures, pageFailure{failure.Name.Full, failure.Reason})
	}
	if drawn.picture != nil {
		figure := newPageFigure(*drawn.picture, plots)
		p.Picture = &figure
	}
	for _, c := range drawn.charts {
		p.Charts = append(p.Charts, newPageChart(c, plots))
	}
	if m := f.pageMatrix(); len(m.Parts) > 0 {
		p.Matrices = []pageMatrix{m}
	}
	for _, m := range f.members {
		p.Machines = append(p.Machines, pageMachine{m.heading(), m.noiseText(), m.environment()})
	}
	return renderPage(w, pageTemplate(), p)
}

// A caseRow is one case on every machine.
type caseRow struct {
	lineup *lineup
	title  string
	panel  panel
	cells  []*standing // by member; nil where it was not timed
}

// caseRows lists every task under every condition, lineup by lineup.
func (f *fleet) caseRows() []caseRow {
	var rows []caseRow
	for _, l := range f.lineups {
		type key struct {
			title string
			panel panel
		}
		index := make(map[key]int)
		first := len(rows)
		for i, m := range f.members {
			for _, t := range l.tasksOf(m) {
				for _, p := range panels(t.cases) {
					s, ok := m.rank(t, p)
					if !ok {
						continue
					}
					k := key{cmp.Or(t.shape, t.title), p}
					at, seen := index[k]
					if !seen {
						at = len(rows)
						index[k] = at
						rows = append(rows, caseRow{l, k.title, p, make([]*standing, len(f.members))})
					}
					rows[at].cells[i] = s
				}
			}
		}
		slices.SortStableFunc(rows[first:], func(a, b caseRow) int {
			return cmp.Or(naturalCompare(a.title, b.title), naturalCompare(a.panel.threads, b.panel.threads), naturalCompare(a.panel.cache, b.panel.cache))
		})
	}
	return rows
}

// pageMatrix shows every case on every machine, a part for each kind of work.
func (f *fleet) pageMatrix() pageMatrix {
	across := f.across(f.members)
	var m pageMatrix
	for _, member := range across {
		m.Columns = append(m.Columns, member.heading())
	}
	rows := f.caseRows()
	shown := rows[:min(len(rows), mostCases)]
	var last *lineup
	for _, r := range shown {
		if r.lineup != last {
			last = r.lineup
			title := last.title()
			m.Parts = append(m.Parts, pageMatrixPart{
				Heading: title, Label: title + " on each machine", RowTitle: "case",
				Caption: title + ": " + caseCaption + f.acrossText(len(across), len(f.members)) +
					textIf(len(shown) < len(rows), fmt.Sprintf(" The first %d of %s: CSV and JSON have all.", len(shown), count.Of(len(rows), "case"))),
			})
		}
		part := &m.Parts[len(m.Parts)-1]
		row := pageMatrixRow{Subject: r.title, Shape: r.panel.String()}
		for i := range across {
			row.Cells = append(row.Cells, f.caseCell(r, i))
		}
		part.Rows = append(part.Rows, row)
	}
	if len(m.Parts) == 1 {
		m.Parts[0].Heading = ""
	}
	return m
}

const caseCaption = "the fastest variant of each machine, its median time, and its share of what reading alone reached there in the same round (the roof). " +
	"Ties are variants that the machine can't tell from it."

// caseCell is what a machine, by its number, makes of a case, or why it makes nothing.
func (f *fleet) caseCell(r caseRow, i int) pageCell {
	m, s := f.members[i], r.cells[i]
	if s == nil {
		return pageCell{Missing: r.whyMissing(m)}
	}
	cell := m.pageCell(s)
	if m.emulated() {
		cell.Roof, cell.Share = "", ""
	}
	return cell
}

// whyMissing says why a machine has no time of a case.
func (r caseRow) whyMissing(m *member) string {
	for _, f := range m.res.Failures {
		t := newTask(f.Name)
		where := panelOf(f.Name)
		if lineupOf(t) == [2]string{r.lineup.base, r.lineup.subject} && cmp.Or(t.shape, t.title) == r.title && where == r.panel {
			return wrongResult
		}
	}
	elsewhere := rivals(slices.DeleteFunc(slices.Clone(r.cells), func(s *standing) bool { return s == nil }))
	if !slices.ContainsFunc(elsewhere, func(name string) bool { return !m.res.Lacks(variantOf(name)) }) {
		return unavailable
	}
	return notRun
}

// rawText says where the samples are.
func (f *fleet) rawText() string {
	samples := 0
	for _, m := range f.members {
		samples += len(m.res.Samples)
	}
	return fmt.Sprintf("%s of %s are in the results files, in the Go benchmark format. onebit report FILE renders one machine's own report, with all of its charts.",
		count.Of(samples, "sample"), count.Of(len(f.members), "machine"))
}

// glossary joins those of the machines.
func (f *fleet) glossary() []fact {
	var all []fact
	has := make(map[fact]bool)
	for _, m := range f.members {
		for _, term := range m.glossary() {
			if !has[term] {
				has[term] = true
				all = append(all, term)
			}
		}
	}
	return all
}

// bases lists the benchmarks of all machines.
func (f *fleet) bases() []string {
	var all uniqueList
	for _, m := range f.members {
		for _, base := range m.bases() {
			all.add(base)
		}
	}
	return all.list
}

// columnsOf are the keys and the units of a benchmark on any machine.
func (f *fleet) columnsOf(base string) ([]string, []string) {
	var keys, units uniqueList
	for _, m := range f.members {
		cases := m.ofBase(base)
		if len(cases) == 0 {
			continue
		}
		for _, k := range nameKeys(cases) {
			keys.add(k)
		}
		for _, u := range m.unitsIn(cases) {
			units.add(u)
		}
	}
	return keys.list, units.list
}

// pageTables are those of all benchmarks, each machine's cases below the last's. All together are as long
// as those of one machine would be.
func (f *fleet) pageTables() []pageTable {
	var tables []pageTable
	left := maxRows
	for _, base := range f.bases() {
		if foldedBase(base) {
			continue
		}
		keys, units := f.columnsOf(base)
		t := pageTable{ID: fmt.Sprint("table-", len(tables)+1), Base: base, Columns: []pageColumn{{Label: "machine"}}}
		for _, k := range keys {
			t.Columns = append(t.Columns, pageColumn{Label: cmp.Or(k, "name")})
		}
		for _, u := range units {
			t.Columns = append(t.Columns, pageColumn{Label: u, About: results.UnitOf(u).About, Number: true})
		}
		t.Columns = append(t.Columns, pageColumn{Label: "samples", Number: true})
		most := rowsOf(max(left, leastRows)/len(f.members), len(t.Columns))
		all := 0
		for _, m := range f.members {
			cases := m.ofBase(base)
			all += len(cases)
			for _, c := range cases[:min(len(cases), most)] {
				t.Rows = append(t.Rows, append([]pageValue{{Text: m.heading(), Header: true}}, pageRow(c, keys, units)...))
			}
		}
		t.Caption = count.Of(all, "case") + " of all machines. Medians with 95% confidence intervals."
		if all > len(t.Rows) {
			t.Caption += fmt.Sprintf(" These are the first %d of each machine: onebit report --format csv prints all.", most)
		}
		left -= len(t.Rows)
		tables = append(tables, t)
	}
	return tables
}
