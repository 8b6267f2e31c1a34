package gate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"onebit/bench/results"
)

// Terms are what verdicts follow from, beside measurements and counts.
type Terms struct {
	Unfinished string            `json:"unfinished,omitempty"`
	Resumed    int               `json:"resumed,omitempty"` // how often rounds were added to a finished gate
	Early      bool              `json:"early,omitempty"`   // a regression was certain before the rest was decided, which ended the gate
	Rounds     int               `json:"rounds"`
	Looks      []Look            `json:"looks,omitempty"`
	Seconds    float64           `json:"seconds"`
	Setup      float64           `json:"setup"` // the part of Seconds before the first round
	Budget     float64           `json:"budget"`
	Threshold  float64           `json:"threshold"`        // of what has none of its own
	Alarm      float64           `json:"alarm"`            // the promised chance of any false alarm, of the rounds that were added last
	Prove      bool              `json:"prove,omitempty"`  // what is not proved to be the same is no pass
	Seed       string            `json:"seed"`             // of the order of processes; a text, for it has 64 bits
	Better     map[string]string `json:"better,omitempty"` // by unit: higher or lower
	LeftOut    []LeftOut         `json:"left_out"`
	Changes    []string          `json:"rule_changes"` // between base's file of rules and head's
	Code       *Code             `json:"code,omitempty"`
	CountedBy  string            `json:"counted_by,omitempty"` // what counted instructions
	Baseline   bool              `json:"baseline,omitempty"`   // base was recorded earlier
	Classes    string            `json:"classes,omitempty"`    // the keys of its names by which cases scatter alike
}

// A threshold is one that a unit of a benchmark has of its own.
type threshold struct {
	seriesName
	Threshold float64 `json:"threshold"`
}

// A seriesName is a unit of a benchmark.
type seriesName struct {
	Benchmark
	Unit string `json:"unit"`
}

func (r *Report) terms() Terms {
	o := r.Options
	t := Terms{
		Unfinished: r.Unfinished, Early: r.Early, Resumed: r.Resumed, Rounds: r.Rounds, Looks: r.looks,
		Seconds: r.Elapsed.Seconds(), Setup: r.Setup.Seconds(), Budget: o.Budget.Seconds(), Threshold: o.Threshold, Alarm: o.Alarm, Prove: o.Prove,
		Seed: strconv.FormatUint(o.Seed, 10), Better: map[string]string{}, LeftOut: append([]LeftOut{}, r.LeftOut...), Changes: append([]string{}, r.Changes...),
		Code: o.Code.document(), CountedBy: r.CountedBy, Baseline: r.baseline, Classes: r.classes,
	}
	for _, f := range r.Findings {
		if f.Judged() {
			t.Better[f.Unit] = results.Direction(f.Better)
		}
	}
	return t
}

// thresholds are those that findings have of their own.
func (r *Report) thresholds() (own []threshold) {
	opt := r.Options
	opt.fill()
	for _, f := range r.Findings {
		limit, ok := f.Threshold, f.Judged()
		if !f.counted() {
			limit, ok = opt.ThresholdOf(f.Benchmark, f.Unit)
		}
		if ok {
			own = append(own, threshold{seriesName{f.Benchmark, f.Unit}, limit})
		}
	}
	return own
}

// check refuses what no gate writes.
func (t Terms) check() error {
	if t.Resumed < 0 || t.Resumed > mostResumed || t.Threshold < 0 || t.Rounds < 0 {
		return errors.New("a number in it is none that a gate writes")
	}
	for i, l := range t.Looks {
		before := t.Looks[max(0, i-1)]
		if l.Number < 0 || l.Number > len(lookAt) || l.Resumed > t.Resumed || l.Rounds < before.Rounds || l.Resumed < before.Resumed {
			return fmt.Errorf("look %d of it is none that a gate takes", i+1)
		}
	}
	return nil
}

// mostResumed is more often than anyone adds rounds.
const mostResumed = 100

// options are those of the gate, as it ended; thresholds are those of series.
func (t Terms) options(thresholds map[seriesName]float64) Options {
	seed, _ := strconv.ParseUint(t.Seed, 10, 64) // 0 if another program wrote the file
	return Options{
		Threshold: t.Threshold, Alarm: t.Alarm, Prove: t.Prove, Budget: duration(t.Budget), Seed: seed, Code: cmp.Or(t.Code, new(Code)),
		Now: func() time.Time { return time.Time{} }, // reports know no clock
		ThresholdOf: func(b Benchmark, unit string) (float64, bool) {
			limit, ok := thresholds[seriesName{b, unit}]
			return limit, ok
		},
		Better: func(unit string) int {
			if t.Better == nil { // it was stopped, or is of a gate that did not say
				return results.UnitOf(unit).Better
			}
			return map[string]int{"higher": +1, "lower": -1}[t.Better[unit]]
		},
	}
}

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// judge gives the verdicts on measurements and counts again.
func (t Terms) judge(all []Measurement, counts []Count, thresholds map[seriesName]float64) *Report {
	opt := t.options(thresholds)
	report := &Report{Options: opt, Rounds: t.Rounds}
	if len(all) > 0 {
		report = t.replay(all, opt)
	}
	report.Elapsed, report.Setup, report.Early, report.Unfinished = duration(t.Seconds), duration(t.Setup), t.Early, t.Unfinished
	report.Changes, report.LeftOut, report.Counts, report.CountedBy = t.Changes, t.LeftOut, counts, t.CountedBy
	for _, c := range counts {
		if c.Refused == "" {
			limit, own := opt.ThresholdOf(c.Benchmark, results.Instructions)
			if !own {
				limit = t.Threshold
			}
			report.Findings = append(report.Findings, c.finding(limit))
		}
	}
	return report
}

// replay judges at each look as the gate did.
func (t Terms) replay(all []Measurement, opt Options) *Report {
	benchmarks := benchmarksOf(all)
	if t.Baseline {
		return t.replayBaseline(all, benchmarks, opt)
	}
	g := newGate(opt, benchmarks)
	looks := t.Looks
	if len(looks) > 0 {
		g.Alarm /= math.Pow(resumedShare, float64(t.Resumed))
	} else if g.resumed = t.Resumed; t.Unfinished == "" { // of a gate that did not say when it looked
		looks = []Look{{Rounds: t.Rounds, Number: len(lookAt)}}
	}
	for of := range rounds(all) {
		for b, found := range of {
			g.cases[b].add(found)
		}
		for g.round++; len(looks) > 0 && looks[0].Rounds == g.round; looks = looks[1:] {
			g.looks, g.KeepGoing = looks[0].Number, looks[0].KeepGoing
			g.lookAtCases()
			g.resumeTo(append(looks, Look{Resumed: t.Resumed})[1].Resumed)
		}
	}
	if g.round > t.Rounds && t.Rounds > 0 {
		g.round = t.Rounds // what follows is counted, or a round that was interrupted
	}
	return g.report()
}

// resumeTo adds rounds as often as they were before the next look.
func (g *gate) resumeTo(times int) {
	for g.resumed < times {
		g.resumed++
		g.reopen(g.report().Findings)
	}
}
