package reports

import (
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
	d := &doc.Document{
		Title: f.title(), Subtitle: f.subtitle(), First: []doc.First{f.first()}, Grave: f.grave(), Failures: failuresOf(f.failures()), Doubts: f.doubts(),
		Remarks: []string{f.noiseLine()}, Words: slices.Concat(signWords, words),
	}
	for _, t := range []*doc.Table{f.bestSheet(), f.codeSheet(), f.machinesSheet()} {
		if len(t.Rows) > 0 && len(t.Columns) > 1 {
			heading := t.Heading
			t.Heading = ""
			d.Add((&doc.Section{ID: t.ID + "-section", Heading: heading}).Add(t))
		}
	}
	d.Add(f.machinesSection())
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

// machinesSection is what each machine says of itself.
func (f *fleet) machinesSection() *doc.Section {
	s := &doc.Section{ID: "machine", Heading: "Machines and noise", Only: doc.Page | doc.Markdown}
	s.Add(doc.Text{Words: f.noiseLine()})
	for _, m := range f.members {
		s.Add((&doc.Section{Heading: m.heading(), Folded: true}).Add(doc.Text{Words: m.noiseText()}, doc.Facts{List: m.environment()}))
	}
	return s
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
