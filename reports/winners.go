package reports

import (
	"cmp"
	"math"
	"slices"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
)

// A ranking ranks the variants of one task under one condition.
type ranking struct {
	task   *task
	panel  panel
	ranked []*caseStats       // fastest first
	diffs  []noise.Difference // of each of ranked to the first
	ties   int                // how many of ranked, besides the first, can't be told from it
}

// best is the fastest case.
func (s *ranking) best() *caseStats { return s.ranked[0] }

// fastest returns the fastest case and those tied with it.
func (s *ranking) fastest() []*caseStats {
	first := []*caseStats{s.best()}
	for i, c := range s.ranked {
		if s.diffs[i].Tie {
			first = append(first, c)
		}
	}
	return first
}

// rank orders the variants by how many times longer they take than the fastest; ok is false if none was
// timed.
func (d *digest) rank(t *task, p panel) (s *ranking, ok bool) {
	return d.rankCases(&ranking{task: t, panel: p}, in(p, t.cases))
}

// rankCases is rank of cases that may have run under several conditions.
func (d *digest) rankCases(s *ranking, cases []*caseStats) (*ranking, bool) {
	for _, c := range cases {
		if _, timed := c.center(results.NsPerOp); timed {
			s.ranked = append(s.ranked, c)
		}
	}
	if len(s.ranked) == 0 {
		return nil, false
	}
	slices.SortStableFunc(s.ranked, func(a, b *caseStats) int {
		return cmp.Compare(a.stats[results.NsPerOp].Center, b.stats[results.NsPerOp].Center)
	})
	// Ratios by round are known better than times, and who is the first by time may not be so by them.
	s.sort(d, s.best())
	s.sort(d, s.best())
	s.diffs[0].Tie = false // the best is no tie of itself
	for _, diff := range s.diffs {
		if diff.Tie {
			s.ties++
		}
	}
	return s, true
}

// sort orders by how the cases differ from one of them.
func (s *ranking) sort(d *digest, yardstick *caseStats) {
	diff := make(map[*caseStats]noise.Difference, len(s.ranked))
	for _, c := range s.ranked {
		diff[c] = d.compare(yardstick, c)
	}
	slices.SortStableFunc(s.ranked, func(a, b *caseStats) int { return cmp.Compare(diff[a].Ratio, diff[b].Ratio) })
	s.diffs = nil
	for _, c := range s.ranked {
		s.diffs = append(s.diffs, diff[c])
	}
}

// versus says of each case that others do the work of, under the same conditions, how many times longer it
// takes than the best of them.
func (d *digest) versus() map[*caseStats]noise.Difference {
	out := make(map[*caseStats]noise.Difference)
	for _, t := range d.tasks {
		for _, p := range panels(t.cases) {
			if s, ok := d.rank(t, p); ok && len(s.ranked) > 1 {
				for i, c := range s.ranked {
					if ratio := s.diffs[i].Ratio; ratio > 0 && !math.IsInf(ratio, 1) { // of no time at all there is none
						out[c] = s.diffs[i]
					}
				}
			}
		}
	}
	return out
}

// compare says how many times longer b takes than a.
func (d *digest) compare(a, b *caseStats) noise.Difference {
	return d.floors.Compare(a.stats[results.NsPerOp].Estimate, b.stats[results.NsPerOp].Estimate)
}

// tied reports whether this run can't tell two cases apart.
func (d *digest) tied(a, b *caseStats) bool { return d.compare(a, b).Tie }

// A matrix shows who wins where: a row per task, a column per condition.
type matrix struct {
	base    string
	columns []panel
	rows    []matrixRow
}

type matrixRow struct {
	task  *task
	cells []*ranking // nil where nothing was timed
}

// matrices returns a matrix for each benchmark that has tasks, models apart: they have tables of
// their own.
func (d kernelReport) matrices() []*matrix {
	var all []*matrix
	for _, t := range d.tasks {
		if t.base == names.BaseModel {
			continue
		}
		if len(all) == 0 || all[len(all)-1].base != t.base {
			all = append(all, &matrix{base: t.base, columns: panels(contending(d.byBase[t.base]))})
		}
		m := all[len(all)-1]
		row := matrixRow{task: t}
		timed := false
		for _, p := range m.columns {
			s, ok := d.rank(t, p)
			row.cells = append(row.cells, s)
			timed = timed || ok
		}
		if timed {
			m.rows = append(m.rows, row)
		}
	}
	return slices.DeleteFunc(all, func(m *matrix) bool { return len(m.rows) == 0 })
}

// contending are the cases that belong to a task.
func contending(cases []*caseStats) []*caseStats {
	return slices.DeleteFunc(slices.Clone(cases), func(c *caseStats) bool { return c.variant == "" || c.partOfModel() })
}

// A verdict sums a format (or, without formats, a benchmark) up: which variant leads most often,
// and what it costs.
type verdict struct {
	subject  string
	winner   string
	leads    int // rankings that the winner leads, alone or tied
	rankings int
	baseline string  // the variant that speedup refers to; "" if it was not measured
	speedup  float64 // geometric mean over the rankings that have both
	nmse     extent
	weight   extent // bytes per weight
}

// An extent is the range of values seen; none if nothing was.
type extent struct {
	lo, hi float64
	any    bool
}

func (e *extent) add(v float64, ok bool) {
	if !ok || math.IsNaN(v) {
		return
	}
	if !e.any {
		*e = extent{v, v, true}
	}
	e.lo, e.hi = min(e.lo, v), max(e.hi, v)
}

// baselines are the variants that others are measured against, the first that is there.
var baselines = []string{"scalar", "reference"}

func judge(subject string, rankings []*ranking) verdict {
	v := verdict{subject: subject, rankings: len(rankings)}
	v.winner = winner(rankings)
	for _, s := range rankings {
		for _, c := range s.fastest() {
			if c.variant == v.winner {
				v.leads++
			}
		}
	}
	v.baseline = baseline(rankings, v.winner)
	v.speedup = speedup(rankings, v.baseline, v.winner)
	for _, s := range rankings {
		if c := s.find(v.winner); c != nil {
			v.nmse.add(c.center(results.NMSE))
			v.weight.add(s.task.bytesPerWeight(c))
		}
	}
	return v
}

// winner is the variant that leads most rankings; among equals the one that leads most of them
// alone, then the first by name.
func winner(rankings []*ranking) string {
	score := make(map[string]int)
	for _, s := range rankings {
		for _, c := range s.fastest() {
			score[c.variant] += 2 * len(rankings)
		}
		score[s.best().variant]++
	}
	best := ""
	for name, n := range score {
		if best == "" || n > score[best] || n == score[best] && naturalCompare(name, best) < 0 {
			best = name
		}
	}
	return best
}

// baseline returns the variant that the winner's speed is compared with: that of the same activation
// scheme, if the baseline variant has several. Without a baseline variant it is the slowest rival
// that met the winner everywhere.
func baseline(rankings []*ranking, winner string) string {
	for _, variant := range baselines {
		found := ""
		for _, s := range rankings {
			best := s.find(winner)
			for _, c := range s.ranked {
				if best == nil || c.name.Get(names.Variant) != variant || c.variant == winner {
					continue
				}
				if c.name.Get(names.Act) == best.name.Get(names.Act) {
					return c.variant
				}
				found = c.variant
			}
		}
		if found != "" {
			return found
		}
	}
	return slowest(rankings, winner)
}

// slowest is the variant in all of the rankings that the winner beats by most; "" if none is.
func slowest(rankings []*ranking, winner string) string {
	name, most := "", 0.0
	for _, rival := range rivals(rankings) {
		everywhere := !slices.ContainsFunc(rankings, func(s *ranking) bool { return s.find(rival) == nil })
		if ratio := speedup(rankings, rival, winner); rival != winner && everywhere && ratio > most {
			name, most = rival, ratio
		}
	}
	return name
}

// rivals lists everyone in the rankings.
func rivals(rankings []*ranking) []string {
	var cases []*caseStats
	for _, s := range rankings {
		cases = append(cases, s.ranked...)
	}
	return variants(cases)
}

// find returns the first case of a variant.
func (s *ranking) find(variant string) *caseStats {
	for _, c := range s.ranked {
		if c.variant == variant {
			return c
		}
	}
	return nil
}

// speedup is the geometric mean of how many times faster the second variant is than the first; 0
// if they never met.
func speedup(rankings []*ranking, slow, fast string) float64 {
	var ratios []float64
	for _, s := range rankings {
		a, b := s.find(slow), s.find(fast)
		if a != nil && b != nil {
			ratios = append(ratios, a.stats[results.NsPerOp].Center/b.stats[results.NsPerOp].Center)
		}
	}
	mean, ok := geomean(ratios)
	if !ok {
		return 0
	}
	return mean
}
