package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
)

// A Side is one of the programs that are compared.
type Side int

const (
	Base    Side = iota // what is there
	Head                // what is to be judged
	Control             // base once more, linked with other seeds: what it differs by is noise
)

var sideNames = [...]string{"base", "head", "control"}

func (s Side) String() string { return sideNames[s] }

// ParseSide reads the name of a side. The control was called twin until November 2026.
func ParseSide(name string) (s Side, ok bool) {
	if name == "twin" {
		return Control, true
	}
	i := slices.Index(sideNames[:], name)
	return Side(i), i >= 0
}

// A Benchmark is one benchmark of one package.
type Benchmark struct {
	Package string `json:"package"`
	Name    string `json:"benchmark"` // without "Benchmark" and without -GOMAXPROCS
}

// A Batch is what one process measures: a benchmark, or several of a package
// whose start takes longer than measuring does.
type Batch struct {
	Benchmarks []Benchmark
	N          int           // operations of each, the same on all sides
	Repeats    int           // in how many parts, of which the median counts; 0: as the target thinks best
	Took       time.Duration // that a process takes about
}

// MaxOps bounds the operations of benchmarks that take no time.
const MaxOps = 1_000_000_000

// A Target runs benchmarks. Its methods are called one at a time: Prepare for
// round 0, Plan, and then Run and Prepare in turn.
type Target interface {
	// Prepare makes the programs of a round, which measures these benchmarks:
	// each side's functions lie where they have not lain before, if that is
	// possible.
	Prepare(ctx context.Context, round int, benchmarks []Benchmark) error

	// Plan shares the benchmarks out among processes that measure each for
	// about so long.
	Plan(ctx context.Context, benchmarks []Benchmark, measure time.Duration) ([]Batch, error)

	// Run starts a process of a side, lets it measure a batch, and returns of
	// each of its benchmarks the typical value of each unit.
	Run(ctx context.Context, side Side, batch Batch) ([][]results.Metric, error)
}

// Options say how a gate decides.
type Options struct {
	Threshold float64       // the change that matters, as a fraction; 0: 0.03
	Alarm     float64       // chance of any false alarm; 0: 0.01
	Budget    time.Duration // for all from Start on; 0: 5 minutes
	Reserve   time.Duration // the part of Budget that is kept for what follows the rounds, such as profiles
	Start     time.Time     // of what was done before, such as listing; the zero time: now
	Process   time.Duration // how long a process should measure; 0: 30 ms
	Seed      uint64        // of the order of processes
	Prove     bool          // what is not proved to be the same is no pass
	Code      *Code         // what was settled before; nil: nothing was
	KeepGoing bool          // a regression that is certain does not end the gate
	Passes    int           // how often a round measures each side; 0: as often as is best
	Resume    *Results      // of a finished gate over the same benchmarks, to which rounds are added; nil: none

	// ThresholdOf gives the thresholds of benchmarks and units that have
	// another; nil: none has. Allocations that no process changes have 0 then.
	ThresholdOf func(b Benchmark, unit string) (threshold float64, ok bool)

	Better   func(unit string) int // +1: higher is better, -1: lower is; 0: not known, and judged by nobody
	Progress func(Progress)
	Warn     func(text string) // of what will keep the gate from a verdict
	Record   func(Measurement) // is given what every process of a round measured, as it ends
	Now      func() time.Time
}

// fill sets what is left to the gate.
func (opt *Options) fill() {
	opt.Threshold = cmp.Or(opt.Threshold, 0.03)
	opt.Alarm = cmp.Or(opt.Alarm, 0.01)
	opt.Budget = cmp.Or(opt.Budget, 5*time.Minute)
	opt.Process = cmp.Or(opt.Process, 30*time.Millisecond)
	opt.Code = cmp.Or(opt.Code, new(Code))
	if opt.Now == nil {
		opt.Now = clock.Now
	}
	if opt.Start.IsZero() {
		opt.Start = opt.Now()
	}
	if opt.Warn == nil {
		opt.Warn = func(string) {}
	}
	if opt.ThresholdOf == nil {
		opt.ThresholdOf = func(Benchmark, string) (float64, bool) { return 0, false }
	}
	if opt.Better == nil {
		opt.Better = func(unit string) int { return results.UnitOf(unit).Better }
	}
}

// elapsed is how long the gate has taken so far.
func (opt *Options) elapsed() time.Duration { return opt.Now().Sub(opt.Start) }

// tell says how far the gate has come, if that is asked for.
func (opt *Options) tell(p Progress) {
	if opt.Progress != nil {
		p.Elapsed, p.Budget = opt.elapsed(), opt.Budget
		opt.Progress(p)
	}
}

// matters is the change of a unit that matters. Of allocations that no process
// changes one more does.
func (opt *Options) matters(b Benchmark, unit string, exact bool) float64 {
	if threshold, ok := opt.ThresholdOf(b, unit); ok {
		return threshold
	}
	if exact && unit == results.Allocs {
		return 0
	}
	return opt.Threshold
}

// A Measurement is what one process of a round found.
type Measurement struct {
	Benchmark
	Side     Side
	Round    int           // from 0
	Position int           // in the round's order of this benchmark, from 0
	N        int           // operations
	Start    time.Duration // since the gate began
	Took     time.Duration // from starting the process to its end, with whatever else it measured
	Values   []results.Metric
}

// Progress says how far a gate has come.
type Progress struct {
	Doing           string
	Round           int
	Undecided, All  int
	Elapsed, Budget time.Duration
}

// A Finding is the verdict on one unit of one benchmark.
type Finding struct {
	Benchmark
	Unit      string
	Verdict   Verdict
	Better    int      // +1: higher is better; -1: lower is; 0: nobody has said, and it is not judged
	Pass      bool     // it is no regression
	Change    Interval // of log(head/base), positive is worse, with the bounds of the last look
	Threshold float64  // as a fraction
	Floor     float64  // how far base and control are known to lie apart, as a logarithm
	Exact     bool     // every process gave the same value: no statistics were needed
	Rounds    int      // that the verdict rests on: one that was proved at a look stays
	Base      []float64
	Head      []float64
	Control   []float64 // by round, as measured
}

// Judged reports whether its unit has a direction.
func (f Finding) Judged() bool { return f.Better != 0 }

// Of returns a side's values.
func (f Finding) Of(s Side) []float64 { return [...][]float64{f.Base, f.Head, f.Control}[s] }

// A Report is what a gate found.
type Report struct {
	Findings []Finding
	Alarms   []string // A/A pairs that differ beyond chance: then nothing is proved
	LeftOut  []LeftOut
	Changes  []string // of the rules, between base and head
	Rounds   int
	Needed   int // rounds below which no difference could be proved
	Elapsed  time.Duration
	Setup    time.Duration // the part of it before the first round
	Options  Options

	Counts    []Count // of instructions, if they were asked for
	CountedBy string  // what counted them

	Resumed    int    // how often rounds were added to a finished gate, each time with a third of its Alarm
	Early      bool   // a regression was certain before the rest was decided, which ended the gate
	Unfinished string // why the gate ended before it was done

	looks    []Look
	baseline bool   // base was recorded earlier
	classes  string // the keys of its names by which cases scatter alike
}

// Exit is the exit status: 0 if nothing is proved to be worse than its threshold,
// 1 if something is, 2 if that could not be measured, or not be proved where
// that is asked for, and 3 if the machine was unfit: base differs from itself, or
// there was too little time to prove anything.
func (r *Report) Exit() int {
	switch of := r.outcomes(); {
	case r.Unfinished != "":
		return 2
	case len(r.Alarms) > 0:
		return 3
	case of[isSlower] > 0:
		return 1
	case of[isUndecided] > 0 && r.Rounds < r.Needed:
		return 3
	case (of[isUndecided] > 0 || r.unwitnessed()) && r.Options.Prove:
		return 2
	}
	return 0
}

// Run judges head against base. When ctx ends it returns what is known together
// with the cause. Where the code has settled everything there may be no benchmark.
func Run(ctx context.Context, target Target, benchmarks []Benchmark, opt Options) (*Report, error) {
	opt.fill()
	switch {
	case len(benchmarks) == 0 && len(opt.Code.Settled()) > 0:
		return &Report{Options: opt, Elapsed: opt.elapsed()}, nil
	case len(benchmarks) == 0:
		return nil, errors.New("there is no benchmark to compare")
	}
	g := newGate(opt, benchmarks)
	g.target, g.rng = target, rand.New(rand.NewPCG(opt.Seed, 0))
	if err := g.resume(opt.Resume); err != nil {
		return nil, err
	}
	err := g.run(ctx)
	report := g.report()
	if err != nil {
		report.Unfinished = unfinished(err)
	}
	return report, err
}

// unfinished is why a gate ended before it was done.
func unfinished(err error) string {
	if errors.Is(err, context.Canceled) {
		return "it was interrupted"
	}
	return err.Error()
}

// A gate is the state of one Run.
type gate struct {
	Options
	casesOf
	target  Target
	rng     *rand.Rand
	batches []Batch
	setup   time.Duration // before the first round
	linking time.Duration // that preparing the last round took
	round   int
	looks   int
	looked  []Look
	certain bool // that something is slower, as of the last look
	early   bool // that ended the gate
	resumption
}

func newGate(opt Options, benchmarks []Benchmark) *gate {
	return &gate{Options: opt, casesOf: newCases(benchmarks)}
}

// casesOf are benchmarks with what was measured of them.
type casesOf struct {
	cases map[Benchmark]*caseState
	order []*caseState // as they were given
}

func newCases(benchmarks []Benchmark) casesOf {
	c := casesOf{cases: map[Benchmark]*caseState{}}
	for _, b := range benchmarks {
		c.cases[b] = &caseState{Benchmark: b, units: map[string]*series{}}
		c.order = append(c.order, c.cases[b])
	}
	return c
}

// A caseState is a benchmark with what was measured of it.
type caseState struct {
	Benchmark
	n       int // operations of a process
	decided bool
	units   map[string]*series
	order   []string // of the units
}

// unit is the series of a unit, which is begun if it is new.
func (c *caseState) unit(name string) *series {
	if c.units[name] == nil {
		c.units[name] = new(series)
		c.order = append(c.order, name)
	}
	return c.units[name]
}

// A series is one unit of one benchmark: by side, a value for each round.
type series struct {
	sides  [3][]float64
	proved *Finding // at a look that has its own share of the chance of a false claim, so that later rounds change nothing
}

func (g *gate) run(ctx context.Context) (err error) {
	if err := g.prepare(ctx, g.undecided()); err != nil {
		return err
	}
	g.progress("calibrate")
	if g.batches, err = g.target.Plan(ctx, g.undecided(), g.Process); err != nil {
		return err
	}
	g.setup = g.elapsed()
	if err := g.fits(); err != nil {
		return err
	}
	for g.looks < len(lookAt) {
		if err := g.oneRound(ctx); err != nil {
			return err
		}
		g.round++
		spent := float64(g.elapsed()-g.setup) / float64(max(g.Budget-g.Reserve-g.setup, 1))
		each := spent / float64(g.round-g.rounds)
		// The look is nearer before its time than after it, and a round that
		// would end after the budget is not begun.
		if spent += each / 2; spent+each/2 > 1 {
			spent = 1
		}
		if spent >= lookAt[g.looks] || g.round == exactRounds && g.allExact() {
			g.look(spent)
		}
		open := g.undecided()
		if g.early = g.certain && !g.KeepGoing && len(open) > 0 && g.looks < len(lookAt); g.early || len(open) == 0 {
			return nil
		}
		if err := g.prepare(ctx, open); err != nil {
			return err
		}
	}
	return nil
}

// undecided are the benchmarks that are still measured.
func (g *gate) undecided() (open []Benchmark) {
	for _, c := range g.order {
		if !c.decided {
			open = append(open, c.Benchmark)
		}
	}
	return open
}

// A BudgetError says that the budget ends before anything is measured: more time
// would have an answer.
type BudgetError string

func (e BudgetError) Error() string { return string(e) }

// fits refuses a budget that ends before the first round would, and warns of
// one that ends before anything that chance decides could be proved. Preparing
// a round takes as long as it did once.
func (g *gate) fits() error {
	measure := time.Duration(0)
	for _, b := range g.batches {
		measure += turns * b.Took
	}
	needed := max(1, minRounds(g.Alarm, len(g.order))-g.rounds)
	setup, budget := g.setup-g.resumption.spent, g.Budget-g.resumption.spent
	all := (setup + time.Duration(needed)*(g.linking+measure) + g.Reserve).Round(time.Second)
	switch {
	case setup+measure+g.Reserve > budget:
		return BudgetError(fmt.Sprintf("the budget of %v ends before the first round would: setting up took %v, a round takes about %v, and %d rounds need %v in all",
			budget, setup.Round(time.Second), (g.linking + measure).Round(time.Second), needed, all))
	case all > budget:
		g.Warn(fmt.Sprintf("the budget of %v may be too short to prove anything: %d rounds of about %v each are needed, and %v with setting up",
			budget, needed, (g.linking + measure).Round(time.Second/10), all))
	}
	return nil
}

// exactRounds are enough to see that no process changes a value: if that is so
// of all, nothing is gained by waiting.
const exactRounds = 3

func (g *gate) allExact() bool {
	for _, c := range g.order {
		for _, s := range c.units {
			if !s.exact() {
				return false
			}
		}
	}
	return true
}

// turns are the sides that a pass measures, each in a process.
const turns = 3

// passes is how often a round measures each side: once, since a round with another
// layout tells more than a second pass, or twice where that takes less time than
// linking does.
func (g *gate) passes() int {
	if g.Passes > 0 {
		return g.Passes
	}
	pass := time.Duration(0)
	for _, b := range g.batches {
		if slices.ContainsFunc(b.Benchmarks, func(b Benchmark) bool { return !g.cases[b].decided }) {
			pass += turns * b.Took
		}
	}
	if pass < g.linking {
		return 2
	}
	return 1
}

// prepare prepares a round and notes how long that takes.
func (g *gate) prepare(ctx context.Context, open []Benchmark) error {
	begin := g.elapsed()
	err := g.target.Prepare(ctx, g.round, open)
	g.linking = g.elapsed() - begin
	return err
}

// oneRound measures every undecided benchmark.
func (g *gate) oneRound(ctx context.Context) error {
	passes := g.passes()
	for _, at := range g.rng.Perm(len(g.batches)) {
		batch := g.batches[at]
		batch.Benchmarks = slices.DeleteFunc(slices.Clone(batch.Benchmarks), func(b Benchmark) bool { return g.cases[b].decided })
		if len(batch.Benchmarks) == 0 {
			continue
		}
		g.progress("measure")
		if err := g.inTurn(ctx, batch, passes); err != nil {
			return err
		}
	}
	return nil
}

// inTurn measures a batch on base, head and control in a random order, and in a
// second pass in the reverse order, so that what drifts in between meets them alike.
func (g *gate) inTurn(ctx context.Context, batch Batch, passes int) error {
	order := []Side{Base, Head, Control}
	g.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	order = append(order, order[2], order[1], order[0])
	all := make([]found, len(batch.Benchmarks))
	for position, side := range order[:passes*turns] {
		values, err := g.measure(ctx, batch, side, position)
		if err != nil {
			return err
		}
		for i := range batch.Benchmarks {
			if all[i] == nil {
				all[i] = found{}
			}
			all[i].keep(side, values[i])
		}
	}
	for i, b := range batch.Benchmarks {
		g.cases[b].add(all[i])
	}
	return nil
}

// measure runs one process of the round and records what it found.
func (g *gate) measure(ctx context.Context, batch Batch, side Side, position int) ([][]results.Metric, error) {
	start := g.elapsed()
	values, err := g.target.Run(ctx, side, batch)
	if err != nil {
		return nil, err
	}
	for i, b := range batch.Benchmarks {
		if g.Record != nil {
			g.Record(Measurement{
				Benchmark: b, Side: side, Round: g.round, Position: position, N: batch.N,
				Start: start, Took: g.elapsed() - start, Values: values[i],
			})
		}
	}
	return values, nil
}

// add keeps the mean of each side's processes of the round. The best of them would
// make what is steadier look slower, and would not see that a slow mode becomes
// more frequent. A unit that not every process reports is left out.
func (c *caseState) add(f found) {
	for _, unit := range slices.Sorted(maps.Keys(f)) {
		sides := f[unit]
		if slices.ContainsFunc(sides[:], func(v []float64) bool { return len(v) == 0 || len(v) != len(sides[Base]) }) {
			continue
		}
		s := c.unit(unit)
		for side, values := range sides {
			s.sides[side] = append(s.sides[side], mean(values))
		}
	}
}

// look judges every undecided benchmark with its share of the chance of a
// false alarm. Several looks may be due at once; they are one then.
func (g *gate) look(spent float64) {
	for g.looks < len(lookAt) && spent >= lookAt[g.looks] {
		g.looks++
	}
	worse := g.lookAtCases()
	g.certain = worse && g.round >= exactRounds && len(g.alarms()) == 0
}

// A Look is when a gate judged.
type Look struct {
	Rounds    int  `json:"rounds"`            // that were over
	Number    int  `json:"number"`            // how many looks were due by then
	Resumed   int  `json:"resumed,omitempty"` // how often rounds had been added
	KeepGoing bool `json:"keep_going,omitempty"`
}

// lookAtCases judges all and reports whether anything is SLOWER.
func (g *gate) lookAtCases() (worse bool) {
	g.looked = append(g.looked, Look{g.round, g.looks, g.resumed, g.KeepGoing})
	for _, c := range g.order {
		worse = g.lookAtCase(c) || worse
	}
	return worse
}

// lookAtCase judges a benchmark and reports whether any of its units is SLOWER.
// What is proved stays, and what a benchmark is left with that gives its time to
// others.
func (g *gate) lookAtCase(c *caseState) (worse bool) {
	open := map[string]Finding{}
	c.decided = true
	for _, unit := range c.order {
		f := g.verdict(c, unit)
		worse = worse || f.Verdict == Slower
		switch {
		case f.open():
			open[unit] = f
			c.decided = c.decided && f.leaves() && !g.KeepGoing
		case f.Judged() && !f.Exact:
			c.units[unit].proved = &f
		}
	}
	if c.decided {
		for unit, f := range open {
			c.units[unit].proved = &f
		}
	}
	return worse
}

// rule is that of the last look.
func (g *gate) rule(c *caseState, unit string) rule {
	threshold := g.matters(c.Benchmark, unit, c.units[unit].exact())
	share := 0.0
	if g.looks > 0 {
		share = spending[g.looks-1]
	}
	r := rule{threshold: math.Log1p(threshold), alarm: g.Alarm * share / float64(max(g.tests(), 1)), same: earlyEquivalence}
	if r.last = g.looks == len(lookAt); r.last {
		r.same = equivalence
	}
	return r
}

// tests is how many series chance can decide.
func (g *gate) tests() (n int) {
	for _, c := range g.order {
		for _, unit := range c.order {
			if s := c.units[unit]; g.Better(unit) != 0 && !(s.exact() && s.sides[Head][0] == s.sides[Base][0]) {
				n++
			}
		}
	}
	return n
}

// exact reports whether every round gave each side's value again.
func (s *series) exact() bool {
	for _, values := range s.sides {
		if slices.Min(values) != slices.Max(values) {
			return false
		}
	}
	return s.sides[Base][0] == s.sides[Control][0]
}

// zero is added to values before their logarithms are taken: 1 if there is a
// 0, as among allocations that only some processes make, and else nothing.
func (s *series) zero() float64 {
	for _, values := range s.sides {
		if slices.Min(values) == 0 {
			return 1
		}
	}
	return 0
}

// triples are the values of the rounds in which no side has a negative one.
func (s *series) triples(better int) (t triples) {
	zero := s.zero()
	for i, base := range s.sides[Base] {
		base, head, control := base+zero, s.sides[Head][i]+zero, s.sides[Control][i]+zero
		if base > 0 && head > 0 && control > 0 {
			sign := -float64(better)
			t = append(t, [3]float64{sign * math.Log(base), sign * math.Log(head), sign * math.Log(control)})
		}
	}
	return t
}

// verdict is a finding on a unit as things stand, or stood when it was proved.
func (g *gate) verdict(c *caseState, unit string) Finding {
	s, better, r := c.units[unit], g.Better(unit), g.rule(c, unit)
	if s.proved != nil {
		return *s.proved
	}
	f := Finding{
		Benchmark: c.Benchmark, Unit: unit, Better: better, Threshold: math.Expm1(r.threshold), Rounds: len(s.sides[Base]),
		Base: s.sides[Base], Head: s.sides[Head], Control: s.sides[Control],
	}
	if !f.Judged() {
		f.Pass = true
		return f
	}
	if s.exact() {
		return f.exactly(r, better).unlessByChance(r)
	}
	t := s.triples(better)
	if len(t) > 0 {
		f.Floor = floor(t.control())
	}
	f.Verdict, f.Pass = r.judge(t, f.Floor)
	f.Change = t.interval(equivalence)
	return f
}

// open reports whether more rounds may change the verdict.
func (f Finding) open() bool {
	return f.Judged() && (f.Verdict == Unsure || f.Verdict == Within && !f.Pass)
}

// leaves reports whether an open finding gives its time to others: it is proved to
// be no regression, and does not look like progress either.
func (f Finding) leaves() bool {
	return f.Pass && f.Change.Center > -math.Log1p(f.Threshold)
}

// unlessByChance takes a difference of values that no process has changed for one
// only after as many rounds as chance needs to be excluded: of values that take turns
// between two, each side may have had its own in a few rounds.
func (f Finding) unlessByChance(r rule) Finding {
	chance := math.Pow(turns, -float64(len(f.Base)))
	if f.Verdict == Slower && chance > r.alarm*slowerShare || f.Verdict == Faster && chance > r.alarm*fasterShare {
		f.Verdict = Unsure
	}
	return f
}

// exactly judges values that no process changes: allocations, errors, sizes.
func (f Finding) exactly(r rule, better int) Finding {
	base, head := f.Base[0], f.Head[0]
	f.Exact = true
	change := 0.0
	switch {
	case base == head:
	case base > 0 && head > 0:
		change = -float64(better) * math.Log(head/base)
	default:
		change = math.Inf(int(math.Copysign(1, -float64(better)*(head-base))))
	}
	f.Change = Interval{change, change, change}
	switch {
	case change > r.threshold:
		f.Verdict = Slower
	case change < -r.threshold:
		f.Verdict = Faster
	default:
		f.Verdict = Same
	}
	f.Pass = f.Verdict != Slower
	return f
}

func (g *gate) report() *Report {
	r := &Report{Rounds: g.round, Needed: minRounds(g.Alarm, g.tests()), Elapsed: g.elapsed(), Setup: g.setup - g.measured, Options: g.Options, Alarms: g.alarms(), Resumed: g.resumed, Early: g.early, looks: g.looked}
	for _, c := range g.order {
		for _, unit := range c.order {
			r.Findings = append(r.Findings, g.verdict(c, unit))
		}
	}
	return r
}

// alarms name what base and its control differ in beyond chance.
func (g *gate) alarms() (all []string) {
	for _, c := range g.order {
		for _, unit := range c.order {
			s, better := c.units[unit], g.Better(unit)
			if better == 0 || s.exact() {
				continue
			}
			if control := s.triples(better).control(); len(control) > 0 && g.rule(c, unit).differs(control) {
				all = append(all, fmt.Sprintf("%s %s: base differs from itself by %s: something other than the code decides", c.Name, unit, Percent(hodgesLehmann(control, equivalence).Center)))
			}
		}
	}
	return all
}

func (g *gate) progress(doing string) {
	g.tell(Progress{Doing: doing, Round: g.round, Undecided: len(g.undecided()), All: len(g.order)})
}
