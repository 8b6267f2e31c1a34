package noise

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// neighbourhood is the cases of one class and group, and the ceilings measured among
// them: in each pass they were measured one after the other.
type neighbourhood []*contrast

// neighbours are in the order in which their first cases come.
func neighbours(all []*contrast) []neighbourhood {
	type place struct{ class, group string }
	index := make(map[place]int)
	var out []neighbourhood
	for _, c := range all {
		at := place{c.Class(), c.New.group}
		i, known := index[at]
		if !known {
			i, out = len(out), append(out, nil)
			index[at] = i
		}
		out[i] = append(out[i], c)
	}
	return out
}

// fine are those that are not coarse.
func (near neighbourhood) fine() neighbourhood {
	return slices.DeleteFunc(slices.Clone(near), func(c *contrast) bool { return c.Coarse })
}

// share holds each case that tells to what its neighbours have in common, where there
// are enough to tell. A coarse one stays with its class: another state of the machine
// meets pure Go in another way.
func (near neighbourhood) share() {
	fine := near.fine()
	if len(fine) < leastPooled {
		return
	}
	shift := Median(logsOf(fine))
	for _, c := range near {
		c.near = shift
	}
	for _, c := range fine {
		c.shift, c.strays = shift, math.Sqrt(1+ofMedian(len(fine)-1))
	}
}

// A common is what a set of cases shares, and their classes do not.
type common struct {
	FamilyChange    // not yet judged
	log, own, scale float64
	unlike          int // of the cases
}

// commonOf are those of the neighbourhoods that tell, and of the subjects, each the median of
// its neighbourhoods.
func commonOf(all []neighbourhood) (near, subjects []common) {
	place := make(map[string]int)
	var parts [][]common // by subject
	for _, n := range all {
		first, aparts := n[0], []float64(nil)
		x := common{log: first.near, own: first.near - first.common}
		x.Kind, x.Name = Neighbours, "all of "+first.New.group+", "+first.Class()
		for _, c := range n {
			if c.place >= 0 {
				x.Cases, aparts = append(x.Cases, c.place), append(aparts, c.apart)
				if c.Unlike {
					x.unlike++
				}
			}
		}
		if len(n.fine()) < leastPooled || len(x.Cases) < 2 {
			continue
		}
		x.scale = Median(aparts)
		near = append(near, x)
		if first.Subject == "" {
			continue
		}
		at, known := place[first.Subject]
		if !known {
			at, parts = len(parts), append(parts, nil)
			place[first.Subject] = at
			subjects = append(subjects, common{FamilyChange: FamilyChange{Name: "all of " + first.Subject, Kind: Subject}, scale: leastNoise})
		}
		parts[at] = append(parts[at], x)
		subjects[at].Cases = append(subjects[at].Cases, x.Cases...)
		subjects[at].unlike += x.unlike
	}
	for i, of := range parts {
		logs, owns := make([]float64, len(of)), make([]float64, len(of))
		for k, x := range of {
			logs[k], owns[k] = x.log, x.own
		}
		subjects[i].log, subjects[i].own = Median(logs), Median(owns)
	}
	if len(subjects) > 0 { // one of many variants moves what a class shares
		owns := make([]float64, len(subjects))
		for i, x := range subjects {
			owns[i] = x.own
		}
		middle := Median(owns)
		for i := range subjects {
			subjects[i].own -= middle
		}
	}
	return scattered(near), scattered(subjects)
}

// tails is the distribution of what a set shares, of deviation 1: medians over many cases
// have lighter ones.
func (x common) tails() distuv.StudentsT {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: betweenDof}
	if x.Kind == Subject {
		t.Nu = tailDof
	}
	return t
}

// scattered counts what sets share for less where they differ by more. Too few don't tell
// by how much they do.
func scattered(sets []common) []common {
	if len(sets) < ManyCases {
		return nil
	}
	distances := make([]float64, len(sets))
	for i, x := range sets {
		distances[i] = math.Abs(x.own)
	}
	between := Median(distances) / sets[0].tails().Quantile(0.75)
	for i := range sets {
		sets[i].scale = max(sets[i].scale, between)
	}
	return sets
}

// polish finds the value of each case, in both runs.
func (near neighbourhood) polish() {
	old, new := make([]Estimate, len(near)), make([]Estimate, len(near))
	for i, c := range near {
		old[i], new[i] = c.Old, c.New
	}
	before, after := polish(old), polish(new)
	for i, c := range near {
		c.old, c.new = replicate(before[i]), replicate(after[i])
		c.log = c.new.value - c.old.value
	}
}

// A processRound is a round of a process, in which each case gives a sample.
type processRound struct{ process, round int }

// polish returns the logarithms of each case's samples, by process, less what
// their rounds, and the passes of these, did to all of them. Too few cases don't
// tell that.
func polish(cases []Estimate) [][][]float64 {
	out := make([][][]float64, len(cases))
	for i, e := range cases {
		for _, m := range e.medians {
			out[i] = append(out[i], logs(m.samples))
		}
	}
	if len(cases) < leastPooled {
		return out
	}
	polishPasses(cases, out)
	for range polishes {
		rounds := make(map[processRound][]float64)
		for i, e := range cases {
			own := Median(slices.Concat(out[i]...))
			for p, samples := range out[i] {
				for k, v := range samples {
					at := processRound{e.medians[p].process, k}
					rounds[at] = append(rounds[at], v-own)
				}
			}
		}
		effects := make(map[processRound]float64, len(rounds))
		for at, v := range rounds {
			effects[at] = Median(v)
		}
		for i, e := range cases {
			for p, samples := range out[i] {
				for k := range samples {
					samples[k] -= effects[processRound{e.medians[p].process, k}]
				}
			}
		}
	}
	return out
}

// polishPasses sets the samples that were taken in slices to the median of these,
// less what their passes did to all that were.
func polishPasses(cases []Estimate, samples [][][]float64) {
	type timed struct {
		slices []float64
		sample *float64
	}
	turns := make(map[processRound][]timed)
	for i, e := range cases {
		for p, m := range e.medians {
			for k, s := range m.slices {
				if len(s) > 1 {
					at := processRound{m.process, k}
					turns[at] = append(turns[at], timed{s, &samples[i][p][k]})
				}
			}
		}
	}
	for _, of := range turns {
		if len(of) < leastPooled {
			continue
		}
		rows := make([][]float64, len(of))
		for i, t := range of {
			rows[i] = t.slices
		}
		for i, v := range levels(rows) {
			*of[i].sample = v
		}
	}
}

// levels are the logarithms of what each row's slices have in common, less what each
// pass did to all rows; nil if each pass lacks a slice (0).
func levels(rows [][]float64) []float64 {
	var passes [][]float64
	for k := range slices.MinFunc(rows, func(a, b []float64) int { return len(a) - len(b) }) {
		pass := make([]float64, len(rows))
		for i, r := range rows {
			pass[i] = math.Log(r[k])
		}
		if !slices.Contains(pass, math.Inf(-1)) {
			passes = append(passes, pass)
		}
	}
	if len(passes) == 0 {
		return nil
	}
	out := make([]float64, len(rows))
	effects, column := make([]float64, len(passes)), make([]float64, len(passes))
	beyond := make([]float64, len(rows))
	for range polishes {
		for i := range rows {
			for k, pass := range passes {
				column[k] = pass[i] - effects[k]
			}
			out[i] = Median(column)
		}
		for k, pass := range passes {
			for i, v := range pass {
				beyond[i] = v - out[i]
			}
			effects[k] = Median(beyond)
		}
		middle := Median(effects)
		for k := range effects {
			effects[k] -= middle
		}
	}
	return out
}
