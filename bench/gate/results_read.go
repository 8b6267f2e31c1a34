package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"onebit/bench"
)

// IsResults reports whether a results file was written by a gate.
func IsResults(r *bench.Results) bool { return r.Setting(sideKey) != "" }

// ReadResults reads what a Recorder wrote, also of a gate that did not come to
// its end. Errors name the file.
func ReadResults(in io.Reader, filename string) (*Results, error) {
	var text bytes.Buffer
	samples, err := bench.Read(io.TeeReader(in, &text), filename)
	if err != nil {
		return nil, err
	}
	if !IsResults(samples) {
		return nil, fmt.Errorf("%s holds no measurement of a gate: give the results.txt that onebit gate -o writes", filename)
	}
	res := &Results{Settings: samples.Settings, Warnings: samples.Warnings}
	res.Settings = slices.DeleteFunc(res.Settings, func(s bench.Setting) bool { return s.Key == sideKey || s.Key == packageKey })
	lines := newLineReader()
	if err := lines.read(text.Bytes()); err != nil {
		return nil, fmt.Errorf("%s:%w", filename, err)
	}
	for _, s := range samples.Samples {
		m, ok := lines.processes[s.Process]
		if !ok {
			return nil, fmt.Errorf("%s: Benchmark%s has no process, round and side before it", filename, s.Name.Full)
		}
		m.Name, m.N, m.Values = s.Name.Full, s.Iters, s.Values
		res.Measurements = append(res.Measurements, m)
	}
	res.Profiles = lines.profiles
	if res.Report = lines.report(); res.Report == nil {
		res.Report = res.unjudged()
	}
	res.fill()
	return res, nil
}

// A lineReader reads the lines that bench.Read passes over.
type lineReader struct {
	now       Measurement // what holds for the next process
	process   int
	processes map[int]Measurement
	document  *Document
	findings  []DocumentFinding
	profiles  []Profile
}

func newLineReader() *lineReader { return &lineReader{processes: map[int]Measurement{}} }

// read reads the finished lines. Its errors begin with the line's number.
func (l *lineReader) read(text []byte) error {
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		if !bytes.HasSuffix(raw, []byte("\n")) {
			break
		}
		if err := l.line(strings.TrimRight(string(raw), "\r\n")); err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return nil
}

func (l *lineReader) line(line string) (err error) {
	if number, ok := strings.CutPrefix(line, processPrefix); ok {
		l.process, err = strconv.Atoi(number)
	} else if strings.HasPrefix(line, "# round ") {
		err = l.round(line)
	} else if pkg, ok := strings.CutPrefix(line, packageKey+": "); ok {
		l.now.Package = pkg
	} else if name, ok := strings.CutPrefix(line, sideKey+": "); ok {
		side := slices.IndexFunc([]Side{Base, Head, Twin}, func(s Side) bool { return s.String() == name })
		if side < 0 {
			return fmt.Errorf("there is no side %q", name)
		}
		l.now.Side = Side(side)
		l.processes[l.process] = l.now
	} else if note, ok := strings.CutPrefix(line, gatePrefix); ok {
		err = l.note(note)
	}
	return err
}

func (l *lineReader) round(line string) error {
	var start, took string
	if _, err := fmt.Sscanf(line, strings.ReplaceAll(roundFormat, "%v", "%s"), &l.now.Round, &l.now.Position, &start, &took); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	var err [2]error
	l.now.Start, err[0] = time.ParseDuration(start)
	l.now.Took, err[1] = time.ParseDuration(took)
	return errors.Join(err[:]...)
}

func (l *lineReader) note(note string) (err error) {
	kind, text, _ := strings.Cut(note, " ")
	switch kind {
	case "report":
		l.document = new(Document)
		err = json.Unmarshal([]byte(text), l.document)
	case "finding":
		var f DocumentFinding
		err = json.Unmarshal([]byte(text), &f)
		l.findings = append(l.findings, f)
	case "profile":
		var p Profile
		err = json.Unmarshal([]byte(text), &p)
		l.profiles = append(l.profiles, p)
	}
	if err != nil {
		return fmt.Errorf("the gate's %s: %w", kind, err)
	}
	return nil
}

// report is nil if the gate did not judge.
func (l *lineReader) report() *Report {
	if l.document == nil {
		return nil
	}
	l.document.Findings = l.findings
	return l.document.report()
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
			s := c.units[f.Unit].sides
			f.Base, f.Head, f.Twin = s[Base], s[Head], s[Twin]
		}
	}
}
