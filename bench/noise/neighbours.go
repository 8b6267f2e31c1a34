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

// A common is what the cases of a neighbourhood share, and their class does not.
type common struct {
	FamilyChange    // not yet judged
	log, own, scale float64
}

// commonOf are those of the neighbourhoods that tell. One counts for as little as a case
// does in its class, and for less where neighbourhoods differ by more. Too few don't
// tell by how much they do.
func commonOf(all []neighbourhood) (out []common) {
	var distances []float64
	for _, near := range all {
		first, aparts := near[0], []float64(nil)
		x := common{log: first.near, own: first.near - first.common}
		x.Neighbours, x.Name = true, "all of "+first.New.group+", "+first.Class()
		for _, c := range near {
			if c.place >= 0 {
				x.Cases, aparts = append(x.Cases, c.place), append(aparts, c.apart)
			}
		}
		if len(near.fine()) >= leastPooled && len(x.Cases) > 1 {
			x.scale = Median(aparts)
			out, distances = append(out, x), append(distances, math.Abs(x.own))
		}
	}
	if len(out) < ManyCases {
		return nil
	}
	between := Median(distances) / distuv.StudentsT{Mu: 0, Sigma: 1, Nu: betweenDof}.Quantile(0.75)
	for i := range out {
		out[i].scale = max(out[i].scale, between)
	}
	return out
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
