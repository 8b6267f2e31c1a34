package fleet

import (
	"context"
	"fmt"
	"slices"

	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

func init() {
	reports.Register(reports.Kind{
		Name: "fleet",
		Recognise: func(s *reports.Source) bool {
			return len(s.Machines) > 1 && slices.ContainsFunc(s.Machines, func(r *results.Set) bool { return !reports.IsMachine(r) })
		},
		Build: func(_ context.Context, s *reports.Source) (*doc.Document, error) {
			return New(s).document(), nil
		},
	})
}

// document shows machines side by side.
func (f *Fleet) document() *doc.Document {
	d := &doc.Document{
		Title: f.title(), Subtitle: f.subtitle(), First: []doc.First{f.first()}, Grave: f.grave(), Failures: digest.Failures(f.failures()), Doubts: f.doubts(),
		Remarks: []string{f.noiseLine()}, Words: slices.Concat(words.Signs, words.Vocabulary),
	}
	for _, t := range []*doc.Table{f.bestSheet(), f.codeSheet(), f.machinesSheet()} {
		if len(t.Rows) > 0 && len(t.Columns) > 1 {
			heading := t.Heading
			t.Heading = ""
			d.Add((&doc.Section{ID: t.ID + "-section", Heading: heading}).Add(t))
		}
	}
	d.Add(f.machinesSection())
	left := digest.MaxRows
	for i, base := range f.bases() {
		if !digest.FoldedBase(base) {
			t := digest.CaseTable(f.Members, base, max(left, digest.LeastRows))
			t.Caption = "Cases of all machines. Medians with 95% confidence intervals; onebit report --format csv prints all."
			left -= len(t.Rows)
			d.Add((&doc.Section{ID: fmt.Sprint("table-", i+1), Heading: base + " table", Only: doc.Page}).Add(t))
		}
	}
	d.Add(digest.Glossary(f.glossary()), digest.Reproduce("", f.rawText()))
	digest.AddRecords(d, f.Members)
	d.Data = f.json()
	return d
}

// machinesSection is what each machine says of itself.
func (f *Fleet) machinesSection() *doc.Section {
	s := &doc.Section{ID: "machine", Heading: "Machines and noise", Only: doc.Page | doc.Markdown}
	s.Add(doc.Text{Words: f.noiseLine()})
	for _, m := range f.Members {
		s.Add((&doc.Section{Heading: m.Heading(), Folded: true}).Add(doc.Text{Words: m.NoiseText()}, doc.Facts{List: m.Environment()}))
	}
	return s
}

// rawText says where the samples are.
func (f *Fleet) rawText() string {
	samples := 0
	for _, m := range f.Members {
		samples += len(m.Results.Samples)
	}
	return fmt.Sprintf("%s of %s are in the results files, in the Go benchmark format. onebit report FILE renders one machine's own report, with all of its charts.",
		count.Of(samples, "sample"), count.Of(len(f.Members), "machine"))
}

// glossary joins those of the machines.
func (f *Fleet) glossary() []doc.Fact {
	var all []doc.Fact
	has := make(map[doc.Fact]bool)
	for _, m := range f.Members {
		for _, term := range m.Glossary() {
			if !has[term] {
				has[term] = true
				all = append(all, term)
			}
		}
	}
	return all
}

// bases lists the benchmarks of all machines.
func (f *Fleet) bases() []string {
	var all words.UniqueList
	for _, m := range f.Members {
		for _, base := range m.Bases() {
			all.Add(base)
		}
	}
	return all.List
}
