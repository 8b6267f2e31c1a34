package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strconv"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/term"
)

// Results are what a gate leaves behind: the contents of the file that a
// Recorder writes.
type Results struct {
	Settings     []results.Setting // the header
	Measurements []Measurement     // of every process, in the order in which they ended
	Report       *Report           // judged again from the measurements; of a gate that ended before it could judge: without verdicts
	Profiles     []Profile         // of what became slower
	Warnings     []string          // doubts about the file
	Folder       string            // that holds the file and the profiles; "" if nothing is kept
}

// Setting returns the header's value for a key, "" if it has none.
func (r *Results) Setting(key string) string {
	return (&results.Set{Settings: r.Settings}).Setting(key)
}

// sideKey and packageKey are settings of samples, and not of the file.
const (
	sideKey    = "side"
	packageKey = "pkg"
)

// A Recorder writes what a gate measures in the Go benchmark format, process by
// process: whatever ends the program, the file is readable up to the last
// process. Sides and packages are file configuration ("side: head"), so that
// benchstat -col 'side@(base head control)' compares them. A write that fails is kept for Err, and
// nothing is written after it.
type Recorder struct {
	out     io.Writer
	lines   bytes.Buffer // not yet in out
	file    *results.Writer
	better  func(unit string) int
	units   map[string]bool
	last    Measurement
	process int
	err     error
}

// NewRecorder makes a recorder, which writes the header with the first
// measurement. better is that of Options.
func NewRecorder(out io.Writer, settings []results.Setting, better func(unit string) int) *Recorder {
	r := &Recorder{out: out, better: better, units: map[string]bool{}}
	r.file = results.NewWriter(&r.lines)
	var header []results.Setting
	for _, s := range settings {
		if s.Key != packageKey && s.Key != sideKey {
			header = append(header, results.Setting{Key: s.Key, Value: results.OneLine(s.Value)})
		}
	}
	r.keep(r.file.Settings(header))
	return r
}

// Record writes a measurement.
func (r *Recorder) Record(m Measurement) {
	for _, v := range m.Values {
		if !r.units[v.Unit] {
			r.units[v.Unit] = true
			r.keep(r.file.Unit(v.Unit, r.better(v.Unit), results.UnitOf(v.Unit).Exact))
		}
	}
	if r.process == 0 || !m.sameProcess(r.last) {
		r.process++
	}
	r.last = m
	s := m.sample()
	s.Process = r.process
	r.keep(r.file.Sample(s))
	r.flush()
}

// sample is a measurement as a file has it.
func (m Measurement) sample() results.Sample {
	s := results.Sample{
		Name: results.Name{Full: m.Name}, Iters: max(m.N, 1), Values: m.Values, Package: m.Package, Side: m.Side.String(),
		Round: m.Round, Position: m.Position, Start: m.Start, Took: m.Took,
	}
	if procs := runtime.GOMAXPROCS(0); procs != 1 {
		s.Name.Procs = procs // as go test does
	}
	return s
}

// sameProcess reports whether one process made both measurements.
func (m Measurement) sameProcess(other Measurement) bool {
	return m.Package == other.Package && m.Round == other.Round && m.Position == other.Position && m.Start == other.Start
}

// Warn writes a doubt about the run, before the first measurement together with
// the header.
func (r *Recorder) Warn(text string) {
	r.keep(r.file.Warning(term.Text(text)))
	if r.process > 0 {
		r.flush()
	}
}

// Finish writes what verdicts follow from beside the measurements, and how the gate
// came about. The terms come last: without them the file is that of a gate that did
// not judge.
func (r *Recorder) Finish(report *Report, profiles []Profile) error {
	if r.process == 0 { // a side tells that the file is a gate's
		r.keep(r.file.Settings([]results.Setting{{Key: sideKey, Value: Head.String()}}))
	}
	for _, t := range report.thresholds() {
		r.note("threshold", t)
	}
	for _, p := range profiles {
		r.note("profile", p)
	}
	for _, c := range report.Counts {
		r.note("count", c)
	}
	r.note("terms", report.terms())
	return r.err
}

// note writes a line that is no measurement.
func (r *Recorder) note(kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("writing the gate's %s: %w", kind, err))
		return
	}
	r.keep(r.file.Remark(results.GateNote, kind+" "+string(term.JSON(text))))
	r.flush()
}

// Err is the first error of writing.
func (r *Recorder) Err() error { return r.err }

// keep keeps the first error.
func (r *Recorder) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// flush writes the lines that wait, unless a write failed before.
func (r *Recorder) flush() {
	if r.err != nil {
		return
	}
	_, err := r.out.Write(r.lines.Bytes())
	r.lines.Reset()
	if err != nil {
		r.err = fmt.Errorf("writing the gate's results: %w (what the processes before number %d measured stays there)", err, max(r.process, 1))
	}
}

// WriteSide writes one side's values by round, as they were judged, in the Go
// benchmark format: benchstat base.txt head.txt compares two of them.
func (r *Results) WriteSide(out io.Writer, side Side) error {
	file := results.NewWriter(out)
	var header []results.Setting
	for _, key := range []string{"goos", "goarch", "cpu"} { // as go test has them
		header = append(header, results.Setting{Key: key, Value: r.Setting(key)})
	}
	if err := file.Settings(header); err != nil {
		return err
	}
	for _, c := range r.recordings() {
		for round := range c.length() {
			s := results.Sample{Name: results.Name{Full: c.Name}, Iters: max(c.n, 1), Values: c.at(side, round), Package: c.Package}
			if err := file.Sample(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordings are the values that a gate judges, by package and benchmark.
func (r *Results) recordings() []*caseState {
	all := newCases(benchmarksOf(r.Measurements))
	for _, m := range r.Measurements {
		all.cases[m.Benchmark].n = cmp.Or(all.cases[m.Benchmark].n, m.N)
	}
	for of := range rounds(r.Measurements) {
		for b, found := range of {
			all.cases[b].add(found)
		}
	}
	return all.order
}

// benchmarksOf are the benchmarks that were measured, by package and name.
func benchmarksOf(all []Measurement) (benchmarks []Benchmark) {
	for _, m := range all {
		benchmarks = append(benchmarks, m.Benchmark)
	}
	slices.SortFunc(benchmarks, compareBenchmarks)
	return slices.Compact(benchmarks)
}

// found are the values that a round's processes found of a benchmark: by unit and side.
type found map[string]*[3][]float64

func (f found) keep(side Side, values []results.Metric) {
	for _, v := range values {
		if f[v.Unit] == nil {
			f[v.Unit] = new([3][]float64)
		}
		f[v.Unit][side] = append(f[v.Unit][side], v.Value)
	}
}

// rounds are what the rounds of measurements found.
func rounds(all []Measurement) iter.Seq[map[Benchmark]found] {
	return func(yield func(map[Benchmark]found) bool) {
		of := map[Benchmark]found{}
		for i, m := range all {
			if i > 0 && m.Round != all[i-1].Round {
				if !yield(of) {
					return
				}
				of = map[Benchmark]found{}
			}
			if of[m.Benchmark] == nil {
				of[m.Benchmark] = found{}
			}
			of[m.Benchmark].keep(m.Side, m.Values)
		}
		if len(of) > 0 {
			yield(of)
		}
	}
}

// length is the number of rounds.
func (c *caseState) length() (n int) {
	for _, s := range c.units {
		n = max(n, len(s.sides[Base]))
	}
	return n
}

// at is a side's values of a round, the time first.
func (c *caseState) at(side Side, round int) (values []results.Metric) {
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

// Typical is the median of each unit that all windows of a process have. The best of
// them would make what is steadier look slower.
func Typical(windows [][]results.Metric) (values []results.Metric) {
	for _, v := range windows[0] {
		var of []float64
		for _, w := range windows {
			if x, ok := (results.Sample{Values: w}).Value(v.Unit); ok {
				of = append(of, x)
			}
		}
		if len(of) == len(windows) {
			values = append(values, results.Metric{Unit: v.Unit, Value: noise.Median(of)})
		}
	}
	return values
}

// NameOf is the name of a benchmark that ran with so many processors. Go appends no -GOMAXPROCS where it is 1: then
// digits at the end are the name's own.
func NameOf(s results.Sample, procs int) string {
	if s.Name.Procs > 0 && procs == 1 {
		return s.Name.Full + "-" + strconv.Itoa(s.Name.Procs)
	}
	return s.Name.Full
}
