package noise

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Compared is a case that two runs have, in a unit of which less is better.
// All of its values are positive.
type Compared struct {
	Old, New Estimate

	// Family names cases that one change of the program is likely to meet
	// together, such as those of a variant; "" if there are no others.
	Family string

	// Subject is the format or model whose cases all variants are; "" if there is none.
	Subject string

	// Limits are the ratios, new to old, of the ceilings that may bound the
	// case: what the machine alone may have made of it. None if none was
	// measured.
	Limits []float64

	// Floor is a difference that one comparison in twenty exceeds for reasons
	// that the runs can't show, as a fraction; 0 if there is none.
	Floor float64

	// Coarse says that samples are of few operations, as those of a case are that
	// is far behind others of its class: it scatters more than they do.
	Coarse bool

	// Unlike says that a run was disturbed during the samples, or that the
	// machine was in other states: what a class has in common is then no
	// verdict on the program.
	Unlike bool
}

// Class is that of the case in the new run.
func (c Compared) Class() string { return c.New.Class }

// Ratio is by how much more the new run takes.
func (c Compared) Ratio() float64 { return c.New.Center / c.Old.Center }

// A Change is how one case, or a family, differs between two runs.
type Change struct {
	Ratio float64 // new to old; of a family, the mean of the cases' logarithms

	// Beyond is what of Ratio the class has not in common: 1.1 is a tenth more
	// time.
	Beyond float64

	Shows float64 // the least change that counts by itself, as a fraction: 0.1 is a tenth
	Reach float64 // how far the logarithm of Beyond strays to either side, with a chance of 5%

	P float64 // the chance that noise makes a case differ by as much beyond what the machine explains
	Q float64 // the least share of false discoveries at which it is one (Benjamini and Hochberg)

	// Sign is +1 if the new run takes more, -1 if it takes less, 0 if noise or
	// the machine may have made the difference.
	Sign int

	tests int // of its kind, and so by how much P is less than the chance of any
}

// A Kind is what the cases have in common that are judged together.
type Kind int

const (
	Subject    Kind = iota // a Subject: in all classes and groups
	Family                 // a Family
	Neighbours             // a class and a group
)

// A FamilyChange is how the cases of a family, a subject or a neighbourhood differ together.
type FamilyChange struct {
	Kind
	Name  string
	Cases []int // their places in what was compared

	Change
}

// A Shift is what all cases of a class, or of the suite, have in common.
type Shift struct {
	Class string // "" for the suite
	Cases int
	Ratio float64 // median of the cases' ratios

	// Lo and Hi are between which ratios the machine explains the shift: 1,
	// and what its ceilings did.
	Lo, Hi float64

	Shows  float64 // the least shift that counts, beyond Lo and Hi
	Unlike bool    // as in Compared, of any of the cases, or that the ceilings moved
	Sign   int     // as in Change
}

// Machine reports that the shift is too large for noise, and that the ceilings
// explain it.
func (s Shift) Machine() bool {
	reach := math.Log1p(s.Shows)
	return math.Abs(math.Log(s.Ratio)) > reach && math.Abs(s.beyond()) <= reach
}

// Changes is how two runs differ.
type Changes struct {
	Cases    []Change       // in the order of what was compared
	Families []FamilyChange // of two cases and more, in the order in which they first occur
	Suite    Shift
	Classes  []Shift // in the order in which they first occur

	// Few says that there are too few cases to tell from them by how much two
	// runs at different times differ; what Shows says is assumed then.
	Few bool

	// OneProcess says that a run measured cases in one process only, so that
	// what differs between processes is not in its noise.
	OneProcess bool
}

// CompareRuns compares two runs at different times. Such runs differ by more
// than either shows within itself, and no run can say by how much. What the
// cases do together says it: most of them are the same in both, so the
// difference that most have is not theirs, and the spread around it is noise
// (Efron, Large-scale simultaneous hypothesis testing: the choice of a null
// hypothesis, Journal of the American Statistical Association 99, 2004).
//
//   - What a pass did to its neighbours, the cases of one class and group, is the
//     median of their logarithms less each case's own. It is taken off each slice
//     (Tukey's median polish), for those of a pass were taken in turns. A sample is
//     the median of its slices, and a case's value that of its processes' medians.
//   - A case's change is the logarithm of new to old, less the median of its
//     neighbours and their ceilings: what most of them have in common is not theirs.
//     Of a coarse case, and of fewer than three neighbours, it is the median of the
//     class, in which each counts by the inverse of its variance.
//   - Its noise comes from its processes (a single process is cut into thirds)
//     and from how their samples scatter, moderated by its class as intervals
//     are. A deviation between runs is added that all cases of a class have: it
//     makes of the noise the distances that are seen, by their median. Samples
//     that a file shares with the other, as a copy does, tell nothing of noise.
//   - Its tails are those of Student's t: of at most 8 degrees of freedom where
//     processes show it, of 5 in a verdict on a single case, and of 4 where it is seen
//     between runs alone.
//   - The cases of a family are also judged together, by the mean of their
//     changes, each weighted by the inverse of its variance, where they agree.
//     Neighbours are judged together too, by what they have in common and their
//     class has not: groups are measured one after another, and so differ by more
//     than neighbours. Of a subject, such as a format, the median of its
//     neighbourhoods is judged, where there are subjects enough to tell by how much
//     they differ, and the runs are alike for half of its cases.
//   - Cases and families are called different such that of what is, a share of 5%
//     is expected to be false (Benjamini and Hochberg, Controlling the false
//     discovery rate, Journal of the Royal Statistical Society B 57, 1995). Where
//     nothing differs, that is a chance of 5% of naming anything.
//   - The suite is called different if the median of its ratios lies beyond 1
//     and beyond what the ceilings did, by 3% and by what the medians of
//     processes differ by and a single case strays by, and no class
//     contradicts. A class is, by 5%. Of runs that are not alike, or whose
//     ceilings moved by as much, neither is.
//
// What this can't do: a change in most cases of a class is the class's, not
// theirs; one in the direction of a ceiling that moved is the machine's, as far
// as the ceiling went; and a machine that changed in what no ceiling measures
// looks like a change of the suite. Runs interleaved in one session have none
// of these limits.
//
// The ceilings measure the machine, and are not judged.
func CompareRuns(cases, ceilings []Compared) *Changes {
	ch := &Changes{Few: len(cases) < ManyCases, Cases: make([]Change, len(cases))}
	if len(cases) == 0 {
		return ch
	}
	contrasts, machine := contrastsOf(cases), contrastsOf(ceilings)
	for i, c := range contrasts {
		c.place = i
	}
	neighbourhoods := neighbours(slices.Concat(contrasts, machine))
	for _, near := range neighbourhoods {
		near.polish()
	}
	classes, names := byClass(contrasts)
	for _, name := range names {
		moderate(classes[name])
	}
	moderate(machine)
	for _, name := range names {
		class := classes[name]
		shift := 0.0
		if len(class) >= ManyCases {
			shift = sharedBy(class)
		} else if !ch.Few {
			shift = sharedBy(contrasts)
		}
		for _, c := range class {
			c.common, c.shift = shift, shift
			ch.OneProcess = ch.OneProcess || !c.old.processes || !c.new.processes
		}
	}
	shared := sharedSamples(contrasts)
	for _, c := range contrasts {
		c.noise.value *= shared
	}
	setScales(contrasts, classes, names, ch.Few)
	for _, c := range contrasts {
		c.apart = c.scale
	}
	var groups, subjects []common
	if !ch.Few && len(neighbourhoods) > len(names) {
		for _, near := range neighbourhoods {
			near.share()
		}
		groups, subjects = commonOf(neighbourhoods)
		setScales(contrasts, classes, names, ch.Few)
	}
	ch.judge(contrasts, groups, subjects)
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

// judge sets the changes of cases, families, neighbourhoods and subjects. Of false discoveries
// one half is for families, which are few and of which more is known, and a quarter for
// subjects, where there are some (weights: Genovese,
// Roeder and Wasserman, False discovery control with p-value weighting, Biometrika 93,
// 2006).
func (ch *Changes) judge(contrasts []*contrast, groups, subjects []common) {
	ch.Families = familiesOf(contrasts)
	single, families, whole := len(contrasts)+len(groups), len(ch.Families), 4*len(subjects)
	switch {
	case whole > 0:
		single, families = 4*single, 2*families
	case families > 0:
		single, families = 2*single, 2*families
	}
	for i, c := range contrasts {
		ch.Cases[i] = changeOf(c.log, c.log-c.shift, c.beyond(), c.scale, c.alone(), single)
	}
	for i := range ch.Families {
		f := &ch.Families[i]
		f.Change = family(contrasts, f.Cases, families)
	}
	for _, x := range slices.Concat(subjects, groups) {
		tests := single
		if x.Kind == Subject {
			tests = whole
		}
		x.Change = changeOf(x.log, x.own, x.own, x.scale, x.tails(), tests)
		if x.Kind == Subject && 2*x.unlike > len(x.Cases) {
			x.P = 1 // two disturbed runs differ in whole formats
		}
		ch.Families = append(ch.Families, x.FamilyChange)
	}
	ch.discover()
}

// A contrast is a case in both runs, in logarithms.
type contrast struct {
	Compared
	old, new replicates
	log      float64 // of new to old
	place    int     // among what is compared; -1 of a ceiling
	common   float64 // what its class shares
	near     float64 // what its neighbours share
	shift    float64 // which of both it is held to
	strays   float64 // how many times further it is from shift because that strays as well
	lo, hi   float64 // what the ceilings explain
	noise    variance
	between  float64 // the deviation between runs that processes don't show
	scale    float64 // that of log, less shift, between runs
	apart    float64 // the same, less what the class shares
}

// replicates are one run's samples.
type replicates struct {
	value     float64   // of the processes' the median
	units     []float64 // by process, or by third of the only one
	within    variance  // of a unit, as its samples scatter
	processes bool      // the units are processes
}

func contrastsOf(cases []Compared) []*contrast {
	out := make([]*contrast, len(cases))
	for i, c := range cases {
		out[i] = contrastOf(c)
	}
	return out
}

func contrastOf(c Compared) *contrast {
	x := &contrast{Compared: c, place: -1, strays: 1}
	for _, limit := range c.Limits {
		if math.Abs(math.Log(limit)) < math.Log1p(ceilingNoise) {
			continue
		}
		x.lo, x.hi = min(x.lo, math.Log(limit)), max(x.hi, math.Log(limit))
	}
	return x
}

// sharedBy is what most of the cases have in common: the median of their
// logarithms, each counted by the inverse of its variance.
func sharedBy(cases []*contrast) float64 {
	weights := make([]float64, len(cases))
	for i, c := range cases {
		weights[i] = 1 / (c.noise.value + leastNoise*leastNoise)
	}
	return weightedMedian(logsOf(cases), weights)
}

// weightedMedian is the value below which half of the weight lies.
func weightedMedian(values, weights []float64) float64 {
	order := make([]int, len(values))
	half := 0.0
	for i, w := range weights {
		order[i], half = i, half+w/2
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	below := 0.0
	for n, i := range order {
		if below += weights[i]; below == half && n+1 < len(order) {
			return (values[i] + values[order[n+1]]) / 2
		} else if below > half {
			return values[i]
		}
	}
	return values[order[len(order)-1]]
}

// replicate takes the medians of processes.
func replicate(processes [][]float64) replicates {
	r := replicates{processes: len(processes) > 1}
	medians := make([]float64, len(processes))
	for i, samples := range processes {
		medians[i] = Median(samples)
	}
	r.value = Median(medians)
	units := processes
	if !r.processes {
		samples := processes[0]
		units = nil
		if each := len(samples) / thirds; each > 0 {
			units = slices.Collect(slices.Chunk(samples[:thirds*each], each))
		}
	}
	for _, samples := range units {
		r.units = append(r.units, Median(samples))
		within := varianceOf(samples)
		within.value *= ofMedian(len(samples))
		r.within = joint(r.within, within)
	}
	return r
}

// spread is the variance of a unit of replication, of both runs together. It is
// no less than what the samples of a unit scatter by: where they are of two
// states, the medians of most units agree, and those of the next run need not.
func (c *contrast) spread() variance {
	v := joint(varianceOf(c.old.units), varianceOf(c.new.units))
	v.value = max(v.value, joint(c.old.within, c.new.within).value)
	return v
}

// joint is the variance of two groups.
func joint(a, b variance) variance {
	dof := a.dof + b.dof
	if dof == 0 {
		return variance{}
	}
	return variance{(a.value*a.dof + b.value*b.dof) / dof, dof}
}

// share is the variance of log in units of that of a unit of replication.
func (c *contrast) share() float64 {
	return ofMedian(max(1, len(c.old.units))) + ofMedian(max(1, len(c.new.units)))
}

func byClass(all []*contrast) (classes map[string][]*contrast, names []string) {
	classes = make(map[string][]*contrast)
	for _, c := range all {
		if classes[c.Class()] == nil {
			names = append(names, c.Class())
		}
		classes[c.Class()] = append(classes[c.Class()], c)
	}
	return classes, names
}

// moderate sets the noise of the cases of a class as their processes show it; it
// is 0 where they show nothing.
func moderate(class []*contrast) {
	var spreads [2][]variance
	for _, c := range class {
		spreads[c.kind()] = append(spreads[c.kind()], c.spread())
	}
	pooled := [2]variance{pool(spreads[0]), pool(spreads[1])}
	for _, c := range class {
		c.noise = c.spread().moderate(pooled[c.kind()])
		c.noise.value *= c.share()
	}
}

// kind is 1 of a coarse case.
func (c *contrast) kind() int {
	if c.Coarse {
		return 1
	}
	return 0
}

// tails is the distribution of a case's noise, of deviation 1. What is seen
// between runs alone has heavier tails than what processes show; a sum of both
// has the degrees of freedom of Welch and Satterthwaite.
func (c *contrast) tails() distuv.StudentsT {
	dof := float64(tailDof)
	if !c.old.processes || !c.new.processes {
		dof = betweenDof
	}
	if c.noise.dof > 0 {
		dof = max(1, min(dof, c.noise.dof))
	}
	if own, between := c.noise.value, c.between*c.between; between > 0 {
		sum := own + between
		dof = min(dof, sum*sum/(own*own/dof+between*between/betweenDof))
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: dof}
}

// alone is the same of a case that is judged by itself: a state of the machine meets
// one condition of a kernel more easily than all.
func (c *contrast) alone() distuv.StudentsT {
	t := c.tails()
	t.Nu = min(t.Nu, aloneDof)
	return t
}

// beyond is how far the case lies outside of what its class shares and, where
// ceilings moved, of what they did: the case may follow them or not.
func (c *contrast) beyond() float64 {
	if c.lo == 0 && c.hi == 0 {
		return c.log - c.shift
	}
	return max(0, c.log-max(c.hi, c.shift)) + min(0, c.log-min(c.lo, c.shift))
}

// setScales sets by how much each case differs between runs. Classes of few
// cases share what is beyond their noise.
func setScales(all []*contrast, classes map[string][]*contrast, names []string, few bool) {
	if few {
		setScale(all, fewNoise)
		return
	}
	var rest []*contrast
	for _, name := range names {
		class := classes[name]
		if len(class) < ManyCases {
			rest = append(rest, class...)
			continue
		}
		setScale(class, betweenRuns(class))
	}
	if len(rest) >= ManyCases {
		setScale(rest, betweenRuns(rest))
	} else {
		setScale(rest, betweenRuns(all))
	}
}

// A distance is how far a case lies from its class, and its deviation as its
// processes show it, both by the upper quartile of its tails.
type distance struct{ seen, noise float64 }

// distances are those of the cases that tell something of noise. They are taken
// from the outside of what the machine explains, for what the machine does to
// each case within is not known; and of cases whose own noise is not louder than
// most, for behind it nothing is seen.
func distances(cases []*contrast) (out []distance) {
	noises := make([]float64, len(cases))
	for i, c := range cases {
		noises[i] = c.noise.value
	}
	loud := 4 * Median(noises)
	for _, c := range cases {
		if c.noise.value <= loud && c.beyond() != 0 {
			out = append(out, distance{math.Abs(c.beyond()) / c.strays / c.tails().Quantile(0.75), math.Sqrt(c.noise.value)})
		}
	}
	return out
}

// sharedSamples is the share of the cases' variance that is left when each process
// is held to that of the other run: next to nothing where a file is a copy of the
// other in all but some cases. It is 1 for runs of their own.
func sharedSamples(cases []*contrast) float64 {
	const copied = 0.1 // less than the median of eight cases and more comes to by chance
	var shares []float64
	for _, c := range cases {
		if n := len(c.old.units); n > 1 && n == len(c.new.units) {
			differences := make([]float64, n)
			for i := range differences {
				differences[i] = c.new.units[i] - c.old.units[i]
			}
			if own := varianceOf(c.old.units).value + varianceOf(c.new.units).value; own > 0 {
				shares = append(shares, varianceOf(differences).value/own)
			}
		}
	}
	if len(shares) < ManyCases {
		return 1
	}
	if share := Median(shares); share < copied {
		return share
	}
	return 1
}

// betweenRuns is the deviation that makes of the cases' noise what their
// distances show: half of them are within the quartiles of Student's t.
func betweenRuns(cases []*contrast) float64 {
	seen := distances(cases)
	if len(seen) < ManyCases/2 {
		return leastNoise
	}
	excess := func(between float64) float64 {
		scaled := make([]float64, len(seen))
		for i, d := range seen {
			scaled[i] = d.seen / math.Hypot(d.noise, between)
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
		c.between = between
		// The floor is what one comparison in twenty exceeds.
		c.scale = max(c.strays*math.Hypot(math.Sqrt(c.noise.value), between), math.Log1p(c.Floor)/c.tails().Quantile(1-(1-confidence)/2))
	}
}

// changeOf judges one of so many tests by what of its own change the machine does
// not explain; Q and Sign are not yet corrected.
func changeOf(log, own, unexplained, scale float64, tails distuv.StudentsT, tests int) Change {
	return Change{
		Ratio: math.Exp(log), Beyond: math.Exp(own),
		Shows: shown(scale * tails.Quantile(1-falseShare/2/float64(tests))),
		Reach: scale * tails.Quantile(1-(1-confidence)/2),
		P:     2 * tails.Survival(math.Abs(unexplained)/scale),
		Sign:  cmp.Compare(unexplained, 0),
		tests: tests,
	}
}

// familiesOf are those of two cases and more.
func familiesOf(cases []*contrast) []FamilyChange {
	var all []FamilyChange
	place := make(map[string]int)
	for i, c := range cases {
		if c.Family == "" {
			continue
		}
		at, known := place[c.Family]
		if !known {
			at, all = len(all), append(all, FamilyChange{Kind: Family, Name: c.Family})
			place[c.Family] = at
		}
		all[at].Cases = append(all[at].Cases, i)
	}
	return slices.DeleteFunc(all, func(f FamilyChange) bool { return len(f.Cases) < 2 })
}

// family judges the cases of a family together.
func family(cases []*contrast, members []int, tests int) Change {
	var log, own, unexplained, weights float64
	tails := distuv.StudentsT{Sigma: 1, Nu: tailDof}
	for _, i := range members {
		c := cases[i]
		w := 1 / (c.scale * c.scale)
		log, own, unexplained, weights = log+w*c.log, own+w*(c.log-c.shift), unexplained+w*c.beyond(), weights+w
		tails.Nu = min(tails.Nu, c.tails().Nu)
	}
	ch := changeOf(log/weights, own/weights, unexplained/weights, 1/math.Sqrt(weights), tails, tests)
	for _, i := range members {
		// A change of some cases alone is theirs, and not the family's.
		if c := cases[i]; math.Abs(c.log-c.shift-own/weights) > c.scale*tails.Quantile(0.995) {
			ch.P = 1
		}
	}
	return ch
}

// discover sets Q, and takes back the sign of what may well be a false
// discovery.
func (ch *Changes) discover() {
	var all []*Change
	for i := range ch.Cases {
		all = append(all, &ch.Cases[i])
	}
	for i := range ch.Families {
		all = append(all, &ch.Families[i].Change)
	}
	weighed := func(c *Change) float64 { return c.P * float64(c.tests) }
	slices.SortStableFunc(all, func(a, b *Change) int { return cmp.Compare(weighed(a), weighed(b)) })
	least := 1.0
	for i, c := range slices.Backward(all) {
		least = min(least, weighed(c)/float64(i+1))
		if c.Q = least; least >= falseShare {
			c.Sign = 0
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
		scales[i] = c.apart
	}
	reach := max(math.Log1p(least), commonReach(cases), Median(scales))
	s := Shift{
		Class: class, Cases: len(cases), Ratio: math.Exp(shift),
		Lo: math.Exp(from), Hi: math.Exp(to), Shows: shown(reach),
	}
	s.Unlike = max(to, -from) > math.Log1p(least) || slices.ContainsFunc(cases, func(c *contrast) bool { return c.Unlike })
	if beyond := s.beyond(); math.Abs(beyond) > reach && !s.Unlike {
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
// cases at once. It is 0 where there is a single process.
func commonReach(cases []*contrast) float64 {
	old, new := make([]*Estimate, len(cases)), make([]*Estimate, len(cases))
	for i, c := range cases {
		old[i], new[i] = &c.Old, &c.New
	}
	var both variance
	for _, run := range [][]*Estimate{old, new} {
		shifts := slices.Sorted(maps.Values(shiftsOf(run))) // sums are the same in any order of the map
		v := varianceOf(shifts)
		both.value, both.dof = both.value+v.value*ofMedian(max(1, len(shifts))), both.dof+v.dof
	}
	if both.dof == 0 {
		return 0
	}
	return both.reach()
}

func logsOf(cases []*contrast) []float64 {
	out := make([]float64, len(cases))
	for i, c := range cases {
		out[i] = c.log
	}
	return out
}
