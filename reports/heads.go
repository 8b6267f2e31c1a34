package reports

import (
	"cmp"

	"onebit/bench/names"
	"onebit/bench/results"
)

// headSheet shows what the model's output head is, and what others would give; nil if
// none were tried.
func (d *digest) headSheet(m *model) *sheet {
	if len(m.heads) == 0 {
		return nil
	}
	fields := []field[*caseStats]{
		{label: names.Head, text: true, cell: func(c *caseStats) sheetCell { return sheetCell{Text: c.name.Get(names.Head)} }},
		{label: names.Variant, text: true, drop: 9, cell: func(c *caseStats) sheetCell {
			return sheetCell{Text: c.contender, Mark: markHTML(d.marks[c.contender])}
		}},
		{label: names.Threads, drop: 8, cell: func(c *caseStats) sheetCell { return sheetCell{Text: c.panel.threads} }},
	}
	labels := map[string]string{results.TokenRate: "decode", results.NsPerOp: "its time", results.PackedBytes: "bytes"}
	for i, unit := range []string{results.TokenRate, results.NsPerOp, results.WeightRate, results.PackedBytes, results.KLD, results.NMSE} {
		fields = append(fields, field[*caseStats]{label: cmp.Or(labels[unit], unit), about: results.UnitOf(unit).About, drop: i, cell: func(c *caseStats) sheetCell {
			return sheetCell{Text: valueOf(c, unit)}
		}})
	}
	return newSheet(fileName("heads", m.name), m.title("output heads"), headCaption, m.heads, fields)
}

const headCaption = "What the output head is in the file, without an error by definition, and what the flag --head with another format would give: tried on a few " +
	"tokens with rows of it. Its time is that of one token; decoding is what it would come to. Errors are those of its logits against the file's head."
