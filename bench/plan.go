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
	entries := 0
	for _, g := range s.groups() {
		entries += g.entries()
	}
	studies := s.studyTime()
	p := r.plan(entries, r.Budget-studies)
	p.Estimate += studies
	return p
}

// studyTime is what the studies take of a budget.
func (s Suite) studyTime() (sum time.Duration) {
	for _, st := range s.Studies {
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

// paired reports whether the case may be doubled as the A/A pair.
func (c Case) paired() bool { return !c.Ceiling && !c.Single }
