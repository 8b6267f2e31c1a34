package digest

import (
	"onebit/bench/results"
)

type JSON struct {
	Settings map[string]string   `json:"settings"` // the header
	Units    map[string]jsonUnit `json:"units"`
	Cases    []jsonCase          `json:"cases"`
	Floors   []jsonFloor         `json:"floors"` // none without an A/A pair
	Failures []jsonFailure       `json:"failures"`
	Warnings []string            `json:"warnings"`
}

type jsonUnit struct {
	Better string `json:"better,omitempty"` // lower or higher
	Exact  bool   `json:"exact,omitempty"`  // computed, not measured
}

type jsonCase struct {
	Name   string               `json:"name"` // without Benchmark and -GOMAXPROCS
	Base   string               `json:"base"`
	Keys   map[string]string    `json:"keys"`
	Values map[string]jsonValue `json:"values"` // by unit

	VersusBest *jsonRatio `json:"vs_best,omitempty"` // of what can be compared
}

// A jsonRatio is how many times longer a case takes than the best of the same work under the same
// conditions.
type jsonRatio struct {
	Ratio float64  `json:"ratio"`
	Lo    *float64 `json:"lo"` // null: too few samples for an interval
	Hi    *float64 `json:"hi"`
	Tie   bool     `json:"tie"` // can't be told from the best
}

type jsonValue struct {
	Center  float64  `json:"center"`
	Lo      *float64 `json:"lo"` // null: too few samples for an interval
	Hi      *float64 `json:"hi"`
	NextRun bool     `json:"next_run"` // lo and hi hold what a run minutes later finds, and not this process's median alone
	Samples int      `json:"samples"`

	Processes int `json:"processes"`
}

// A jsonFloor is the noise floor of a class of cases in fractions: 0.05 is 5%.
// Of too few pairs there is none.
type jsonFloor struct {
	Class string   `json:"class"`
	Floor *float64 `json:"floor"`
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
	Worst float64  `json:"worst"`
	Pairs int      `json:"pairs"`
}

type jsonFailure struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// JSONOf is what the tables are made of: the settings, each case's center and interval in each of its units, the noise
// floors, what failed, and what is doubtful.
func JSONOf(d *Digest) JSON {
	doc := JSON{
		Settings: make(map[string]string), Units: make(map[string]jsonUnit),
		Cases: []jsonCase{}, Floors: []jsonFloor{}, Failures: []jsonFailure{}, Warnings: append([]string{}, d.warnings()...),
	}
	for _, s := range d.Results.Settings {
		doc.Settings[s.Key] = s.Value
	}
	for _, name := range d.Units {
		u := results.UnitOf(name)
		doc.Units[name] = jsonUnit{results.Direction(u.Better), u.Exact}
	}
	versus := d.versus()
	for _, base := range d.Bases() {
		for _, c := range d.OfBase(base) {
			out := jsonCaseOf(c)
			if diff, ok := versus[c]; ok {
				out.VersusBest = &jsonRatio{Ratio: diff.Ratio, Tie: diff.Tie}
				if diff.Bounded() {
					out.VersusBest.Lo, out.VersusBest.Hi = &diff.Lo, &diff.Hi
				}
			}
			doc.Cases = append(doc.Cases, out)
		}
	}
	for _, f := range d.Floors {
		floor := jsonFloor{Class: f.Class, Worst: f.Worst, Pairs: f.Pairs}
		if f.Known() {
			floor.Floor, floor.Lo, floor.Hi = &f.Floor, &f.Lo, &f.Hi
		}
		doc.Floors = append(doc.Floors, floor)
	}
	for _, f := range d.Results.Failures {
		doc.Failures = append(doc.Failures, jsonFailure{f.Name.Full, f.Reason})
	}
	return doc
}

func jsonCaseOf(c *Case) jsonCase {
	out := jsonCase{Name: c.Name.Full, Base: c.Name.Base, Keys: make(map[string]string), Values: make(map[string]jsonValue)}
	for _, k := range c.Name.Keys {
		if k.Key != "" {
			out.Keys[k.Key] = k.Value
		}
	}
	for unit, s := range c.Stats {
		v := jsonValue{Center: s.Center, NextRun: s.NextRun, Samples: len(s.Values), Processes: s.Processes}
		if s.Bounded() {
			v.Lo, v.Hi = &s.Lo, &s.Hi
		}
		out.Values[unit] = v
	}
	return out
}
