package results

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"onebit/internal/bounded"
	"onebit/internal/term"
)

// Results is the contents of a results file: what Runner.Run returns and what
// Read reads back.
type Set struct {
	Settings []Setting // the header, in its order
	Samples  []Sample  // every timing, in the order in which they were taken
	Failures []Failure // cases that were wrong, and therefore never timed
	Warnings []string  // doubts about the run
	Notes    []Note    // what a gate says of its samples
}

// A Note is a line "# gate KIND TEXT".
type Note struct {
	Line       int // of the file, for errors
	Kind, Text string
}

// A Sample is one timing of one case: one line of the file.
type Sample struct {
	Name   Name
	Iters  int
	Values []Metric // under the names of Units

	// Slices are ns/op by pass of the sample's round, in which the cases of a group take
	// turns, and 0 where the case had none; nil of a sample in one piece. The sample's
	// time is their median.
	Slices []float64

	// Package is that of the benchmark and Side that of a gate which took the
	// sample (base, head or twin), as the lines "pkg: " and "side: " above the
	// sample say; "" if there is none.
	Package, Side string

	// Round, Position, Start and Took are of the process that took the sample, as a
	// gate notes them: its round, its place there, and when it began, since the
	// gate did, for how long.
	Round, Position int
	Start, Took     time.Duration

	// Weights is the digest of those of the sample's model, as the line "models: "
	// above the sample says; "" if there is none.
	Weights string

	// Group is the cases that it was interleaved with; "" if the file doesn't
	// say. Doubts are the warnings about that group: whoever prints the sample
	// marks it.
	Group  string
	Doubts []string
	// Process is the number of the process that took the sample, from 1; 0 if
	// the file doesn't say. Samples of one process are more alike than those
	// of two. Where no line gives numbers, each line "pkg: " begins a process,
	// for go test writes one at the head of each.
	Process int
}

// validate reports what the results file could not hold.
func (s Sample) Validate() error {
	if err := CheckName(s.Name.Full); err != nil {
		return fmt.Errorf("sample %q: %w", s.Name.Full, err)
	}
	if len(s.Values) == 0 {
		return fmt.Errorf("sample %s: no values", s.Name.Full)
	}
	if err := Finite(s.Values); err != nil {
		return fmt.Errorf("sample %s: %w", s.Name.Full, err)
	}
	return nil
}

// A Failure is a case that could not be set up, or whose result was wrong.
type Failure struct {
	Name   Name
	Reason string
}

// Value returns the sample's value in a unit.
func (s Sample) Value(unit string) (float64, bool) {
	for _, v := range s.Values {
		if v.Unit == unit {
			return v.Value, true
		}
	}
	return 0, false
}

// Setting returns the header's value for a key, "" if it has none.
func (r *Set) Setting(key string) string {
	for _, s := range r.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// ReadFiles reads results files into one Set, as if they were one file. It
// ends with ctx's error when ctx ends.
func ReadFiles(ctx context.Context, paths ...string) (*Set, error) {
	var files []File
	for _, path := range paths {
		files = append(files, File{Path: path})
	}
	read, err := readFiles(ctx, files)
	if err != nil {
		return nil, err
	}
	return join(read), nil
}

// join makes one Results of those of several files.
func join(read []readFile) *Set {
	all := &Set{Warnings: tellFilesApart(read)}
	head := newHeader(all)
	last := 0
	for _, r := range read {
		for _, s := range r.Settings {
			head.set(s, r.Path)
		}
		all.Samples = append(all.Samples, r.Samples...)
		if len(read) > 1 {
			last = renumber(all.Samples[len(all.Samples)-len(r.Samples):], last)
		}
		all.Failures = append(all.Failures, r.Failures...)
		all.Warnings = append(all.Warnings, r.Warnings...)
	}
	return all
}

func tellFilesApart(read []readFile) []string {
	results := make([]*Set, len(read))
	for i, r := range read {
		results[i] = r.Set
	}
	return TellApart(results...)
}

// renumber gives the processes of a further file numbers of their own, and
// returns the last of them.
func renumber(samples []Sample, last int) int {
	numbers := make(map[int]int)
	for i, s := range samples {
		if numbers[s.Process] == 0 {
			last++
			numbers[s.Process] = last
		}
		samples[i].Process = numbers[s.Process]
	}
	return last
}

// A readFile is a file and what it holds.
type readFile struct {
	File
	*Set
}

func readFiles(ctx context.Context, files []File) ([]readFile, error) {
	var all []readFile
	for _, f := range files {
		r, err := f.read(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, readFile{f, r})
	}
	return all, nil
}

func (f File) read(ctx context.Context) (*Set, error) {
	in, err := bounded.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer in.Close()
	return ReadContext(ctx, in, f.Path)
}

// What a results file may hold. A line of a run has less than a kilobyte, and
// a run of minutes some megabytes.
const (
	maxLine = 1 << 20
	maxFile = 256 << 20
)

// readLines reads all of r, which may hold so many bytes.
func readLines(ctx context.Context, r io.Reader, filename string, most int) ([]byte, error) {
	var data []byte
	in := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		data = append(data, line...)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("results: %s:%d: a line of more than %d MiB: this is no results file", filename, n, maxLine>>20)
		case len(data) > most:
			return nil, fmt.Errorf("results: %s:%d: the file is longer than %d MiB: read it in parts", filename, n, most>>20)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("reading results %s: %w", filename, err)
		}
	}
}

// Read reads a results file, or any other output in the Go benchmark format;
// lines of other kinds are passed over. An unfinished last line, which an
// interrupted run may leave, is dropped with a warning. Any other malformed
// line is an error that names filename and the line; so is one of more than
// 1 MiB, and a file of more than 256 MiB, before they are held in memory.
func Read(r io.Reader, filename string) (*Set, error) {
	return ReadContext(context.Background(), r, filename)
}

// ReadContext is Read, and ends with ctx's error when ctx ends, at the latest
// when r has its next bytes.
func ReadContext(ctx context.Context, r io.Reader, filename string) (*Set, error) {
	data, err := readLines(ctx, r, filename, maxFile)
	if err != nil {
		return nil, err
	}
	data = term.Clean(data) // names and units go to terminals and pages
	res := &Set{}
	end := bytes.LastIndexByte(data, '\n') + 1
	places, err := res.readHeaderAndRemarks(ctx, data[:end], filename)
	if err != nil {
		return nil, err
	}
	if end < len(data) {
		// Cut off, a number may still parse as a smaller one: the line is
		// worthless even where it looks whole.
		res.Warnings = append(res.Warnings, filename+": the last line is unfinished and was dropped")
	}
	if err := res.readSamples(ctx, data[:end], filename, places); err != nil {
		return nil, err
	}
	res.Warnings = append(res.Warnings, TellApart(res)...)
	res.MarkDoubts()
	return res, nil
}

// MarkDoubts gives each sample the warnings about its group.
func (r *Set) MarkDoubts() {
	doubts := map[string][]string{"": nil}
	for i := range r.Samples {
		group := r.Samples[i].Group
		if _, known := doubts[group]; !known {
			doubts[group] = nil
			for _, w := range r.Warnings {
				if strings.HasPrefix(w, AboutGroup(group, "")) {
					doubts[group] = append(doubts[group], w)
				}
			}
		}
		r.Samples[i].Doubts = doubts[group]
	}
}

// AboutGroup is a warning about the samples of a group.
func AboutGroup(group, text string) string { return "group " + group + ": " + text }

// readSamples reads the samples, which stand below the lines that say where
// they come from.
func (r *Set) readSamples(ctx context.Context, data []byte, filename string, places []place) error {
	in := benchfmt.NewReader(bytes.NewReader(data), filename)
	var at place
	for in.Scan() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return fmt.Errorf("results: %w", rec)
		case *benchfmt.Result:
			_, line := rec.Pos()
			for len(places) > 0 && places[0].line < line {
				at, places = places[0], places[1:]
			}
			s, err := sampleOf(rec)
			s.Group, s.Process, s.Weights = at.group, at.process, at.models[s.Name.Get(ModelKey)]
			s.Round, s.Position, s.Start, s.Took = at.round, at.position, at.start, at.took
			if at.line == line-1 {
				s.Slices = at.slices
			}
			if err != nil {
				return fmt.Errorf("results: %s:%d: %w", filename, line, err)
			}
			r.Samples = append(r.Samples, s)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("reading results: %w", err)
	}
	return nil
}

func sampleOf(rec *benchfmt.Result) (Sample, error) {
	s := Sample{Name: ParseName(string(rec.Name)), Iters: rec.Iters, Package: rec.GetConfig("pkg"), Side: rec.GetConfig("side")}
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

// MetricOf returns a value of benchfmt, which tidies units, under the name that
// its unit has in Units. A unit that Units doesn't list stays tidied.
func MetricOf(v benchfmt.Value) Metric {
	if v.OrigUnit != "" && UnitOf(v.OrigUnit).known() {
		// The value as it was written, free of the rounding of two conversions.
		return Metric{v.OrigUnit, v.OrigValue}
	}
	return untidy(Metric{v.Unit, v.Value})
}

// A header collects settings.
type header struct {
	*Set
	index   map[string]int // of a key in Settings
	changed map[string]bool
	models  map[weighed]bool // of ModelsKey, where there are several
}

func newHeader(r *Set) *header {
	return &header{Set: r, index: make(map[string]int), changed: make(map[string]bool)}
}

// RunKeys are settings that differ from run to run, whatever was measured, or
// that say nothing which the others don't.
var RunKeys = []string{"started", "command", "mem-available", "clock-step-ns", UnavailableKey}

// UnmeasuredKey is the setting that lists what a run could not measure, and
// why, separated by semicolons.
const UnmeasuredKey = "unavailable"

// set adds a setting. The first value of a key stays, and a first change gets
// a warning: samples of several machines or commits make no one result. Go
// itself changes pkg from package to package, and a gate its side.
func (h *header) set(s Setting, where string) {
	i, seen := h.index[s.Key]
	if !seen {
		h.index[s.Key] = len(h.Settings)
		h.Settings = append(h.Settings, s)
		return
	}
	if s.Key == ModelsKey {
		h.Settings[i].Value = h.merged(h.Settings[i].Value, s.Value)
		return
	}
	if have := h.Settings[i].Value; have != s.Value && s.Key != "pkg" && s.Key != "side" && !slices.Contains(RunKeys, s.Key) && !h.changed[s.Key] {
		h.changed[s.Key] = true
		h.Warnings = append(h.Warnings, fmt.Sprintf("%s: %s is %q here and %q before", where, s.Key, s.Value, have))
	}
}

// mostModels is how many models a header of several runs lists.
const mostModels = 1000

// merged adds to the models of earlier runs those of another.
func (h *header) merged(before, more string) string {
	if h.models == nil {
		h.models = make(map[weighed]bool)
		for _, w := range parseModels(before) {
			h.models[w] = true
		}
	}
	for _, w := range parseModels(more) {
		if !h.models[w] && len(h.models) < mostModels {
			h.models[w] = true
			before += " " + w.model + "=" + w.digest
		}
	}
	return before
}

// Lines that are onebit's own, or go test's, and that benchfmt passes over.
const (
	FailPrefix    = "--- FAIL: Benchmark"
	WarningPrefix = "# warning: "
	GroupPrefix   = "# group "
	processPrefix = "# process "
	roundPrefix   = "# round "
	notePrefix    = "# gate "
	SlicesPrefix  = "# slices "
	ReasonIndent  = "    "
)

// A place says where the samples below a line come from.
type place struct {
	line    int
	group   string
	process int
	models  map[string]string // digests by name

	round, position int
	start, took     time.Duration
	slices          []float64 // of the sample on the next line
}

// readRound reads "# round 3 position 0 start 1.5s took 20ms".
func (p *place) readRound(line string) error {
	var start, took string
	if _, err := fmt.Sscanf(line, RoundFormat, &p.round, &p.position, &start, &took); err != nil {
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

// RoundFormat is the line above the samples of a process that a gate ran: Sample's
// Round, Position, Start and Took.
const RoundFormat = roundPrefix + "%d position %d start %s took %s"

// readHeaderAndRemarks reads settings, failures, warnings, and the lines that
// name groups and processes. benchfmt knows settings too, but hands them out
// with a sample only, and a run may have ended before its first.
func (r *Set) readHeaderAndRemarks(ctx context.Context, data []byte, filename string) (places []place, err error) {
	var at place
	numbered := false
	head := newHeader(r)
	var failure *Failure
	n := 0
	for raw := range bytes.Lines(data) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n++
		line := strings.TrimRight(string(raw), "\r\n")
		if name, ok := strings.CutPrefix(strings.TrimLeft(line, " "), FailPrefix); ok {
			name, _, _ = strings.Cut(name, " ")
			r.Failures = append(r.Failures, Failure{Name: ParseName(name)})
			failure = &r.Failures[len(r.Failures)-1]
			continue
		}
		if reason, ok := strings.CutPrefix(line, ReasonIndent); ok && failure != nil {
			failure.AddReason(reason)
			continue
		}
		failure = nil
		if text, ok := strings.CutPrefix(line, WarningPrefix); ok {
			r.Warnings = append(r.Warnings, text)
		} else if name, ok := strings.CutPrefix(line, GroupPrefix); ok {
			at.line, at.group = n, name
			places = append(places, at)
		} else if number, ok := strings.CutPrefix(line, processPrefix); ok {
			if p, err := strconv.Atoi(number); err == nil && p > 0 {
				at.line, at.process, numbered = n, p, true
				places = append(places, at)
			}
		} else if strings.HasPrefix(line, roundPrefix) && strings.Contains(line, " position ") {
			if err := at.readRound(line); err != nil {
				return nil, fmt.Errorf("results: %s:%d: %q: %w", filename, n, line, err)
			}
			at.line = n
			places = append(places, at)
		} else if text, ok := strings.CutPrefix(line, SlicesPrefix); ok {
			here := at
			if here.slices, err = parseSlices(text); err != nil {
				return nil, fmt.Errorf("results: %s:%d: slices: %w", filename, n, err)
			}
			here.line = n
			places = append(places, here)
		} else if note, ok := strings.CutPrefix(line, notePrefix); ok {
			kind, text, _ := strings.Cut(note, " ")
			r.Notes = append(r.Notes, Note{n, kind, text})
		} else if s, ok := parseSetting(line); ok {
			head.set(s, fmt.Sprintf("%s:%d", filename, n))
			switch {
			case s.Key == "pkg" && !numbered:
				at.line, at.process = n, at.process+1
				places = append(places, at)
			case s.Key == ModelsKey:
				at.line, at.models = n, ModelDigests(s.Value)
				places = append(places, at)
			}
		}
	}
	r.dropParents()
	return places, nil
}

// dropParents drops failures that go test printed only because a benchmark
// under them failed.
func (r *Set) dropParents() {
	var names []string
	for _, f := range r.Failures {
		names = append(names, f.Name.Full)
	}
	slices.Sort(names)
	r.Failures = slices.DeleteFunc(r.Failures, func(f Failure) bool {
		child, _ := slices.BinarySearch(names, f.Name.Full+"/")
		return f.Reason == "" && child < len(names) && strings.HasPrefix(names[child], f.Name.Full+"/")
	})
}

func (f *Failure) AddReason(line string) {
	if f.Reason != "" {
		line = f.Reason + "\n" + line
	}
	f.Reason = line
}

// parseSetting parses "key: value". A key without a value, which ends a
// setting's reach in the format, is none.
func parseSetting(line string) (Setting, bool) {
	key, value, ok := strings.Cut(line, ":")
	trimmed := strings.TrimLeft(value, " \t")
	if !ok || !ValidKey(key) || trimmed == "" || len(trimmed) == len(value) {
		return Setting{}, false
	}
	return Setting{key, trimmed}, true
}
