package bench

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"onebit/bench/results"
)

const (
	// rounds is the usual number of samples per case; minRounds the number
	// below which a median of one process has no 95% confidence interval.
	rounds    = 10
	minRounds = 6

	// leastProcesses is the number from which on processes alone say how far
	// to trust a figure.
	leastProcesses = 3

	// A sample must be long enough for the clock, and short enough for many
	// rounds and for a prompt end after Ctrl-C.
	defaultTime = 20 * time.Millisecond
	minTime     = time.Millisecond
	maxTime     = 50 * time.Millisecond

	// measuring is the share of a budget for the samples; set-up,
	// verification and calibration get the rest.
	measuring = 0.6

	// Calibration and warm-up cost about as much as this many rounds.
	extraRounds = 3
)

// A Plan says how a run spends its time.
type Plan struct {
	Count    int           // rounds, that is samples per case
	Time     time.Duration // target length of a sample
	Samples  int           // samples in all
	Estimate time.Duration // how long the run will take
}

// usualRounds are those of one process.
func (r *Runner) usualRounds() int { return (rounds + r.processes() - 1) / r.processes() }

// leastRounds are those that a process takes even if time is short. Three
// processes have an interval with one sample each.
func (r *Runner) leastRounds() int {
	if n := r.processes(); n < leastProcesses {
		return (minRounds + n - 1) / n
	}
	return 1
}

// Plan plans a run of the suite. Count and Time are the runner's where it
// gives them, and follow from its budget where it doesn't. While it runs, the
// runner plans again for each group, from the time that is left; cases whose
// one operation outlasts a sample get fewer rounds, but no fewer than 6, or one in
// each of three or more processes.
func (r *Runner) Plan(s Suite) Plan {
	if r.Start != nil {
		return r.planProcesses(s)
	}
	var arms, short int
	var reserved time.Duration
	for _, g := range s.groups() {
		arms += g.arms()
		short += g.short()
		reserved += r.reserved(g)
	}
	p := r.plan(short, r.Budget-reserved)
	p.Samples = arms * p.Count
	p.Estimate += reserved
	return p
}

// longRounds is how long a group's long arms take at least, with a round to
// calibrate.
func (r *Runner) longRounds(g *group) time.Duration {
	count := r.Count
	if count == 0 {
		count = r.leastRounds()
	}
	return g.long() * time.Duration(count+1)
}

// reserved is the time of a group that no choice of a sample's length changes.
func (r *Runner) reserved(g *group) time.Duration {
	sum := r.longRounds(g)
	for _, st := range g.studies {
		sum += st.Time
	}
	return sum
}

// plan plans for some arms of the rounds and the budget left for them.
func (r *Runner) plan(arms int, budget time.Duration) Plan {
	p := Plan{Count: r.Count, Time: r.Time}
	if p.Count == 0 {
		p.Count = r.usualRounds()
	}
	if p.Time == 0 {
		p.Time = defaultTime
		if r.Budget > 0 {
			turns := max(1, arms*(p.Count+extraRounds))
			share := time.Duration(measuring * float64(budget) / float64(turns))
			p.Time = min(max(share, minTime), maxTime)
		}
	}
	p.Samples = arms * p.Count
	turns := float64(arms * (p.Count + extraRounds))
	p.Estimate = time.Duration(turns * float64(p.Time) / measuring)
	return p
}

// groupRounds is how many rounds of a length fit into the time left for a
// group.
func (r *Runner) groupRounds(round, left time.Duration) int {
	switch {
	case r.Count > 0:
		return r.Count
	case r.Budget == 0:
		return r.usualRounds()
	}
	return min(max(int(left/max(round, 1)), r.leastRounds()), r.usualRounds())
}

// A group is the cases and studies that live at the same time.
type group struct {
	name    string
	cases   []Case
	studies []Study
	pairs   map[string]int  // A/A pairs that the group should have, by class
	lots    []Case          // who may be in one, in the order of the lottery
	doubled map[string]bool // cases that are, as far as names tell
}

// doubles draws who is in an A/A pair, of those that qualify.
func (g *group) doubles(keys string, qualify func(name string) bool) map[string]bool {
	drawn, left := make(map[string]bool), maps.Clone(g.pairs)
	for _, c := range g.lots {
		if class := results.ClassOf(results.ParseName(c.Name), keys); left[class] > 0 && qualify(c.Name) {
			left[class]--
			drawn[c.Name] = true
		}
	}
	return drawn
}

// groups splits the suite into groups: those of cases in order of first
// appearance, then those of studies alone.
func (s Suite) groups() []*group {
	var all []*group
	index := make(map[string]*group)
	find := func(name string) *group {
		if index[name] == nil {
			index[name] = &group{name: name}
			all = append(all, index[name])
		}
		return index[name]
	}
	for _, c := range s.Cases {
		g := find(c.Group)
		g.cases = append(g.cases, c)
	}
	for _, st := range s.Studies {
		g := find(st.Group)
		g.studies = append(g.studies, st)
	}
	drawPairs(all, s.setting(results.ClassesKey))
	return all
}

// arms is how many samples one round of a group takes: its cases, and the
// doubles of those that are in an A/A pair.
func (g *group) arms() int { return len(g.cases) + len(g.doubled) }

// short is how many of the arms are not long.
func (g *group) short() (n int) {
	g.each(func(c Case) {
		if c.Expect == 0 {
			n++
		}
	})
	return n
}

// setUpOps is how many multiply-adds an operation has whose setting up, verifying and
// being far behind take as long as measuring what is near: about 4000 × 4000.
const setUpOps = 16 << 20

// weight is how much of a budget the arms that are not long want, in terms of small
// ones.
func (g *group) weight() (sum float64) {
	g.each(func(c Case) {
		if c.Expect == 0 {
			sum += 1 + float64(c.Ops)/setUpOps
		}
	})
	return sum
}

// long is how long a round of the long arms takes.
func (g *group) long() (sum time.Duration) {
	g.each(func(c Case) { sum += c.Expect })
	return sum
}

// each calls f with the case of each arm.
func (g *group) each(f func(Case)) {
	for _, c := range g.cases {
		f(c)
		if g.doubled[c.Name] {
			f(c)
		}
	}
}

const (
	// pairsPerClass is how many A/A pairs a class of cases should have in a
	// run, as far as it has cases.
	pairsPerClass = 6

	// longPairs is how many of them one group may have of cases whose
	// operation outlasts a sample.
	longPairs = 1
)

// drawPairs decides how many cases are measured twice in every round, so that
// each class has A/A pairs in each of its groups, and who comes first. Equal suites
// have equal pairs, of those that are not far behind.
func drawPairs(groups []*group, keys string) {
	spread := make(map[string]int) // groups by class
	for _, g := range groups {
		g.pairs = make(map[string]int)
		g.lots = slices.DeleteFunc(slices.Clone(g.cases), func(c Case) bool { return c.Ceiling || c.Single })
		slices.SortFunc(g.lots, func(a, b Case) int { return cmp.Compare(draw(a.Name), draw(b.Name)) })
		for _, c := range slices.Backward(g.lots) {
			g.pairs[results.ClassOf(results.ParseName(c.Name), keys)] = pairsPerClass
			if c.Expect > 0 {
				g.pairs[results.ClassOf(results.ParseName(c.Name), keys)] = longPairs
			}
		}
		for class := range g.pairs {
			spread[class]++
		}
	}
	for _, g := range groups {
		for class, most := range g.pairs {
			g.pairs[class] = min(most, (pairsPerClass+spread[class]-1)/spread[class])
		}
		g.doubled = g.doubles(keys, func(string) bool { return true })
	}
}

// draw is a name's number in the lottery.
func draw(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}
