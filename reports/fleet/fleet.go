// Package fleet reports what several machines make of the same work, side by side: no number is an average over machines.
package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/term"
	"onebit/reports"
	"onebit/reports/digest"
	"onebit/reports/figure"
	"onebit/reports/words"
)

// A Fleet is the results of several machines. Each has a digest of its own: noise floors, ceilings and
// rankings of variants are a machine's, and no number is an average over machines.
type Fleet struct {
	Members  []*digest.Member // those that are emulated last
	Works    []*Work
	warnings []string // about the files
}

// A Work is what each machine makes of one kind of work: a format's products over the shapes that most
// machines ran, or one test of a model.
type Work struct {
	Base, Subject string
	Shapes        []string
	Places        []*Place // by member
}

// A Place is how a machine does a work's work: with all of its threads and, where that was measured, its
// weights not in a cache.
type Place struct {
	digest.FormatRow
	Member  *digest.Member
	panel   digest.Panel
	Missing string // why nothing was timed; "" if it was
}

// Why a machine has no time for some work.
const (
	notRun      = "not run"
	wrongResult = "wrong, not timed"
	unavailable = "unavailable" // the machine lacks the instructions
)

// New digests the results of several machines.
func New(found *reports.Source) *Fleet {
	f := &Fleet{warnings: found.Warnings}
	var cases []*digest.Case
	for _, res := range found.Machines {
		m := &digest.Member{Digest: digest.Gather(res), Machine: res.Machine()}
		cases = append(cases, m.Cases...)
		f.Members = append(f.Members, m)
	}
	digest.NameVariants(cases) // alike on all machines
	slices.SortStableFunc(f.Members, func(a, b *digest.Member) int { return compareBools(a.Emulated(), b.Emulated()) })
	var variants []string
	for i, name := range machineNames(f.Members) {
		m := f.Members[i]
		m.Form()
		m.Name = name
		for _, c := range m.Cases {
			variants = append(variants, c.Variant)
		}
	}
	marks := figure.AssignMarks(slices.DeleteFunc(variants, func(name string) bool { return name == "" }), figure.VariantMark)
	for _, m := range f.Members {
		m.Marks = marks
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

// Real are the machines whose speeds mean something.
func (f *Fleet) Real() []*digest.Member {
	return slices.DeleteFunc(slices.Clone(f.Members), (*digest.Member).Emulated)
}

// longestName is how much of a machine's name is shown.
const longestName = 36

// machineNames names each machine by its label or, without one, by its CPU; in brackets stands what else it
// takes to tell it from the others.
func machineNames(members []*digest.Member) []string {
	all, bases := make([]string, len(members)), make([]string, len(members))
	besides := make([][]string, len(members))
	for i, m := range members {
		bases[i] = shortName(cmp.Or(m.Machine.Host, m.Machine.CPU, m.Machine.Platform, "unknown machine"))
		all[i] = bases[i]
	}
	for facet := range (results.Machine{}).Facets() {
		for _, alike := range sameNames(all) {
			values := make(map[string]bool)
			for _, i := range alike {
				values[members[i].Machine.Facets()[facet].Value] = true
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
func facetText(m *digest.Member, members []*digest.Member, alike []int, facet int) string {
	f := m.Machine.Facets()[facet]
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

func featuresOf(m *digest.Member) []string {
	return strings.FieldsFunc(m.Machine.Features, func(r rune) bool { return r == ',' || r == ' ' })
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

// listWork makes the list of works: models' before those of kernels, and the smallest formats first.
func (f *Fleet) listWork() {
	index := make(map[[2]string]*Work)
	kinds := make(map[*Work]string)
	for _, m := range f.Members {
		for _, t := range m.Tasks {
			key := workOf(t)
			if index[key] == nil {
				l := &Work{Base: key[0], Subject: key[1]}
				index[key], kinds[l] = l, t.Kind
				f.Works = append(f.Works, l)
			}
		}
	}
	for _, l := range f.Works {
		l.fill(f.Members)
	}
	slices.SortStableFunc(f.Works, func(a, b *Work) int {
		return cmp.Or(compareBools(a.Base != names.BaseModel, b.Base != names.BaseModel), words.Compare(a.Base, b.Base),
			cmp.Compare(a.bytesPerWeight(), b.bytesPerWeight()), cmp.Compare(digest.TestOrder(kinds[a]), digest.TestOrder(kinds[b])), words.Compare(a.Subject, b.Subject))
	})
}

// workOf is the base and the subject of a task's work. Each test of a model is one of its own.
func workOf(t *digest.Task) [2]string {
	if t.Base == names.BaseModel {
		return [2]string{t.Base, t.Title}
	}
	return [2]string{t.Base, cmp.Or(t.Subject, t.Title)}
}

// bytesPerWeight is the size of a format, infinite where that is unknown and of models.
func (l *Work) bytesPerWeight() float64 {
	for _, p := range l.Places {
		if len(p.Cases) > 0 {
			if size, ok := p.Over[0].Task.BytesPerWeight(p.Cases[0]); ok {
				return size
			}
		}
	}
	return math.Inf(1)
}

// tasksOf are a machine's tasks of a work.
func (l *Work) tasksOf(m *digest.Member) []*digest.Task {
	return slices.DeleteFunc(slices.Clone(m.Tasks), func(t *digest.Task) bool { return workOf(t) != [2]string{l.Base, l.Subject} })
}

// fill finds each machine's place, over the shapes that most machines ran.
func (l *Work) fill(members []*digest.Member) {
	ran := make([]map[string]*digest.Ranking, len(members)) // by shape
	count := make(map[string]int)
	var shapes []string
	for i, m := range members {
		p := &Place{Member: m, Missing: l.whyMissing(m)}
		l.Places = append(l.Places, p)
		tasks := l.tasksOf(m)
		p.panel = digest.Fullest(tasks)
		ran[i] = make(map[string]*digest.Ranking)
		for _, t := range tasks {
			if s, ok := m.Rank(t, p.panel); ok {
				ran[i][t.Shape] = s
				if count[t.Shape] == 0 {
					shapes = append(shapes, t.Shape)
				}
				if !m.Emulated() {
					count[t.Shape] += len(members)
				}
				count[t.Shape]++
			}
		}
	}
	l.Shapes = sharedShapes(shapes, count, ran)
	for i, p := range l.Places {
		var over []*digest.Ranking
		for _, shape := range l.Shapes {
			if s := ran[i][shape]; s != nil {
				over = append(over, s)
			}
		}
		if all := p.Member.PlaceOver(l.Subject, over); len(all) > 0 && len(over) == len(l.Shapes) {
			p.FormatRow, p.Missing = all[0], ""
		} else if len(ran[i]) > 0 {
			p.Missing = "other shapes"
		}
	}
}

// sharedShapes are those that were run by the same machines as the shape that most machines ran.
func sharedShapes(shapes []string, count map[string]int, ran []map[string]*digest.Ranking) []string {
	if len(shapes) == 0 {
		return nil
	}
	most := slices.MaxFunc(shapes, func(a, b string) int { return cmp.Compare(count[a], count[b]) })
	return slices.DeleteFunc(shapes, func(shape string) bool {
		return slices.ContainsFunc(ran, func(r map[string]*digest.Ranking) bool { return (r[shape] == nil) != (r[most] == nil) })
	})
}

// whyMissing says why a machine has no time for a work's work.
func (l *Work) whyMissing(m *digest.Member) string {
	for _, f := range m.Results.Failures {
		if f.Name.Base == l.Base && workOf(digest.NewTask(f.Name)) == [2]string{l.Base, l.Subject} {
			return wrongResult
		}
	}
	return notRun
}

// whyNot says why a machine has no time of a variant in a work.
func (p *Place) whyNot(variant string) string {
	switch {
	case p.Missing != "":
		return p.Missing
	case p.Member.Results.Lacks(digest.VariantOf(variant)):
		return unavailable
	case slices.ContainsFunc(p.Member.Results.Failures, func(f results.Failure) bool {
		return f.Name.Get(names.Variant) == digest.VariantOf(variant) && names.SubjectOf(f.Name) == p.Over[0].Task.Subject
	}):
		return wrongResult
	}
	return notRun
}

// Ranked are the places of the machines whose speed can be compared, fastest first.
func (l *Work) Ranked() []*Place {
	some := slices.DeleteFunc(slices.Clone(l.Places), func(p *Place) bool { return p.Missing != "" || p.Member.Emulated() })
	slices.SortStableFunc(some, func(a, b *Place) int { return cmp.Compare(a.Ns, b.Ns) })
	return some
}

// apart reports whether two machines differ by more than further runs of each would: on most of the shapes
// their intervals don't meet.
func (p *Place) apart(o *Place) bool {
	apart := 0
	for i := range min(len(p.Cases), len(o.Cases)) {
		a, b := p.Cases[i].Stats[results.NsPerOp], o.Cases[i].Stats[results.NsPerOp]
		if a.Bounded() && b.Bounded() && (a.Hi < b.Lo || b.Hi < a.Lo) {
			apart++
		}
	}
	return 2*apart > len(p.Cases)
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
func shareOf(c *digest.Case) (s share, ok bool) {
	roof, read := c.Center(results.PctRoof)
	peak, multiplied := c.Center(results.PctPeak)
	switch {
	case multiplied && peak <= 100 && (!read || peak > roof):
		return share{peak, ofMultiplying}, true
	case read:
		return share{roof, ofReading}, true
	}
	return share{}, false
}

func (s share) Text() string { return results.UnitOf(results.PctRoof).Format(s.percent) }

// Share is the middle one of a variant's shares over the shapes.
func (p *Place) Share(variant string) (s share, ok bool) {
	var values []float64
	for _, ranking := range p.Over {
		c := ranking.Find(variant)
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
	if len(values) == 0 {
		return s, false
	}
	s.percent = noise.Median(values)
	return s, !math.IsNaN(s.percent) && !p.Member.Emulated()
}

// Speed is the time of the machine's best or, of a test of a model, its tokens per second.
func (p *Place) Speed() string {
	if len(p.Cases) == 1 {
		if text := digest.ValueOf(p.Cases[0], results.TokenRate); text != "" {
			return text
		}
	}
	return results.UnitOf(results.NsPerOp).Format(p.Ns)
}

// Title names a work where there may be others.
func (l *Work) Title() string { return cmp.Or(l.Subject, l.Base) }
