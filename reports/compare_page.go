package reports

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"math"
	"slices"
	"sync"

	"onebit/bench/results"
)

//go:embed assets/compare.html.tmpl
var compareSource string

var compareTemplate = sync.OnceValue(func() *template.Template { return newPageTemplate(compareSource) })

// A comparePage is what the template shows.
type comparePage struct {
	shell
	Verdict string
	Power   string
	Next    command
	Remarks []string
	Beside  *sheet // on the first screen; nil if there is none
	Figures []pageFigure
	Sheets  []*sheet
}

// WriteComparison writes a comparison's page, index.html, into dir, which is made if need be: the verdict and what
// it rests on, each case's change and how far noise reaches around it.
func WriteComparison(dir string, c *Comparison, opt WriteOptions) error {
	return writeFiles(dir, opt, c.WriteHTML)
}

// WriteHTML writes a page that needs nothing beside it.
func (c *Comparison) WriteHTML(w io.Writer) error {
	figures, err := pageFigures(c.ratioFigures()...)
	if err != nil {
		return err
	}
	p := comparePage{
		shell:   newShell("Comparison", c.Old.source()+" · "+c.New.source()),
		Verdict: sentence(c.Verdict), Power: c.power(), Next: c.next(), Remarks: c.remarks(), Figures: figures,
	}
	fields := c.changeFields()
	if len(c.Families) > 0 {
		variants := make([]CaseChange, len(c.Families))
		for i, f := range c.Families {
			variants[i] = f.CaseChange
		}
		surest := func(x CaseChange) float64 { return math.Abs(math.Log(x.Change)) / x.Noise }
		slices.SortStableFunc(variants, func(a, b CaseChange) int { return cmp.Compare(surest(b), surest(a)) })
		p.Beside = newSheet("variants", "Variants", "All cases of a variant together, less what their classes have in common; what is surest first.", variants, fields)
	}
	p.Sheets = append(p.Sheets, newSheet("cases", "Cases", "In the order of names, less what the class of a case has in common.", c.Cases, fields))
	if list := moved(c.Memory); len(list) > 0 {
		p.Sheets = append(p.Sheets, newSheet("memory", "Peak memory", "Layouts whose peak differs beyond noise.", list, fields))
	}
	return renderPage(w, compareTemplate(), p)
}

func (c *Comparison) changeFields() []field[CaseChange] {
	value := func(of func(CaseChange) float64) func(CaseChange) sheetCell {
		return func(x CaseChange) sheetCell {
			if of(x) == 0 {
				return sheetCell{}
			}
			return sheetCell{Text: results.UnitOf(x.Unit).Format(of(x))}
		}
	}
	names := c.caseLabels()
	return []field[CaseChange]{
		{"name", "", true, 0, func(x CaseChange) sheetCell {
			if label, ok := names[x.Name]; ok {
				return sheetCell{Text: label}
			}
			return sheetCell{Text: x.Name}
		}},
		{c.Old.Label, "", false, 2, value(func(x CaseChange) float64 { return x.Old })},
		{c.New.Label, "", false, 1, value(func(x CaseChange) float64 { return x.New })},
		{"change", "less what the class has in common", false, 0, func(x CaseChange) sheetCell { return sheetCell{Text: signed(x.Change), Best: x.Sign != 0} }},
		{"shows from", "the least change that counts by itself", false, 3, func(x CaseChange) sheetCell { return sheetCell{Text: atLeast(x.Noise)} }},
	}
}

// caseLabels are short names of cases.
func (c *Comparison) caseLabels() map[string]string {
	full := caseNames(c.Cases)
	labels := make(map[string]string, len(full))
	for i, short := range shortNames(full) {
		labels[full[i]] = short
	}
	return labels
}
