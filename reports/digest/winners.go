package digest

import (
	"cmp"
	"math"
	"slices"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/words"
)

// Versus says how a ranked case compares with the first, and how far the interval of the ratio reaches.
func (s *Ranking) Versus(i int) (ratio, spread string) {
	if i == 0 {
		return "", ""
	}
	if d := s.Diffs[i]; d.Bounded() && d.Lo < d.Hi { // not of a single round, or of copies of one
		spread = words.Spread(d.Spread())
	}
	if s.Diffs[i].Tie {
		return "tie", spread
	}
	return words.Times(s.Diffs[i].Ratio), spread
}

// A Ranking ranks the variants of one task under one condition.
type Ranking struct {
	Task   *Task
	Panel  Panel
	Ranked []*Case            // fastest first
	Diffs  []noise.Difference // of each of ranked to the first
	Ties   int                // how many of ranked, besides the first, can't be told from it
}

// Best is the fastest case.
func (s *Ranking) Best() *Case { return s.Ranked[0] }

// Fastest returns the fastest case and those tied with it.
func (s *Ranking) Fastest() []*Case {
	first := []*Case{s.Best()}
	for i, c := range s.Ranked {
		if s.Diffs[i].Tie {
			first = append(first, c)
		}
	}
	return first
}

// Rank orders the variants by how many times longer they take than the fastest; ok is false if none was
// timed.
func (d *Digest) Rank(t *Task, p Panel) (s *Ranking, ok bool) {
	return d.RankCases(&Ranking{Task: t, Panel: p}, In(p, t.Cases))
}

// RankCases is rank of cases that may have run under several conditions.
func (d *Digest) RankCases(s *Ranking, cases []*Case) (*Ranking, bool) {
	for _, c := range cases {
		if _, timed := c.Center(results.NsPerOp); timed {
			s.Ranked = append(s.Ranked, c)
		}
	}
	if len(s.Ranked) == 0 {
		return nil, false
	}
	slices.SortStableFunc(s.Ranked, func(a, b *Case) int {
		return cmp.Compare(a.Stats[results.NsPerOp].Center, b.Stats[results.NsPerOp].Center)
	})
	// Ratios by round are known better than times, and who is the first by time may not be so by them.
	s.sort(d, s.Best())
	s.sort(d, s.Best())
	s.Diffs[0].Tie = false // the best is no tie of itself
	for _, diff := range s.Diffs {
		if diff.Tie {
			s.Ties++
		}
	}
	return s, true
}

// sort orders by how the cases differ from one of them.
func (s *Ranking) sort(d *Digest, yardstick *Case) {
	diff := make(map[*Case]noise.Difference, len(s.Ranked))
	for _, c := range s.Ranked {
		diff[c] = d.Compare(yardstick, c)
	}
	slices.SortStableFunc(s.Ranked, func(a, b *Case) int { return cmp.Compare(diff[a].Ratio, diff[b].Ratio) })
	s.Diffs = nil
	for _, c := range s.Ranked {
		s.Diffs = append(s.Diffs, diff[c])
	}
}

// versus says of each case that others do the work of, under the same conditions, how many times longer it
// takes than the best of them.
func (d *Digest) versus() map[*Case]noise.Difference {
	out := make(map[*Case]noise.Difference)
	for _, t := range d.Tasks {
		for _, p := range Panels(t.Cases) {
			if s, ok := d.Rank(t, p); ok && len(s.Ranked) > 1 {
				for i, c := range s.Ranked {
					if ratio := s.Diffs[i].Ratio; ratio > 0 && !math.IsInf(ratio, 1) { // of no time at all there is none
						out[c] = s.Diffs[i]
					}
				}
			}
		}
	}
	return out
}

// Compare says how many times longer b takes than a.
func (d *Digest) Compare(a, b *Case) noise.Difference {
	return d.Floors.Compare(a.Stats[results.NsPerOp].Estimate, b.Stats[results.NsPerOp].Estimate)
}

// Contending are the cases that belong to a task.
func Contending(cases []*Case) []*Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool { return c.Variant == "" || c.partOfModel() })
}

// Rivals lists everyone in the rankings.
func Rivals(rankings []*Ranking) []string {
	var cases []*Case
	for _, s := range rankings {
		cases = append(cases, s.Ranked...)
	}
	return Variants(cases)
}

// Find returns the first case of a variant.
func (s *Ranking) Find(variant string) *Case {
	for _, c := range s.Ranked {
		if c.Variant == variant {
			return c
		}
	}
	return nil
}
