package noise

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

	// Family names cases that one change of the program is likely to meet
	// together, such as those of a variant; "" if there are no others.
	Family string

	// Subject is the format or model whose cases all variants are; "" if there is none.
	Subject string

	// Limits are the ratios, new to old, of the ceilings that may bound the
	// case: what the machine alone may have made of it. None if none was
	// measured.
	Limits []float64

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
	Subject Kind = iota // a Subject: in all classes and groups
	Family              // a Family
)

// A FamilyChange is how the cases of a family or a subject differ together.
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
//   - What a case takes is the median of its processes, less what each pass, round and
//     process did to its neighbours, the cases and ceilings of one class and group, which took
//     turns.
//   - Its change is the logarithm of new to old, less the median of its neighbours: what most
//     of them have in common is not theirs. Of a coarse case, and of fewer than three
//     neighbours, it is the median of the class.
//   - Its noise comes from its processes (a single process is cut into thirds) and from how
//     their samples scatter, moderated by its class, and from a deviation between runs that
//     makes of the noise of a class the distances that are seen, by their median. Tails are
//     those of Student's t (constants.go).
//   - The cases of a family are also judged together, by the mean of their changes, each
//     weighted by the inverse of its variance, where they agree; and of a subject, such as a
//     format, what its neighbours have in common, where there are subjects enough to tell by how
//     much they differ, and the runs are alike for half of its cases.
//   - What is called different is so such that a share of 5% is expected to be false
//     (Benjamini and Hochberg, Controlling the false discovery rate, Journal of the Royal
//     Statistical Society B 57, 1995). Where nothing differs, that is a chance of 5% of naming
//     anything.
//   - The suite is called different if the median of its ratios lies beyond what the ceilings
//     did, by 3%, by what processes differ by and by what a single case strays, and no class
//     contradicts. A class is, by 5%. Of runs that are not alike, or whose ceilings moved by as
//     much, neither is.
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
	all := contrastsOf(slices.Concat(cases, ceilings))
	type turns struct{ class, group string }
	groups := grouped(all, func(c *contrast) turns { return turns{c.Class(), c.New.group} })
	for _, near := range groups {
		measure(near)
	}
	contrasts := all[:len(cases)]
	moderate(contrasts)
	if copied(contrasts) {
		for _, c := range contrasts {
			c.noise.value = 0
		}
	}
	classes := grouped(contrasts, func(c *contrast) string { return c.Class() })
	for _, class := range classes {
		ch.OneProcess = ch.OneProcess || slices.ContainsFunc(class, (*contrast).oneProcess)
		shift := 0.0
		if len(class) >= ManyCases {
			shift = Median(logsOf(class))
		} else if !ch.Few {
			shift = Median(logsOf(contrasts))
		}
		for _, c := range class {
			c.common, c.shift = shift, shift
		}
	}
	if !ch.Few && len(groups) > len(classes) {
		for _, near := range groups {
			share(near)
		}
	}
	for _, class := range classes {
		between := fewNoise
		switch {
		case len(class) >= ManyCases:
			between = betweenRuns(class)
		case !ch.Few:
			between = betweenRuns(contrasts)
		}
		for _, c := range class {
			c.between, c.scale = between, c.strays*math.Hypot(math.Sqrt(c.noise.value), between)
		}
	}
	ch.judge(contrasts)
	ch.shifts(contrasts, classes)
	return ch
}

// shifts says what the suite and each class have in common.
func (ch *Changes) shifts(contrasts []*contrast, classes [][]*contrast) {
	ch.Suite = shiftOf("", contrasts, suiteNoise)
	agree := !ch.Few
	for _, class := range classes {
		s := shiftOf(class[0].Class(), class, classNoise)
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
}

// judge sets the changes of cases, families and subjects. Each of these kinds has its share of the
// false discoveries (weights: Genovese, Roeder and Wasserman, False discovery control with p-value
// weighting, Biometrika 93, 2006): of families and subjects there are few, and more is known of them.
func (ch *Changes) judge(cases []*contrast) {
	families := slices.DeleteFunc(grouped(cases, func(c *contrast) string { return c.Family }),
		func(f []*contrast) bool { return f[0].Family == "" || len(f) < 2 })
	subjects := subjectsOf(cases)
	kinds := 1 + min(len(families), 1) + min(len(subjects), 1)
	for i, c := range cases {
		ch.Cases[i] = changeOf(c.log, c.log-c.shift, c.beyond(), c.scale, studentT(min(c.dof(), caseDof)), kinds*len(cases))
	}
	add := func(kind Kind, name string, of []*contrast, x Change) {
		f := FamilyChange{Kind: kind, Name: name, Change: x}
		for _, c := range of {
			f.Cases = append(f.Cases, c.place)
		}
		ch.Families = append(ch.Families, f)
	}
	for _, of := range families {
		add(Family, of[0].Family, of, family(of, kinds*len(families)))
	}
	if len(subjects) > 0 {
		for i, x := range judgeSubjects(subjects, kinds*len(subjects)) {
			add(Subject, "all of "+subjects[i][0].Subject, subjects[i], x)
		}
	}
	ch.discover()
}

// A contrast is a case in both runs, in logarithms.
type contrast struct {
	Compared
	place          int       // among what is compared
	old, new       []float64 // by process, or by third of the only one
	log            float64   // of new to old
	common         float64   // what its class shares
	shift          float64   // what it is held to: what its neighbours share, or its class
	strays         float64   // how many times further it is from shift because that strays as well
	lo, hi         float64   // what the ceilings explain
	within         variance  // of a unit of replication, as its samples scatter
	noise          variance
	between, scale float64 // the deviation between runs that processes don't show, and that of log, less shift
}

func contrastsOf(cases []Compared) []*contrast {
	out := make([]*contrast, len(cases))
	for i, c := range cases {
		x := &contrast{Compared: c, place: i, strays: 1}
		for _, limit := range c.Limits {
			if math.Abs(math.Log(limit)) >= math.Log1p(ceilingNoise) {
				x.lo, x.hi = min(x.lo, math.Log(limit)), max(x.hi, math.Log(limit))
			}
		}
		out[i] = x
	}
	return out
}

// grouped are the contrasts that share a key, in the order in which they first occur.
func grouped[K comparable](all []*contrast, key func(*contrast) K) (groups [][]*contrast) {
	place := make(map[K]int)
	for _, c := range all {
		at, known := place[key(c)]
		if !known {
			at, groups = len(groups), append(groups, nil)
			place[key(c)] = at
		}
		groups[at] = append(groups[at], c)
	}
	return groups
}

// measure finds what each of some neighbours takes, in both runs.
func measure(near []*contrast) {
	old, new := make([]Estimate, len(near)), make([]Estimate, len(near))
	for i, c := range near {
		old[i], new[i] = c.Old, c.New
	}
	before, within := polished(old)
	after, too := polished(new)
	for i, c := range near {
		c.old, c.new, c.within = before[i], after[i], joint(within[i], too[i])
		c.log = Median(c.new) - Median(c.old)
	}
}

func (c *contrast) oneProcess() bool { return c.Old.Processes < 2 || c.New.Processes < 2 }

// copied reports whether a file is a copy of the other in most cases: what they share tells nothing of noise.
func copied(cases []*contrast) bool {
	same := 0
	for _, c := range cases {
		if slices.Equal(c.Old.Values, c.New.Values) {
			same++
		}
	}
	return len(cases) >= ManyCases && 2*same > len(cases)
}

// moderate sets the noise of cases as their processes show it; it is 0 where they show nothing.
// Coarse ones scatter in a way of their own.
func moderate(cases []*contrast) {
	type like struct {
		class  string
		coarse bool
	}
	for _, class := range grouped(cases, func(c *contrast) like { return like{c.Class(), c.Coarse} }) {
		spreads := make([]variance, len(class))
		for i, c := range class {
			spreads[i] = joint(varianceOf(c.old), varianceOf(c.new))
			// Where samples are of two states, the medians of most processes agree, and those of the next run need not.
			spreads[i].value = max(spreads[i].value, c.within.value)
		}
		pooled := pool(spreads)
		for i, c := range class {
			c.noise = spreads[i].moderate(pooled)
			c.noise.value *= ofMedian(len(c.old)) + ofMedian(len(c.new))
		}
	}
}

// joint is the variance of two groups.
func joint(a, b variance) variance {
	dof := a.dof + b.dof
	if dof == 0 {
		return variance{}
	}
	return variance{(a.value*a.dof + b.value*b.dof) / dof, dof}
}

// fine are those that are not coarse.
func fine(near []*contrast) []*contrast {
	return slices.DeleteFunc(slices.Clone(near), func(c *contrast) bool { return c.Coarse })
}

// share holds each case to what its neighbours have in common, where there are enough to tell. A
// coarse one stays with its class: another state of the machine meets pure Go in another way.
func share(near []*contrast) {
	if near = fine(near); len(near) < leastPooled {
		return
	}
	shift := Median(logsOf(near))
	for _, c := range near {
		c.shift, c.strays = shift, math.Sqrt(1+ofMedian(len(near)-1))
	}
}

// dof are the degrees of freedom of a case's noise. What is seen between runs alone has heavier tails than
// what processes show; a sum of both has those of Welch and Satterthwaite.
func (c *contrast) dof() float64 {
	dof := float64(tailDof)
	if c.oneProcess() {
		dof = betweenDof
	}
	if c.noise.dof > 0 {
		dof = max(1, min(dof, c.noise.dof))
	}
	own, between := c.noise.value, c.between*c.between
	if between == 0 {
		return dof
	}
	return min(dof, (own+between)*(own+between)/(own*own/dof+between*between/betweenDof))
}

// beyond is how far the case lies outside of what its class shares and, where
// ceilings moved, of what they did: the case may follow them or not.
func (c *contrast) beyond() float64 {
	if c.lo == 0 && c.hi == 0 {
		return c.log - c.shift
	}
	return max(0, c.log-max(c.hi, c.shift)) + min(0, c.log-min(c.lo, c.shift))
}

// betweenRuns is the deviation that makes of the cases' noise what is seen: half of them are within the
// quartiles of a normal distribution, which are no wider than those of heavier tails. Distances are taken from the outside of what the machine explains, for what the
// machine does to each case within is not known; and of cases whose own noise is not louder than most, for
// behind it nothing is seen.
func betweenRuns(cases []*contrast) float64 {
	noises := make([]float64, len(cases))
	for i, c := range cases {
		noises[i] = c.noise.value
	}
	loud := 4 * Median(noises)
	var squares []float64
	for _, c := range cases {
		if seen := math.Abs(c.beyond()); c.noise.value <= loud && seen > 0 {
			seen /= c.strays * distuv.UnitNormal.Quantile(0.75)
			squares = append(squares, seen*seen-c.noise.value)
		}
	}
	if len(squares) < ManyCases/2 {
		return leastNoise
	}
	return math.Sqrt(max(leastNoise*leastNoise, Median(squares)))
}

// studentT is the distribution of noise, of deviation 1.
func studentT(dof float64) distuv.StudentsT { return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: dof} }

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

// family judges the cases of a family together.
func family(members []*contrast, tests int) Change {
	var log, own, unexplained, weights float64
	dof := float64(tailDof)
	for _, c := range members {
		dof = min(dof, c.dof())
		w := 1 / (c.scale * c.scale)
		log, own, unexplained, weights = log+w*c.log, own+w*(c.log-c.shift), unexplained+w*c.beyond(), weights+w
	}
	tails := studentT(dof)
	ch := changeOf(log/weights, own/weights, unexplained/weights, 1/math.Sqrt(weights), tails, tests)
	for _, c := range members {
		// A change of some cases alone is theirs, and not the family's.
		if math.Abs(c.log-c.shift-own/weights) > c.scale*tails.Quantile(0.995) {
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
	shift := Median(logsOf(cases))
	var lo, hi, apart, common []float64
	for _, c := range cases {
		lo, hi = append(lo, c.lo), append(hi, c.hi)
		// What makes a single case uncertain, such as a busy CPU, may have met all
		// of them, so nothing less than the deviation of one is taken for shared.
		apart = append(apart, max(math.Abs(c.log-shift)/distuv.UnitNormal.Quantile(0.75), c.scale))
		common = append(common, math.Hypot(c.Old.common, c.New.common))
	}
	from, to, reach := Median(lo), Median(hi), max(math.Log1p(least), Median(apart), Median(common))
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

func logsOf(cases []*contrast) []float64 {
	out := make([]float64, len(cases))
	for i, c := range cases {
		out[i] = c.log
	}
	return out
}

// subjectsOf are the cases of each format or model of which some are held to their neighbours; none where they are
// too few to say by how much they differ.
func subjectsOf(cases []*contrast) [][]*contrast {
	all := slices.DeleteFunc(grouped(cases, func(c *contrast) string { return c.Subject }),
		func(s []*contrast) bool { return s[0].Subject == "" || len(beside(s)) == 0 })
	if len(all) < ManyCases {
		return nil
	}
	return all
}

// beside are the cases that are held to their neighbours.
func beside(cases []*contrast) []*contrast {
	return slices.DeleteFunc(slices.Clone(cases), func(c *contrast) bool { return c.strays == 1 })
}

// judgeSubjects judges what the neighbourhoods of each subject share, and their classes do not. A subject is held to the
// others: one of many variants moves what a class shares.
func judgeSubjects(subjects [][]*contrast, tests int) []Change {
	logs, owns := make([]float64, len(subjects)), make([]float64, len(subjects))
	for i, of := range subjects {
		var log, own []float64
		for _, c := range beside(of) {
			log, own = append(log, c.shift), append(own, c.shift-c.common)
		}
		logs[i], owns[i] = Median(log), Median(own)
	}
	middle, distances := Median(owns), make([]float64, len(subjects))
	for i := range owns {
		owns[i] -= middle
		distances[i] = math.Abs(owns[i])
	}
	tails := studentT(tailDof)
	scale := max(leastNoise, Median(distances)/tails.Quantile(0.75))
	out := make([]Change, len(subjects))
	for i, of := range subjects {
		out[i] = changeOf(logs[i], owns[i], owns[i], scale, tails, tests)
		unlike := 0
		for _, c := range of {
			if c.Unlike {
				unlike++
			}
		}
		if 2*unlike > len(of) {
			out[i].P = 1 // two disturbed runs differ in whole formats
		}
	}
	return out
}
