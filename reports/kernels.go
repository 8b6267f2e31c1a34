package reports

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/gate"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
)

func init() {
	RegisterKind(Kind{
		Name:      "kernels",
		Recognise: func(s *Source) bool { return isBench(s) && !hasModels(s.Machines[0]) },
		Build:     buildBench,
	})
}

// isBench reports whether results are a run of benchmarks on one machine, and of no other kind.
func isBench(s *Source) bool {
	return len(s.Machines) == 1 && s.kind() == "" && !IsMachine(s.Machines[0]) && !gate.IsResults(s.Machines[0])
}

func buildBench(_ context.Context, s *Source) (*doc.Document, error) {
	res := *s.Machines[0]
	res.Warnings = slices.Concat(res.Warnings, s.Warnings)
	return benchDocument(newDigest(&res), s.Top), nil
}

// benchDocument shows models and kernels, which one run may both have. top is how many variants of a setting a
// terminal shows.
func benchDocument(d *digest, top int) *doc.Document {
	x := &doc.Document{Title: d.title(), Subtitle: d.subtitle(), First: d.screens(), Grave: d.verdictDoubts(), Doubts: d.doubts(), Words: slices.Concat(signWords, words)}
	x.Failures = failuresOf(d.res.Failures)
	if len(d.tasks) > 0 {
		x.Remarks = []string{d.noiseLine()}
	}
	x.Add(d.modelsInText(top))
	x.Add(d.kernelsInText(top)...)
	x.Add(d.modelsSection(), d.kernelsSection(), d.machineSection())
	x.Add(d.caseSections()...)
	x.Add(glossarySection(d.glossary()), reproduceSection(d.res.Setting("command"), d.rawText()))
	addRecords(x, []*member{{digest: d, machine: d.res.Machine()}})
	return x
}

func failuresOf(all []results.Failure) []doc.Failure {
	var out []doc.Failure
	for _, f := range all {
		out = append(out, doc.Failure{Name: f.Name.Full, Reason: f.Reason})
	}
	return out
}

// kernelsSection says who wins where, and draws it.
func (d *digest) kernelsSection() *doc.Section {
	s := &doc.Section{ID: "kernels", Heading: "Kernels"}
	if len(d.matrices()) == 0 {
		s.Heading = "Every sample" // of models: only those charts are left
	}
	for _, m := range d.matrices() {
		if verdicts := m.verdicts(); !alikeVerdicts(verdicts) { // else the ranked table says it
			var cards doc.Cards
			for _, v := range verdicts {
				cards = append(cards, doc.Card{Subject: v.subject, Section: "kernels", Winner: v.winner, Headline: v.headline(), Mark: doc.MarkOf(d.marks[v.winner]), Facts: v.facts()})
			}
			s.Add(cards)
		}
		for _, t := range d.matrixTables(m) {
			s.Add(t)
		}
	}
	return s.Add(d.charts(false)...)
}

// alikeVerdicts reports whether several formats have one winner, so that their cards would say the same.
func alikeVerdicts(verdicts []verdict) bool {
	return len(verdicts) > 1 && !slices.ContainsFunc(verdicts, func(v verdict) bool { return v.winner != verdicts[0].winner })
}

// matrixTables show a matrix as one table or, if its formats have many rows, as a table of a row per format, followed
// by the formats' own.
func (d *digest) matrixTables(m *matrix) []*doc.Table {
	title := func(r matrixRow) string { return r.task.title }
	if !m.crowded() {
		return []*doc.Table{d.matrixTable(m, m.base+": the fastest variants", m.base, m.rows, title)}
	}
	fields := []doc.Field[section]{{Label: names.Format, Text: true, Cell: func(s section) doc.Cell { return doc.Cell{Text: s.subject} }}}
	for i, p := range m.columns {
		fields = append(fields, doc.Field[section]{Label: cmp.Or(p.String(), "all"), Text: true, Cell: func(s section) doc.Cell { return d.summaryCell(s.summaries(m.columns)[i]) }})
	}
	all := []*doc.Table{newTable("winners-"+m.base, m.base+": the fastest variants over all shapes", sentences(m.base+": "+overviewCaption, aboveText(fastest(m.rankings()))), m.sections(), fields)}
	for _, s := range m.sections() {
		t := d.matrixTable(m, s.heading(), s.subject, s.rows, func(r matrixRow) string { return cmp.Or(r.task.shape, r.task.title) })
		t.Folded = true
		all = append(all, t)
	}
	for _, t := range all {
		t.Only = doc.Page | doc.Markdown
	}
	return all
}

func (d *digest) matrixTable(m *matrix, heading, subject string, rows []matrixRow, title func(matrixRow) string) *doc.Table {
	fields := []doc.Field[matrixRow]{{Label: "task", Text: true, Cell: func(r matrixRow) doc.Cell { return doc.Cell{Text: title(r)} }}}
	for i, p := range m.columns {
		fields = append(fields, doc.Field[matrixRow]{Label: cmp.Or(p.String(), "all"), Text: true, Cell: func(r matrixRow) doc.Cell { return d.rankingCell(r.cells[i], "not timed") }})
	}
	t := newTable("winners-"+subject, heading, sentences(subject+": "+matrixCaption, noteText(section{rows: rows}.rankings())), rows, fields)
	t.Only = doc.Page | doc.Markdown
	return t
}

const (
	matrixCaption = "the fastest variant, its median time, its share of what reading alone reached in the same round (the roof), " +
		"and its error. Ties are variants that can't be told from it."
	overviewCaption = "the variant that is the fastest, or tied with it, most often; in how many of the tasks; its speed-up, a geometric mean; " +
		"the median of its shares of what reading alone reached in the same rounds (the roof); and its error."
)

// fastest lists the best of each ranking.
func fastest(rankings []*ranking) []*caseStats {
	var all []*caseStats
	for _, s := range rankings {
		all = append(all, s.best())
	}
	return all
}

// noteText explains what stands behind the values of the best: signs, and shares above 100%.
func noteText(rankings []*ranking) string {
	cases := fastest(rankings)
	return sentences(signsText(signsOf(cases)), aboveText(cases))
}

// summaryCell is a section's verdict under a condition.
func (d *digest) summaryCell(s *summary) doc.Cell {
	if s == nil {
		return doc.Cell{}
	}
	cell := doc.Cell{Text: s.winner, Mark: doc.MarkOf(d.marks[s.winner]), Remark: "in " + s.leadText()}
	if speed := s.speedText(""); speed != "" {
		cell.Remark += ", " + speed
	}
	cell = moreOf(cell, s.roofText(), s.nmse.text(results.UnitOf(results.NMSE).Format))
	if v, ok := s.typical(results.PctRoof); ok {
		cell.Share = roofShare(v)
	}
	return cell
}

// rankingCell is the best of a task under a condition, or why there is none.
func (d *digest) rankingCell(s *ranking, missing string) doc.Cell {
	if s == nil {
		return doc.Cell{Text: missing}
	}
	c := s.best()
	cell := doc.Cell{Text: c.variant, Mark: doc.MarkOf(d.marks[c.variant]), Remark: strings.TrimSpace(signedValue(c, results.NsPerOp) + " " + c.stats[results.NsPerOp].spread(results.NsPerOp))}
	cell = moreOf(cell, roofOf(c), valueOf(c, results.NMSE))
	if ties := namesOf(s.fastest()[1:]); ties != "" {
		cell.More = append(cell.More, "tied: "+ties)
	}
	if v, ok := c.center(results.PctRoof); ok {
		cell.Share = roofShare(v)
	}
	return cell
}

// moreOf adds a share of the roof and an error to a cell.
func moreOf(c doc.Cell, roof, nmse string) doc.Cell {
	parts := slices.DeleteFunc([]string{roof, textIf(nmse != "", results.NMSE+" "+nmse)}, func(s string) bool { return s == "" })
	if len(parts) > 0 {
		c.More = append(c.More, strings.Join(parts, ", "))
	}
	return c
}

// roofShare is the length of the line that shows a share of the roof, in per cent.
func roofShare(roof float64) *float64 {
	v := max(0, min(roof/100, 1))
	return &v
}

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

// caseTable has the cases of a benchmark, at most so many, with every unit that any of them has.
func caseTable(members []*member, base string, most int) *doc.Table {
	var keys, units uniqueList
	byMember := make([][]*caseStats, len(members))
	for i, m := range members {
		if byMember[i] = m.ofBase(base); len(byMember[i]) == 0 {
			continue
		}
		for _, k := range nameKeys(byMember[i]) {
			keys.add(k)
		}
		for _, u := range m.unitsIn(byMember[i]) {
			units.add(u)
		}
	}
	most = rowsOf(most/len(members), len(keys.list)+len(units.list)+1)
	var rows []memberCase
	for i, m := range members {
		for _, c := range byMember[i][:min(len(byMember[i]), most)] {
			rows = append(rows, memberCase{m, c})
		}
	}
	var fields []doc.Field[memberCase]
	if len(members) > 1 {
		fields = append(fields, doc.Field[memberCase]{Label: "machine", Text: true, Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: r.member.heading()} }})
	}
	for _, k := range keys.list {
		fields = append(fields, doc.Field[memberCase]{Label: cmp.Or(k, "name"), Text: true, Cell: func(r memberCase) doc.Cell { return doc.Cell{Text: nameValue(r.c.name, k)} }})
	}
	for _, u := range units.list {
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
