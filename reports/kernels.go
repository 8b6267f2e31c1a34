package reports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"onebit/bench/gate"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

func init() {
	RegisterKind(Kind{
		Name:      "kernels",
		Recognise: func(s *Source) bool { return isBench(s) && !hasModels(s.Machines[0]) },
		Build: func(_ context.Context, s *Source) (*doc.Document, error) {
			return benchDocument(newDigest(s.Machines[0], s.Warnings...), s.Top), nil
		},
	})
}

// hasModels reports whether any case is of a model.
func hasModels(res *results.Set) bool {
	return slices.ContainsFunc(res.Samples, func(s results.Sample) bool {
		return s.Name.Get(names.Model) != "" || s.Name.Base == names.BaseModel || names.IsPartOfModel(s.Name)
	})
}

// isBench reports whether results are a run of benchmarks on one machine, and of no other kind.
func isBench(s *Source) bool {
	return len(s.Machines) == 1 && s.kind() == "" && !IsMachine(s.Machines[0]) && !gate.IsResults(s.Machines[0])
}

var kernelCharts charts[kernelReport]

func init() {
	kernelCharts.Add(threadsChart(func(d kernelReport) []*figure.Figure { return threadsFigures(d.digest, false) }))
}

// A kernelReport is what results say of variants that compete in tasks.
type kernelReport struct{ *digest }

// benchDocument shows who wins where. top is how many variants of a setting a terminal shows.
func benchDocument(of *digest, top int) *doc.Document {
	d := kernelReport{of}
	x := &doc.Document{Title: d.title(), Subtitle: d.subtitle(d.title()), First: d.screens(), Grave: d.verdictDoubts(), Doubts: d.doubts(), Words: slices.Concat(signWords, words)}
	x.Failures, x.Choice = failuresOf(d.res.Failures), d.choice()
	if len(d.tasks) > 0 {
		x.Remarks = []string{d.noiseLine()}
	}
	x.Add(d.kernelsSection(top), d.machineSection())
	x.Add(d.caseSections()...)
	x.Add(glossarySection(d.glossary()), reproduceSection(d.res.Setting("command"), d.rawText()))
	addRecords(x, []*member{{digest: of, machine: d.res.Machine()}})
	return x
}

// choice is the condition by which formats are ranked, and the largest of the shapes that most of them ran.
func (d kernelReport) choice() (c doc.Choice) {
	ran := make(map[string]int)
	for _, t := range d.tasks {
		if t.ops > 0 {
			if ran[t.shape]++; ran[t.shape] >= ran[c.Shape] { // a format's tasks are in the order of their size
				c.Shape = t.shape
			}
		}
	}
	for _, p := range d.decisive(panels(contending(d.cases))) {
		c.Threads, c.Cache = p.threads, p.cache
	}
	return c
}

func failuresOf(all []results.Failure) []doc.Failure {
	var out []doc.Failure
	for _, f := range all {
		out = append(out, doc.Failure{Name: f.Name.Full, Reason: f.Reason})
	}
	return out
}

// kernelsSection says who wins where, and draws it: for each task and condition the fastest variants. If those would fill
// screens, each format and condition has a row over all of its tasks before them, which is all that a terminal shows.
func (d kernelReport) kernelsSection(top int) *doc.Section {
	s, all := &doc.Section{ID: "kernels", Heading: "Kernels"}, d.matrices()
	if len(all) == 0 {
		s.Heading = "Benchmarks"
	}
	summed, shown := top == 0 && len(d.tasks) > manyTasks, 3
	if summed {
		shown = 2
	}
	for _, m := range all {
		t := d.rankingTable(m, cmp.Or(top, shown))
		if summed {
			s.Add(d.summaryTable(m))
			t.Folded, t.Only, t.Records = true, doc.Page|doc.Markdown, true
			if n := len(t.Rows); n > mostRankings {
				t.Rows = t.Rows[:mostRankings]
				t.Caption = sentences(t.Caption, fmt.Sprintf("These are the first of %d rows: CSV has all.", n))
			}
		}
		s.Add(t)
	}
	if summed && len(all) > 0 {
		s.Add(doc.Text{Words: summaryText})
	}
	for _, base := range d.bases() {
		if cases := d.ofBase(base); cases[0].variant == "" && !isCeiling(cases[0]) {
			s.Add(d.unknownTable(cases))
		}
	}
	return s.Add(kernelCharts.sections(d, d.source())...)
}

// mostRankings is how many rows a page's table of rankings has.
const mostRankings = 450

// machineSection says where results come from, and how noisy they are.
func (d *digest) machineSection() *doc.Section {
	s := &doc.Section{ID: "machine", Heading: "Machine and noise", Only: doc.Page | doc.Markdown}
	return s.Add(doc.Text{Words: d.noiseText()}, doc.Facts{List: d.environment()})
}

// environment lists the header.
func (d *digest) environment() []doc.Fact { return settingFacts(d.res.Settings) }

func settingFacts(settings []results.Setting) []doc.Fact {
	var all []doc.Fact
	for _, s := range settings {
		all = append(all, doc.Fact{Name: s.Key, Value: s.Value})
	}
	return all
}

func glossarySection(terms []doc.Fact) *doc.Section {
	if len(terms) == 0 {
		return nil
	}
	return (&doc.Section{ID: "glossary", Heading: "Glossary", Only: doc.Page}).Add(doc.Facts{List: terms, Wide: true})
}

func reproduceSection(command, raw string) *doc.Section {
	s := &doc.Section{ID: "reproduce", Heading: "Reproduce", Only: doc.Page}
	if command != "" {
		s.Add(doc.Text{Words: "These results come from"}, doc.Code(command))
	}
	return s.Add(doc.Text{Words: raw})
}

// foldedBase reports whether a benchmark has so many lines that only tables of models and charts show them, and CSV
// all.
func foldedBase(base string) bool { return base == names.BaseOp || base == names.BaseLockstep }

// maxRows is how many cases the tables have together, and leastRows how many each has at most where the others leave
// none: a page of ten times as many takes a browser seconds.
const (
	maxRows   = 1000
	leastRows = 100

	// maxCells bounds a table with more columns than any real one.
	maxCells = 100_000
)

// rowsOf is how many rows a table has with so many columns, at most.
func rowsOf(most, columns int) int { return max(1, min(most, maxCells/columns)) }

// caseSections have a table of every benchmark's cases.
func (d *digest) caseSections() []*doc.Section {
	var all []*doc.Section
	left := maxRows
	for _, base := range d.bases() {
		if foldedBase(base) {
			continue
		}
		cases := d.ofBase(base)
		t := caseTable([]*member{{digest: d}}, base, max(left, leastRows))
		t.Caption = sentences(count.Of(len(cases), "case")+". Medians with 95% confidence intervals; ±? stands where there are too few samples for one, or it spans a factor of ten, and nothing where there is but one.",
			textIf(len(t.Rows) < len(cases), "These are the first "+strconv.Itoa(len(t.Rows))+": onebit report --format csv prints all."), signsText(signsOf(cases)), aboveText(cases))
		left -= len(t.Rows)
		all = append(all, (&doc.Section{ID: "table-" + strconv.Itoa(len(all)+1), Heading: base + " table", Only: doc.Page | doc.Markdown}).Add(t))
	}
	return all
}

// A memberCase is a case of a machine.
type memberCase struct {
	member *member
	c      *caseStats
}

// columnsOf are the keys and units that cases of any machine have.
func columnsOf(members []*member, byMember [][]*caseStats) (keys, units []string) {
	var allKeys, allUnits uniqueList
	for i, m := range members {
		if len(byMember[i]) == 0 {
			continue
		}
		for _, k := range nameKeys(byMember[i]) {
			allKeys.add(k)
		}
		for _, u := range m.unitsIn(byMember[i]) {
			allUnits.add(u)
		}
	}
	return allKeys.list, allUnits.list
}

// caseTable has the cases of a benchmark, at most so many, with every unit that any of them has.
func caseTable(members []*member, base string, most int) *doc.Table {
	byMember := make([][]*caseStats, len(members))
	for i, m := range members {
		byMember[i] = m.ofBase(base)
	}
	keys, units := columnsOf(members, byMember)
	most = rowsOf(most/len(members), len(keys)+len(units)+1)
	var rows []memberCase
	for i, m := range members {
		for _, c := range byMember[i][:min(len(byMember[i]), most)] {
			rows = append(rows, memberCase{m, c})
		}
	}
	if len(members) > 1 { // a case on all machines
		slices.SortStableFunc(rows, func(a, b memberCase) int { return naturalCompare(a.c.name.Full, b.c.name.Full) })
	}
	var fields []doc.Field[memberCase]
	if len(members) > 1 {
		fields = append(fields, doc.Field[memberCase]{Label: "machine", Text: true, Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: r.member.heading()} }})
	}
	for _, k := range keys {
		fields = append(fields, doc.Field[memberCase]{Label: cmp.Or(k, "name"), Text: true, Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: nameValue(r.c.name, k)} }})
	}
	for _, u := range units {
		fields = append(fields, doc.Field[memberCase]{Label: u, About: results.UnitOf(u).About, Cell: func(r memberCase) doc.Cell {
			s, ok := r.c.stats[u]
			if !ok {
				return doc.Cell{}
			}
			return doc.Cell{Text: signedValue(r.c, u), Remark: s.spread(u)}
		}})
	}
	fields = append(fields, doc.Field[memberCase]{Label: "samples", Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: strconv.Itoa(r.c.samples)} }})
	t := doc.NewTable("cases-"+base, "", "", rows, fields)
	t.Sortable, t.Records = true, true
	return t
}
