package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// Document is the verdict and what it rests on, each case's change and how far noise reaches around it; on a terminal all
// cases, or those beyond noise.
func (c *Comparison) Document(all bool) *doc.Document {
	d := &doc.Document{
		Title: "Comparison", Subtitle: c.Old.source() + " · " + c.New.source(), Remarks: c.remarks(), Data: c, Records: c.records,
		First: []doc.First{c.first()},
	}
	cases := c.casesSection("cases", "Cases", "In the order of names, less what the class of a case has in common.", c.Cases)
	if !all {
		cases.Only = doc.Page | doc.Markdown
		d.Add(c.beyondNoise())
	}
	d.Add(cases)
	d.Add(c.casesSection("memory", "Peak memory beyond its noise", "Layouts whose peak differs.", moved(c.Memory)))
	d.Add(c.exactSection(all), c.ceilingsSection())
	return d.NameParts()
}

// first is the verdict, and what this pair of runs shows at all.
func (c *Comparison) first() doc.First {
	first := doc.First{Verdict: c.Verdict, Next: c.next(), Table: c.ranking()}
	first.Number, first.NumberOf, first.Why = c.power()
	return first
}

// ranking has what is surest first: variants as a whole and the cases that changed alone, or cases where there are none.
func (c *Comparison) ranking() *doc.Table {
	heading, list := "Variants", make([]CaseChange, len(c.Families))
	for i, f := range c.Families {
		list[i] = f.CaseChange
	}
	if len(list) == 0 {
		heading, list = "Cases", slices.Clone(c.Cases)
	} else {
		list = append(list, c.alone()...)
	}
	slices.SortStableFunc(list, func(a, b CaseChange) int { return cmp.Compare(b.inNoise(), a.inNoise()) })
	t := words.NewTable("ranking", heading, "Less what their classes have in common; what is surest first.", list[:min(len(list), words.MostChanges)], c.changeFields(list))
	if n := len(list) - len(t.Rows); n > 0 {
		t.Caption += fmt.Sprintf(" %d more changed less.", n)
	}
	return t
}

// beyondNoise has the cases that changed, or those that differ most where none did.
func (c *Comparison) beyondNoise() *doc.Section {
	heading, list := "Beyond noise", moved(c.Cases)
	if len(list) == 0 {
		heading, list = fmt.Sprintf("No case is beyond noise. The largest of %s", count.Of(len(c.Cases), "difference")), c.largest()
	}
	s := c.casesSection("beyond", heading, "", list)
	s.Only = doc.Terminal
	return s
}

func (c *Comparison) casesSection(id, heading, caption string, list []CaseChange) *doc.Section {
	s := &doc.Section{ID: id, Heading: heading}
	if len(list) == 0 {
		return s
	}
	t := words.NewTable(id+"-table", "", caption, list, c.changeFields(list))
	t.Sortable = true
	return s.Add(t)
}

// records has a line per case.
func (c *Comparison) records(line func(...string)) {
	line("benchmark", "class", "unit", "old", "new", "ratio", "change", "noise", "p", "q", "sign")
	for _, x := range slices.Concat(c.Cases, c.Memory) {
		line(x.Name, x.Class, x.Unit, words.Exact(x.Old), words.Exact(x.New), words.Exact(x.Ratio), words.Exact(x.Change), words.Exact(x.Noise), words.Exact(x.P), words.Exact(x.Q), strconv.Itoa(x.Sign))
	}
}

// exactSection lists what is computed and differs.
func (c *Comparison) exactSection(all bool) *doc.Section {
	s := &doc.Section{ID: "exact", Heading: "Computed values that differ"}
	if len(c.Exact) == 0 {
		return s
	}
	value := func(x ExactChange, v float64) string {
		if format := results.UnitOf(x.Unit).Format; format(x.Old) != format(x.New) {
			return format(v)
		}
		return words.Exact(v)
	}
	rest := c.Exact
	shown := rest
	if all {
		rest = nil
	} else {
		shown = firstOf(&rest)
	}
	s.Add(words.NewTable("exact-table", "", "", shown, []doc.Field[ExactChange]{
		{Label: "case", Text: true, Cell: func(x ExactChange) doc.Cell { return doc.Cell{Text: x.Name} }},
		{Label: "unit", Text: true, Cell: func(x ExactChange) doc.Cell { return doc.Cell{Text: x.Unit} }},
		{Label: c.Old.Label, Cell: func(x ExactChange) doc.Cell { return doc.Cell{Text: value(x, x.Old)} }},
		{Label: c.New.Label, Cell: func(x ExactChange) doc.Cell { return doc.Cell{Text: value(x, x.New)} }},
	}))
	return s.Add(doc.Text{Words: words.If(len(rest) > 0, fmt.Sprintf("and %d more", len(rest)))})
}

// ceilingsSection says what the machine did.
func (c *Comparison) ceilingsSection() *doc.Section {
	s := &doc.Section{ID: "ceilings", Heading: "The machine"}
	if len(c.Ceilings) == 0 {
		return s
	}
	return s.Add(words.NewTable("ceilings-table", "", "", c.Ceilings, []doc.Field[CeilingChange]{
		{Label: "ceiling", Text: true, Cell: func(x CeilingChange) doc.Cell { return doc.Cell{Text: x.What} }},
		{Label: "of", Text: true, Cell: func(x CeilingChange) doc.Cell { return doc.Cell{Text: x.Class} }},
		{Label: "rate", Cell: func(x CeilingChange) doc.Cell { return doc.Cell{Text: signed(x.Speed)} }},
	}))
}

// length is the change and how far it strays.
func (c CaseChange) length() doc.Length {
	return doc.Length{Value: c.Change, Low: c.Change / (1 + c.Within), High: c.Change * (1 + c.Within)}
}

func (c *Comparison) changeFields(list []CaseChange) []doc.Field[CaseChange] {
	scale := doc.NewRatioScale(list, CaseChange.length)
	value := func(of func(CaseChange) float64) func(CaseChange) doc.Cell {
		return func(x CaseChange) doc.Cell {
			if of(x) == 0 {
				return doc.Cell{}
			}
			return doc.Cell{Text: results.UnitOf(x.Unit).Format(of(x))}
		}
	}
	names := c.caseLabels()
	return []doc.Field[CaseChange]{
		{Label: "name", Text: true, Cell: func(x CaseChange) doc.Cell {
			if label, ok := names[x.Name]; ok {
				return doc.Cell{Text: label}
			}
			return doc.Cell{Text: x.Name}
		}},
		{Label: "change", About: "less what the class has in common", Cell: func(x CaseChange) doc.Cell {
			return doc.Cell{Text: signed(x.Change), Remark: words.If(x.Within > 0, words.Spread(x.Within)), Best: x.Sign != 0}
		}},
		{Label: "faster │ slower", About: "the bar is the change, the line its interval; in colour: beyond noise, and beyond what the machine's ceilings did", Text: true, Drop: 5, Cell: func(x CaseChange) doc.Cell {
			cell := scale.Cell(x.length())
			if cell.Bar != nil && x.Sign != 0 {
				cell.Bar.Tone = map[int]doc.Tone{-1: doc.Better, 1: doc.Worse}[x.Sign]
			}
			return cell
		}},
		{Label: "shows from", About: "the least change that counts by itself", Drop: 3, Cell: func(x CaseChange) doc.Cell { return doc.Cell{Text: atLeast(x.Noise)} }},
		{Label: c.Old.Label, Drop: 2, Cell: value(func(x CaseChange) float64 { return x.Old })},
		{Label: c.New.Label, Drop: 1, Cell: value(func(x CaseChange) float64 { return x.New })},
	}
}

// caseLabels are short names of cases.
func (c *Comparison) caseLabels() map[string]string {
	full := words.Mapped(c.Cases, func(x CaseChange) string { return x.Name })
	labels := make(map[string]string, len(full))
	for i, short := range shortNames(full) {
		labels[full[i]] = short
	}
	return labels
}
