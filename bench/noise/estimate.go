package noise

import (
	"maps"
	"math"
	"slices"

	"onebit/bench/results"
)

// An Estimate is what a run found of one case in one unit.
type Estimate struct {
	Name   results.Name
	Unit   string
	Class  string    // of the case; see Results.Class
	Values []float64 // every sample, in the order in which they were taken

	// Center is the median of the processes' medians, and so what a process
	// finds; of a single process it is the median of the samples.
	Center float64

	// Lo and Hi are the ends of an interval around Center, infinite where
	// nothing is known.
	//
	// If NextRun is true, it is where the Center of a further run is expected
	// with a chance of 95%: of the same program, within minutes, on a machine
	// that does nothing else. It says nothing about another day, another build
	// or another machine. See the package comment for the formula.
	//
	// If NextRun is false, it is the 95% confidence interval of the median of
	// the one process that was measured. What differs between processes, and
	// so between runs, is missing from it.
	//
	// An exact unit has Lo = Hi = Center.
	Lo, Hi  float64
	NextRun bool

	Processes int     // with samples of the case
	States    []State // of a machine that was in two during the samples; else nil
	Warnings  []error // why the numbers deserve less trust

	common  float64         // how far the logarithm strays as all of the class do: the reach of what processes differ by
	group   string          // that it was measured in
	medians []processMedian // by process, in the order of their numbers
}

// A processMedian is the median of one process's samples.
type processMedian struct {
	process int
	value   float64
	samples []float64
	slices  [][]float64 // of each sample; see Sample.Slices
	trips   []float64   // of a cache line between threads, by sample; 0 where it is not known
	far     bool        // the machine's threads were far from each other during one of them
}

// Bounded reports whether the interval is finite.
func (e Estimate) Bounded() bool { return !math.IsInf(e.Lo, 0) && !math.IsInf(e.Hi, 0) }

// Spread is how far the interval reaches to its wider side, as a fraction of
// Center.
func (e Estimate) Spread() float64 { return max(e.Hi/e.Center-1, 1-e.Lo/e.Center) }

// Estimates returns what was found of each case in one unit, in the order in
// which the names first occur. Arms of A/A pairs are left out; see Floors.
func Estimates(r *results.Set, unit string) []Estimate {
	all := gather(r, unit, func(n results.Name) bool { return !n.IsArm() })
	exact := results.UnitOf(unit).Exact
	classes := make(map[string][]*Estimate)
	for i := range all {
		if e := &all[i]; !exact && e.positive() {
			classes[e.Class] = append(classes[e.Class], e)
		} else {
			e.summarize()
		}
	}
	for _, class := range classes {
		foretell(class)
	}
	return all
}

// gather collects the samples of each name.
func gather(r *results.Set, unit string, keep func(results.Name) bool) (all []Estimate) {
	index := make(map[string]int)
	nearest := make(map[string]float64) // round trip, by class
	for _, s := range r.Samples {
		v, ok := s.Value(unit)
		if !ok || !keep(s.Name) {
			continue
		}
		at, known := index[s.Name.Full]
		if !known {
			at, all = len(all), append(all, Estimate{Name: s.Name, Unit: unit, Class: r.Class(s.Name), group: s.Group})
			index[s.Name.Full] = at
		}
		e := &all[at]
		e.Values = append(e.Values, v)
		trip, _ := s.Value(results.RoundTrip)
		e.add(s.Process, v, trip, s.Slices)
		if least, ok := nearest[e.Class]; trip > 0 && (!ok || trip < least) {
			nearest[e.Class] = trip
		}
	}
	for i := range all {
		e := &all[i]
		var centers, values, trips []float64
		for k := range e.medians {
			m := &e.medians[k]
			m.value = Median(m.samples)
			m.far = slices.Max(m.trips) > stateRatio*nearest[e.Class]
			centers, values, trips = append(centers, m.value), append(values, m.samples...), append(trips, m.trips...)
		}
		e.Processes, e.Center, e.States = len(e.medians), Median(centers), statesOf(values, trips)
	}
	return all
}

// add takes a sample of a process.
func (e *Estimate) add(process int, value, trip float64, passes []float64) {
	at, found := slices.BinarySearchFunc(e.medians, process, processMedian.compare)
	if !found {
		e.medians = slices.Insert(e.medians, at, processMedian{process: process})
	}
	m := &e.medians[at]
	m.samples, m.slices, m.trips = append(m.samples, value), append(m.slices, passes), append(m.trips, trip)
}

// near are the processes during which the machine's threads were near each other, if they are
// enough to tell what processes differ by; else all.
func (e Estimate) near() []processMedian {
	near := slices.DeleteFunc(slices.Clone(e.medians), func(m processMedian) bool { return m.far })
	if len(near) < leastNear {
		return e.medians
	}
	return near
}

// compare is for a search by number.
func (m processMedian) compare(process int) int { return m.process - process }

// positive reports whether the samples have logarithms.
func (e *Estimate) positive() bool { return slices.Min(e.Values) > 0 }

// between is the variance of the logarithms of the processes' medians, less a
// shift of each process.
func (e *Estimate) between(shifts map[int]float64) variance {
	medians := make([]float64, len(e.medians))
	for i, m := range e.medians {
		medians[i] = math.Log(m.value) - shifts[m.process]
	}
	return varianceOf(medians)
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// foretell sets the intervals of a class: where the next run's centers are.
// The variance of processes has two parts: what all cases of the class have in
// common, of which every process shows one value, and what each case has of its
// own, which the class says more about. A class of fewer than three cases has no
// parts.
func foretell(class []*Estimate) {
	common := variance{0, 1}
	var shifts map[int]float64
	if len(class) >= leastPooled {
		shifts = shiftsOf(class)
		common = varianceOf(slices.Sorted(maps.Values(shifts)))
	}
	own := make([]variance, len(class))
	for i, e := range class {
		own[i] = e.between(shifts)
		if len(shifts) > 0 {
			// The shifts are made of the same values.
			n := float64(len(class))
			own[i].value *= n / (n - 1)
			own[i].dof *= (n - 1) / n
		}
	}
	pooled := pool(own)
	commonReach := common.reach() // once: a quantile takes longer than all the rest
	for i, e := range class {
		// Each part has a t of its own: one for both would take the common part,
		// of which there are few values, for as well known as the other.
		reach := math.Hypot(own[i].moderate(pooled).reach(), commonReach)
		if math.IsInf(reach, 1) {
			e.summarize()
			continue
		}
		// Two centers differ, this run's and the next one's.
		e.common = commonReach * math.Sqrt(ofMedian(e.Processes))
		factor := math.Exp(reach * math.Sqrt(2*ofMedian(e.Processes)))
		e.Lo, e.Hi, e.NextRun = e.Center/factor, e.Center*factor, true
	}
}

// shiftsOf says of each process how much slower it was than others in all cases
// of a class: the median of the logarithms.
func shiftsOf(class []*Estimate) map[int]float64 {
	shifts := make(map[int][]float64)
	for _, e := range class {
		if e.Processes > 1 {
			for _, m := range e.medians {
				shifts[m.process] = append(shifts[m.process], math.Log(m.value/e.Center))
			}
		}
	}
	out := make(map[int]float64, len(shifts))
	for p, s := range shifts {
		out[p] = Median(s)
	}
	return out
}

// summarize sets the interval of the samples' median, without any assumption
// on their distribution. Fewer than 6 samples have no finite one.
func (e *Estimate) summarize() {
	s := summaryOf(e.Values, assumption(e.Unit))
	e.Lo, e.Hi, e.Warnings = s.Lo, s.Hi, s.Warnings
	if e.Processes == 1 {
		e.Center = s.Center
	}
}
