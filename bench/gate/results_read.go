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
	if err := res.readNotes(read.Notes, filename); err != nil {
		return nil, err
	}
	if res.Report == nil {
		res.Report = res.unjudged()
	}
	res.fill()
	return res, nil
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

// readNotes reads what the gate found, the report last.
func (r *Results) readNotes(notes []results.Note, filename string) error {
	var document *Document
	var findings []DocumentFinding
	var counts []Count
	for _, n := range notes {
		var err error
		switch n.Kind {
		case "report":
			document = new(Document)
			err = json.Unmarshal([]byte(n.Text), document)
		case "finding":
			var f DocumentFinding
			err = json.Unmarshal([]byte(n.Text), &f)
			findings = append(findings, f)
		case "count":
			var c Count
			err = json.Unmarshal([]byte(n.Text), &c)
			counts = append(counts, c)
		case "profile":
			var p Profile
			err = json.Unmarshal([]byte(n.Text), &p)
			r.Profiles = append(r.Profiles, p)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: the gate's %s: %w", filename, n.Line, n.Kind, err)
		}
	}
	if document != nil { // else the gate did not judge
		document.Findings, document.Counts = findings, counts
		r.Report = document.report()
	}
	return nil
}

// fill gives the findings the values by round, which follow from the measurements;
// those of a comparison with earlier results have theirs.
func (r *Results) fill() {
	index := map[Benchmark]*recording{}
	for _, c := range r.recordings() {
		index[c.Benchmark] = c
	}
	for i := range r.Report.Findings {
		f := &r.Report.Findings[i]
		if c := index[f.Benchmark]; len(f.Base) == 0 && c != nil && c.units[f.Unit] != nil {
			s := c.units[f.Unit].upTo(f.Rounds)
			f.Base, f.Head, f.Control = s[Base], s[Head], s[Control]
		}
	}
}

// upTo are the values of so many rounds; 0, or more than there are: of all.
func (s *series) upTo(rounds int) (sides [3][]float64) {
	for side, values := range s.sides {
		if rounds > 0 && rounds < len(values) {
			values = values[:rounds]
		}
		sides[side] = values
	}
	return sides
}
