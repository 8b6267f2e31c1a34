package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"onebit/bench/results"
)

// IsResults reports whether a results file was written by a gate.
func IsResults(r *results.Set) bool { return r.Setting(sideKey) != "" }

// ReadResults reads what a Recorder wrote, also of a gate that did not come to
// its end. Errors name the file.
func ReadResults(in io.Reader, filename string) (*Results, error) {
	read, err := results.Read(in, filename)
	if err != nil {
		return nil, err
	}
	if !IsResults(read) {
		return nil, fmt.Errorf("%s holds no measurement of a gate: give the results.txt that onebit gate -o writes", filename)
	}
	res := &Results{Settings: read.Settings, Warnings: read.Warnings}
	res.Settings = slices.DeleteFunc(res.Settings, func(s results.Setting) bool { return s.Key == sideKey || s.Key == packageKey })
	for _, s := range read.Samples {
		m, err := measurementOf(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filename, err)
		}
		res.Measurements = append(res.Measurements, m)
	}
	err = res.judge(read.Notes, filename)
	return res, err
}

func measurementOf(s results.Sample) (Measurement, error) {
	if s.Process == 0 || s.Side == "" {
		return Measurement{}, fmt.Errorf("a line of Benchmark%s has no process, round and side before it", s.Name.Full)
	}
	side, ok := ParseSide(s.Side)
	if !ok {
		return Measurement{}, fmt.Errorf("a line of Benchmark%s is of side %q: there is no such side", s.Name.Full, s.Side)
	}
	m := Measurement{N: s.Iters, Values: s.Values, Side: side, Round: s.Round, Position: s.Position, Start: s.Start, Took: s.Took}
	m.Package, m.Name = s.Package, s.Name.Full
	return m, nil
}

// judge reads what notes say and gives the verdicts.
func (r *Results) judge(notes []results.Note, filename string) (err error) {
	terms := Terms{Unfinished: "it was stopped before it could judge"}
	if n := len(r.Measurements); n > 0 {
		terms.Seconds = (r.Measurements[n-1].Start + r.Measurements[n-1].Took).Seconds()
	}
	thresholds := map[seriesName]float64{}
	var counts []Count
	for _, n := range notes {
		switch n.Kind {
		case "terms", "report": // a report is of a gate before terms
			terms = Terms{}
			if err = json.Unmarshal([]byte(n.Text), &terms); err == nil {
				err = terms.check()
			}
		case "threshold":
			var t threshold
			err = json.Unmarshal([]byte(n.Text), &t)
			thresholds[t.seriesName] = t.Threshold
		case "count":
			var c Count
			err = json.Unmarshal([]byte(n.Text), &c)
			counts = append(counts, c)
		case "profile":
			var p Profile
			err = json.Unmarshal([]byte(n.Text), &p)
			r.Profiles = append(r.Profiles, p)
		case "finding":
			const old = "an older gate wrote this file: its verdicts are given again by one look at all rounds, and thresholds of single benchmarks are not in it"
			if !slices.Contains(r.Warnings, old) {
				r.Warnings = append(r.Warnings, old)
			}
		}
		if err != nil {
			return fmt.Errorf("%s:%d: the gate's %s: %w", filename, n.Line, n.Kind, err)
		}
	}
	r.Report = terms.judge(r.Measurements, counts, thresholds)
	return nil
}
