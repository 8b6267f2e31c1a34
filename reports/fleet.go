package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/montanaflynn/stats"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports/figure"
)

// A fleet is the results of several machines. Each has a digest of its own: noise floors, ceilings and
// rankings of variants are a machine's, and no number is an average over machines.
type fleet struct {
	members  []*member // those that are emulated last
	works    []*work
	warnings []string // about the files
}

// A member is a machine of a fleet.
type member struct {
	*digest
	machine results.Machine
	name    string // unlike that of any other
}

// A work is what each machine makes of one kind of work: a format's products over the shapes that most
// machines ran, or one test of a model.
type work struct {
	base, subject string
	shapes        []string
	places        []*place // by member
}

// A place is how a machine does a work's work: with all of its threads and, where that was measured, its
// weights not in a cache.
type place struct {
	formatRow
	member  *member
	panel   panel
	missing string // why nothing was timed; "" if it was
}

// Why a machine has no time for some work.
const (
	notRun      = "not run"
	wrongResult = "wrong, not timed"
	unavailable = "unavailable" // the machine lacks the instructions
)

// newFleet digests the results of several machines.
func newFleet(found *Source) *fleet {
	f := &fleet{warnings: found.Warnings}
	var cases []*caseStats
	for _, res := range found.Machines {
		m := &member{digest: gather(res), machine: res.Machine()}
		cases = append(cases, m.cases...)
		f.members = append(f.members, m)
	}
	nameVariants(cases) // alike on all machines
	slices.SortStableFunc(f.members, func(a, b *member) int { return compareBools(a.emulated(), b.emulated()) })
	var variants []string
	for i, name := range machineNames(f.members) {
		m := f.members[i]
		m.form()
		m.name = name
		for _, c := range m.cases {
			variants = append(variants, c.variant)
		}
	}
	marks := figure.AssignMarks(slices.DeleteFunc(variants, func(name string) bool { return name == "" }), figure.VariantMark)
	for _, m := range f.members {
		m.marks = marks
	}
	f.listWork()
	return f
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (m *member) emulated() bool { return m.machine.Emulated() }

// heading is the machine's name with what must be known of it wherever it is named.
func (m *member) heading() string { return m.name + textIf(m.emulated(), " (emulated)") }

// real are the machines whose speeds mean something.
func (f *fleet) real() []*member {
	return slices.DeleteFunc(slices.Clone(f.members), (*member).emulated)
}

// longestName is how much of a machine's name is shown.
const longestName = 36

// machineNames names each machine by its label or, without one, by its CPU; in brackets stands what else it
// takes to tell it from the others.
func machineNames(members []*member) []string {
	all, bases := make([]string, len(members)), make([]string, len(members))
	besides := make([][]string, len(members))
	for i, m := range members {
		bases[i] = shortName(cmp.Or(m.machine.Host, m.machine.CPU, m.machine.Platform, "unknown machine"))
		all[i] = bases[i]
	}
	for facet := range (results.Machine{}).Facets() {
		for _, alike := range sameNames(all) {
			values := make(map[string]bool)
			for _, i := range alike {
				values[members[i].machine.Facets()[facet].Value] = true
			}
			for _, i := range alike {
				if text := facetText(members[i], members, alike, facet); len(values) > 1 && text != "" && text != bases[i] {
					besides[i] = append(besides[i], text)
					all[i] = bases[i] + " (" + strings.Join(besides[i], ", ") + ")"
				}
			}
		}
	}
	for _, alike := range sameNames(all) { // names may have been cut to the same
		for n, i := range alike[1:] {
			all[i] += fmt.Sprintf(" #%d", n+2)
		}
	}
	return all
}

func shortName(s string) string {
	runes := []rune(term.Text(s))
	if len(runes) > longestName {
		runes = append(runes[:longestName-1], '…')
	}
	return string(runes)
}

// sameNames lists which machines share each name that several have.
func sameNames(all []string) [][]int {
	var groups [][]int
	at := make(map[string]int)
	for i, name := range all {
		g, seen := at[name]
		if !seen {
			g = len(groups)
			at[name] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) < 2 })
}

// facetText is what a facet of a machine says beside its name.
func facetText(m *member, members []*member, alike []int, facet int) string {
	f := m.machine.Facets()[facet]
	switch {
	case f.Name == "CPU features":
		var theirs []string
		for _, i := range alike {
			theirs = append(theirs, featuresOf(members[i])...)
		}
		return lackText(theirs, featuresOf(m))
	case f.Value == "":
		return ""
	case f.Name == "CPUs" && f.Value == "1":
		return "1 CPU"
	case f.Name == "CPUs":
		return f.Value + " CPUs"
	case f.Name == "memory":
		return f.Value + " memory"
	}
	return shortName(f.Value)
}

func featuresOf(m *member) []string {
	return strings.FieldsFunc(m.machine.Features, func(r rune) bool { return r == ',' || r == ' ' })
}

// lackText names CPU features that others have and this machine lacks.
func lackText(theirs, own []string) string {
	slices.Sort(theirs)
	lacking := slices.DeleteFunc(slices.Compact(theirs), func(s string) bool { return s == "none" || slices.Contains(own, s) })
	switch len(lacking) {
	case 0:
		return ""
	case 1, 2:
		return "without " + strings.Join(lacking, " and ")
	}
	return fmt.Sprintf("without %s and %d more", lacking[0], len(lacking)-1)
}

// listWork makes the list of works: models' before those of kernels, and in the order of one machine's own report.
func (f *fleet) listWork() {
	index := make(map[[2]string]*work)
	kinds := make(map[*work]string)
	for _, m := range f.members {
		for _, t := range m.tasks {
			key := workOf(t)
			if index[key] == nil {
				l := &work{base: key[0], subject: key[1]}
				index[key], kinds[l] = l, t.kind
				f.works = append(f.works, l)
			}
		}
	}
	for _, l := range f.works {
		l.fill(f.members)
	}
	slices.SortStableFunc(f.works, func(a, b *work) int {
		return cmp.Or(compareBools(a.base != names.BaseModel, b.base != names.BaseModel), naturalCompare(a.base, b.base),
			cmp.Compare(formatOrderOf(a), formatOrderOf(b)), cmp.Compare(testOrder(kinds[a]), testOrder(kinds[b])), naturalCompare(a.subject, b.subject))
	})
}

// workOf is the base and the subject of a task's work. Each test of a model is one of its own.
func workOf(t *task) [2]string {
	if t.base == names.BaseModel {
		return [2]string{t.base, t.title}
	}
	return [2]string{t.base, cmp.Or(t.subject, t.title)}
}

// formatOrderOf is the place of a work's format among those that are known.
func formatOrderOf(l *work) int {
	if i := slices.Index(figure.FormatOrder, l.subject); i >= 0 {
		return i
	}
	return len(figure.FormatOrder)
}

// tasksOf are a machine's tasks of a work.
func (l *work) tasksOf(m *member) []*task {
	return slices.DeleteFunc(slices.Clone(m.tasks), func(t *task) bool { return workOf(t) != [2]string{l.base, l.subject} })
}

// fill finds each machine's place, over the shapes that most machines ran.
func (l *work) fill(members []*member) {
	ran := make([]map[string]*ranking, len(members)) // by shape
	count := make(map[string]int)
	var shapes []string
	for i, m := range members {
		p := &place{member: m, missing: l.whyMissing(m)}
		l.places = append(l.places, p)
		tasks := l.tasksOf(m)
		p.panel = fullest(tasks)
		ran[i] = make(map[string]*ranking)
		for _, t := range tasks {
			if s, ok := m.rank(t, p.panel); ok {
				ran[i][t.shape] = s
				if count[t.shape] == 0 {
					shapes = append(shapes, t.shape)
				}
				if !m.emulated() {
					count[t.shape] += len(members)
				}
				count[t.shape]++
			}
		}
	}
	l.shapes = sharedShapes(shapes, count, ran)
	for i, p := range l.places {
		var over []*ranking
		for _, shape := range l.shapes {
			if s := ran[i][shape]; s != nil {
				over = append(over, s)
			}
		}
		if all := p.member.placeOver(l.subject, over); len(all) > 0 && len(over) == len(l.shapes) {
			p.formatRow, p.missing = all[0], ""
		} else if len(ran[i]) > 0 {
			p.missing = "other shapes"
		}
	}
}

// fullest is the condition of most threads, its weights not in a cache if that was measured.
func fullest(tasks []*task) panel {
	var cases []*caseStats
	for _, t := range tasks {
		for _, c := range t.cases {
			if _, timed := c.center(results.NsPerOp); timed {
				cases = append(cases, c)
			}
		}
	}
	all := panels(cases)
	if len(all) == 0 {
		return panel{}
	}
	best := all[len(all)-1]
	for _, p := range all {
		if p.threads == best.threads && p.cache == names.Cold {
			best = p
		}
	}
	return best
}

// sharedShapes are those that were run by the same machines as the shape that most machines ran.
func sharedShapes(shapes []string, count map[string]int, ran []map[string]*ranking) []string {
	if len(shapes) == 0 {
		return nil
	}
	most := slices.MaxFunc(shapes, func(a, b string) int { return cmp.Compare(count[a], count[b]) })
	return slices.DeleteFunc(shapes, func(shape string) bool {
		return slices.ContainsFunc(ran, func(r map[string]*ranking) bool { return (r[shape] == nil) != (r[most] == nil) })
	})
}

// whyMissing says why a machine has no time for a work's work.
func (l *work) whyMissing(m *member) string {
	for _, f := range m.res.Failures {
		if f.Name.Base == l.base && workOf(newTask(f.Name)) == [2]string{l.base, l.subject} {
			return wrongResult
		}
	}
	return notRun
}

// whyNot says why a machine has no time of a variant in a work.
func (p *place) whyNot(variant string) string {
	switch {
	case p.missing != "":
		return p.missing
	case p.member.res.Lacks(variantOf(variant)):
		return unavailable
	case slices.ContainsFunc(p.member.res.Failures, func(f results.Failure) bool {
		return f.Name.Get(names.Variant) == variantOf(variant) && names.SubjectOf(f.Name) == p.over[0].task.subject
	}):
		return wrongResult
	}
	return notRun
}

// ranked are the places of the machines whose speed can be compared, fastest first.
func (l *work) ranked() []*place {
	some := slices.DeleteFunc(slices.Clone(l.places), func(p *place) bool { return p.missing != "" || p.member.emulated() })
	slices.SortStableFunc(some, func(a, b *place) int { return cmp.Compare(a.ns, b.ns) })
	return some
}

// apart reports whether two machines differ by more than further runs of each would: on most of the shapes
// their intervals don't meet.
func (p *place) apart(o *place) bool {
	apart := 0
	for i := range min(len(p.cases), len(o.cases)) {
		a, b := p.cases[i].stats[results.NsPerOp], o.cases[i].stats[results.NsPerOp]
		if a.bounded() && b.bounded() && (a.Hi < b.Lo || b.Hi < a.Lo) {
			apart++
		}
	}
	return 2*apart > len(p.cases)
}

// A share is how much of what its machine can do a case reaches: of reading or of multiplying, whichever
// bounds it. That is the height below the machine's own roofline.
type share struct {
	percent float64
	of      string
}

// The two sides of a roofline.
const (
	ofReading     = "of reading"
	ofMultiplying = "of multiplying"
	ofEither      = "of its roofline" // where shapes differ in what bounds them
)

// shareOf is a case's share; ok is false where its machine's ceilings were not measured with it. A peak that
// a case exceeds, as look-ups do that multiply nothing, does not bound it.
func shareOf(c *caseStats) (s share, ok bool) {
	roof, read := c.center(results.PctRoof)
	peak, multiplied := c.center(results.PctPeak)
	switch {
	case multiplied && peak <= 100 && (!read || peak > roof):
		return share{peak, ofMultiplying}, true
	case read:
		return share{roof, ofReading}, true
	}
	return share{}, false
}

func (s share) text() string { return results.UnitOf(results.PctRoof).Format(s.percent) }

// share is the middle one of a variant's shares over the shapes.
func (p *place) share(variant string) (s share, ok bool) {
	var values []float64
	for _, ranking := range p.over {
		c := ranking.find(variant)
		if c == nil {
			continue
		}
		if own, known := shareOf(c); known {
			if values = append(values, own.percent); len(values) > 1 && s.of != own.of {
				own.of = ofEither
			}
			s.of = own.of
		}
	}
	middle, err := stats.Median(values)
	s.percent = middle
	return s, err == nil && !math.IsNaN(middle) && !p.member.emulated()
}

// speed is the time of the machine's best or, of a test of a model, its tokens per second.
func (p *place) speed() string {
	if len(p.cases) == 1 {
		if text := valueOf(p.cases[0], results.TokenRate); text != "" {
			return text
		}
	}
	return results.UnitOf(results.NsPerOp).Format(p.ns)
}

// title names a work where there may be others.
func (l *work) title() string { return cmp.Or(l.subject, l.base) }
