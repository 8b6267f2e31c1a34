package results

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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

// A Note is a line "# KIND TEXT" that is none of the others; of a Set, one "# gate KIND TEXT".
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
	// sample (base, head or control), as the lines "pkg: " and "side: " above the
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
	if err := res.read(ctx, data[:end], filename); err != nil {
		return nil, err
	}
	if end < len(data) {
		// Cut off, a number may still parse as a smaller one: the line is
		// worthless even where it looks whole.
		res.Warnings = append(res.Warnings, filename+": the last line is unfinished and was dropped")
	}
	res.Warnings = append(res.Warnings, TellApart(res)...)
	res.MarkDoubts()
	return res, nil
}

// read takes what lines say.
func (r *Set) read(ctx context.Context, lines []byte, filename string) error {
	head := newHeader(r)
	err := NewReader(filename, Found{
		Setting: func(s Setting, line int) error { head.set(s, fmt.Sprintf("%s:%d", filename, line)); return nil },
		Failure: func(f Failure) error { r.Failures = append(r.Failures, f); return nil },
		Warning: func(text string) error { r.Warnings = append(r.Warnings, text); return nil },
		Note:    r.note,
		Sample:  func(s Sample) error { r.Samples = append(r.Samples, s); return nil },
	}).Lines(ctx, lines)
	r.dropParents()
	return err
}

// note keeps what a gate says.
func (r *Set) note(n Note) error {
	if n.Kind == GateNote {
		n.Kind, n.Text, _ = strings.Cut(n.Text, " ")
		r.Notes = append(r.Notes, n)
	}
	return nil
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

// GateNote is the kind of the lines in which a gate says what it found.
const GateNote = "gate"

// Lines that are onebit's own, or go test's, and that benchfmt passes over.
const (
	failPrefix    = "--- FAIL: Benchmark"
	warningPrefix = "# warning: "
	groupPrefix   = "# group "
	processPrefix = "# process "
	roundPrefix   = "# round "
	slicesPrefix  = "# slices "
	reasonIndent  = "    "

	// roundFormat is the line above the samples of a process that a gate ran: Sample's
	// Round, Position, Start and Took.
	roundFormat = roundPrefix + "%d position %d start %s took %s"
)

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

func (f *Failure) addReason(line string) {
	if f.Reason != "" {
		line = f.Reason + "\n" + line
	}
	f.Reason = line
}
