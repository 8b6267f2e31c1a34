package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onebit/bench"
)

// The tests of a model, in the order in which reports list them. Their names are llama-bench's: pp512
// is a prompt of 512 tokens, tg128 the generation of 128.
const (
	testLoad = iota
	testFirstToken
	testPrompt
	testDecode
	testOther
)

var testPrefixes = [testOther]string{"load", "ttft", "pp", "tg"}

func testOrder(test string) int {
	kind := strings.TrimRight(test, "0123456789")
	if i := slices.Index(testPrefixes[:], kind); i >= 0 {
		return i
	}
	return testOther
}

// peerEngine is the variant of llama.cpp's own program, which every model is told against if it ran.
const peerEngine = "llama-bench"

// A model is what results say of a whole model: how fast, how big, how wrong.
type model struct {
	name     string
	tests    []*task // those without depth of a kind come first
	runs     []*run
	profiles []*profile
	lockstep []*caseStats
	alike    [][]string // contenders whose errors are the same in every tensor and block
	errors   map[tensorRow][]errorSeries
	logits   []*caseStats
}

// A run is what one contender did in a model's tests under one condition.
type run struct {
	contender string
	panel     panel
	cases     map[*task]*caseStats
}

// partOfModel reports whether a case tells of a part of a model, and so has no row of its own.
func (c *caseStats) partOfModel() bool {
	switch c.name.Base {
	case baseOp, baseLockstep, baseLogits:
		return true
	}
	return false
}

// formModels gathers what belongs to each model.
func (d *digest) formModels() {
	byName := make(map[string]*model)
	modelOf := func(n bench.Name) *model {
		name := n.Get(keyModel)
		if byName[name] == nil {
			byName[name] = &model{name: name}
			d.models = append(d.models, byName[name])
		}
		return byName[name]
	}
	for _, t := range d.tasks {
		if t.base == baseModel {
			m := modelOf(t.cases[0].name)
			m.tests = append(m.tests, t)
		}
	}
	profiled := make(map[*model][]*caseStats)
	for _, c := range d.cases {
		if c.contender == "" {
			continue
		}
		switch c.name.Base {
		case baseOp:
			m := modelOf(c.name)
			profiled[m] = append(profiled[m], c)
		case baseLockstep:
			m := modelOf(c.name)
			m.lockstep = append(m.lockstep, c)
		case baseLogits:
			m := modelOf(c.name)
			m.logits = append(m.logits, c)
		}
	}
	for _, m := range d.models {
		m.profiles = newProfiles(profiled[m])
		m.formErrors()
		m.formRuns()
	}
	slices.SortFunc(d.models, func(a, b *model) int { return naturalCompare(a.name, b.name) })
}

// formRuns makes the rows of the model's table: most threads first, and of one number of threads the
// fastest first.
func (m *model) formRuns() {
	for _, p := range m.panels() {
		for _, name := range contenders(m.cases()) {
			r := &run{contender: name, panel: p, cases: make(map[*task]*caseStats)}
			for _, t := range m.tests {
				for _, c := range in(p, t.cases) {
					if c.contender == name {
						r.cases[t] = c
					}
				}
			}
			if len(r.cases) > 0 {
				m.runs = append(m.runs, r)
			}
		}
	}
	lead := m.lead()
	slices.SortStableFunc(m.runs, func(a, b *run) int {
		if a.panel != b.panel {
			return naturalCompare(b.panel.threads, a.panel.threads)
		}
		x, y := a.cases[lead], b.cases[lead]
		switch {
		case x == nil && y == nil:
			return 0
		case x == nil:
			return 1
		case y == nil:
			return -1
		}
		return cmp.Compare(x.stats[bench.NsPerOp].Center, y.stats[bench.NsPerOp].Center)
	})
}

func (m *model) cases() []*caseStats {
	var all []*caseStats
	for _, t := range m.tests {
		all = append(all, t.cases...)
	}
	return all
}

// panels lists the conditions of the tests, most threads first.
func (m *model) panels() []panel {
	all := panels(m.cases())
	slices.Reverse(all)
	return all
}

// test returns the first test of a kind, that of the least depth; nil if there is none.
func (m *model) test(kind int) *task {
	i := slices.IndexFunc(m.tests, func(t *task) bool { return t.order == kind })
	if i < 0 {
		return nil
	}
	return m.tests[i]
}

// lead is the test by which contenders are ordered: the first that there is of decoding, the prompt,
// the first token, and loading. Any other test leads only where it is alone.
func (m *model) lead() *task {
	for _, kind := range []int{testDecode, testPrompt, testFirstToken, testLoad, testOther} {
		if t := m.test(kind); t != nil {
			return t
		}
	}
	return nil
}

// leader is the contender that leads the lead test with most threads; ok is false if none was timed.
func (d *digest) leader(m *model) (s *standing, ok bool) {
	if m.lead() == nil {
		return nil, false
	}
	for _, p := range m.panels() {
		if s, ok := d.rank(m.lead(), p); ok {
			return s, true
		}
	}
	return nil, false
}

// run returns that of a contender under a condition; nil if there is none.
func (m *model) run(contender string, p panel) *run {
	for _, r := range m.runs {
		if r.contender == contender && r.panel == p {
			return r
		}
	}
	return nil
}

// peak is the case that held most memory; nil if none was measured.
func (r *run) peak() *caseStats {
	var most *caseStats
	for _, c := range r.cases {
		v, ok := c.center(bench.PeakRSS)
		if !ok {
			continue
		}
		if most == nil {
			most = c
			continue
		}
		w, _ := most.center(bench.PeakRSS)
		if v > w || v == w && c.name.Full < most.name.Full {
			most = c
		}
	}
	return most
}

// speedOf is a test's rate, or its time where it makes no tokens.
func speedOf(c *caseStats) sheetCell {
	if c == nil {
		return sheetCell{}
	}
	for _, unit := range []string{bench.TokenRate, bench.NsPerOp} {
		if s, ok := c.stats[unit]; ok {
			return sheetCell{Text: bench.UnitOf(unit).Format(s.Center), Remark: s.spread(unit)}
		}
	}
	return sheetCell{}
}

// sheets are the model's tables: speed and memory, error, and where the time goes.
func (d *digest) sheets(m *model) []*sheet {
	var all []*sheet
	for _, s := range slices.Concat([]*sheet{d.runSheet(m, m.runs), d.errorSheet(m)}, profileSheets(m), []*sheet{d.tensorSheet(m)}) {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

// runSheet shows how fast and how big some of the model's runs are; nil if there are none.
func (d *digest) runSheet(m *model, runs []*run) *sheet {
	if len(runs) == 0 {
		return nil
	}
	fields := []field[*run]{
		{label: keyVariant, text: true, cell: func(r *run) sheetCell {
			return sheetCell{Text: r.contender, Mark: markHTML(d.marks[r.contender])}
		}},
		{label: keyThreads, cell: func(r *run) sheetCell { return sheetCell{Text: r.panel.threads} }},
	}
	lead := m.lead()
	for _, kind := range []int{testDecode, testPrompt, testFirstToken, testLoad, testOther} {
		for i, t := range m.tests {
			if t.order == kind {
				fields = append(fields, d.testFields(t, t == lead, i)...)
			}
		}
	}
	for i, unit := range []string{bench.PeakRSS, bench.AnonBytes, bench.FileBytes} {
		fields = append(fields, m.memoryField(unit, 4*i))
	}
	for _, unit := range []string{bench.KLD, bench.Top1} {
		fields = append(fields, field[*run]{label: unit, about: bench.UnitOf(unit).About, drop: 2, cell: func(r *run) sheetCell {
			return sheetCell{Text: valueIn(m.logitsOf(r), unit)}
		}})
	}
	return newSheet(fileName("model", m.name), m.title("speed and memory"), runCaption, runs, fields)
}

const runCaption = "Medians with their 95% confidence intervals; variants are in the order of their decode speed. Bold is the best of its column for that number of " +
	"threads, or tied with it. Memory is the most of any test, with its parts by mapped files and the rest."

// testFields are the columns of a test.
func (d *digest) testFields(t *task, lead bool, number int) []field[*run] {
	drop, deep := 0, ""
	if depth := t.cases[0].name.Get(keyDepth); depth != "" {
		deep = " @ d" + depth
	}
	if deep != "" || t.order == testLoad || t.order == testOther {
		drop = 20 + number
	}
	standings := make(map[panel]*standing)
	for _, p := range panels(t.cases) {
		if s, ok := d.rank(t, p); ok {
			standings[p] = s
		}
	}
	fields := []field[*run]{{label: testLabel(t), about: testAbout(t), drop: drop, cell: func(r *run) sheetCell {
		cell, s := speedOf(r.cases[t]), standings[r.panel]
		cell.Best = s != nil && len(s.ranked) > 1 && slices.Contains(s.leaders(), r.cases[t])
		return cell
	}}}
	if lead {
		fields = append(fields, field[*run]{label: "vs best", about: "times the best one's time; a tie can't be told from it", cell: func(r *run) sheetCell {
			s := standings[r.panel]
			if s == nil {
				return sheetCell{}
			}
			if i := slices.Index(s.ranked, r.cases[t]); i >= 0 {
				return sheetCell{Text: versus(s, i)}
			}
			return sheetCell{}
		}})
	}
	for _, unit := range []string{bench.PctRoof, bench.PctPeak} {
		fields = append(fields, field[*run]{label: unit + deep, about: bench.UnitOf(unit).About, drop: drop + 3, cell: func(r *run) sheetCell {
			return sheetCell{Text: valueIn(r.cases[t], unit)}
		}})
	}
	return fields
}

// testLabel names a test for people.
func testLabel(t *task) string {
	switch t.order {
	case testFirstToken:
		return "first token"
	case testDecode:
		return "decode " + t.shape
	case testPrompt:
		return "prompt " + t.shape
	}
	return t.shape
}

func testAbout(t *task) string {
	switch t.order {
	case testLoad:
		return "from opening the file until the model is ready"
	case testFirstToken:
		return "from the start of the process to the first token"
	case testDecode:
		return "tokens generated per second, one at a time"
	case testPrompt:
		return "tokens of a prompt read per second"
	}
	return ""
}

// memoryField is a column of the test that held most memory.
func (m *model) memoryField(unit string, drop int) field[*run] {
	labels := map[string]string{bench.PeakRSS: "memory", bench.AnonBytes: "anonymous", bench.FileBytes: "file"}
	seen := make(map[panel]extent)
	for _, r := range m.runs {
		if c := r.peak(); c != nil {
			e := seen[r.panel]
			e.add(c.center(unit))
			seen[r.panel] = e
		}
	}
	return field[*run]{label: labels[unit], about: bench.UnitOf(unit).About, drop: drop, cell: func(r *run) sheetCell {
		text := valueIn(r.peak(), unit)
		format, e := bench.UnitOf(unit).Format, seen[r.panel]
		best := unit == bench.PeakRSS && format(e.lo) != format(e.hi) && text == format(e.lo)
		return sheetCell{Text: text, Best: best}
	}}
}

// valueIn is valueOf for a case that may be lacking.
func valueIn(c *caseStats, unit string) string {
	if c == nil {
		return ""
	}
	return valueOf(c, unit)
}

// A glance is what is said of a model in a few words.
type glance struct {
	standing *standing // of the lead test
	facts    []fact
}

// headline names the test in which the model's champion leads.
func (g glance) headline() string {
	t := g.standing.task
	text := "fastest at " + testLabel(t) + " with " + conditions(g.standing.panel)
	if g.standing.ties > 0 {
		text += ", tied with " + names(g.standing.leaders()[1:])
	}
	return text
}

// glance sums a model up; ok is false if it was not timed.
func (d *digest) glance(m *model) (g glance, ok bool) {
	s, ok := d.leader(m)
	if !ok {
		return glance{}, false
	}
	r := m.run(s.best().contender, s.panel)
	g = glance{standing: s}
	add := func(name, value string) {
		if value != "" {
			g.facts = append(g.facts, fact{name, value})
		}
	}
	add("decode", m.speedText(r, testDecode))
	add("prompt", m.speedText(r, testPrompt))
	add("first token", m.speedText(r, testFirstToken))
	add("load", m.speedText(r, testLoad))
	if rival := m.rival(s); rival != "" && !slices.Contains(s.leaders(), s.find(rival)) {
		add("against", times(speedup([]*standing{s}, rival, s.best().contender))+" "+rival)
	}
	add("memory", memoryText(r.peak()))
	add("error", cmp.Or(m.errorText(r), "not measured in this run"))
	return g, true
}

// rival is whom the champion is told against: the other engine, or whom a kernel's would be.
func (m *model) rival(s *standing) string {
	for _, c := range s.ranked[1:] {
		if c.name.Get(keyVariant) == peerEngine {
			return c.contender
		}
	}
	return baseline([]*standing{s}, s.best().contender)
}

// speedText says what a run reached in a kind of test, and of which ceiling.
func (m *model) speedText(r *run, kind int) string {
	t := m.test(kind)
	if t == nil || r.cases[t] == nil {
		return ""
	}
	c := r.cases[t]
	text := speedOf(c).Text
	if share := ceilingText(c); share != "" {
		text += " (" + share + ")"
	}
	return text
}

// ceilingText is the share that a case reached of what the machine allows; "" without one.
func ceilingText(c *caseStats) string {
	if roof := valueOf(c, bench.PctRoof); roof != "" {
		return roof + " of roof"
	}
	if peak := valueOf(c, bench.PctPeak); peak != "" {
		return peak + " of peak"
	}
	return ""
}

func memoryText(c *caseStats) string {
	text := valueIn(c, bench.PeakRSS)
	if text == "" {
		return ""
	}
	if anon, file := valueOf(c, bench.AnonBytes), valueOf(c, bench.FileBytes); anon != "" && file != "" {
		text += fmt.Sprintf(": %s anonymous, %s file", anon, file)
	}
	return text
}
