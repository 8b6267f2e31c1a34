package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"onebit/bench"
	"onebit/internal/term"
)

// Results are what a gate leaves behind: the contents of the file that a
// Recorder writes.
type Results struct {
	Settings     []bench.Setting // the header
	Measurements []Measurement   // of every process, in the order in which they ended
	Report       *Report         // nil if the gate ended before it could judge
	Profiles     []Profile       // of what became slower
	Warnings     []string        // doubts about the file
}

// Setting returns the header's value for a key, "" if it has none.
func (r *Results) Setting(key string) string {
	return (&bench.Results{Settings: r.Settings}).Setting(key)
}

// The lines of a file of results that the benchmark format has no words for.
// Each process has its number, as in other results files, and what a
// Measurement says of it; what the gate found stands at the end, as JSON.
const (
	processPrefix = "# process "
	roundFormat   = "# round %d position %d start %v took %v"
	gatePrefix    = "# gate "
	sideKey       = "side"
	packageKey    = "pkg"
)

// A Recorder writes what a gate measures in the Go benchmark format, process by
// process: whatever ends the program, the file is readable up to the last
// process. Sides and packages are file configuration ("side: head"), so that
// benchstat -col side compares them. A write that fails is kept for Err, and
// nothing is written after it.
type Recorder struct {
	out     io.Writer
	better  func(unit string) int
	suffix  string // -GOMAXPROCS, as go test appends it
	units   map[string]bool
	pkg     string
	process int
	err     error
}

// NewRecorder writes the header. better is that of Options.
func NewRecorder(out io.Writer, settings []bench.Setting, better func(unit string) int) *Recorder {
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
	r.write(b.Bytes())
	return r
}

// Record writes a measurement.
func (r *Recorder) Record(m Measurement) {
	r.process++
	var b bytes.Buffer
	r.newUnits(&b, m.Values)
	if m.Package != r.pkg {
		r.pkg = m.Package
		fmt.Fprintf(&b, "\n%s: %s\n", packageKey, m.Package)
	}
	fmt.Fprintf(&b, processPrefix+"%d\n"+roundFormat+"\n%s: %s\n", r.process, m.Round, m.Position, m.Start, m.Took, sideKey, m.Side)
	writeSample(&b, m.Name+r.suffix, m.N, m.Values)
	r.write(b.Bytes())
}

// newUnits writes the directions of units that no line before had.
func (r *Recorder) newUnits(b *bytes.Buffer, values []bench.Metric) {
	for _, v := range values {
		if r.units[v.Unit] {
			continue
		}
		r.units[v.Unit] = true
		if better := direction(r.better(v.Unit)); better != "" {
			fmt.Fprintf(b, "Unit %s better=%s\n", v.Unit, better)
		}
		if bench.UnitOf(v.Unit).Exact {
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
func writeSample(b *bytes.Buffer, name string, n int, values []bench.Metric) {
	line := &benchfmt.Result{Name: benchfmt.Name(name), Iters: max(n, 1)}
	for _, v := range values {
		line.Values = append(line.Values, benchfmt.Value{Value: v.Value, Unit: v.Unit})
	}
	_ = benchfmt.NewWriter(b).Write(line)
}

// Finish writes what the gate found and how that came about.
func (r *Recorder) Finish(report *Report, profiles []Profile) error {
	d := NewDocument(report, profiles)
	findings := d.Findings
	d.Findings, d.Profiles = nil, nil
	r.note("report", d)
	for _, f := range findings {
		f.Base, f.Head, f.Twin = nil, nil, nil // they follow from the measurements
		r.note("finding", f)
	}
	for _, p := range profiles {
		r.note("profile", p)
	}
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
	if _, err := r.out.Write(text); err != nil {
		r.err = fmt.Errorf("writing the gate's results: %w (%d measurements before it stay there)", err, max(r.process-1, 0))
	}
}

// WriteSide writes one side's values by round, as they were judged, in the Go
// benchmark format: benchstat base.txt head.txt compares two of them.
func (r *Results) WriteSide(out io.Writer, side Side) error {
	var b bytes.Buffer
	pkg := ""
	for _, c := range r.rounds() {
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

// rounds are the values that a gate judges, by package and benchmark.
func (r *Results) rounds() []*caseState {
	better := r.directions()
	var all []*caseState
	index := map[Benchmark]*caseState{}
	flush := map[*caseState]map[string]*[3][]float64{} // of the round that is not over yet
	last := map[*caseState]int{}
	for _, m := range r.Measurements {
		c := index[m.Benchmark]
		if c == nil {
			c = &caseState{Benchmark: m.Benchmark, n: m.N, units: map[string]*series{}}
			index[m.Benchmark], flush[c], last[c] = c, map[string]*[3][]float64{}, m.Round
			all = append(all, c)
		}
		if m.Round != last[c] {
			c.add(flush[c], better)
			flush[c], last[c] = map[string]*[3][]float64{}, m.Round
		}
		for _, v := range m.Values {
			if flush[c][v.Unit] == nil {
				flush[c][v.Unit] = new([3][]float64)
			}
			flush[c][v.Unit][m.Side] = append(flush[c][v.Unit][m.Side], v.Value)
		}
	}
	for _, c := range all {
		c.add(flush[c], better)
	}
	slices.SortFunc(all, func(a, b *caseState) int { return compareBenchmarks(a.Benchmark, b.Benchmark) })
	return all
}

// directions are those that the gate judged by, or else those that onebit knows.
func (r *Results) directions() func(unit string) int {
	if r.Report != nil && r.Report.Options.Better != nil {
		return r.Report.Options.Better
	}
	return func(unit string) int { return bench.UnitOf(unit).Better }
}

// length is the number of rounds.
func (c *caseState) length() (n int) {
	for _, s := range c.units {
		n = max(n, len(s.sides[Base]))
	}
	return n
}

// at is a side's values of a round.
func (c *caseState) at(side Side, round int) (values []bench.Metric) {
	for _, unit := range c.order {
		if s := c.units[unit].sides[side]; round < len(s) {
			values = append(values, bench.Metric{Unit: unit, Value: s[round]})
		}
	}
	return values
}
