package models

import (
	"cmp"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/words"
)

// headSheet shows what the model's output head is, and what others would give; nil if
// none were tried.
func (d *report) headSheet(m *model) *doc.Table {
	fields := []doc.Field[*digest.Case]{
		{Label: names.Head, Text: true, Cell: func(c *digest.Case) doc.Cell { return doc.Cell{Text: c.Name.Get(names.Head)} }},
		{Label: names.Variant, Text: true, Drop: 9, Cell: func(c *digest.Case) doc.Cell {
			return d.Named(c.Variant)
		}},
		{Label: names.Threads, Drop: 8, Cell: func(c *digest.Case) doc.Cell { return doc.Cell{Text: c.Panel.Threads} }},
	}
	labels := map[string]string{results.TokenRate: "decode", results.NsPerOp: "its time", results.PackedBytes: "bytes"}
	for i, unit := range []string{results.TokenRate, results.NsPerOp, results.WeightRate, results.PackedBytes, results.KLD, results.NMSE} {
		fields = append(fields, doc.Field[*digest.Case]{Label: cmp.Or(labels[unit], unit), About: results.UnitOf(unit).About, Drop: i, Cell: func(c *digest.Case) doc.Cell {
			return doc.Cell{Text: digest.ValueOf(c, unit)}
		}})
	}
	return words.NewTable(term.FileName("heads", m.name), m.title("output heads"), headCaption, m.heads, fields)
}

const headCaption = "The file's output head, and those that --head would make of it: times of one token, errors of the logits against the file's head."
