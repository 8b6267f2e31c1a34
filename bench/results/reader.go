package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// Found is told what a Reader finds, in the order of the file. What is nil is passed
// over. An error ends reading.
type Found struct {
	Setting func(s Setting, line int) error
	Failure func(Failure) error
	Warning func(text string) error
	Note    func(Note) error
	Sample  func(Sample) error

	// Record, in the place of Sample, gets a line as it is, with values that no
	// measurement gives too. It is valid until the next one.
	Record func(rec *benchfmt.Result) error

	// Malformed may let reading go on after a line that is none of the format.
	Malformed func(err error) error
}

// A Reader reads the format line by line, be it a file or what a process writes.
type Reader struct {
	Found
	file     string // for errors
	line     int
	place    // of the samples below
	settings map[string]string
	numbered bool // lines number the processes
	failure  *Failure
	slices   []float64 // of the sample on the next line
	names    map[string]Name
	bench    *benchfmt.Reader
	feed     feed
}

// A place says where samples come from.
type place struct {
	group           string
	process         int
	round, position int
	start, took     time.Duration
	models          map[string]string // digests by name
}

// NewReader makes a reader, whose errors name the file.
func NewReader(file string, found Found) *Reader {
	r := &Reader{Found: found, file: file, settings: make(map[string]string), names: make(map[string]Name)}
	r.bench = benchfmt.NewReader(&r.feed, file)
	return r
}

// Lines reads whole lines, and what is under way at their end. It ends with ctx's
// error when ctx ends.
func (r *Reader) Lines(ctx context.Context, data []byte) error {
	for line := range bytes.Lines(data) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.Line(line); err != nil {
			return err
		}
	}
	return r.End()
}

// Line reads a line, with or without its end.
func (r *Reader) Line(line []byte) error {
	r.line++
	line = bytes.TrimRight(line, "\r\n")
	if r.failure != nil {
		if reason, ok := bytes.CutPrefix(line, []byte(reasonIndent)); ok && !isFailure(line) {
			r.failure.addReason(string(reason))
			return nil
		}
		if err := r.End(); err != nil {
			return err
		}
	}
	slices := r.slices
	r.slices = nil
	switch {
	case bytes.HasPrefix(line, benchmarkPrefix):
		return r.sample(line, slices)
	case bytes.HasPrefix(line, []byte("#")):
		return r.remark(string(line))
	case isFailure(line):
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(string(line), " "), failPrefix), " ")
		r.failure = &Failure{Name: ParseName(name)}
		return nil
	case bytes.HasPrefix(line, []byte("Unit")):
		_, err := r.record(line)
		return err
	}
	return r.setting(string(line))
}

func isFailure(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(failPrefix))
}

// End tells of a failure whose reason ended with the lines.
func (r *Reader) End() error {
	f := r.failure
	if r.failure = nil; f == nil || r.Failure == nil {
		return nil
	}
	return r.Failure(*f)
}

// Get returns the value that a setting has at this line, "" if none.
func (r *Reader) Get(key string) string { return r.settings[key] }

// Settings are those that hold at this line.
func (r *Reader) Settings() map[string]string { return r.settings }

// Units are what lines said of units so far.
func (r *Reader) Units() benchfmt.UnitMetadataMap { return r.bench.Units() }

// At is an error about the line that is being read.
func (r *Reader) At(err error) error { return fmt.Errorf("results: %s:%d: %w", r.file, r.line, err) }

var benchmarkPrefix = []byte("Benchmark")

// A feed hands benchfmt a line at a time.
type feed struct{ rest []byte }

func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// record lets benchfmt read a line; nil if it is no result.
func (r *Reader) record(line []byte) (*benchfmt.Result, error) {
	r.feed.rest = append(line[:len(line):len(line)], '\n')
	if !r.bench.Scan() {
		err := r.bench.Err()
		r.bench.Reset(&r.feed, r.file) // it takes the end of a line for that of the file
		if err != nil {
			return nil, r.At(errors.New("the line is too long for a result"))
		}
		return nil, nil
	}
	switch rec := r.bench.Result().(type) {
	case *benchfmt.Result:
		return rec, nil
	case *benchfmt.SyntaxError:
		err := r.At(errors.New(rec.Msg))
		if r.Malformed != nil {
			err = r.Malformed(err)
		}
		return nil, err
	}
	return nil, nil
}

func (r *Reader) sample(line []byte, slices []float64) error {
	if bytes.IndexByte(line, ' ') < 0 && bytes.IndexByte(line, '\t') < 0 {
		return nil // go test -v names what begins
	}
	rec, err := r.record(line)
	switch {
	case rec == nil || err != nil:
		return err
	case r.Record != nil:
		return r.Record(rec)
	case r.Sample == nil:
		return nil
	}
	s, err := r.sampleOf(rec)
	if err != nil {
		return r.At(err)
	}
	s.Slices = slices
	return r.Sample(s)
}

func (r *Reader) sampleOf(rec *benchfmt.Result) (Sample, error) {
	name, known := r.names[string(rec.Name)]
	if !known {
		name = ParseName(string(rec.Name))
		r.names[string(rec.Name)] = name
	}
	s := Sample{
		Name: name, Iters: rec.Iters, Package: r.settings["pkg"], Side: r.settings["side"], Weights: r.models[name.Get(modelKey)],
		Group: r.group, Process: r.process, Round: r.round, Position: r.position, Start: r.start, Took: r.took,
	}
	if rec.Iters < 1 {
		return s, fmt.Errorf("%d iterations", rec.Iters)
	}
	for _, v := range rec.Values {
		m := MetricOf(v)
		if err := m.Check(); err != nil {
			return s, err
		}
		s.Values = append(s.Values, m)
	}
	if len(s.Name.Full) == 0 {
		return s, errors.New("benchmark without a name")
	}
	return s, nil
}

// remark reads a line of onebit's own, or any other comment.
func (r *Reader) remark(line string) (err error) {
	if text, ok := strings.CutPrefix(line, warningPrefix); ok && r.Warning != nil {
		return r.Warning(text)
	} else if name, ok := strings.CutPrefix(line, groupPrefix); ok {
		r.group = name
	} else if number, ok := strings.CutPrefix(line, processPrefix); ok {
		if p, err := strconv.Atoi(number); err == nil && p > 0 {
			r.process, r.numbered = p, true
		}
	} else if strings.HasPrefix(line, roundPrefix) && strings.Contains(line, " position ") {
		if err := r.readRound(line); err != nil {
			return r.At(fmt.Errorf("%q: %w", line, err))
		}
	} else if text, ok := strings.CutPrefix(line, slicesPrefix); ok {
		if r.slices, err = parseSlices(text); err != nil {
			return r.At(fmt.Errorf("slices: %w", err))
		}
	} else if rest, ok := strings.CutPrefix(line, "# "); ok && r.Note != nil {
		kind, text, _ := strings.Cut(rest, " ")
		return r.Note(Note{r.line, kind, text})
	}
	return nil
}

// setting reads "key: value". A key without a value ends a setting's reach.
func (r *Reader) setting(line string) error {
	s, ok := parseSetting(line)
	if !ok {
		if key, value, ok := strings.Cut(line, ":"); ok && value == "" {
			delete(r.settings, key)
		}
		return nil
	}
	r.settings[s.Key] = s.Value
	switch {
	case s.Key == "pkg" && !r.numbered:
		r.process++
	case s.Key == ModelsKey:
		r.models = ModelDigests(s.Value)
	}
	if r.Setting == nil {
		return nil
	}
	return r.Setting(s, r.line)
}

// parseSetting parses "key: value".
func parseSetting(line string) (Setting, bool) {
	key, value, ok := strings.Cut(line, ":")
	trimmed := strings.TrimLeft(value, " \t")
	if !ok || !ValidKey(key) || trimmed == "" || len(trimmed) == len(value) {
		return Setting{}, false
	}
	return Setting{key, trimmed}, true
}

// readRound reads "# round 3 position 0 start 1.5s took 20ms".
func (p *place) readRound(line string) error {
	var start, took string
	if _, err := fmt.Sscanf(line, roundFormat, &p.round, &p.position, &start, &took); err != nil {
		return err
	}
	var err [2]error
	p.start, err[0] = time.ParseDuration(start)
	p.took, err[1] = time.ParseDuration(took)
	return errors.Join(err[:]...)
}

// parseSlices reads what appendSlices wrote.
func parseSlices(text string) (out []float64, err error) {
	for field := range strings.FieldsSeq(text) {
		v, err := strconv.ParseFloat(field, 64)
		if err == nil {
			err = (Metric{NsPerOp, v}).Check()
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
