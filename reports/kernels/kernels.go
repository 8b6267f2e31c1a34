// Package kernels reports runs of benchmarks: who wins where, by how much, at what cost, and how sure that is.
package kernels

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
	"onebit/reports"
	"onebit/reports/charts"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

func init() {
	reports.Register(reports.Kind{
		Name:      "kernels",
		Recognise: func(s *reports.Source) bool { return IsBench(s) && !HasModels(s.Machines[0]) },
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) {
			return Document(digest.Of(s.Machines[0], s.Warnings...), s.Top), nil
		},
	})
}

// HasModels reports whether any case is of a model.
func HasModels(res *results.Set) bool {
	return slices.ContainsFunc(res.Samples, func(s results.Sample) bool {
		return s.Name.Get(names.Model) != "" || s.Name.Base == names.BaseModel || names.IsPartOfModel(s.Name)
	})
}

// IsBench reports whether results are a run of benchmarks on one machine, and of no other kind.
func IsBench(s *reports.Source) bool {
	return len(s.Machines) == 1 && s.Kind() == "" && !reports.IsMachine(s.Machines[0]) && !gate.IsResults(s.Machines[0])
}

var drawings charts.List[report]

func init() {
	drawings.Add(charts.ThreadsChart(func(d report) []*figure.Figure { return charts.Threads(d.Digest, false) }))
}

// A report is what results say of variants that compete in tasks.
type report struct{ *digest.Digest }

// Document shows who wins where. top is how many variants of a setting a terminal shows.
func Document(of *digest.Digest, top int) *doc.Document {
	d := report{of}
	x := &doc.Document{Title: d.Title(), Subtitle: d.Subtitle(d.Title()), First: d.screens(), Grave: d.VerdictDoubts(), Doubts: d.Doubts(), Words: slices.Concat(words.Signs, words.Vocabulary)}
	x.Failures, x.Choice = digest.Failures(d.Results.Failures), d.choice()
	if len(d.Tasks) > 0 {
		x.Remarks = []string{d.NoiseLine()}
	}
	x.Add(d.kernelsSection(top), machineSection(d.Digest))
	x.Add(caseSections(d.Digest)...)
	x.Add(digest.Glossary(d.Glossary()), digest.Reproduce(d.Results.Setting("command"), d.RawText()))
	digest.AddRecords(x, []*digest.Member{{Digest: of, Machine: d.Results.Machine()}})
	return x
}

// choice is the condition by which formats are ranked, and the largest of the shapes that most of them ran.
func (d report) choice() (c doc.Choice) {
	ran := make(map[string]int)
	for _, t := range d.Tasks {
		if t.Ops > 0 {
			if ran[t.Shape]++; ran[t.Shape] >= ran[c.Shape] { // a format's tasks are in the order of their size
				c.Shape = t.Shape
			}
		}
	}
	for _, p := range d.Decisive(digest.Panels(digest.Contending(d.Cases))) {
		c.Threads, c.Cache = p.Threads, p.Cache
	}
	return c
}

// kernelsSection says who wins where, and draws it: for each task and condition the fastest variants. If those would fill
// screens, each format and condition has a row over all of its tasks before them, which is all that a terminal shows.
func (d report) kernelsSection(top int) *doc.Section {
	s, all := &doc.Section{ID: "kernels", Heading: "Kernels"}, d.matrices()
	if len(all) == 0 {
		s.Heading = "Benchmarks"
	}
	summed, shown := top == 0 && len(d.Tasks) > manyTasks, 3
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
				t.Caption = words.Sentences(t.Caption, fmt.Sprintf("These are the first of %d rows: CSV has all.", n))
			}
		}
		s.Add(t)
	}
	if summed && len(all) > 0 {
		s.Add(doc.Text{Words: summaryText})
	}
	for _, base := range d.Bases() {
		if cases := d.OfBase(base); cases[0].Variant == "" && !isCeiling(cases[0]) {
			s.Add(d.unknownTable(cases))
		}
	}
	return s.Add(drawings.Sections(d, d.Source())...)
}

// mostRankings is how many rows a page's table of rankings has.
const mostRankings = 450

// machineSection says where results come from, and how noisy they are.
func machineSection(d *digest.Digest) *doc.Section {
	s := &doc.Section{ID: "machine", Heading: "Machine and noise", Only: doc.Page | doc.Markdown}
	return s.Add(doc.Text{Words: d.NoiseText()}, doc.Facts{List: d.Environment()})
}

// caseSections have a table of every benchmark's cases.
func caseSections(d *digest.Digest) []*doc.Section {
	var all []*doc.Section
	left := digest.MaxRows
	for _, base := range d.Bases() {
		if digest.FoldedBase(base) {
			continue
		}
		cases := d.OfBase(base)
		t := digest.CaseTable([]*digest.Member{{Digest: d}}, base, max(left, digest.LeastRows))
		t.Caption = words.Sentences(count.Of(len(cases), "case")+". Medians with 95% intervals; ±? says that the samples are too few for one.",
			words.If(len(t.Rows) < len(cases), "These are the first "+strconv.Itoa(len(t.Rows))+": onebit report --format csv prints all."), words.SignsText(digest.SignsOf(cases)), digest.AboveText(cases))
		left -= len(t.Rows)
		all = append(all, (&doc.Section{ID: "table-" + strconv.Itoa(len(all)+1), Heading: base + " table", Only: doc.Page | doc.Markdown}).Add(t))
	}
	return all
}
