package bench

import (
	"slices"
	"time"
)

const (
	// rounds is the usual number of samples per case; minRounds the number
	// below which a median has no 95% confidence interval.
	rounds    = 10
	minRounds = 6

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

// Plan plans a run of the suite. Count and Time are the runner's where it
// gives them, and follow from its budget where it doesn't. While it runs, the
// runner plans again for each group, from the time that is left; cases whose
// one operation outlasts a sample get fewer rounds, but no fewer than 6.
func (r *Runner) Plan(s Suite) Plan {
	var entries, short int
	var reserved time.Duration
	for _, g := range s.groups() {
		entries += g.entries()
		short += g.short()
		reserved += r.reserved(g)
	}
	p := r.plan(short, r.Budget-reserved)
	p.Samples = entries * p.Count
	p.Estimate += reserved
	return p
}

// longRounds is how long a group's long entries take at least, with a round to
// calibrate.
func (r *Runner) longRounds(g *group) time.Duration {
	count := r.Count
	if count == 0 {
		count = minRounds
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

// plan plans for some entries of the rounds and the budget left for them.
func (r *Runner) plan(entries int, budget time.Duration) Plan {
	p := Plan{Count: r.Count, Time: r.Time}
	if p.Count == 0 {
		p.Count = rounds
	}
	if p.Time == 0 {
		p.Time = defaultTime
		if r.Budget > 0 {
			turns := max(1, entries*(p.Count+extraRounds))
			share := time.Duration(measuring * float64(budget) / float64(turns))
			p.Time = min(max(share, minTime), maxTime)
		}
	}
	p.Samples = entries * p.Count
	turns := float64(entries * (p.Count + extraRounds))
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
		return rounds
	}
	return min(max(int(left/max(round, 1)), minRounds), rounds)
}

// A group is the cases and studies that live at the same time.
type group struct {
	name    string
	cases   []Case
	studies []Study
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
	return all
}

// entries is how many samples one round of a group takes: its cases, and the
// two arms of its A/A pair.
func (g *group) entries() int {
	if slices.ContainsFunc(g.cases, Case.paired) {
		return len(g.cases) + 2
	}
	return len(g.cases)
}

// short is how many of the entries are not long.
func (g *group) short() int {
	n := g.entries()
	for _, c := range g.cases {
		if c.Expect > 0 {
			n--
		}
	}
	if fastest := g.fastest(); fastest != nil && fastest.Expect > 0 {
		n -= 2
	}
	return n
}

// long is how long a round of the long entries takes.
func (g *group) long() (sum time.Duration) {
	for _, c := range g.cases {
		sum += c.Expect
	}
	if fastest := g.fastest(); fastest != nil {
		sum += 2 * fastest.Expect
	}
	return sum
}

// fastest is the case that will be the A/A pair, as far as can be told before.
func (g *group) fastest() (fastest *Case) {
	for i, c := range g.cases {
		if c.paired() && (fastest == nil || c.Expect < fastest.Expect) {
			fastest = &g.cases[i]
		}
	}
	return fastest
}

// paired reports whether the case may be doubled as the A/A pair.
func (c Case) paired() bool { return !c.Ceiling && !c.Single }
