package bench

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Compared is a case that two runs have, in a unit of which less is better.
// All of its values are positive.
type Compared struct {
	Old, New Estimate

	// Limits are the ratios, new to old, of the ceilings that may bound the
	// case: what the machine alone may have made of it. None if none was
	// measured.
	Limits []float64

	// Floor is the noise floor of both runs for the class of the case, as a
	// fraction; 0 if neither has one.
	Floor float64
}

// Class is that of the case in the new run.
func (c Compared) Class() string { return c.New.Class }

// Ratio is by how much more the new run takes: of the fastest sample of each
// process the median over processes, as CompareRuns takes it.
func (c Compared) Ratio() float64 {
	x := contrastOf(c)
	return x.new.value / x.old.value
}

// A Change is how one case differs between two runs.
type Change struct {
	// Old and New are what was compared: of the fastest sample of each process
	// the median.
	Old, New float64

	// Shows is the least difference that counts in this case, as a fraction,
	// beyond what the machine explains: 0.1 is a tenth.
	Shows float64

	// Reach is how far the logarithm of this case's Ratio strays to either side
	// with a chance of 5%.
	Reach float64

	// P is the chance that noise makes any of the cases differ by as much,
	// beyond what the machine explains (Holm's correction).
	P float64

	// Sign is +1 if the new run takes more, -1 if it takes less, 0 if noise or
	// the machine may have made the difference.
	Sign int
}

// Ratio is New to Old.
func (c Change) Ratio() float64 { return c.New / c.Old }

// A Shift is what all cases of a class, or of the suite, have in common.
type Shift struct {
	Class string // "" for the suite
	Cases int
	Ratio float64 // median of the cases' ratios

	// Lo and Hi are between which ratios the machine explains the shift: 1,
	// and what its ceilings did.
	Lo, Hi float64

	Shows float64 // the least shift that counts, beyond Lo and Hi
	Sign  int     // as in Change
}

// Machine reports that the shift is too large for noise, and that the ceilings
// explain it.
func (s Shift) Machine() bool {
	reach := math.Log1p(s.Shows)
	return math.Abs(math.Log(s.Ratio)) > reach && math.Abs(s.beyond()) <= reach
}

// Changes is how two runs differ.
type Changes struct {
	Cases   []Change // in the order of what was compared
	Suite   Shift
	Classes []Shift // in the order in which they first occur

	// Few says that there are too few cases to tell from them by how much two
	// runs at different times differ; what Shows says is assumed then.
	Few bool

	// OneProcess says that a run measured cases in one process only, so that
	// what differs between processes is not in its noise.
	OneProcess bool
}

const (
	// familyError is the chance that any of the cases is called different
	// though none is.
	familyError = 0.05

	// ManyCases is the number of cases from which on they tell by how much two
	// runs differ.
	ManyCases = 8

	// tailDof bounds the degrees of freedom of a case's noise. Two runs of one
	// binary, without any difference in 80 cases, had one at 7.5 standard
	// deviations: noise between runs has tails as heavy as Student's t of 4.
	tailDof = 4

	// leastNoise is the least standard deviation of a case between two runs:
	// the layout of the memory it gets is drawn anew.
	leastNoise = 0.005

	// fewNoise is the same where there are too few cases to see it.
	fewNoise = 0.05

	// suiteNoise and classNoise are the least shifts of a suite and of a class
	// that count. Runs of one binary up to 13 minutes apart shifted by up to 1.0%
	// and 2%; what hours do has not been measured.
	suiteNoise = 0.03
	classNoise = 0.05
)

// CompareRuns compares two runs at different times. Such runs differ by more
// than either shows within itself, and no run can say by how much. What the
// cases do together says it: most of them are the same in both, so the
// difference that most have is not theirs, and the spread around it is noise
// (Efron, Large-scale simultaneous hypothesis testing: the choice of a null
// hypothesis, Journal of the American Statistical Association 99, 2004).
//
//   - A case's value is the fastest sample of each process, the median over
//     processes, for a neighbour on the machine can only make it slower. Both
//     runs take as many samples of a process as the one that has fewer.
//   - Its noise comes from its processes (a single process is cut into thirds),
//     moderated by its class as intervals are, and a deviation between runs that
//     all cases of the class have: it makes of the noise the distances that are
//     seen, by their median. It is no less than the A/A pairs of both runs say.
//   - A case is called different if it lies beyond 1, beyond what its class did
//     and beyond what its ceilings did, by more than noise at a chance of 5% for
//     all cases together: Student's t with at most 4 degrees of freedom, Holm's
//     correction.
//   - The suite is called different if the median of its ratios lies beyond 1
//     and beyond what the ceilings did, by 3% and by what the medians of
//     processes differ by and a single case strays by, and no class
//     contradicts. A class is, by 5%.
//
// What this can't do: a change in most cases of a class is the class's, not
// theirs; one in the direction of a ceiling that moved is the machine's, as far
// as the ceiling went; and a machine that changed in what no ceiling measures
// looks like a change of the suite. Runs interleaved in one session have none
// of these limits.
func CompareRuns(cases []Compared) *Changes {
	ch := &Changes{Few: len(cases) < ManyCases, Cases: make([]Change, len(cases))}
	if len(cases) == 0 {
		return ch
	}
	contrasts := make([]*contrast, len(cases))
	for i, c := range cases {
		contrasts[i] = contrastOf(c)
	}
	classes, names := byClass(contrasts)
	for _, name := range names {
		class := classes[name]
		moderateClass(class)
		shift := 0.0
		if len(class) >= ManyCases {
			shift = Median(logsOf(class))
		} else if !ch.Few {
			shift = Median(logsOf(contrasts))
		}
		for _, c := range class {
			c.shift = shift
			ch.OneProcess = ch.OneProcess || !c.old.processes || !c.new.processes
		}
	}
	setScales(classes, names, ch.Few)
	for i, c := range contrasts {
		ch.Cases[i] = c.change(len(contrasts))
	}
	holm(ch.Cases)
	ch.Suite = shiftOf("", contrasts, suiteNoise)
	agree := !ch.Few
	for _, name := range names {
		s := shiftOf(name, classes[name], classNoise)
		if s.Cases < ManyCases {
			s.Sign = 0
		} else if s.beyond()*float64(ch.Suite.Sign) < math.Log1p(ch.Suite.Shows)/2 {
			agree = false
		}
		ch.Classes = append(ch.Classes, s)
	}
	if !agree {
		ch.Suite.Sign = 0
	}
	return ch
}

// A contrast is a case in both runs, in logarithms.
type contrast struct {
	class    string
	old, new replicates
	log      float64 // of new to old
	shift    float64 // of the class
	lo, hi   float64 // what the ceilings explain
	floor    float64 // log of 1 + the noise floor
	noise    variance
	scale    float64 // the deviation of log between runs
}

// replicates are one run's fastest samples.
type replicates struct {
	value     float64   // of the processes' the median
	units     []float64 // logarithms, by process, or by third of the only one
	processes bool      // the units are processes
}

func contrastOf(c Compared) *contrast {
	k := min(perProcess(c.Old), perProcess(c.New))
	x := &contrast{class: c.Class(), old: replicate(c.Old, k), new: replicate(c.New, k), floor: math.Log1p(c.Floor)}
	x.log = math.Log(x.new.value / x.old.value)
	for _, limit := range c.Limits {
		x.lo, x.hi = min(x.lo, math.Log(limit)), max(x.hi, math.Log(limit))
	}
	return x
}

// perProcess is how many samples a process of the run took.
func perProcess(e Estimate) int {
	counts := make([]float64, len(e.medians))
	for i, m := range e.medians {
		counts[i] = float64(len(m.samples))
	}
	return int(Median(counts))
}

// thirds is into how many units a single process is cut.
const thirds = 3

// replicate takes the fastest of the first k samples of each process.
func replicate(e Estimate, k int) replicates {
	fastest := make([]float64, len(e.medians))
	for i, m := range e.medians {
		fastest[i] = slices.Min(m.samples[:min(k, len(m.samples))])
	}
	r := replicates{value: Median(fastest), units: logs(fastest)}
	if r.processes = len(r.units) > 1; r.processes {
		return r
	}
	samples := e.medians[0].samples
	samples = samples[:min(k, len(samples))]
	r.units = nil
	if each := len(samples) / thirds; each > 0 {
		for part := range slices.Chunk(samples[:thirds*each], each) {
			r.units = append(r.units, math.Log(slices.Min(part)))
		}
	}
	return r
}

// spread is the variance of a unit of replication, of both runs together.
func (c *contrast) spread() variance {
	old, new := varianceOf(c.old.units), varianceOf(c.new.units)
	dof := old.dof + new.dof
	if dof == 0 {
		return variance{}
	}
	return variance{(old.value*old.dof + new.value*new.dof) / dof, dof}
}

// share is the variance of log in units of that of a unit of replication.
func (c *contrast) share() float64 {
	return ofMedian(max(1, len(c.old.units))) + ofMedian(max(1, len(c.new.units)))
}

func byClass(all []*contrast) (classes map[string][]*contrast, names []string) {
	classes = make(map[string][]*contrast)
	for _, c := range all {
		if classes[c.class] == nil {
			names = append(names, c.class)
		}
		classes[c.class] = append(classes[c.class], c)
	}
	return classes, names
}

// moderateClass sets the noise of the cases of a class as their processes show
// it; it is 0 where they show nothing.
func moderateClass(class []*contrast) {
	spreads := make([]variance, len(class))
	for i, c := range class {
		spreads[i] = c.spread()
	}
	pooled := pool(spreads)
	for i, c := range class {
		c.noise = spreads[i].moderate(pooled)
		c.noise.value *= c.share()
	}
}

// tails is the distribution of a case's noise, of deviation 1.
func (c *contrast) tails() distuv.StudentsT {
	dof := c.noise.dof
	if dof == 0 || dof > tailDof {
		dof = tailDof
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: max(1, dof)}
}

// beyond is how far the case lies outside of what the machine explains and its
// class shares.
func (c *contrast) beyond() float64 {
	from, to := min(c.lo, c.shift), max(c.hi, c.shift)
	return max(0, c.log-to) + min(0, c.log-from)
}

// setScales sets by how much each case differs between runs. Classes of few
// cases share what is beyond their noise.
func setScales(classes map[string][]*contrast, names []string, few bool) {
	var rest, all []*contrast
	for _, name := range names {
		class := classes[name]
		all = append(all, class...)
		if len(class) < ManyCases {
			rest = append(rest, class...)
			continue
		}
		setScale(class, betweenRuns(class))
	}
	switch {
	case few:
		setScale(rest, fewNoise)
	case len(rest) >= ManyCases:
		setScale(rest, betweenRuns(rest))
	default:
		setScale(rest, betweenRuns(all))
	}
}

// betweenRuns is the deviation that makes of the cases' noise what their
// distances show: half of them are within the quartiles of Student's t.
// Distances are taken from the outside of what the machine explains, for what
// the machine does to each case within is not known; and of cases whose own
// noise is not louder than most, for behind it nothing is seen.
func betweenRuns(cases []*contrast) float64 {
	noises := make([]float64, len(cases))
	for i, c := range cases {
		noises[i] = c.noise.value
	}
	loud := 4 * Median(noises)
	var distances, noise []float64
	for _, c := range cases {
		if d := math.Abs(c.beyond()); d != 0 && c.noise.value <= loud {
			distances = append(distances, d/c.tails().Quantile(0.75))
			noise = append(noise, c.noise.value)
		}
	}
	if len(distances) < ManyCases/2 {
		return leastNoise
	}
	excess := func(between float64) float64 {
		scaled := make([]float64, len(distances))
		for i, d := range distances {
			scaled[i] = d / math.Sqrt(noise[i]+between*between)
		}
		return Median(scaled) - 1
	}
	lo, hi := leastNoise, 10.0
	if excess(lo) <= 0 {
		return lo
	}
	for range 30 {
		if mid := (lo + hi) / 2; excess(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func setScale(cases []*contrast, between float64) {
	for _, c := range cases {
		// The floor is what one comparison in twenty exceeds.
		c.scale = max(math.Hypot(math.Sqrt(c.noise.value), between), c.floor/c.tails().Quantile(1-(1-confidence)/2))
	}
}

// change judges one case of so many; P is not yet corrected.
func (c *contrast) change(cases int) Change {
	tails := c.tails()
	beyond := c.beyond()
	return Change{
		Old: c.old.value, New: c.new.value,
		Shows: shown(c.scale * tails.Quantile(1-familyError/2/float64(cases))),
		Reach: c.scale * tails.Quantile(confidence),
		P:     2 * tails.Survival(math.Abs(beyond)/c.scale),
		Sign:  cmp.Compare(beyond, 0),
	}
}

// holm corrects the chances for the number of cases (Holm, A simple
// sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6, 1979), and takes back the sign of those that are too large.
func holm(changes []Change) {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(changes[i].P, changes[j].P) })
	largest := 0.0
	for rank, i := range order {
		largest = max(largest, min(1, changes[i].P*float64(len(order)-rank)))
		if changes[i].P = largest; largest >= familyError {
			changes[i].Sign = 0
		}
	}
}

// shiftOf judges what cases have in common.
func shiftOf(class string, cases []*contrast, least float64) Shift {
	var logs, lo, hi []float64
	for _, c := range cases {
		logs, lo, hi = append(logs, c.log), append(lo, c.lo), append(hi, c.hi)
	}
	shift, from, to := Median(logs), Median(lo), Median(hi)
	// What makes a single case uncertain, such as a busy CPU, may have met all
	// of them, so nothing less than the deviation of one is taken for shared.
	scales := make([]float64, len(cases))
	for i, c := range cases {
		scales[i] = c.scale
	}
	reach := max(math.Log1p(least), commonReach(cases), Median(scales))
	s := Shift{
		Class: class, Cases: len(cases), Ratio: math.Exp(shift),
		Lo: math.Exp(from), Hi: math.Exp(to), Shows: shown(reach),
	}
	if beyond := s.beyond(); math.Abs(beyond) > reach {
		s.Sign = cmp.Compare(beyond, 0)
	}
	return s
}

// shown makes a fraction of a reach in logarithms, which may be beyond all
// numbers where cases differ by hundreds of orders of magnitude.
func shown(reach float64) float64 { return min(fraction(reach), math.MaxFloat64) }

// beyond is how far the shift lies outside of what the machine explains, as a
// logarithm.
func (s Shift) beyond() float64 {
	return max(0, math.Log(s.Ratio/s.Hi)) + min(0, math.Log(s.Ratio/s.Lo))
}

// commonReach is how far the shift strays because processes differ in all
// cases at once: the medians over cases of what each process deviates by. It is
// 0 where there is a single process.
func commonReach(cases []*contrast) float64 {
	var sum, dof float64
	for _, side := range []func(*contrast) replicates{
		func(c *contrast) replicates { return c.old }, func(c *contrast) replicates { return c.new },
	} {
		v, n := commonSpread(cases, side)
		sum += v.value * ofMedian(n)
		dof += v.dof
	}
	if dof == 0 {
		return 0
	}
	return variance{sum, dof}.reach()
}

func commonSpread(cases []*contrast, side func(*contrast) replicates) (variance, int) {
	var deviations [][]float64 // by unit
	for _, c := range cases {
		r := side(c)
		if !r.processes {
			continue
		}
		for len(deviations) < len(r.units) {
			deviations = append(deviations, nil)
		}
		for i, u := range r.units {
			deviations[i] = append(deviations[i], u-math.Log(r.value))
		}
	}
	medians := make([]float64, len(deviations))
	for i, d := range deviations {
		medians[i] = Median(d)
	}
	return varianceOf(medians), max(1, len(medians))
}

func logsOf(cases []*contrast) []float64 {
	out := make([]float64, len(cases))
	for i, c := range cases {
		out[i] = c.log
	}
	return out
}
