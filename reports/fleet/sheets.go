package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/reports/digest"
	"onebit/reports/doc"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// What a report of many machines shows at most: CSV and JSON have everything.
const (
	mostMachinesAcross = 8 // machines side by side
	mostWorks          = 8 // kinds of work in a table of all machines
	mostVariants       = 8 // variants of a kind of work, by machine
)

// lead is the work that most machines can be compared by, of several the first; nil if none has two.
func (f *Fleet) lead() *Work {
	var best *Work
	for _, l := range f.Works {
		if n := len(l.Ranked()); n > 1 && (best == nil || n > len(best.Ranked())) {
			best = l
		}
	}
	return best
}

// advice compares the machines in a sentence.
func (f *Fleet) advice() string {
	real := f.Real()
	if len(real) == 0 {
		return "Every machine here is emulated: these results say nothing about speed."
	}
	l := f.lead()
	var text string
	switch {
	case len(real) == 1:
		text = fmt.Sprintf("%s is the only machine that is not emulated: its speed can be compared with none.", real[0].Name)
	case l == nil:
		text = "No work was timed on two machines alike: their speeds can't be compared."
	default:
		text = l.comparison()
	}
	if len(real) > 1 {
		text = words.Sentences(text, f.unranked())
	}
	return text
}

// unranked names the machines that are emulated; "" if none is.
func (f *Fleet) unranked() string {
	emulated := f.Members[len(f.Real()):]
	if len(emulated) == 0 {
		return ""
	}
	return fmt.Sprintf("%s not ranked: %s.", emulatedCount(len(emulated)), enumerateSome(words.Mapped(emulated, memberName)))
}

func emulatedCount(n int) string {
	if n == 1 {
		return "1 emulated machine is"
	}
	return fmt.Sprintf("%d emulated machines are", n)
}

func memberName(m *digest.Member) string { return m.Name }

func placeName(p *Place) string { return p.Member.Name }

// fewNames is how many names a sentence has at most.
const fewNames = 3

// enumerateSome is enumerate that counts what a sentence has no room for.
func enumerateSome(list []string) string {
	if n := len(list) - fewNames; n > 1 {
		list = append(slices.Clone(list[:fewNames]), fmt.Sprintf("%d more", n))
	}
	return words.List(list)
}

// comparison says which machine is the fastest at a work's work, by what, and how much of itself each uses.
func (l *Work) comparison() string {
	ranked := l.Ranked()
	first, last := ranked[0], ranked[len(ranked)-1]
	text := fmt.Sprintf("%s: %s takes %s", l.workText(), first.Member.Name, first.resultText())
	if level := l.level(); len(level) > 1 {
		text += fmt.Sprintf("; %s can't be told from it", enumerateSome(words.Mapped(level[1:], placeName)))
	}
	if first.apart(last) {
		text += fmt.Sprintf("; %s takes %s times as long, %s", last.Member.Name, ratioDigits(last.Ns/first.Ns), last.resultText())
	}
	text += "."
	if winners := l.winners(); winners != nil {
		text += " The best variant differs: " + strings.Join(winners, "; ") + "."
	}
	return text
}

// slowest says how far the last machine is behind the first; "" where they can't be told apart.
func (l *Work) slowest() string {
	ranked := l.Ranked()
	first, last := ranked[0], ranked[len(ranked)-1]
	if !first.apart(last) {
		return ""
	}
	return fmt.Sprintf("%s takes %s times as long.", last.Member.Name, ratioDigits(last.Ns/first.Ns))
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
func (l *Work) workText() string {
	panels := make(map[digest.Panel]bool)
	var where digest.Panel
	for _, p := range l.Ranked() {
		where = p.panel
		panels[p.panel] = true
	}
	var parts []string
	switch n := len(l.Shapes); {
	case l.Base == names.BaseModel:
	case n == 1:
		parts = append(parts, l.Shapes[0])
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d shapes, geometric mean", n))
	}
	if len(panels) == 1 {
		parts = append(parts, digest.Conditions(where))
	} else {
		parts = append(parts, "each machine with all its threads")
		if where.Cache != "" {
			parts = append(parts, where.Cache+" cache")
		}
	}
	return l.Title() + " (" + strings.Join(parts, ", ") + ")"
}

// resultText is a machine's time, by what, and its share of the roofline.
func (p *Place) resultText() string {
	text := p.Speed() + " by " + p.Variant
	if s, ok := p.Share(p.Variant); ok {
		text += ", " + s.Text() + " of its own roofline"
	}
	return text
}

// level are the fastest and those that can't be told from it.
func (l *Work) level() []*Place {
	ranked := l.Ranked()
	return slices.DeleteFunc(slices.Clone(ranked), func(p *Place) bool { return p != ranked[0] && ranked[0].apart(p) })
}

// winners says which variant is the best on which machines, one entry for each variant; none where one
// variant is the best, or tied with it, on all.
func (l *Work) winners() []string {
	var best words.UniqueList
	leads := make(map[string]int)
	ranked := l.Ranked()
	for _, p := range ranked {
		best.Add(p.Variant, p.Member.Name)
		for _, name := range p.fastest() {
			if leads[name]++; leads[name] == len(ranked) {
				return nil
			}
		}
	}
	return whereEach(best)
}

// whereEach says of each on which machines it is.
func whereEach(all words.UniqueList) []string {
	return words.Mapped(all.List, func(name string) string { return name + " on " + enumerateSome(all.With[name]) })
}

// fastest returns a machine's best variant and those that lead or tie on most of the shapes.
func (p *Place) fastest() []string {
	leads := make(map[string]int)
	for _, s := range p.Over {
		for _, c := range s.Fastest() {
			leads[c.Variant]++
		}
	}
	all := []string{p.Variant}
	for _, name := range digest.Rivals(p.Over) {
		if name != p.Variant && 2*leads[name] > len(p.Over) {
			all = append(all, name)
		}
	}
	return all
}

// machinesSheet has a row for each machine.
func (f *Fleet) machinesSheet() *doc.Table {
	setting := func(key string) func(*digest.Member) doc.Cell {
		return func(m *digest.Member) doc.Cell {
			v := m.Results.Setting(key)
			return doc.Cell{Text: words.If(!strings.HasPrefix(v, "unavailable"), figure.Label(v))}
		}
	}
	ceiling := func(unit string, of func(*digest.Member) (float64, bool)) func(*digest.Member) doc.Cell {
		return func(m *digest.Member) doc.Cell {
			v, ok := of(m)
			return doc.Cell{Text: words.If(ok && !m.Emulated(), results.UnitOf(unit).Format(v))}
		}
	}
	caption := "Reading and multiplying: at most, with all threads, doing nothing else. Noise: its floor for cases like those above."
	return words.NewTable("fleet-machines", "Machines", caption, f.Members, []doc.Field[*digest.Member]{
		{Label: "machine", Text: true, Cell: func(m *digest.Member) doc.Cell {
			return doc.Cell{Text: m.Name, Remark: words.If(m.Emulated(), "emulated by "+figure.Label(m.Machine.Emulator))}
		}},
		{Label: "CPU", Text: true, Drop: 5, Cell: setting("cpu")},
		{Label: "CPUs", About: "that the program could use", Cell: setting("cpus-usable")},
		{Label: "memory", Drop: 3, Cell: setting("mem-total")},
		{Label: "platform", Text: true, Drop: 4, Cell: func(m *digest.Member) doc.Cell { return doc.Cell{Text: figure.Label(m.Machine.Platform)} }},
		{Label: "reading", About: "bytes read per second from memory", Drop: 1, Cell: ceiling(results.ReadRate, (*digest.Member).Reading)},
		{Label: "multiplying", About: "multiply-adds per second in registers", Drop: 2, Cell: ceiling(results.OpRate, (*digest.Member).Multiplying)},
		{Label: "noise", Drop: 2, Cell: func(m *digest.Member) doc.Cell { return doc.Cell{Text: f.noiseOf(m)} }},
		{Label: "Go", Text: true, Drop: 7, Cell: setting("go-version")},
		{Label: "commit", Text: true, Drop: 6, Cell: setting("commit")},
	})
}

// noiseOf is a machine's noise floor for the cases by which the machines are compared.
func (f *Fleet) noiseOf(m *digest.Member) string {
	for _, l := range f.Works {
		for _, p := range l.Places {
			if p.Member == m && p.Missing == "" {
				if floor := m.Floors.Of(p.Cases[0].Stats[results.NsPerOp].Class); floor.Known() {
					return words.Percent(floor.Floor)
				}
				return "unknown"
			}
		}
	}
	return ""
}

// bestSheet has a row for each machine and a column for each kind of work.
func (f *Fleet) bestSheet() *doc.Table {
	works := f.Works[:min(len(f.Works), mostWorks)]
	fields := []doc.Field[int]{{Label: "machine", Text: true, Cell: func(i int) doc.Cell {
		return doc.Cell{Text: f.Members[i].Heading()}
	}}}
	for i, l := range works {
		level := l.level()
		fields = append(fields, doc.Field[int]{Label: l.Title(), Text: true, Drop: i, Cell: func(i int) doc.Cell {
			return l.Places[i].bestCell(slices.Contains(level, l.Places[i]))
		}})
	}
	rows := make([]int, len(f.Members))
	for i := range rows {
		rows[i] = i
	}
	s := words.NewTable("fleet-best", "The best variant of each machine", f.bestCaption(works), rows, fields)
	return s
}

// first says which machine is the fastest, and ranks those that can be compared.
func (f *Fleet) first() doc.First {
	l := f.lead()
	if l == nil || len(f.Real()) < 2 {
		return doc.First{Verdict: f.advice(), Table: f.ranking()}
	}
	level := l.level()
	best := level[0]
	first := doc.First{
		Verdict: fmt.Sprintf("%s is the fastest at %s.", best.Member.Name, l.Title()), Number: best.Speed(),
		NumberOf: fmt.Sprintf("%s by %s at %s", best.SpreadText(), best.Variant, l.workText()), Why: words.Sentences(l.slowest(), f.unranked()), Table: f.ranking(),
	}
	if len(level) > 1 {
		first.Verdict = fmt.Sprintf("%s are the fastest at %s: these runs can't tell them apart.", enumerateSome(words.Mapped(level, placeName)), l.Title())
	}
	return first
}

// mostRanked is how many machines a first screen has room for.
const mostRanked = 14

// ranking is the machines at the work by which most can be compared, fastest first; nil if there is none.
func (f *Fleet) ranking() *doc.Table {
	l := f.lead()
	if l == nil {
		return nil
	}
	all, level := l.Ranked(), l.level()
	rows := all[:min(len(all), mostRanked)]
	scale := doc.NewScale(rows, func(p *Place) doc.Length { return p.Length() }, false)
	caption := l.workText() + ", fastest first."
	if len(rows) < len(all) {
		caption += fmt.Sprintf(" The fastest %d of %d machines are shown.", len(rows), len(all))
	}
	return words.NewTable("ranking", "Machines, ranked", caption, rows, []doc.Field[*Place]{
		{Label: "machine", Text: true, Cell: func(p *Place) doc.Cell { return doc.Cell{Text: p.Member.Name} }},
		{Label: "speed", Cell: func(p *Place) doc.Cell {
			return doc.Cell{Text: p.Speed() + digest.SignsOf(p.Cases), Remark: p.SpreadText(), Best: slices.Contains(level, p)}
		}},
		{Label: "time", About: "shorter is better; the line is the interval", Text: true, Drop: 1, Cell: func(p *Place) doc.Cell { return scale.Cell(p.Length()) }},
		{Label: "by", Text: true, Drop: 3, Cell: func(p *Place) doc.Cell { return p.Member.Named(p.Variant) }},
		{Label: "of its roofline", About: "what the machine can do at most, by reading or by multiplying", Drop: 2, Cell: func(p *Place) doc.Cell {
			s, ok := p.Share(p.Variant)
			return doc.Cell{Text: words.If(ok, s.Text())}
		}},
	})
}

func (p *Place) bestCell(best bool) doc.Cell {
	if p.Missing != "" {
		return doc.Cell{Text: p.Missing}
	}
	remark := p.Variant
	if s, ok := p.Share(p.Variant); ok {
		remark += ", " + s.Text()
	}
	return doc.Cell{Text: p.Speed() + digest.SignsOf(p.Cases), Remark: remark, Best: best && !p.Member.Emulated(), Mark: doc.MarkOf(p.Member.Marks[p.Variant])}
}

func (f *Fleet) bestCaption(works []*Work) string {
	text := "Each machine with all its threads"
	if slices.ContainsFunc(works, func(l *Work) bool { return l.Base != names.BaseModel }) {
		text += ", cold cache, a geometric mean over shapes"
	}
	text += ". The share is of its own roofline. Bold: the fastest machine, and those that can't be told from it."
	if n := len(f.Works); n > len(works) {
		text += fmt.Sprintf(" The first %d of %d kinds of work: CSV and JSON have all.", len(works), n)
	}
	return text
}

// A codeRow is one variant at one kind of work.
type codeRow struct {
	work    *Work
	variant string
}

// codeSheet has a row for each variant, and the machines side by side: how much of each the same code uses.
func (f *Fleet) codeSheet() *doc.Table {
	across := f.across(f.Real())
	var rows []codeRow
	for _, l := range f.Works[:min(len(f.Works), mostWorks)] {
		for _, name := range l.variants(mostVariants) {
			rows = append(rows, codeRow{l, name})
		}
	}
	fields := []doc.Field[codeRow]{
		{Label: "work", Text: true, Cell: func(r codeRow) doc.Cell { return doc.Cell{Text: r.work.Title()} }},
		{Label: names.Variant, Text: true, Cell: func(r codeRow) doc.Cell {
			return f.Members[0].Named(r.variant)
		}},
	}
	for i, m := range across {
		fields = append(fields, doc.Field[codeRow]{Label: m.Name, Text: true, Drop: i, Cell: func(r codeRow) doc.Cell {
			return r.work.PlaceOf(m).codeCell(r.variant)
		}})
	}
	caption := "The share of what its machine reached in the same rounds, by reading or multiplying alone: it compares code, not machines. Bold is the machine's fastest." + f.acrossText(len(across), len(f.Real()))
	return words.NewTable("fleet-code", "The same code, as a share of each machine", caption, rows, fields)
}

// across are the machines that stand side by side.
func (f *Fleet) across(members []*digest.Member) []*digest.Member {
	return members[:min(len(members), mostMachinesAcross)]
}

// acrossText says that there are more.
func (f *Fleet) acrossText(shown, all int) string {
	return words.If(shown < all, fmt.Sprintf(" The first %d of %d machines: CSV and JSON have all.", shown, all))
}

func (l *Work) PlaceOf(m *digest.Member) *Place {
	return l.Places[slices.IndexFunc(l.Places, func(p *Place) bool { return p.Member == m })]
}

// codeCell is what a variant reaches on a machine.
func (p *Place) codeCell(variant string) doc.Cell {
	if p.Missing != "" || !slices.ContainsFunc(p.Over, func(s *digest.Ranking) bool { return s.Find(variant) != nil }) {
		return doc.Cell{Text: p.whyNot(variant)}
	}
	s, ok := p.Share(variant)
	if !ok {
		return doc.Cell{Text: "no ceiling measured"}
	}
	return doc.Cell{Text: s.Text(), Remark: s.of, Best: variant == p.Variant}
}

// variants are those that are the best on some machine, then those that most machines ran, at most so many.
func (l *Work) variants(most int) []string {
	score := make(map[string]int)
	var all []string
	for _, p := range l.Places {
		if p.Member.Emulated() {
			continue
		}
		for _, name := range digest.Rivals(p.Over) {
			if score[name] == 0 {
				all = append(all, name)
			}
			score[name]++
			if name == p.Variant {
				score[name] += len(l.Places)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(score[b], score[a]), words.Compare(a, b)) })
	all = all[:min(len(all), most)]
	digest.SortBy(all, l.leastTime) // the order of rows, alike for all machines
	return all
}

// leastTime is the shortest time that a variant has on any machine, over the largest shape.
func (l *Work) leastTime(variant string) (least float64, ok bool) {
	for _, p := range l.Ranked() {
		if c := p.largest().Find(variant); c != nil {
			if ns := c.Stats[results.NsPerOp].Center; !ok || ns < least {
				least, ok = ns, true
			}
		}
	}
	return least, ok
}

// largest is the ranking at the largest shape.
func (p *Place) largest() *digest.Ranking { return p.Over[len(p.Over)-1] }

// doubts are those of all machines; what several say alike becomes one.
func (f *Fleet) doubts() []doc.Doubt {
	var all []doc.Doubt
	for _, text := range slices.Concat(f.warnings, f.unlike()) {
		all = append(all, doc.Doubt{Text: text})
	}
	var said, folded words.UniqueList
	for _, m := range f.Members {
		for _, d := range m.Doubts() {
			said.Add(d.Text, m.Name)
			for _, text := range d.All {
				folded.Add(d.Text, m.Name+": "+text)
			}
		}
	}
	for _, text := range said.List {
		by := slices.Compact(said.With[text]) // as two of its files may say it
		on := enumerateSome(by)
		if len(by) == len(f.Members) {
			on = "all machines"
		}
		all = append(all, doc.Doubt{Text: on + ": " + text, All: folded.With[text]})
	}
	return all
}

// programKeys are settings of what was run, where machines should not differ.
var programKeys = []string{"commit", "go-version", "model", "seed"}

// unlike says what of the program differs between machines.
func (f *Fleet) unlike() []string {
	var all []string
	for _, key := range programKeys {
		var values words.UniqueList
		for _, m := range f.Members {
			values.Add(figure.Label(cmp.Or(m.Results.Setting(key), "not known")), m.Name)
		}
		if len(values.List) < 2 {
			continue
		}
		said := whereEach(values)
		if n := len(said); n > fewNames {
			said = append(said[:fewNames], count.Of(n-fewNames, "other value"))
		}
		all = append(all, fmt.Sprintf("the machines differ in %s: %s. A difference between them may be the program's.", key, strings.Join(said, "; ")))
	}
	return all
}

// grave are the doubts that may change what the first screen says.
func (f *Fleet) grave() []string {
	var all []string
	for _, text := range f.unlike() {
		if strings.HasPrefix(text, "the machines differ in commit") {
			all = append(all, text)
		}
	}
	var disturbed []string
	for _, m := range f.Real() {
		if len(m.VerdictDoubts()) > 0 {
			disturbed = append(disturbed, m.Name)
		}
	}
	if disturbed != nil {
		all = append(all, "Disturbed while it was measured: "+enumerateSome(disturbed)+". The warnings below say by what.")
	}
	return all
}

// failures are those of all machines.
func (f *Fleet) failures() []results.Failure {
	var all []results.Failure
	for _, m := range f.Members {
		for _, failure := range m.Results.Failures {
			failure.Name.Full = m.Name + ": " + failure.Name.Full
			all = append(all, failure)
		}
	}
	return all
}

// title names the report.
func (f *Fleet) title() string { return "onebit · " + count.Of(len(f.Members), "machine") }

// subtitle names the machines and when they measured.
func (f *Fleet) subtitle() string {
	var dates []string
	for _, m := range f.Members {
		if date, _, _ := strings.Cut(m.Results.Setting("started"), "T"); date != "" {
			dates = append(dates, date)
		}
	}
	text := enumerateSome(words.Mapped(f.Members, memberName))
	if len(dates) > 0 {
		first, last := figure.Label(slices.Min(dates)), figure.Label(slices.Max(dates))
		text += " · " + first + words.If(last != first, " to "+last)
	}
	return text
}

// noiseLine says how noise is handled.
func (f *Fleet) noiseLine() string {
	return "Each machine's variants are compared by its own noise floor; machines are compared by intervals, and nothing is averaged over them."
}
