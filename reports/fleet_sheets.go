package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/doc"
	"onebit/reports/figure"
)

// What a report of many machines shows at most: CSV and JSON have everything.
const (
	mostMachinesAcross = 8 // machines side by side
	mostWorks          = 8 // kinds of work in a table of all machines
	mostVariants       = 8 // variants of a kind of work, by machine
)

// lead is the work that most machines can be compared by, of several the first; nil if none has two.
func (f *fleet) lead() *work {
	var best *work
	for _, l := range f.works {
		if n := len(l.ranked()); n > 1 && (best == nil || n > len(best.ranked())) {
			best = l
		}
	}
	return best
}

// advice compares the machines in a sentence.
func (f *fleet) advice() string {
	real := f.real()
	if len(real) == 0 {
		return "Every machine here is emulated: these results say nothing about speed."
	}
	l := f.lead()
	var text string
	switch {
	case len(real) == 1:
		text = fmt.Sprintf("%s is the only machine that is not emulated: its speed can be compared with none.", real[0].name)
	case l == nil:
		text = "No work was timed on two machines alike: their speeds can't be compared."
	default:
		text = l.comparison()
	}
	if len(real) > 1 {
		text = sentences(text, f.unranked())
	}
	return text
}

// unranked names the machines that are emulated; "" if none is.
func (f *fleet) unranked() string {
	emulated := f.members[len(f.real()):]
	if len(emulated) == 0 {
		return ""
	}
	return fmt.Sprintf("%s not ranked: %s.", emulatedCount(len(emulated)), enumerateSome(namesOfMembers(emulated)))
}

func emulatedCount(n int) string {
	if n == 1 {
		return "1 emulated machine is"
	}
	return fmt.Sprintf("%d emulated machines are", n)
}

func namesOfMembers(members []*member) []string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.name
	}
	return all
}

// fewNames is how many names a sentence has at most.
const fewNames = 3

// enumerateSome is enumerate that counts what a sentence has no room for.
func enumerateSome(list []string) string {
	if n := len(list) - fewNames; n > 1 {
		list = append(slices.Clone(list[:fewNames]), fmt.Sprintf("%d more", n))
	}
	return enumerate(list)
}

// comparison says which machine is the fastest at a work's work, by what, and how much of itself each uses.
func (l *work) comparison() string {
	ranked := l.ranked()
	first, last := ranked[0], ranked[len(ranked)-1]
	text := fmt.Sprintf("%s: %s takes %s", l.workText(), first.member.name, first.resultText())
	if level := l.level(); len(level) > 1 {
		text += fmt.Sprintf("; %s can't be told from it", enumerateSome(namesOfPlaces(level[1:])))
	}
	if first.apart(last) {
		text += fmt.Sprintf("; %s takes %s times as long, %s", last.member.name, ratioDigits(last.ns/first.ns), last.resultText())
	}
	text += "."
	if winners := l.winners(); winners != nil {
		text += " The best variant differs: " + strings.Join(winners, "; ") + "."
	}
	return text
}

// slowest says how far the last machine is behind the first; "" where they can't be told apart.
func (l *work) slowest() string {
	ranked := l.ranked()
	first, last := ranked[0], ranked[len(ranked)-1]
	if !first.apart(last) {
		return ""
	}
	return fmt.Sprintf("%s takes %s times as long.", last.member.name, ratioDigits(last.ns/first.ns))
}

// ratioDigits is a ratio to two digits or, if it is close to 1 or large, three.
func ratioDigits(r float64) string {
	switch {
	case r < 2:
		return fmt.Sprintf("%.2f", r)
	case r < 10:
		return fmt.Sprintf("%.1f", r)
	}
	return fmt.Sprintf("%.0f", r)
}

// workText says what a work's numbers are about.
func (l *work) workText() string {
	panels := make(map[panel]bool)
	var where panel
	for _, p := range l.ranked() {
		where = p.panel
		panels[p.panel] = true
	}
	var parts []string
	switch n := len(l.shapes); {
	case l.base == names.BaseModel:
	case n == 1:
		parts = append(parts, l.shapes[0])
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d shapes, geometric mean", n))
	}
	if len(panels) == 1 {
		parts = append(parts, conditions(where))
	} else {
		parts = append(parts, "each machine with all its threads")
		if where.cache != "" {
			parts = append(parts, where.cache+" cache")
		}
	}
	return l.title() + " (" + strings.Join(parts, ", ") + ")"
}

// resultText is a machine's time, by what, and its share of the roofline.
func (p *place) resultText() string {
	text := p.speed() + " by " + p.variant
	if s, ok := p.share(p.variant); ok {
		text += ", " + s.text() + " of its own roofline"
	}
	return text
}

// level are the fastest and those that can't be told from it.
func (l *work) level() []*place {
	ranked := l.ranked()
	return slices.DeleteFunc(slices.Clone(ranked), func(p *place) bool { return p != ranked[0] && ranked[0].apart(p) })
}

func namesOfPlaces(places []*place) []string {
	all := make([]string, len(places))
	for i, p := range places {
		all[i] = p.member.name
	}
	return all
}

// winners says which variant is the best on which machines, one entry for each variant; none where one
// variant is the best, or tied with it, on all.
func (l *work) winners() []string {
	var order []string
	on := make(map[string][]string)
	leads := make(map[string]int)
	ranked := l.ranked()
	for _, p := range ranked {
		if on[p.variant] == nil {
			order = append(order, p.variant)
		}
		on[p.variant] = append(on[p.variant], p.member.name)
		for _, name := range p.fastest() {
			if leads[name]++; leads[name] == len(ranked) {
				return nil
			}
		}
	}
	for i, name := range order {
		order[i] = name + " on " + enumerateSome(on[name])
	}
	return order
}

// fastest returns a machine's best variant and those that lead or tie on most of the shapes.
func (p *place) fastest() []string {
	leads := make(map[string]int)
	for _, s := range p.over {
		for _, c := range s.fastest() {
			leads[c.variant]++
		}
	}
	all := []string{p.variant}
	for _, name := range rivals(p.over) {
		if name != p.variant && 2*leads[name] > len(p.over) {
			all = append(all, name)
		}
	}
	return all
}

// machinesSheet has a row for each machine.
func (f *fleet) machinesSheet() *doc.Table {
	setting := func(key string) func(*member) doc.Cell {
		return func(m *member) doc.Cell {
			v := m.res.Setting(key)
			return doc.Cell{Text: textIf(!strings.HasPrefix(v, "unavailable"), figure.Label(v))}
		}
	}
	ceiling := func(unit string, of func(*member) (float64, bool)) func(*member) doc.Cell {
		return func(m *member) doc.Cell {
			v, ok := of(m)
			return doc.Cell{Text: textIf(ok && !m.emulated(), results.UnitOf(unit).Format(v))}
		}
	}
	caption := "Reading and multiplying are what the machine did at most with all its threads, when it did nothing else, measured in the same file; " +
		"noise is its own floor for cases like those above."
	return newTable("fleet-machines", "Machines", caption, f.members, []doc.Field[*member]{
		{Label: "machine", Text: true, Cell: func(m *member) doc.Cell {
			return doc.Cell{Text: m.name, Remark: textIf(m.emulated(), "emulated by "+figure.Label(m.machine.Emulator))}
		}},
		{Label: "CPU", Text: true, Drop: 5, Cell: setting("cpu")},
		{Label: "CPUs", About: "that the program could use", Cell: setting("cpus-usable")},
		{Label: "memory", Drop: 3, Cell: setting("mem-total")},
		{Label: "platform", Text: true, Drop: 4, Cell: func(m *member) doc.Cell { return doc.Cell{Text: figure.Label(m.machine.Platform)} }},
		{Label: "reading", About: "bytes read per second from memory", Drop: 1, Cell: ceiling(results.ReadRate, (*member).reading)},
		{Label: "multiplying", About: "multiply-adds per second in registers", Drop: 2, Cell: ceiling(results.OpRate, (*member).multiplying)},
		{Label: "noise", Drop: 2, Cell: func(m *member) doc.Cell { return doc.Cell{Text: f.noiseOf(m)} }},
		{Label: "Go", Text: true, Drop: 7, Cell: setting("go-version")},
		{Label: "commit", Text: true, Drop: 6, Cell: setting("commit")},
	})
}

// reading is what a machine reads from memory with most threads.
func (d *digest) reading() (float64, bool) {
	return d.ceiling(names.BaseRead, results.ReadRate)
}

// multiplying is what it multiplies in registers.
func (d *digest) multiplying() (float64, bool) {
	return d.ceiling(names.BaseDotPeak, results.OpRate)
}

// ceiling is the middle one of the rates of a base's cases under the fullest condition.
func (d *digest) ceiling(base, unit string) (float64, bool) {
	all := d.ofBase(base)
	where := fullest([]*task{{cases: all}})
	p := formatRow{cases: in(where, all)}
	return p.typical(unit)
}

// noiseOf is a machine's noise floor for the cases by which the machines are compared.
func (f *fleet) noiseOf(m *member) string {
	for _, l := range f.works {
		for _, p := range l.places {
			if p.member == m && p.missing == "" {
				if floor := m.floors.Of(p.cases[0].stats[results.NsPerOp].Class); floor.Known() {
					return percent(floor.Floor)
				}
				return "unknown"
			}
		}
	}
	return ""
}

// bestSheet has a row for each machine and a column for each kind of work.
func (f *fleet) bestSheet() *doc.Table {
	works := f.works[:min(len(f.works), mostWorks)]
	fields := []doc.Field[int]{{Label: "machine", Text: true, Cell: func(i int) doc.Cell {
		return doc.Cell{Text: f.members[i].heading()}
	}}}
	for i, l := range works {
		level := l.level()
		fields = append(fields, doc.Field[int]{Label: l.title(), Text: true, Drop: i, Cell: func(i int) doc.Cell {
			return l.places[i].bestCell(slices.Contains(level, l.places[i]))
		}})
	}
	rows := make([]int, len(f.members))
	for i := range rows {
		rows[i] = i
	}
	s := newTable("fleet-best", "The best variant of each machine", f.bestCaption(works), rows, fields)
	return s
}

// first says which machine is the fastest, and ranks those that can be compared.
func (f *fleet) first() doc.First {
	l := f.lead()
	if l == nil || len(f.real()) < 2 {
		return doc.First{Verdict: f.advice(), Table: f.ranking()}
	}
	level := l.level()
	best := level[0]
	first := doc.First{
		Verdict: fmt.Sprintf("%s is the fastest at %s.", best.member.name, l.title()), Number: best.speed(),
		NumberOf: fmt.Sprintf("%s by %s at %s", best.spreadText(), best.variant, l.workText()), Why: sentences(l.slowest(), f.unranked()), Table: f.ranking(),
	}
	if len(level) > 1 {
		first.Verdict = fmt.Sprintf("%s are the fastest at %s: these runs can't tell them apart.", enumerateSome(namesOfPlaces(level)), l.title())
	}
	return first
}

// mostRanked is how many machines a first screen has room for.
const mostRanked = 14

// ranking is the machines at the work by which most can be compared, fastest first; nil if there is none.
func (f *fleet) ranking() *doc.Table {
	l := f.lead()
	if l == nil {
		return nil
	}
	all, level := l.ranked(), l.level()
	rows := all[:min(len(all), mostRanked)]
	var lengths []doc.Length
	for _, p := range rows {
		lengths = append(lengths, p.length())
	}
	scale := doc.NewScale(lengths, false)
	caption := l.workText() + ", fastest first."
	if len(rows) < len(all) {
		caption += fmt.Sprintf(" The fastest %d of %d machines are shown.", len(rows), len(all))
	}
	return newTable("ranking", "Machines, ranked", caption, rows, []doc.Field[*place]{
		{Label: "machine", Text: true, Cell: func(p *place) doc.Cell { return doc.Cell{Text: p.member.name} }},
		{Label: "speed", Cell: func(p *place) doc.Cell {
			return doc.Cell{Text: p.speed() + signsOf(p.cases), Remark: p.spreadText(), Best: slices.Contains(level, p)}
		}},
		{Label: "time", About: "shorter is better; the line is the interval", Text: true, Drop: 1, Cell: func(p *place) doc.Cell { return scale.Cell(p.length()) }},
		{Label: "by", Text: true, Drop: 3, Cell: func(p *place) doc.Cell { return p.member.named(p.variant) }},
		{Label: "of its roofline", About: "what the machine can do at most, by reading or by multiplying", Drop: 2, Cell: func(p *place) doc.Cell {
			s, ok := p.share(p.variant)
			return doc.Cell{Text: textIf(ok, s.text())}
		}},
	})
}

func (p *place) bestCell(best bool) doc.Cell {
	if p.missing != "" {
		return doc.Cell{Text: p.missing}
	}
	remark := p.variant
	if s, ok := p.share(p.variant); ok {
		remark += ", " + s.text()
	}
	return doc.Cell{Text: p.speed() + signsOf(p.cases), Remark: remark, Best: best && !p.member.emulated(), Mark: doc.MarkOf(p.member.marks[p.variant])}
}

func (f *fleet) bestCaption(works []*work) string {
	text := "Each machine with all its threads"
	if slices.ContainsFunc(works, func(l *work) bool { return l.base != names.BaseModel }) {
		text += ", cold cache; the time of a format is a geometric mean over the shapes that most machines ran"
	}
	text += ". The share is of the machine's own roofline: what it could do at most if it only read or only multiplied. " +
		"Bold is the fastest machine, and each whose intervals meet its own on most shapes. Emulated machines are not ranked."
	if n := len(f.works); n > len(works) {
		text += fmt.Sprintf(" The first %d of %d kinds of work: CSV and JSON have all.", len(works), n)
	}
	return text
}

// A codeRow is one variant at one kind of work.
type codeRow struct {
	work    *work
	variant string
}

// codeSheet has a row for each variant, and the machines side by side: how much of each the same code uses.
func (f *fleet) codeSheet() *doc.Table {
	across := f.across(f.real())
	var rows []codeRow
	for _, l := range f.works[:min(len(f.works), mostWorks)] {
		for _, name := range l.variants(mostVariants) {
			rows = append(rows, codeRow{l, name})
		}
	}
	fields := []doc.Field[codeRow]{
		{Label: "work", Text: true, Cell: func(r codeRow) doc.Cell { return doc.Cell{Text: r.work.title()} }},
		{Label: names.Variant, Text: true, Cell: func(r codeRow) doc.Cell {
			return f.members[0].named(r.variant)
		}},
	}
	for i, m := range across {
		fields = append(fields, doc.Field[codeRow]{Label: m.name, Text: true, Drop: i, Cell: func(r codeRow) doc.Cell {
			return r.work.placeOf(m).codeCell(r.variant)
		}})
	}
	caption := "What share of its machine each variant reaches, on the same work as above: of reading where reading the weights bounds it, and else of multiplying. " +
		"It is normalised by what the same machine reached in the same rounds, so that it compares code and not machines. Bold is the machine's fastest." + f.acrossText(len(across), len(f.real()))
	return newTable("fleet-code", "The same code, as a share of each machine", caption, rows, fields)
}

// across are the machines that stand side by side.
func (f *fleet) across(members []*member) []*member {
	return members[:min(len(members), mostMachinesAcross)]
}

// acrossText says that there are more.
func (f *fleet) acrossText(shown, all int) string {
	return textIf(shown < all, fmt.Sprintf(" The first %d of %d machines: CSV and JSON have all.", shown, all))
}

func (l *work) placeOf(m *member) *place {
	return l.places[slices.IndexFunc(l.places, func(p *place) bool { return p.member == m })]
}

// codeCell is what a variant reaches on a machine.
func (p *place) codeCell(variant string) doc.Cell {
	if p.missing != "" || !slices.ContainsFunc(p.over, func(s *ranking) bool { return s.find(variant) != nil }) {
		return doc.Cell{Text: p.whyNot(variant)}
	}
	s, ok := p.share(variant)
	if !ok {
		return doc.Cell{Text: "no ceiling measured"}
	}
	return doc.Cell{Text: s.text(), Remark: s.of, Best: variant == p.variant}
}

// variants are those that are the best on some machine, then those that most machines ran, at most so many.
func (l *work) variants(most int) []string {
	score := make(map[string]int)
	var all []string
	for _, p := range l.places {
		if p.member.emulated() {
			continue
		}
		for _, name := range rivals(p.over) {
			if score[name] == 0 {
				all = append(all, name)
			}
			score[name]++
			if name == p.variant {
				score[name] += len(l.places)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(score[b], score[a]), naturalCompare(a, b)) })
	all = all[:min(len(all), most)]
	sortBy(all, l.leastTime) // the order of rows, alike for all machines
	return all
}

// leastTime is the shortest time that a variant has on any machine, over the largest shape.
func (l *work) leastTime(variant string) (least float64, ok bool) {
	for _, p := range l.ranked() {
		if c := p.largest().find(variant); c != nil {
			if ns := c.stats[results.NsPerOp].Center; !ok || ns < least {
				least, ok = ns, true
			}
		}
	}
	return least, ok
}

// largest is the ranking at the largest shape.
func (p *place) largest() *ranking { return p.over[len(p.over)-1] }

// doubts are those of all machines; what several say alike becomes one.
func (f *fleet) doubts() []doc.Doubt {
	var all []doc.Doubt
	for _, text := range slices.Concat(f.warnings, f.unlike()) {
		all = append(all, doc.Doubt{Text: text})
	}
	var order []string
	by := make(map[string][]string)
	folded := make(map[string][]string)
	for _, m := range f.members {
		for _, d := range m.doubts() {
			if by[d.Text] == nil {
				order = append(order, d.Text)
			}
			if on := by[d.Text]; len(on) == 0 || on[len(on)-1] != m.name { // as two of its files may say it
				by[d.Text] = append(on, m.name)
			}
			for _, text := range d.All {
				folded[d.Text] = append(folded[d.Text], m.name+": "+text)
			}
		}
	}
	for _, text := range order {
		on := enumerateSome(by[text])
		if len(by[text]) == len(f.members) {
			on = "all machines"
		}
		all = append(all, doc.Doubt{Text: on + ": " + text, All: folded[text]})
	}
	return all
}

// programKeys are settings of what was run, where machines should not differ.
var programKeys = []string{"commit", "go-version", "model", "seed"}

// unlike says what of the program differs between machines.
func (f *fleet) unlike() []string {
	var all []string
	for _, key := range programKeys {
		var order []string
		on := make(map[string][]string)
		for _, m := range f.members {
			v := figure.Label(cmp.Or(m.res.Setting(key), "not known"))
			if on[v] == nil {
				order = append(order, v)
			}
			on[v] = append(on[v], m.name)
		}
		if len(order) < 2 {
			continue
		}
		for i, v := range order {
			order[i] = v + " on " + enumerateSome(on[v])
		}
		if n := len(order); n > fewNames {
			order = append(order[:fewNames], count.Of(n-fewNames, "other value"))
		}
		all = append(all, fmt.Sprintf("the machines differ in %s: %s. A difference between them may be the program's.", key, strings.Join(order, "; ")))
	}
	return all
}

// grave are the doubts that may change what the first screen says.
func (f *fleet) grave() []string {
	var all []string
	for _, text := range f.unlike() {
		if strings.HasPrefix(text, "the machines differ in commit") {
			all = append(all, text)
		}
	}
	var disturbed []string
	for _, m := range f.real() {
		if len(m.verdictDoubts()) > 0 {
			disturbed = append(disturbed, m.name)
		}
	}
	if disturbed != nil {
		all = append(all, "Disturbed while it was measured: "+enumerateSome(disturbed)+". The warnings below say by what.")
	}
	return all
}

// failures are those of all machines.
func (f *fleet) failures() []results.Failure {
	var all []results.Failure
	for _, m := range f.members {
		for _, failure := range m.res.Failures {
			failure.Name.Full = m.name + ": " + failure.Name.Full
			all = append(all, failure)
		}
	}
	return all
}

// title names the report.
func (f *fleet) title() string { return "onebit · " + count.Of(len(f.members), "machine") }

// subtitle names the machines and when they measured.
func (f *fleet) subtitle() string {
	var dates []string
	for _, m := range f.members {
		if date, _, _ := strings.Cut(m.res.Setting("started"), "T"); date != "" {
			dates = append(dates, date)
		}
	}
	text := enumerateSome(namesOfMembers(f.members))
	if len(dates) > 0 {
		first, last := figure.Label(slices.Min(dates)), figure.Label(slices.Max(dates))
		text += " · " + first + textIf(last != first, " to "+last)
	}
	return text
}

// noiseLine says how noise is handled.
func (f *fleet) noiseLine() string {
	return "Each machine's variants are compared by its own noise floor; machines are compared by intervals, and nothing is averaged over them."
}
