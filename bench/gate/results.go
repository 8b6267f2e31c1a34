package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/term"
)

// Results are what a gate leaves behind: the contents of the file that a
// Recorder writes.
type Results struct {
	Settings     []results.Setting // the header
	Measurements []Measurement     // of every process, in the order in which they ended
	Report       *Report           // of a gate that ended before it could judge: the values without verdicts
	Profiles     []Profile         // of what became slower
	Warnings     []string          // doubts about the file
	Folder       string            // that holds the file and the profiles; "" if nothing is kept
}

// Setting returns the header's value for a key, "" if it has none.
func (r *Results) Setting(key string) string {
	return (&results.Set{Settings: r.Settings}).Setting(key)
}

// The lines of a file of results that the benchmark format has no words for.
// Each process has its number, as in other results files, and what a
// Measurement says of it; what the gate found stands at the end, as JSON.
const (
	processPrefix = "# process "
	gatePrefix    = "# gate "
	sideKey       = "side"
	packageKey    = "pkg"
)

// A Recorder writes what a gate measures in the Go benchmark format, process by
// process: whatever ends the program, the file is readable up to the last
// process. Sides and packages are file configuration ("side: head"), so that
// benchstat -col 'side@(base head twin)' compares them. A write that fails is kept for Err, and
// nothing is written after it.
type Recorder struct {
	out     io.Writer
	header  []byte // until it is written
	better  func(unit string) int
	suffix  string // -GOMAXPROCS, as go test appends it
	units   map[string]bool
	last    Measurement
	process int
	err     error
}

// NewRecorder makes a recorder, which writes the header with the first
// measurement. better is that of Options.
func NewRecorder(out io.Writer, settings []results.Setting, better func(unit string) int) *Recorder {
	r := &Recorder{out: out, better: better, units: map[string]bool{}}
	if procs := runtime.GOMAXPROCS(0); procs != 1 {
		r.suffix = fmt.Sprintf("-%d", procs)
	}
	var b bytes.Buffer
	for _, s := range settings {
		if value := strings.Join(strings.Fields(s.Value), " "); value != "" && s.Key != packageKey && s.Key != sideKey {
			fmt.Fprintf(&b, "%s: %s\n", s.Key, term.Text(value))
		}
	}
	r.header = b.Bytes()
	return r
}

// Record writes a measurement.
func (r *Recorder) Record(m Measurement) {
	var b bytes.Buffer
	r.newUnits(&b, m.Values)
	if m.Package != r.last.Package {
		fmt.Fprintf(&b, "\n%s: %s\n", packageKey, m.Package)
	}
	if r.process == 0 || !m.sameProcess(r.last) {
		r.process++
		fmt.Fprintf(&b, processPrefix+"%d\n"+results.RoundFormat+"\n%s: %s\n", r.process, m.Round, m.Position, m.Start, m.Took, sideKey, m.Side)
	}
	r.last = m
	writeSample(&b, m.Name+r.suffix, m.N, m.Values)
	r.write(b.Bytes())
}

// sameProcess reports whether one process made both measurements.
func (m Measurement) sameProcess(other Measurement) bool {
	return m.Package == other.Package && m.Round == other.Round && m.Position == other.Position && m.Start == other.Start
}

// newUnits writes the directions of units that no line before had.
func (r *Recorder) newUnits(b *bytes.Buffer, values []results.Metric) {
	for _, v := range values {
		if r.units[v.Unit] {
			continue
		}
		r.units[v.Unit] = true
		if better := direction(r.better(v.Unit)); better != "" {
			fmt.Fprintf(b, "Unit %s better=%s\n", v.Unit, better)
		}
		if results.UnitOf(v.Unit).Exact {
			fmt.Fprintf(b, "Unit %s assume=exact\n", v.Unit)
		}
	}
}

// direction is a unit's better= in the benchmark format; "" if it is not known.
func direction(better int) string {
	switch {
	case better > 0:
		return "higher"
	case better < 0:
		return "lower"
	}
	return ""
}

// writeSample writes a line of the benchmark format. A buffer takes everything.
func writeSample(b *bytes.Buffer, name string, n int, values []results.Metric) {
	line := &benchfmt.Result{Name: benchfmt.Name(name), Iters: max(n, 1)}
	for _, v := range values {
		line.Values = append(line.Values, benchfmt.Value{Value: v.Value, Unit: v.Unit})
	}
	_ = benchfmt.NewWriter(b).Write(line)
}

// Warn writes a doubt about the run, before the first measurement together with
// the header.
func (r *Recorder) Warn(text string) {
	line := fmt.Appendf(nil, "# warning: %s\n", term.Text(text))
	if r.process == 0 {
		r.header = append(r.header, line...)
		return
	}
	r.write(line)
}

// Finish writes what the gate found and how that came about. The report comes
// last: without it the file is that of a gate that did not judge.
func (r *Recorder) Finish(report *Report, profiles []Profile) error {
	if r.process == 0 { // a side tells that the file is a gate's
		r.write(fmt.Appendf(nil, "%s: %s\n", sideKey, Head))
	}
	d := NewDocument(report, nil)
	for _, f := range d.Findings {
		if len(f.Twin) > 0 {
			f.Base, f.Head, f.Twin = nil, nil, nil // they follow from the measurements
		}
		r.note("finding", f)
	}
	for _, p := range profiles {
		r.note("profile", p)
	}
	for _, c := range d.Counts {
		r.note("count", c)
	}
	d.Findings, d.Counts = nil, nil
	r.note("report", d)
	return r.err
}

// note writes a line that is no measurement.
func (r *Recorder) note(kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("writing the gate's %s: %w", kind, err))
		return
	}
	r.write(fmt.Appendf(nil, "%s%s %s\n", gatePrefix, kind, term.JSON(text)))
}

// Err is the first error of writing.
func (r *Recorder) Err() error { return r.err }

func (r *Recorder) write(text []byte) {
	if r.err != nil {
		return
	}
	text, r.header = append(r.header, text...), nil
	if _, err := r.out.Write(text); err != nil {
		r.err = fmt.Errorf("writing the gate's results: %w (what the processes before number %d measured stays there)", err, max(r.process, 1))
	}
}

// WriteSide writes one side's values by round, as they were judged, in the Go
// benchmark format: benchstat base.txt head.txt compares two of them.
func (r *Results) WriteSide(out io.Writer, side Side) error {
	var b bytes.Buffer
	for _, key := range []string{"goos", "goarch", "cpu"} { // as go test has them
		if value := r.Setting(key); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	pkg := ""
	for _, c := range r.recordings() {
		if c.Package != pkg {
			pkg = c.Package
			fmt.Fprintf(&b, "%s: %s\n", packageKey, pkg)
		}
		for round := range c.length() {
			writeSample(&b, c.Name, c.n, c.at(side, round))
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}

// A recording is what was measured of a benchmark.
type recording struct {
	caseState
	n     int // operations
	round int // that is not over yet, and its values
	now   map[string]*[3][]float64
}

func (c *recording) record(m Measurement) {
	if m.Round != c.round {
		c.end()
		c.round = m.Round
	}
	for _, v := range m.Values {
		if c.now[v.Unit] == nil {
			c.now[v.Unit] = new([3][]float64)
		}
		c.now[v.Unit][m.Side] = append(c.now[v.Unit][m.Side], v.Value)
	}
}

// end ends a round as the gate did.
func (c *recording) end() {
	c.add(c.now)
	c.now = map[string]*[3][]float64{}
}

// recordings are the values that a gate judges, by package and benchmark.
func (r *Results) recordings() []*recording {
	index := map[Benchmark]*recording{}
	for _, m := range r.Measurements {
		if index[m.Benchmark] == nil {
			index[m.Benchmark] = &recording{
				caseState: caseState{Benchmark: m.Benchmark, units: map[string]*series{}}, n: m.N, round: m.Round, now: map[string]*[3][]float64{},
			}
		}
		index[m.Benchmark].record(m)
	}
	for _, c := range index {
		c.end()
	}
	return slices.SortedFunc(maps.Values(index), func(a, b *recording) int { return compareBenchmarks(a.Benchmark, b.Benchmark) })
}

// unjudged is the report of a gate that was stopped.
func (r *Results) unjudged() *Report {
	report := &Report{Unfinished: "it was stopped before it could judge", Options: Options{Better: r.directions()}}
	for _, c := range r.recordings() {
		report.Rounds = max(report.Rounds, c.length())
		for _, unit := range c.order {
			better := report.Options.Better(unit)
			f := Finding{Benchmark: c.Benchmark, Unit: unit, Judged: better != 0, Better: better, Change: Interval{math.NaN(), math.Inf(-1), math.Inf(1)}}
			if d := c.units[unit].differences(Head, better); len(d) > 0 {
				f.Change.Center = noise.Median(d)
			}
			report.Findings = append(report.Findings, f)
		}
	}
	if n := len(r.Measurements); n > 0 {
		report.Elapsed = r.Measurements[n-1].Start + r.Measurements[n-1].Took
	}
	return report
}

// directions are those that the gate judged by, or else those that onebit knows.
func (r *Results) directions() func(unit string) int {
	if r.Report != nil && r.Report.Options.Better != nil {
		return r.Report.Options.Better
	}
	return func(unit string) int { return results.UnitOf(unit).Better }
}

// length is the number of rounds.
func (c *recording) length() (n int) {
	for _, s := range c.units {
		n = max(n, len(s.sides[Base]))
	}
	return n
}

// at is a side's values of a round, the time first.
func (c *recording) at(side Side, round int) (values []results.Metric) {
	for _, unit := range c.order {
		s := c.units[unit].sides[side]
		switch {
		case round >= len(s):
		case unit == results.NsPerOp:
			values = slices.Insert(values, 0, results.Metric{Unit: unit, Value: s[round]})
		default:
			values = append(values, results.Metric{Unit: unit, Value: s[round]})
		}
	}
	return values
}
