package gate

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"onebit/bench/noise"
	"onebit/bench/results"
)

// A Document is a report in JSON, for programs: fields may be added, and none
// changes its name or meaning. Times are in seconds, changes are fractions.
type Document struct {
	Summary    string            `json:"summary"` // the first line of every form of the report
	Advice     []string          `json:"advice"`  // sentences: what could hide in what is undecided, and what would decide it
	Exit       int               `json:"exit"`    // 0: nothing is proved to be worse; 1: something is; 2: it could not be measured, or not be proved; 3: the machine was unfit
	Unfinished string            `json:"unfinished,omitempty"`
	Resumed    int               `json:"resumed,omitempty"` // how often rounds were added to a finished gate
	Early      bool              `json:"early,omitempty"`   // a regression was certain before the rest was decided, which ended the gate
	Rounds     int               `json:"rounds"`
	Needed     int               `json:"needed"` // rounds below which nothing could be proved
	Seconds    float64           `json:"seconds"`
	Setup      float64           `json:"setup"` // the part of Seconds before the first round
	Budget     float64           `json:"budget"`
	Threshold  float64           `json:"threshold"`       // of what has none of its own
	Alarm      float64           `json:"alarm"`           // the promised chance of any false alarm, of the rounds that were added last
	Prove      bool              `json:"prove,omitempty"` // what is not proved to be the same is no pass
	Seed       string            `json:"seed"`            // of the order of processes; a text, for it has 64 bits
	Alarms     []string          `json:"alarms"`
	LeftOut    []DocumentLeftOut `json:"left_out"`
	Changes    []string          `json:"rule_changes"` // between base's file of rules and head's
	Code       *DocumentCode     `json:"code,omitempty"`
	Findings   []DocumentFinding `json:"findings"`
	Profiles   []Profile         `json:"profiles,omitempty"`
	CountedBy  string            `json:"counted_by,omitempty"` // what counted instructions
	Counts     []Count           `json:"counts,omitempty"`
}

// A DocumentLeftOut is a benchmark that is not judged.
type DocumentLeftOut struct {
	Package   string `json:"package"`
	Benchmark string `json:"benchmark"`
	Reason    string `json:"reason"`
}

// A DocumentCode is what the code of both sides said before anything was timed.
// Benchmarks are those of the top level.
type DocumentCode struct {
	Same      []DocumentReached `json:"same"`
	Reached   []DocumentReached `json:"reached"`
	Unreached []string          `json:"unreached"` // functions that differ and that no benchmark reaches
	Unknown   string            `json:"unknown,omitempty"`
	Measured  bool              `json:"measured,omitempty"` // the same ones were measured all the same
}

// A DocumentReached is a benchmark, and what it reaches that differs.
type DocumentReached struct {
	Package   string `json:"package"`
	Benchmark string `json:"benchmark"`
	Why       string `json:"why,omitempty"`
}

func (c *Code) document() *DocumentCode {
	if c == nil || len(c.Same)+len(c.Reached) == 0 && c.Unknown == "" {
		return nil
	}
	d := &DocumentCode{Same: []DocumentReached{}, Reached: []DocumentReached{}, Unreached: append([]string{}, c.Unreached...), Unknown: c.Unknown, Measured: c.Measured}
	for _, b := range c.Same {
		d.Same = append(d.Same, DocumentReached{Package: b.Package, Benchmark: b.Name})
	}
	for _, b := range c.Reached {
		d.Reached = append(d.Reached, DocumentReached{b.Package, b.Name, b.Why})
	}
	return d
}

func (d *DocumentCode) code() *Code {
	if d == nil {
		return new(Code)
	}
	c := &Code{Unreached: d.Unreached, Unknown: d.Unknown, Measured: d.Measured}
	for _, b := range d.Same {
		c.Same = append(c.Same, Benchmark{b.Package, b.Benchmark})
	}
	for _, b := range d.Reached {
		c.Reached = append(c.Reached, Reached{Benchmark{b.Package, b.Benchmark}, b.Why})
	}
	return c
}

// A DocumentFinding is the verdict on one unit of one benchmark.
type DocumentFinding struct {
	Package   string    `json:"package"`
	Benchmark string    `json:"benchmark"`
	Unit      string    `json:"unit"`
	Better    string    `json:"better,omitempty"` // higher or lower; absent if nobody has said, and then nothing is judged
	Verdict   Verdict   `json:"verdict"`
	Pass      bool      `json:"pass"`            // it is no regression
	Reason    string    `json:"reason"`          // of the verdict
	Ratio     *float64  `json:"ratio,omitempty"` // head over base, turned so that above 1 is worse; absent if that is infinite
	Lo        *float64  `json:"lo,omitempty"`    // bounds of the 95% interval, absent where the data gives none
	Hi        *float64  `json:"hi,omitempty"`
	Threshold float64   `json:"threshold"`
	Floor     float64   `json:"floor"`            // how far base and its control are known to lie apart
	Exact     bool      `json:"exact,omitempty"`  // no process changes the values: no statistics were needed
	Rounds    int       `json:"rounds,omitempty"` // that the verdict rests on; absent of one by processes that were recorded earlier
	Base      []float64 `json:"base,omitempty"`   // by round, as measured
	Head      []float64 `json:"head,omitempty"`
	Control   []float64 `json:"control,omitempty"`
}

// NewDocument describes a report.
func NewDocument(r *Report, profiles []Profile) *Document {
	d := &Document{
		Summary: r.Summary(), Advice: append([]string{}, r.Advice()...), Exit: r.Exit(), Unfinished: r.Unfinished, Early: r.Early, Resumed: r.Resumed, Rounds: r.Rounds, Needed: r.Needed,
		Seconds: r.Elapsed.Seconds(), Setup: r.Setup.Seconds(), Budget: r.Options.Budget.Seconds(), Threshold: r.Options.Threshold,
		Alarm: r.Options.Alarm, Prove: r.Options.Prove, Seed: strconv.FormatUint(r.Options.Seed, 10),
		Alarms: append([]string{}, r.Alarms...), Changes: append([]string{}, r.Changes...), LeftOut: []DocumentLeftOut{}, Findings: []DocumentFinding{}, Profiles: profiles,
		Code: r.Options.Code.document(), CountedBy: r.CountedBy, Counts: r.Counts,
	}
	for _, l := range r.LeftOut {
		d.LeftOut = append(d.LeftOut, DocumentLeftOut{l.Package, l.Name, l.Reason})
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, DocumentFinding{
			Package: f.Package, Benchmark: f.Name, Unit: f.Unit, Better: results.Direction(f.Better),
			Verdict: f.Verdict, Pass: f.Pass, Reason: f.Reason(),
			Ratio: ratio(f.Change.Center), Lo: ratio(f.Change.Lo), Hi: ratio(f.Change.Hi),
			Threshold: f.Threshold, Floor: math.Expm1(f.Floor), Exact: f.Exact, Rounds: f.Rounds, Base: f.Base, Head: f.Head, Control: f.Control,
		})
	}
	return d
}

// report is what NewDocument described.
func (d *Document) report() *Report {
	seed, _ := strconv.ParseUint(d.Seed, 10, 64) // 0 if another program wrote the file
	better := map[string]int{}
	r := &Report{
		Alarms: d.Alarms, Changes: d.Changes, Rounds: d.Rounds, Needed: d.Needed, Elapsed: duration(d.Seconds), Setup: duration(d.Setup), Unfinished: d.Unfinished, Early: d.Early, Resumed: d.Resumed, CountedBy: d.CountedBy, Counts: d.Counts,
		Options: Options{Threshold: d.Threshold, Alarm: d.Alarm, Prove: d.Prove, Budget: duration(d.Budget), Seed: seed, Code: d.Code.code()},
	}
	r.Options.Better = func(unit string) int { return better[unit] }
	for _, l := range d.LeftOut {
		r.LeftOut = append(r.LeftOut, LeftOut{Benchmark{l.Package, l.Benchmark}, l.Reason})
	}
	for _, f := range d.Findings {
		r.Findings = append(r.Findings, f.finding())
		better[f.Unit] = r.Findings[len(r.Findings)-1].Better
	}
	return r
}

func (f DocumentFinding) finding() Finding {
	beyond := math.Inf(map[Verdict]int{Faster: -1}[f.Verdict]) // of an exact change from or to 0
	change := Interval{logOf(f.Ratio, beyond), logOf(f.Lo, math.Inf(-1)), logOf(f.Hi, math.Inf(1))}
	if f.Exact {
		change.Lo, change.Hi = change.Center, change.Center
	}
	return Finding{
		Benchmark: Benchmark{f.Package, f.Benchmark}, Unit: f.Unit, Verdict: f.Verdict, Better: map[string]int{"higher": +1, "lower": -1}[f.Better], Pass: f.Pass,
		Change: change, Threshold: f.Threshold, Floor: math.Log1p(f.Floor), Exact: f.Exact, Rounds: f.Rounds,
		Base: f.Base, Head: f.Head, Control: f.Control,
	}
}

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// ratio is nil for what JSON has no number for.
func ratio(log float64) *float64 {
	if r := math.Exp(log); r > 0 && !math.IsInf(r, 0) {
		return &r
	}
	return nil
}

func logOf(ratio *float64, absent float64) float64 {
	if ratio == nil {
		return absent
	}
	return math.Log(*ratio)
}

// Typical is the middle of a side's values by round; NaN if there are none. Where
// a change was estimated, base and head are as far apart as it says: the middle is
// that of all sides, head's without the change.
func (f Finding) Typical(s Side) float64 {
	if len(f.Of(s)) == 0 {
		return math.NaN()
	}
	factor, ok := f.factor()
	if !ok {
		return noise.Median(f.Of(s))
	}
	values := slices.Concat(f.Base, f.Control)
	for _, v := range f.Head {
		values = append(values, v/factor)
	}
	middle := noise.Median(values)
	if s == Head {
		middle *= factor
	}
	return middle
}

// factor is what takes base to head by the estimated change.
func (f Finding) factor() (factor float64, ok bool) {
	if f.Exact || f.Better == 0 || min(len(f.Base), len(f.Head), len(f.Control)) == 0 || math.IsNaN(f.Change.Center) || (&series{sides: [3][]float64{f.Base, f.Head, f.Control}}).zero() != 0 {
		return 0, false
	}
	return math.Exp(-float64(f.Better) * f.Change.Center), true
}

// Severity orders findings: what is worse comes first, then what is undecided,
// better and the same, each with the largest change first.
func Severity(a, b Finding) int {
	rank := map[Verdict]int{Slower: 0, Within: 1, Unsure: 2, Faster: 3, Same: 4}
	return cmp.Or(
		cmp.Compare(rank[a.Verdict], rank[b.Verdict]),
		cmp.Compare(math.Abs(b.Change.Center), math.Abs(a.Change.Center)),
	)
}
