package history

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unique"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/bounded"
	"onebit/internal/term"
)

// A Case is what a series is of.
type Case struct {
	Package string // "" if the file names none
	Name    string // of the benchmark, without -GOMAXPROCS
	Procs   int    // GOMAXPROCS; 0 where the name has none
	Unit    string // under one of bench's names if it has one

	weights string // the digest of its model's, while files are read; "" if unknown
}

// machineName names a machine for people. Files that differ in anything that
// [results.Machine] has are of two machines, also where their names are the same.
func machineName(m results.Machine) string {
	var parts []string
	for _, f := range m.Facets() {
		switch {
		case f.Value == "" || f.Name == "CPU features":
		case f.Name == "CPUs":
			parts = append(parts, f.Value+" CPUs")
		case f.Name == "emulator":
			parts = append(parts, "emulated by "+f.Value)
		default:
			parts = append(parts, f.Value)
		}
	}
	if len(parts) == 0 {
		return "a machine that its files don't describe"
	}
	return strings.Join(parts, ", ")
}

// A direction is what a file says of a unit.
type direction struct {
	better int
	exact  bool
}

// A file is what one file says.
type file struct {
	path     string
	modified time.Time
	sum      [sha256.Size]byte
	runs     []*run
	byHeader map[header]*run // while the file is read
	units    map[string]direction
	bad      string // the first line or value that makes no sense
	nBad     int    // how many there are

	lines      int             // of results, wanted or not
	otherNames map[string]bool // some of those that the filter left out
	otherUnits map[string]bool // some of those that nobody asked for
}

// A run is what a file says of one commit on one machine.
type run struct {
	header
	values []value
	cases  map[string]map[weighed]*caseValues // by package, while the file is read
}

// A header is what the lines above a benchmark say of it.
type header struct {
	commit    string
	committed time.Time // zero if unknown, as the next
	measured  time.Time
	goVersion string
	machine   results.Machine
}

// A value is the median of a case in a run.
type value struct {
	of    unique.Handle[Case]
	value float64
}

// A weighed is a case's name and the digest of its model's weights, if it is known.
type weighed struct{ name, weights string }

type caseValues struct {
	name   string
	procs  int
	values map[string][]float64 // by unit
}

// What one file may hold. A run of minutes has some megabytes and hundreds of
// cases.
const (
	maxFile  = 256 << 20
	maxCases = 100_000
)

// errNoResults is the error for a file without a line of results.
var errNoResults = errors.New("no results")

// headerKeys are the settings that a header is made of. The first of a kind that
// a file has counts.
var headerKeys = []string{
	"commit", "experiment-commit",
	"commit-date", "commit-time", "experiment-commit-commit-time",
	"started", "date", "runstamp",
	"go-version", results.HostKey, "cpu", "cpus-usable", "mem-total", "cpu-features", "goos", "goarch", "platform", "emulated", "emulator",
	"pkg", "side", results.ModelsKey,
}

// A reader reads files one after another.
type reader struct {
	units  func(unit string) bool // which are wanted
	filter *benchproc.Filter      // nil: all
}

// read reads a file of at most 256 MiB. Lines and values that make no sense are
// left out and counted, as is a last line without its end.
func (r *reader) read(ctx context.Context, path string) (*file, error) {
	in, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d MiB are more than a results file has", path, info.Size()>>20)
	}
	data, err := bounded.Read(in, maxFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 {
		return nil, errNoResults
	}
	f := &file{path: path, modified: info.ModTime().UTC(), sum: sha256.Sum256(data), byHeader: make(map[header]*run), units: make(map[string]direction), otherNames: make(map[string]bool), otherUnits: make(map[string]bool)}
	end := bytes.LastIndexByte(data, '\n') + 1
	if bytes.HasPrefix(data[end:], []byte("Benchmark")) {
		// Cut off, a number may still parse as a smaller one.
		f.complain(path + ": the last line is unfinished")
	}
	if err := r.parse(ctx, f, data[:end]); err != nil {
		return nil, err
	}
	if f.lines == 0 && f.nBad == 0 {
		return nil, errNoResults
	}
	return f, nil
}

func (f *file) complain(text string) {
	if f.nBad++; f.nBad == 1 {
		f.bad = text
	}
}

// A parsing is what is known of a file in its middle.
type parsing struct {
	*reader
	*file
	lines    *results.Reader
	settings []string
	cases    map[weighed]*caseValues // of the run and package in hand
	weights  map[string]string       // by model
	known    int
}

func (r *reader) parse(ctx context.Context, f *file, data []byte) error {
	p := &parsing{reader: r, file: f, settings: make([]string, len(headerKeys))}
	p.lines = results.NewReader(f.path, results.Found{
		Record:    p.record,
		Malformed: func(err error) error { f.complain(err.Error()); return nil },
	})
	if err := p.lines.Lines(ctx, data); err != nil {
		return err
	}
	f.readUnits(p.lines.Units())
	for _, run := range f.runs {
		run.reduce()
	}
	f.runs, f.byHeader = slices.DeleteFunc(f.runs, func(r *run) bool { return len(r.values) == 0 }), nil
	return nil
}

func (p *parsing) record(rec *benchfmt.Result) error {
	if p.changed() || p.cases == nil {
		p.cases = p.run(headerOf(p.settings)).of(setting(p.settings, "pkg"))
		p.weights = results.ModelDigests(setting(p.settings, results.ModelsKey))
	}
	p.file.lines++
	switch setting(p.settings, "side") {
	case "base", "control", "twin": // twin: a control's name until November 2026
		return nil // a gate measures them beside the commit
	}
	if !p.wanted(rec) {
		return nil
	}
	of := weighed{name: string(rec.Name)}
	if len(p.weights) > 0 {
		of.weights = p.weights[results.ParseName(of.name).Model()]
	}
	c := p.cases[of]
	if c == nil {
		if p.known++; p.known > maxCases {
			return fmt.Errorf("%s has more than %d cases: this is no results file", p.path, maxCases)
		}
		name := results.ParseName(of.name)
		c = &caseValues{name: term.Text(name.Full), procs: name.Procs, values: make(map[string][]float64)}
		p.cases[of] = c
	}
	p.take(c, rec)
	return nil
}

// run returns the run with a header. A file has one, or a few.
func (f *file) run(h header) *run {
	r := f.byHeader[h]
	if r == nil {
		r = &run{header: h, cases: make(map[string]map[weighed]*caseValues)}
		f.byHeader[h] = r
		f.runs = append(f.runs, r)
	}
	return r
}

func (r *run) of(pkg string) map[weighed]*caseValues {
	if r.cases[pkg] == nil {
		r.cases[pkg] = make(map[weighed]*caseValues)
	}
	return r.cases[pkg]
}

// wanted reports whether a benchmark counts. Arms of A/A pairs are no cases.
func (p *parsing) wanted(rec *benchfmt.Result) bool {
	if bytes.HasPrefix(rec.Name, []byte("AA/")) && results.ParseName(string(rec.Name)).IsArm() {
		return false
	}
	if p.filter == nil {
		return true
	}
	for key, value := range p.lines.Settings() {
		rec.SetConfig(key, value)
	}
	ok, err := p.filter.Apply(rec)
	if !ok && len(p.otherNames) < mostOthers {
		p.otherNames[string(rec.Name)] = true
	}
	return ok && err == nil
}

// mostOthers is how many names and units that are not wanted are kept, to say
// what there is.
const mostOthers = 1000

// changed copies the settings that a header is made of, and reports whether any
// changed since the line before.
func (p *parsing) changed() bool {
	any := false
	for i, key := range headerKeys {
		if now := p.lines.Get(key); now != p.settings[i] {
			p.settings[i], any = term.Text(now), true
		}
	}
	return any
}

func setting(settings []string, keys ...string) string {
	for _, key := range keys {
		if v := settings[slices.Index(headerKeys, key)]; v != "" && v != "unknown" && !strings.HasPrefix(v, "unavailable") {
			return v
		}
	}
	return ""
}

func headerOf(settings []string) header {
	var all results.Set
	for i, key := range headerKeys {
		if settings[i] != "" {
			all.Settings = append(all.Settings, results.Setting{Key: key, Value: settings[i]})
		}
	}
	get := func(keys ...string) string { return setting(settings, keys...) }
	return header{
		commit: get("commit", "experiment-commit"), goVersion: get("go-version"), machine: all.Machine(),
		committed: parseTime(get("commit-date", "commit-time", "experiment-commit-commit-time")),
		measured:  parseTime(get("started", "date", "runstamp")),
	}
}

// timeForms are how dates are written in headers: RFC 3339, git's and date's
// own, and without a time of day.
var timeForms = []string{
	time.RFC3339, "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "20060102T150405",
	"Mon Jan _2 15:04:05 2006 -0700", time.UnixDate, time.RFC1123Z, "2006-01-02",
}

// parseTime returns the zero time for what is no date of this age.
func parseTime(text string) time.Time {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds > 1e8 && seconds < 1e11 {
		return time.Unix(seconds, 0).UTC()
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil && t.Year() > 1970 && t.Year() < 10000 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// take takes the values of a line.
func (p *parsing) take(c *caseValues, rec *benchfmt.Result) {
	if rec.Iters < 1 {
		p.complain(p.lines.At(fmt.Errorf("%d iterations", rec.Iters)).Error())
		return
	}
	for _, v := range rec.Values {
		m := results.MetricOf(v)
		if !p.reader.units(m.Unit) {
			if len(p.otherUnits) < mostOthers {
				p.otherUnits[m.Unit] = true
			}
			continue
		}
		if err := m.Check(); err != nil {
			p.complain(p.lines.At(err).Error())
			continue
		}
		c.values[m.Unit] = append(c.values[m.Unit], m.Value)
	}
}

// readUnits takes the direction of units from lines such as
// "Unit p99-ns better=lower".
func (f *file) readUnits(units benchfmt.UnitMetadataMap) {
	for key, meta := range units {
		d := f.units[key.Unit]
		switch key.Key + "=" + meta.Value {
		case "better=higher":
			d.better = +1
		case "better=lower":
			d.better = -1
		case "assume=exact":
			d.exact = true
		}
		f.units[key.Unit] = d
	}
}

// reduce makes a median of each case's values, in the order of the names and units.
func (r *run) reduce() {
	for _, pkg := range slices.Sorted(maps.Keys(r.cases)) {
		for _, of := range slices.SortedFunc(maps.Keys(r.cases[pkg]), compareWeighed) {
			c := r.cases[pkg][of]
			for _, unit := range slices.Sorted(maps.Keys(c.values)) {
				of := Case{pkg, c.name, c.procs, term.Text(unit), term.Text(of.weights)}
				r.values = append(r.values, value{unique.Make(of), median(c.values[unit])})
			}
		}
	}
	r.cases = nil
}

func compareWeighed(a, b weighed) int {
	return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.weights, b.weights))
}

// median sorts values, of which there is at least one.
func median(values []float64) float64 {
	slices.Sort(values)
	return noise.Median(values)
}

var (
	hexDigits  = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	dateInName = regexp.MustCompile(`(?:^|[^0-9])(20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?:[^0-9]|$)`)
)

// commitOfName returns the commit in a file's name or in the innermost folder
// that has one, "" if there is none. A short one has letters and digits: words
// and dates have not.
func commitOfName(path string) string {
	return inName(path, func(part string) string {
		for _, word := range strings.FieldsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if hexDigits.MatchString(word) && (len(word) == 40 || strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdef")) {
				return word
			}
		}
		return ""
	})
}

// timeOfName returns the date in a file's name or in its folders'.
func timeOfName(path string) time.Time {
	return parseTime(inName(path, func(part string) string {
		if m := dateInName.FindStringSubmatch(part); m != nil {
			return m[1] + "-" + m[2] + "-" + m[3]
		}
		return ""
	}))
}

func inName(path string, find func(part string) string) string {
	for path = filepath.Clean(path); path != "." && path != filepath.Dir(path); path = filepath.Dir(path) {
		if found := find(filepath.Base(path)); found != "" {
			return found
		}
	}
	return ""
}
