package gate

import (
	"cmp"
	"math"
	"slices"

	"onebit/bench/noise"
	"onebit/bench/results"
)

// A Document is a report in JSON, for programs: fields may be added, and none
// changes its name or meaning. Times are in seconds, changes are fractions.
type Document struct {
	Summary string   `json:"summary"` // the first line of every form of the report
	Advice  []string `json:"advice"`  // sentences: what could hide in what is undecided, and what would decide it
	Exit    int      `json:"exit"`    // 0: nothing is proved to be worse; 1: something is; 2: it could not be measured, or not be proved; 3: the machine was unfit
	Terms
	Needed   int               `json:"needed"` // rounds below which nothing could be proved
	Alarms   []string          `json:"alarms"`
	Findings []DocumentFinding `json:"findings"`
	Profiles []Profile         `json:"profiles,omitempty"`
	Counts   []Count           `json:"counts,omitempty"`
}

// A DocumentFinding is the verdict on one unit of one benchmark.
type DocumentFinding struct {
	Benchmark
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
		Summary: r.Summary(), Advice: append([]string{}, r.Advice()...), Exit: r.Exit(), Terms: r.terms(), Needed: r.Needed,
		Alarms: append([]string{}, r.Alarms...), Findings: []DocumentFinding{}, Profiles: profiles, Counts: r.Counts,
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, DocumentFinding{
			Benchmark: f.Benchmark, Unit: f.Unit, Better: results.Direction(f.Better),
			Verdict: f.Verdict, Pass: f.Pass, Reason: f.Reason(),
			Ratio: ratio(f.Change.Center), Lo: ratio(f.Change.Lo), Hi: ratio(f.Change.Hi),
			Threshold: f.Threshold, Floor: math.Expm1(f.Floor), Exact: f.Exact, Rounds: f.Rounds, Base: f.Base, Head: f.Head, Control: f.Control,
		})
	}
	return d
}

// ratio is nil for what JSON has no number for.
func ratio(log float64) *float64 {
	if r := math.Exp(log); r > 0 && !math.IsInf(r, 0) {
		return &r
	}
	return nil
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
