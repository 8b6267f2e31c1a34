package reports

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
)

func init() {
	RegisterKind(Kind{
		Name: "fleet",
		Recognise: func(s *Source) bool {
			return len(s.Machines) > 1 && slices.ContainsFunc(s.Machines, func(r *results.Set) bool { return !IsMachine(r) })
		},
		Build: func(_ context.Context, s *Source) (*doc.Document, error) {
			return newFleet(s).document(), nil
		},
	})
}

// document shows machines side by side.
func (f *fleet) document() *doc.Document {
	first := doc.First{Verdict: f.advice(), Table: f.bestSheet()}
	if l := f.lead(); l != nil {
		if picture := f.picture(l); picture != nil {
			picture.Name, picture.Source = "first-screen", f.source()
			first.Figure = &doc.Figure{Figure: picture}
		}
	}
	if len(first.Table.Rows) == 0 || len(first.Table.Columns) < 2 {
		first.Table = nil
	}
	d := &doc.Document{
		Title: f.title(), Subtitle: f.subtitle(), First: []doc.First{first}, Grave: f.grave(), Failures: failuresOf(f.failures()), Doubts: f.doubts(),
		Remarks: []string{f.noiseLine()}, Words: slices.Concat(signWords, words),
	}
	for _, t := range []*doc.Table{f.codeSheet(), f.machinesSheet()} {
		if len(t.Rows) > 0 && len(t.Columns) > 1 {
			heading := t.Heading
			t.Heading = ""
			d.Add((&doc.Section{ID: t.ID + "-section", Heading: heading}).Add(t))
		}
	}
	d.Add(f.casesSection(), f.machinesSection())
	left := maxRows
	for i, base := range f.bases() {
		if !foldedBase(base) {
			t := caseTable(f.members, base, max(left, leastRows))
			t.Caption = "Cases of all machines. Medians with 95% confidence intervals; onebit report --format csv prints all."
			left -= len(t.Rows)
			d.Add((&doc.Section{ID: fmt.Sprint("table-", i+1), Heading: base + " table", Only: doc.Page}).Add(t))
		}
	}
	d.Add(glossarySection(f.glossary()), reproduceSection("", f.rawText()))
	addRecords(d, f.members)
	d.Data = f.json()
	return d
}

func (f *fleet) source() []string { return []string{f.subtitle(), f.noiseLine()} }

// machinesSection is what each machine says of itself.
func (f *fleet) machinesSection() *doc.Section {
	s := &doc.Section{ID: "machine", Heading: "Machines and noise", Only: doc.Page | doc.Markdown}
	s.Add(doc.Text{Words: f.noiseLine()})
	for _, m := range f.members {
		s.Add((&doc.Section{Heading: m.heading(), Folded: true}).Add(doc.Text{Words: m.noiseText()}, doc.Facts{List: m.environment()}))
	}
	return s
}

// casesSection shows every case on every machine, a table for each kind of work, and draws them.
func (f *fleet) casesSection() *doc.Section {
	s := &doc.Section{ID: "kernels", Heading: "Case by case", Only: doc.Page | doc.Markdown}
	across := f.across(f.members)
	rows := f.caseRows()
	shown := rows[:min(len(rows), mostCases)]
	for len(shown) > 0 {
		l, n := shown[0].work, 1
		for n < len(shown) && shown[n].work == l {
			n++
		}
		fields := []doc.Field[caseRow]{{Label: "case", Text: true, Cell: func(r caseRow) doc.Cell {
			return doc.Cell{Text: r.title, More: []string{r.panel.String()}}
		}}}
		for i, m := range across {
			fields = append(fields, doc.Field[caseRow]{Label: m.heading(), Text: true, Cell: func(r caseRow) doc.Cell { return f.caseCell(r, i) }})
		}
		t := newTable("cases-"+l.subject, l.title()+" on each machine", l.title()+": "+caseCaption+f.acrossText(len(across), len(f.members))+
			textIf(len(rows) > mostCases, fmt.Sprintf(" The first %d of %s: CSV and JSON have all.", mostCases, count.Of(len(rows), "case"))), shown[:n], fields)
		t.Folded = n < len(rows)
		s.Add(t)
		shown = shown[n:]
	}
	if charts := fleetChart.section(f.figures(), f.source()); charts != nil {
		s.Add(charts)
	}
	return s
}

// A caseRow is one case on every machine.
type caseRow struct {
	work  *work
	title string
	panel panel
	cells []*ranking // by member; nil where it was not timed
}

// caseRows lists every task under every condition, work by work.
func (f *fleet) caseRows() []caseRow {
	var rows []caseRow
	for _, l := range f.works {
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
						rows = append(rows, caseRow{l, k.title, p, make([]*ranking, len(f.members))})
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

const caseCaption = "the fastest variant of each machine, its median time, and its share of what reading alone reached there in the same round (the roof). " +
	"Ties are variants that the machine can't tell from it."

// caseCell is what a machine, by its number, makes of a case, or why it makes nothing.
func (f *fleet) caseCell(r caseRow, i int) doc.Cell {
	m, s := f.members[i], r.cells[i]
	if s == nil {
		return doc.Cell{Text: r.whyMissing(m)}
	}
	cell := m.rankingCell(s, "")
	if m.emulated() {
		cell.Share = nil
	}
	return cell
}

// whyMissing says why a machine has no time of a case.
func (r caseRow) whyMissing(m *member) string {
	for _, f := range m.res.Failures {
		t := newTask(f.Name)
		where := panelOf(f.Name)
		if workOf(t) == [2]string{r.work.base, r.work.subject} && cmp.Or(t.shape, t.title) == r.title && where == r.panel {
			return wrongResult
		}
	}
	elsewhere := rivals(slices.DeleteFunc(slices.Clone(r.cells), func(s *ranking) bool { return s == nil }))
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
func (f *fleet) glossary() []doc.Fact {
	var all []doc.Fact
	has := make(map[doc.Fact]bool)
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
