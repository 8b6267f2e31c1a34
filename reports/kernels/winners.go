package kernels

import (
	"slices"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/words"
)

// A matrix shows who wins where: a row per task, a column per condition.
type matrix struct {
	base    string
	columns []digest.Panel
	rows    []matrixRow
}

type matrixRow struct {
	task  *digest.Task
	cells []*digest.Ranking // nil where nothing was timed
}

// matrices returns a matrix for each benchmark that has tasks, models apart: they have tables of
// their own.
func (d report) matrices() []*matrix {
	var all []*matrix
	for _, t := range d.Tasks {
		if t.Base == names.BaseModel {
			continue
		}
		if len(all) == 0 || all[len(all)-1].base != t.Base {
			all = append(all, &matrix{base: t.Base, columns: digest.Panels(digest.Contending(d.ByBase[t.Base]))})
		}
		m := all[len(all)-1]
		row := matrixRow{task: t}
		timed := false
		for _, p := range m.columns {
			s, ok := d.Rank(t, p)
			row.cells = append(row.cells, s)
			timed = timed || ok
		}
		if timed {
			m.rows = append(m.rows, row)
		}
	}
	return slices.DeleteFunc(all, func(m *matrix) bool { return len(m.rows) == 0 })
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
	nmse     digest.Extent
	weight   digest.Extent // bytes per weight
}

// baselines are the variants that others are measured against, the first that is there.
var baselines = []string{"scalar", "reference"}

func judge(subject string, rankings []*digest.Ranking) verdict {
	v := verdict{subject: subject, rankings: len(rankings)}
	v.winner = winner(rankings)
	for _, s := range rankings {
		for _, c := range s.Fastest() {
			if c.Variant == v.winner {
				v.leads++
			}
		}
	}
	v.baseline = baseline(rankings, v.winner)
	v.speedup = speedup(rankings, v.baseline, v.winner)
	for _, s := range rankings {
		if c := s.Find(v.winner); c != nil {
			v.nmse.Add(c.Center(results.NMSE))
			v.weight.Add(s.Task.BytesPerWeight(c))
		}
	}
	return v
}

// winner is the variant that leads most rankings; among equals the one that leads most of them
// alone, then the first by name.
func winner(rankings []*digest.Ranking) string {
	score := make(map[string]int)
	for _, s := range rankings {
		for _, c := range s.Fastest() {
			score[c.Variant] += 2 * len(rankings)
		}
		score[s.Best().Variant]++
	}
	best := ""
	for name, n := range score {
		if best == "" || n > score[best] || n == score[best] && words.Compare(name, best) < 0 {
			best = name
		}
	}
	return best
}

// baseline returns the variant that the winner's speed is compared with: that of the same activation
// scheme, if the baseline variant has several. Without a baseline variant it is the slowest rival
// that met the winner everywhere.
func baseline(rankings []*digest.Ranking, winner string) string {
	for _, variant := range baselines {
		found := ""
		for _, s := range rankings {
			best := s.Find(winner)
			for _, c := range s.Ranked {
				if best == nil || c.Name.Get(names.Variant) != variant || c.Variant == winner {
					continue
				}
				if c.Name.Get(names.Act) == best.Name.Get(names.Act) {
					return c.Variant
				}
				found = c.Variant
			}
		}
		if found != "" {
			return found
		}
	}
	return slowest(rankings, winner)
}

// slowest is the variant in all of the rankings that the winner beats by most; "" if none is.
func slowest(rankings []*digest.Ranking, winner string) string {
	name, most := "", 0.0
	for _, rival := range digest.Rivals(rankings) {
		everywhere := !slices.ContainsFunc(rankings, func(s *digest.Ranking) bool { return s.Find(rival) == nil })
		if ratio := speedup(rankings, rival, winner); rival != winner && everywhere && ratio > most {
			name, most = rival, ratio
		}
	}
	return name
}

// speedup is the geometric mean of how many times faster the second variant is than the first; 0
// if they never met.
func speedup(rankings []*digest.Ranking, slow, fast string) float64 {
	var ratios []float64
	for _, s := range rankings {
		a, b := s.Find(slow), s.Find(fast)
		if a != nil && b != nil {
			ratios = append(ratios, a.Stats[results.NsPerOp].Center/b.Stats[results.NsPerOp].Center)
		}
	}
	mean, ok := words.Geomean(ratios)
	if !ok {
		return 0
	}
	return mean
}

// weightText is the winner's bits per weight.
func (v verdict) weightText() string {
	return v.weight.Text(func(bytes float64) string { return words.Bits(8 * bytes) })
}
