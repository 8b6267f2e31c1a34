package digest

import (
	"cmp"
	"slices"
	"strconv"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/doc"
	"onebit/reports/words"
)

func Failures(all []results.Failure) []doc.Failure {
	var out []doc.Failure
	for _, f := range all {
		out = append(out, doc.Failure{Name: f.Name.Full, Reason: f.Reason})
	}
	return out
}

// Environment lists the header.
func (d *Digest) Environment() []doc.Fact { return Facts(d.Results.Settings) }

func Facts(settings []results.Setting) []doc.Fact {
	var all []doc.Fact
	for _, s := range settings {
		all = append(all, doc.Fact{Name: s.Key, Value: s.Value})
	}
	return all
}

func Glossary(terms []doc.Fact) *doc.Section {
	return (&doc.Section{ID: "glossary", Heading: "Glossary", Only: doc.Page}).Add(doc.Facts{List: terms, Wide: true})
}

func Reproduce(command, raw string) *doc.Section {
	s := &doc.Section{ID: "reproduce", Heading: "Reproduce", Only: doc.Page}
	if command != "" {
		s.Add(doc.Text{Words: "These results come from"}, doc.Code(command))
	}
	return s.Add(doc.Text{Words: raw})
}

// FoldedBase reports whether a benchmark has so many lines that only tables of models and charts show them, and CSV
// all.
func FoldedBase(base string) bool { return base == names.BaseOp || base == names.BaseLockstep }

// maxRows is how many cases the tables have together, and leastRows how many each has at most where the others leave
// none: a page of ten times as many takes a browser seconds.
const (
	MaxRows   = 1000
	LeastRows = 100

	// maxCells bounds a table with more columns than any real one.
	maxCells = 100_000
)

// rowsOf is how many rows a table has with so many columns, at most.
func rowsOf(most, columns int) int { return max(1, min(most, maxCells/columns)) }

// A memberCase is a case of a machine.
type memberCase struct {
	member *Member
	c      *Case
}

// columnsOf are the keys and units that cases of any machine have.
func columnsOf(members []*Member, byMember [][]*Case) (keys, units []string) {
	var allKeys, allUnits words.UniqueList
	for i, m := range members {
		if len(byMember[i]) == 0 {
			continue
		}
		for _, k := range nameKeys(byMember[i]) {
			allKeys.Add(k)
		}
		for _, u := range m.UnitsIn(byMember[i]) {
			allUnits.Add(u)
		}
	}
	return allKeys.List, allUnits.List
}

// CaseTable has the cases of a benchmark, at most so many, with every unit that any of them has.
func CaseTable(members []*Member, base string, most int) *doc.Table {
	byMember := make([][]*Case, len(members))
	for i, m := range members {
		byMember[i] = m.OfBase(base)
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
		slices.SortStableFunc(rows, func(a, b memberCase) int { return words.Compare(a.c.Name.Full, b.c.Name.Full) })
	}
	var fields []doc.Field[memberCase]
	if len(members) > 1 {
		fields = append(fields, doc.Field[memberCase]{Label: "machine", Text: true, Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: r.member.Heading()} }})
	}
	for _, k := range keys {
		fields = append(fields, doc.Field[memberCase]{Label: cmp.Or(k, "name"), Text: true, Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: nameValue(r.c.Name, k)} }})
	}
	for _, u := range units {
		fields = append(fields, doc.Field[memberCase]{Label: u, About: results.UnitOf(u).About, Cell: func(r memberCase) doc.Cell {
			s, ok := r.c.Stats[u]
			if !ok {
				return doc.Cell{}
			}
			return doc.Cell{Text: SignedValue(r.c, u), Remark: s.SpreadText(u)}
		}})
	}
	fields = append(fields, doc.Field[memberCase]{Label: "samples", Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: strconv.Itoa(r.c.samples)} }})
	t := doc.NewTable("cases-"+base, "", "", rows, fields)
	t.Sortable, t.Records = true, true
	return t
}
