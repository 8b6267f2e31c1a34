package reports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

// screens are those of each benchmark that has formats.
func (d kernelReport) screens() []doc.First {
	var all []doc.First
	for _, m := range d.matrices() {
		if s, ok := d.formatScreen(m); ok {
			all = append(all, s)
		}
	}
	return all
}

// A formatRow is the fastest variant of a format over the shapes that all formats ran; of a single format, each
// variant.
type formatRow struct {
	subject, variant string
	cases            []*caseStats // one for each shape
	over             []*ranking   // of each shape
	ns               float64      // geometric mean of the cases
	tie              bool         // whether it can't be told from the format before
	peers            []string     // variants that can't be told from the fastest of a format, itself included; in the order of names
}

// by says which variant it is, or which tie.
func (p formatRow) by() string {
	if len(p.peers) < 2 {
		return p.cases[0].byScheme()
	}
	return joinNames(p.peers) + ", which tie,"
}

// typical is the median of the cases' values.
func (p formatRow) typical(unit string) (float64, bool) {
	var values []float64
	for _, c := range p.cases {
		if v, ok := c.center(unit); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return noise.Median(values), true
}

// formatScreen ranks the formats of a matrix under the condition of a model that makes text: with most
// threads or on the GPU, its weights not in a cache if that was measured.
func (d kernelReport) formatScreen(m *matrix) (doc.First, bool) {
	decisive := d.decisive(m.columns)
	rows, shapes := d.place(m, decisive)
	if len(rows) == 0 {
		return doc.First{}, false
	}
	var conditioned []string
	for _, p := range decisive {
		conditioned = append(conditioned, conditions(p))
	}
	where := strings.Join(conditioned, " or ")
	caption := fmt.Sprintf("%s with %s, best first. ", m.base, where)
	if len(shapes) > 1 {
		caption = fmt.Sprintf("%s with %s over %d shapes (%s to %s), best first: the time is a geometric mean, the rest are medians. ",
			m.base, where, len(shapes), shapes[0], shapes[len(shapes)-1])
	}
	what := "Formats"
	if len(m.sections()) == 1 {
		what = "Kernels"
	}
	s := doc.First{Table: newTable(figure.FileName("ranked", m.base), what+", ranked", caption+d.rankedLegend(), rows, d.formatFields(newTimeScale(rows)))}
	d.judgeFormats(&s, rows, shapes)
	return s, true
}

// judgeFormats says what to take, and what bounds it.
func (d kernelReport) judgeFormats(s *doc.First, rows []formatRow, shapes []string) {
	best := rows[0]
	where := best.cases[0].panel
	if d.emulated(where) {
		s.Verdict = d.noAdvice()
		return
	}
	s.Verdict = d.formatVerdict(rows)
	over := shapes[0]
	if len(shapes) > 1 {
		over = fmt.Sprintf("%d shapes (geometric mean)", len(shapes))
	}
	s.Number = microseconds(best.ns) + " µs"
	s.NumberOf = fmt.Sprintf("%s for %s by %s with %s", best.spreadText(), over, best.by(), conditions(where))
	kernel := best.subject + "/" + variantOf(best.variant)
	s.Next = doc.Command{Line: "onebit profile --kernel " + kernel, Does: "says what bounds it"}
	if roof, ok := best.typical(results.PctRoof); ok {
		s.Why = boundText(roof, textIf(len(best.cases) > 1, " (median)"))
		if roof >= memoryBound {
			s.Next = doc.Command{Line: "onebit bench models", Does: "says what that makes of whole models"}
		}
	}
	s.Why = sentences(s.Why, d.floorDoubt(best.cases[0].stats[results.NsPerOp].Class))
}

// formatVerdict names the fastest format, or those that can't be told apart; of a single format, its fastest
// variant.
func (d kernelReport) formatVerdict(rows []formatRow) string {
	best := rows[0]
	name, kind := func(p formatRow) string { return p.subject }, "format"
	if slices.ContainsFunc(rows[1:], func(p formatRow) bool { return p.subject == best.subject }) {
		name, kind = func(p formatRow) string { return p.variant }, "kernel of "+best.subject
	}
	first := []string{name(best)}
	for _, p := range rows[1:] {
		if !p.tie {
			break
		}
		first = append(first, name(p))
	}
	switch {
	case len(rows) == 1:
		return fmt.Sprintf("%s is the fastest kernel of %s here.", best.variant, best.subject)
	case len(first) > 1:
		return fmt.Sprintf("%s are the fastest here: this run can't tell them apart.", joinNames(first))
	}
	next := []string{name(rows[1])}
	for _, p := range rows[2:] {
		if !d.nearOver(rows[1].cases, p.cases) {
			break
		}
		next = append(next, name(p))
	}
	slices.SortFunc(next, naturalCompare)
	return fmt.Sprintf("%s is the fastest %s here, %s ahead of %s.", first[0], kind, lead(d.ratioOver(best, rows[1])), joinNames(next))
}

// noAdvice stands for advice where all that could be chosen was emulated.
func (d *digest) noAdvice() string {
	return fmt.Sprintf("No advice: %s emulated what was timed, which says nothing about speed.", d.res.Machine().Emulator)
}

// place ranks the formats by the geometric mean of their fastest variant, under any of the conditions, over
// the shapes that all of them ran; none if there is no such shape. Of a single format it ranks the variants.
func (d kernelReport) place(m *matrix, conditions []panel) (rows []formatRow, shapes []string) {
	formats := make(map[string]map[string]bool) // by shape
	ranked := make(map[*task]*ranking)
	sections := m.sections()
	for _, s := range sections {
		for _, r := range s.rows {
			if ranked[r.task] = d.rankUnder(r.task, conditions); ranked[r.task] != nil {
				if formats[r.task.shape] == nil {
					formats[r.task.shape] = make(map[string]bool)
				}
				formats[r.task.shape][s.subject] = true
			}
		}
	}
	for _, s := range sections {
		var over []*ranking
		shapes = nil
		for _, r := range s.rows {
			if ranked[r.task] != nil && len(formats[r.task.shape]) == len(sections) {
				over, shapes = append(over, ranked[r.task]), append(shapes, r.task.shape)
			}
		}
		variants := d.placeOver(s.subject, over)
		if len(sections) > 1 {
			variants = variants[:min(len(variants), 1)]
		}
		rows = append(rows, variants...)
	}
	slices.SortStableFunc(rows, func(a, b formatRow) int { return cmp.Compare(a.ns, b.ns) })
	for i := range rows {
		rows[i].tie = i > 0 && d.tiedOver(rows[i-1].cases, rows[i].cases)
	}
	return rows, shapes
}

// rankUnder ranks all that ran under one of the conditions; nil if nothing was timed.
func (d kernelReport) rankUnder(t *task, conditions []panel) *ranking {
	var cases []*caseStats
	for _, p := range conditions {
		cases = append(cases, in(p, t.cases)...)
	}
	s, ok := d.rankCases(&ranking{task: t}, cases)
	if !ok {
		return nil
	}
	return s
}

// placeOver places the variants that were timed in each of the rankings, fastest first, which names its
// peers.
func (d *digest) placeOver(subject string, over []*ranking) []formatRow {
	var all []formatRow
	for _, name := range rivals(over) {
		p := formatRow{subject: subject, variant: name, over: over}
		var times []float64
		for _, s := range over {
			if c := s.find(name); c != nil {
				times = append(times, c.stats[results.NsPerOp].Center)
				p.cases = append(p.cases, c)
			}
		}
		mean, positive := geomean(times)
		if p.ns = mean; positive && len(times) == len(over) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b formatRow) int { return cmp.Compare(a.ns, b.ns) })
	for i, p := range all {
		if i == 0 || d.nearOver(all[0].cases, p.cases) {
			all[0].peers = append(all[0].peers, p.variant)
		}
	}
	if len(all) > 0 {
		slices.SortFunc(all[0].peers, naturalCompare)
	}
	return all
}

// tiedOver reports whether most of the shapes can't tell two variants apart, of one format or two.
func (d *digest) tiedOver(a, b []*caseStats) bool {
	ties := 0
	for i := range min(len(a), len(b)) {
		if d.tied(a[i], b[i]) {
			ties++
		}
	}
	return 2*ties > len(a)
}

// leastLead is the share that a variant is shown to be behind at least to be named apart: a lead that the next run
// may take back is none (TestAdviceOfRecordedRuns).
const leastLead = 0.03

// nearOver reports whether most of the shapes can't tell that b takes longer than a by that share.
func (d *digest) nearOver(a, b []*caseStats) bool {
	near := 0
	for i := range min(len(a), len(b)) {
		if diff := d.compare(a[i], b[i]); diff.Tie || diff.Lo < 1+leastLead {
			near++
		}
	}
	return 2*near > len(a)
}

// ratioOver is how many times longer b takes than a, the geometric mean over the shapes of the ratios by
// which ties are told.
func (d *digest) ratioOver(a, b formatRow) float64 {
	var ratios []float64
	for i := range min(len(a.cases), len(b.cases)) {
		ratios = append(ratios, d.compare(a.cases[i], b.cases[i]).Ratio)
	}
	mean, _ := geomean(ratios)
	return mean
}

func (d kernelReport) formatFields(scale doc.Scale) []doc.Field[formatRow] {
	return []doc.Field[formatRow]{
		{Label: names.Format, Text: true, Cell: func(p formatRow) doc.Cell { return doc.Cell{Text: p.subject} }},
		{Label: "µs/op", About: results.UnitOf(results.NsPerOp).About, Cell: func(p formatRow) doc.Cell {
			return doc.Cell{Text: microseconds(p.ns) + signsOf(p.cases), Remark: p.spreadText() + textIf(p.tie, ", tie")}
		}},
		{Label: "time", About: "shorter is better; the line is the interval", Text: true, Drop: 1, Cell: func(p formatRow) doc.Cell { return scale.Cell(p.length()) }},
		{Label: "by", About: "the variant that is the fastest", Text: true, Cell: func(p formatRow) doc.Cell { return d.named(p.variant) }},
		{Label: "bits/weight", About: "of the packed weights", Drop: 3, Cell: func(p formatRow) doc.Cell {
			bytes, ok := p.over[0].task.bytesPerWeight(p.cases[0])
			return doc.Cell{Text: textIf(ok, formatBits(8*bytes))}
		}},
		{Label: "memory", About: results.UnitOf(results.PeakRSS).About, Drop: 4, Cell: func(p formatRow) doc.Cell {
			v, ok := p.typical(results.PeakRSS)
			return doc.Cell{Text: textIf(ok, results.UnitOf(results.PeakRSS).Format(v))}
		}},
		{Label: "error", About: results.UnitOf(results.NMSE).About, Drop: 2, Cell: func(p formatRow) doc.Cell {
			v, ok := p.typical(results.NMSE)
			return doc.Cell{Text: textIf(ok, decibels(v))}
		}},
	}
}

func textIf(ok bool, text string) string {
	if !ok {
		return ""
	}
	return text
}

// decibels is how far an error lies below the signal.
func decibels(nmse float64) string {
	if nmse <= 0 {
		return "none"
	}
	return fmt.Sprintf("−%.0f dB", -10*math.Log10(nmse))
}

// microseconds is a time in the unit of the column, to three digits.
func microseconds(ns float64) string {
	us := ns / 1000
	switch {
	case us >= 99.95:
		return fmt.Sprintf("%.0f", us)
	case us >= 9.995:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.2f", us)
}

// spread is the typical interval of a row, as a share; false if it is unknown.
func (p formatRow) spread() (float64, bool) {
	var spreads []float64
	for _, c := range p.cases {
		if s := c.stats[results.NsPerOp]; s.bounded() {
			spreads = append(spreads, s.Spread())
		}
	}
	if len(spreads) == 0 {
		return 0, false
	}
	return noise.Median(spreads), true
}

func (p formatRow) spreadText() string {
	if s, ok := p.spread(); ok {
		return formatSpread(s)
	}
	return unknownSpread
}

// rankedLegend explains the table's words where they first appear.
func (d *digest) rankedLegend() string {
	covers := "± is of this one process: another run may differ by more"
	if slices.ContainsFunc(d.cases, func(c *caseStats) bool { return c.stats[results.NsPerOp].NextRun }) {
		covers = "± holds what a run minutes later finds, 19 times in 20"
	}
	if slices.ContainsFunc(d.cases, func(c *caseStats) bool { s := c.stats[results.NsPerOp]; return s.bounded() && s.Spread() > 1 }) {
		covers += " (×÷3: from a third to three times the figure)"
	}
	return covers + "; a tie can't be told from the row above."
}

// memoryBound is the share of the roof from which on reading the weights is most of the time.
const memoryBound = 60

// boundText says what bounds a case that reaches a share of the read bandwidth; of follows the share.
func boundText(roof float64, of string) string {
	share := "it reads its weights at " + results.UnitOf(results.PctRoof).Format(roof) + of + " of what reading alone reaches"
	switch {
	case roof > 100:
		return "I" + share[1:] + ": the reading loop was disturbed, or found less of them in a cache."
	case roof >= memoryBound:
		return "It is bound by memory: " + share + "."
	}
	return "It is not bound by memory: " + share + "."
}

// A modelRow is what a variant makes of a model in the test that leads.
type modelRow struct {
	m    *model
	s    *ranking
	rank int
}

func (r modelRow) c() *caseStats { return r.s.ranked[r.rank] }
func (r modelRow) run() *run     { return r.m.run(r.c().variant, r.s.panel) }
func (r modelRow) name() string  { return cmp.Or(r.m.name, names.BaseModel) }

// modelRows are the models by the speed of their fastest variant; of a single model, its variants. The slowest model
// leads, the one that a choice matters to: a small model is not a better large one.
func (d *modelReport) modelRows() (rows []modelRow) {
	for _, m := range d.models {
		if s, ok := d.fastest(m); ok {
			rows = append(rows, modelRow{m, s, 0})
		}
	}
	if len(rows) == 1 {
		for i := range rows[0].s.ranked[1:] {
			rows = append(rows, modelRow{rows[0].m, rows[0].s, i + 1})
		}
		return rows
	}
	rate := func(r modelRow) float64 { v, _ := r.c().center(results.TokenRate); return v }
	slices.SortStableFunc(rows, func(a, b modelRow) int { return cmp.Compare(rate(a), rate(b)) })
	return rows
}

// modelScreen says how fast a model is, and ranks its variants, or the models.
func (d *modelReport) modelScreen() (doc.First, bool) {
	rows := d.modelRows()
	if len(rows) == 0 {
		return doc.First{}, false
	}
	first := rows[0]
	one := len(rows) == 1 || rows[1].m == first.m
	heading, caption := "Models, ranked", "Each model by its fastest variant, the slowest model first"
	if one {
		heading, caption = first.name()+", by variant", "Variants, fastest first, in "+first.s.task.shape+" with "+conditions(first.s.panel)
	}
	caption += ". " + strings.Split(d.rankedLegend(), ";")[0] + "."
	s := doc.First{Table: newTable("ranked-models", heading, caption, rows, d.modelFields(rows, one))}
	if d.emulated(first.s.panel) {
		s.Verdict = d.noAdvice()
		return s, true
	}
	best := first.c()
	speed := speedOf(best)
	s.Verdict, s.Number = modelVerdict(rows, one), speed.Text
	s.NumberOf = fmt.Sprintf("%s in %s by %s with %s", cmp.Or(speed.Remark, unknownSpread), first.s.task.shape, best.byScheme(), conditions(first.s.panel))
	s.Next = doc.Command{Line: "onebit profile", Does: "says where a token's time goes"}
	if most, ok := ceilingOf(best); ok {
		s.Why = fmt.Sprintf("Reading its weights alone would allow %s", results.UnitOf(results.TokenRate).Format(most))
		if roof, known := best.center(results.PctRoof); known && roof >= memoryBound {
			s.Why += ": it is bound by memory"
		}
		s.Why += "."
	}
	for _, r := range rows {
		if r.rank == 0 {
			s.Why = sentences(s.Why, d.depthVerdict(r.m, r.s))
		}
	}
	// Few models have enough pairs for a floor: the line below the tables says so.
	if class := best.stats[results.NsPerOp].Class; d.floors.Of(class).Known() {
		s.Why = sentences(s.Why, d.floorDoubt(class))
	}
	return s, true
}

// mostSaid is how many models a sentence names.
const mostSaid = 3

// modelVerdict says how fast the models are or, of one, which of its variants is the fastest.
func modelVerdict(rows []modelRow, one bool) string {
	first := rows[0]
	if one && len(rows) > 1 {
		switch best := first.s.fastest(); len(best) {
		case 1:
		case 2:
			return fmt.Sprintf("%s are the fastest for %s here: this run can't tell them apart.", namesOf(best), first.name())
		default:
			return fmt.Sprintf("%s and %d others are the fastest for %s here: this run can't tell them apart.", best[0].variant, len(best)-1, first.name())
		}
		return fmt.Sprintf("%s is the fastest for %s here, %s ahead of %s.", first.c().variant, first.name(), lead(first.s.diffs[1].Ratio), rows[1].c().variant)
	}
	text := fmt.Sprintf("%s makes %s here", first.name(), speedOf(first.c()).Text)
	for _, r := range rows[1:min(len(rows), mostSaid)] {
		text += fmt.Sprintf(", %s %s", r.name(), speedOf(r.c()).Text)
	}
	return text + textIf(len(rows) > mostSaid, fmt.Sprintf(", and %d more", len(rows)-mostSaid)) + "."
}

// lead is how far ahead of another something is that takes so many times less.
func lead(ratio float64) string {
	if ratio < 1.15 {
		return percent(ratio - 1)
	}
	return fmt.Sprintf("%.1f times", ratio)
}

// modelFields begin with the name and the speed: a phone shows no more.
func (d *modelReport) modelFields(rows []modelRow, one bool) []doc.Field[modelRow] {
	var cases []*caseStats
	for _, r := range rows {
		cases = append(cases, r.c())
	}
	scale := newScale(cases, results.TokenRate)
	unit := func(label, of string, drop int, text func(modelRow) string) doc.Field[modelRow] {
		return doc.Field[modelRow]{Label: label, About: results.UnitOf(of).About, Drop: drop, Cell: func(r modelRow) doc.Cell { return doc.Cell{Text: text(r)} }}
	}
	by := doc.Field[modelRow]{Label: names.Variant, Text: true, Cell: func(r modelRow) doc.Cell { return d.named(r.c().variant) }}
	fields := []doc.Field[modelRow]{
		{Label: names.Model, Text: true, Cell: func(r modelRow) doc.Cell { return doc.Cell{Text: r.name(), Remark: r.s.task.shape} }},
		{Label: "speed", About: "of the test that leads: making text, if that was measured", Cell: func(r modelRow) doc.Cell {
			sure := cmp.Or(speedOf(r.c()).Remark, unknownSpread)
			switch {
			case one && r.s.diffs[r.rank].Tie:
				sure += ", tie"
			case !one && r.s.ties > 0:
				sure += ", " + count.Of(r.s.ties, "tie")
			}
			return doc.Cell{Text: signedSpeed(r.c()).Text, Remark: sure}
		}},
		{Label: "rate", About: "longer is better; the line is the interval", Text: true, Drop: 1, Cell: func(r modelRow) doc.Cell {
			return scale.Cell(lengthOf(r.c().stats[results.TokenRate]))
		}},
	}
	if one {
		fields[0] = by
	} else {
		fields = append(fields, by, unit(names.Threads, "", 5, func(r modelRow) string { return r.s.panel.threads }))
	}
	return append(fields,
		unit("at most", results.PctRoof, 4, func(r modelRow) string {
			most, ok := ceilingOf(r.c())
			return textIf(ok, results.UnitOf(results.TokenRate).Format(most))
		}),
		unit("memory", results.PeakRSS, 3, func(r modelRow) string { return valueIn(r.run().peak(), results.PeakRSS) }),
		unit("planned", results.PlanBytes, 6, func(r modelRow) string { return r.run().planned() }),
		doc.Field[modelRow]{Label: "kld", About: results.UnitOf(results.KLD).About, Drop: 2, Cell: func(r modelRow) doc.Cell { return doc.Cell{Text: valueIn(r.m.logitsOf(r.run()), results.KLD)} }})
}

// graveDoubt is what a warning says that may change a verdict.
var graveDoubt = regexp.MustCompile(`slower|busy|steal|emulat|clock|other processes|faster than|throttled`)

// verdictDoubts are the warnings that stand beside the verdict; the others follow it.
func (d *digest) verdictDoubts() []string {
	var grave []string
	for _, w := range d.doubts() {
		if graveDoubt.MatchString(w.Text) {
			grave = append(grave, w.Text)
		}
	}
	if n := len(grave) - fewGrave; n > 0 {
		grave = append(grave[:fewGrave], fmt.Sprintf("%d more warnings are as grave.", n))
	}
	return grave
}

// fewGrave is how many warnings a verdict has room for.
const fewGrave = 2

// shortCommit is how much of a commit a title has.
const shortCommit = 7

// title names the report by machine, date and commit, as far as they are known.
func (d *digest) title() string {
	parts := []string{"onebit"}
	date, _, _ := strings.Cut(d.res.Setting("started"), "T")
	commit := d.res.Setting("commit")
	for _, v := range []string{d.res.Setting("cpu"), date, commit[:min(len(commit), shortCommit)]} {
		if v != "" && !strings.HasPrefix(v, "unavai") && v != "unknown" {
			parts = append(parts, v)
		}
	}
	if len(parts) == 1 {
		return "onebit results"
	}
	return strings.Join(parts, " · ")
}

// length is the time with where the next run's is expected.
func (p formatRow) length() doc.Length {
	spread, _ := p.spread()
	return doc.Length{Value: p.ns, Low: p.ns / (1 + spread), High: p.ns * (1 + spread)}
}

func newTimeScale(rows []formatRow) doc.Scale {
	var all []doc.Length
	for _, p := range rows {
		all = append(all, p.length())
	}
	return doc.NewScale(all, false)
}
