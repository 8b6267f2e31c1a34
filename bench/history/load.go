package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unique"

	"golang.org/x/perf/benchproc"

	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/term"
)

// A History is the series of a folder of results files.
type History struct {
	Points   []Point  // in their order
	Machines []string // names for people, each of one machine
	Series   []Series
	Files    int      // with results, without copies of others
	Notes    []string // what was left out, and what the order rests on
}

// A Point is a commit, or a file that names none.
type Point struct {
	Commit    string // "" if unknown
	File      string // the first of its files, below the folder
	Time      time.Time
	From      Clock // what Time is
	Files     int
	GoVersion string // of the first file that says it
	Subject   string // of the commit, if a repository was given
}

// Label names a point for people.
func (p Point) Label() string {
	if p.Commit == "" {
		return term.Quote(filepath.ToSlash(p.File))
	}
	if short := strings.TrimRight(p.Commit, "0123456789abcdef"); short == "" && len(p.Commit) > shortCommit {
		return p.Commit[:shortCommit]
	}
	return term.Quote(p.Commit)
}

const shortCommit = 10

// A Clock is where a point's time comes from, the best first.
type Clock int

const (
	CommitTime Clock = iota // the header's commit date, or the repository's
	RunTime                 // the header's date of measuring
	NameTime                // a date in the file's name
	FileTime                // when the file was written
)

// A Series is one case in one unit on one machine.
type Series struct {
	Machine int // number in History.Machines
	Case
	Better int  // +1: higher is better, -1: lower is better, 0: unknown
	Exact  bool // the values are computed, not measured

	At     []int32 // numbers of its points, ascending
	Values []float64
	Files  []int32 // with the case, of each point
}

// LoadOptions say what is read.
type LoadOptions struct {
	Filter string   // of benchmarks; see bench.Suite.Filter
	Units  []string // under bench's names; nil: all of known direction

	// Commits returns what a repository knows of commits; nil if there is none.
	Commits func(ctx context.Context, commits []string) (map[string]Commit, error)
}

// What a folder may hold.
const (
	mostFiles  = 100_000
	mostValues = 20_000_000
)

// Load reads all results files below a folder. A file that cannot be read or
// makes no sense is left out with a note; it is an error if none is left.
func Load(ctx context.Context, dir string, opt LoadOptions) (*History, error) {
	if _, err := results.ParseFilter(opt.Filter); err != nil {
		return nil, fmt.Errorf("filter %s: %w", term.QuoteAlways(opt.Filter), err)
	}
	paths, notes, err := listFiles(ctx, dir)
	if err != nil {
		return nil, err
	}
	files, err := readFiles(ctx, paths, opt)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	c := &collector{
		dir: dir, opt: opt, history: &History{Notes: notes}, points: make(map[string]int32), series: make(map[seriesKey]int32),
		copies: make(map[copyKey]bool), machine: make(map[results.Machine]int), alike: make(map[string]int), units: make(map[string]direction),
		otherNames: make(map[string]bool), otherUnits: make(map[string]bool), cases: make(map[unique.Handle[Case]]Case),
	}
	if err := c.collect(ctx, files); err != nil {
		return nil, err
	}
	if len(c.history.Series) == 0 {
		return nil, c.nothing(dir, len(paths))
	}
	return c.history, nil
}

// listFiles lists the regular files below dir, in the order of their paths. What
// begins with a dot is left out.
func listFiles(ctx context.Context, dir string) (paths, notes []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("reading %s: %w", dir, ctx.Err())
		case err != nil && path == dir:
			return err
		case err != nil:
			notes = append(notes, err.Error()+": left out")
			return nil
		case path != dir && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
			paths = append(paths, path)
		}
		if len(paths) > mostFiles {
			return fmt.Errorf("%s holds more than %d files: give a folder of results alone", dir, mostFiles)
		}
		return nil
	})
	return paths, notes, err
}

// A readFile is what became of a path.
type readFile struct {
	*file
	err error
}

// readFiles reads files on all processors.
func readFiles(ctx context.Context, paths []string, opt LoadOptions) ([]readFile, error) {
	out := make([]readFile, len(paths))
	var values atomic.Int64
	err := each(ctx, len(paths), func(i int) {
		if values.Load() > mostValues {
			return
		}
		r := &reader{units: opt.wants}
		if opt.Filter != "" {
			r.filter, _ = benchproc.NewFilter(opt.Filter) // which has been parsed before; each file needs its own
		}
		if out[i].file, out[i].err = r.read(ctx, paths[i]); out[i].file != nil {
			for _, run := range out[i].runs {
				values.Add(int64(len(run.values)))
			}
		}
	})
	if values.Load() > mostValues {
		return nil, fmt.Errorf("more than %d values: a --filter or one --unit makes them fewer", mostValues)
	}
	return out, err
}

// wants reports whether values in a unit are read. The direction of a unit that
// bench does not list stands somewhere in a file, and is asked for later.
func (o LoadOptions) wants(unit string) bool { return o.Units == nil || slices.Contains(o.Units, unit) }

type (
	seriesKey struct {
		machine int
		of      Case
	}
	copyKey struct {
		sum    [sha256.Size]byte
		commit string
	}
	// An observation is a file's value of a series at a point.
	observation struct {
		point int32
		value float64
	}
)

// A collector makes a history of files.
type collector struct {
	dir     string
	opt     LoadOptions
	history *History
	points  map[string]int32
	machine map[results.Machine]int
	alike   map[string]int // how many machines have a name
	series  map[seriesKey]int32
	copies  map[copyKey]bool
	units   map[string]direction
	seen    [][]observation // of each series
	other   int             // files without results

	lines int                          // of results, wanted or not
	apart results.Namesakes            // models of one name with different weights
	cases map[unique.Handle[Case]]Case // as their series are called

	otherNames map[string]bool // that the filter left out
	otherUnits map[string]bool // that nobody asked for
}

func (c *collector) collect(ctx context.Context, files []readFile) error {
	var copies, bad []string
	c.tellModelsApart(files)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case errors.Is(f.err, errNoResults):
			c.other++
		case f.err != nil:
			bad = append(bad, f.err.Error())
		case !c.add(f):
			copies = append(copies, f.path)
		default:
			if f.nBad > 0 {
				bad = append(bad, f.bad+moreOf(f.nBad-1, "such line"))
			}
		}
	}
	c.note(c.other > 0, "%s without results left out", count.Of(c.other, "file"))
	if len(copies) > 0 {
		c.note(true, "%s the copy of another and counted once: %s", areOf(len(copies), "file"), firstOf(copies))
	}
	const most = 5
	for _, b := range bad[:min(most, len(bad))] {
		c.note(true, "%s: left out", b)
	}
	c.note(len(bad) > most, "%s left out, in whole or in part", count.Of(len(bad)-most, "further file"))
	if err := c.order(ctx); err != nil {
		return err
	}
	return c.finish(ctx)
}

func (c *collector) note(when bool, format string, args ...any) {
	if when {
		c.history.Notes = append(c.history.Notes, fmt.Sprintf(format, args...))
	}
}

func moreOf(n int, noun string) string {
	if n == 0 {
		return ""
	}
	return ", and " + count.Of(n, noun)
}

func areOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return count.Of(n, noun) + " are"
}

func firstOf(paths []string) string {
	return term.Quote(paths[0]) + moreOf(len(paths)-1, "other")
}

// add takes the runs of a file. It returns false for the copy of another.
func (c *collector) add(f readFile) bool {
	c.learn(f.file)
	name, err := filepath.Rel(c.dir, f.path)
	if err != nil || name == "." {
		name = filepath.Base(f.path)
	}
	fresh := false
	for i, r := range f.runs {
		commit := cmp.Or(r.commit, commitOfName(name))
		key := copyKey{f.sum, fmt.Sprint(commit, "/", i)}
		if c.copies[key] {
			continue
		}
		c.copies[key], fresh = true, true
		number := c.point(commit, name, i)
		at := &c.history.Points[number]
		at.date(r.header, name, f.modified)
		at.Files++
		at.GoVersion = cmp.Or(at.GoVersion, r.goVersion)
		machine := c.machineOf(r.machine)
		for _, v := range r.values {
			i := c.seriesOf(seriesKey{machine, c.caseOf(v.of)})
			c.seen[i] = append(c.seen[i], observation{number, v.value})
		}
	}
	if fresh {
		c.history.Files++
	}
	return fresh || len(f.runs) == 0
}

// point returns the number of the point of a commit, or of the run of a file that
// names none.
func (c *collector) point(commit, file string, run int) int32 {
	key := "commit " + commit
	if commit == "" {
		key = fmt.Sprint("file ", file, "/", run)
	}
	i, ok := c.points[key]
	if !ok {
		i = int32(len(c.history.Points))
		c.points[key] = i
		c.history.Points = append(c.history.Points, Point{Commit: commit, File: file, From: FileTime + 1})
	}
	return i
}

// date gives a point the earliest time of the best kind that its files have.
func (p *Point) date(h header, path string, modified time.Time) {
	for from, t := range []time.Time{h.committed, h.measured, timeOfName(path), modified} {
		if t.IsZero() || Clock(from) > p.From {
			continue
		}
		if Clock(from) < p.From || t.Before(p.Time) {
			p.Time, p.From = t, Clock(from)
		}
		return
	}
}

func (c *collector) machineOf(m results.Machine) int {
	i, ok := c.machine[m]
	if !ok {
		i = len(c.history.Machines)
		c.machine[m] = i
		c.history.Machines = append(c.history.Machines, c.tellApart(machineName(m)))
	}
	return i
}

// tellApart numbers the machines that share a name.
func (c *collector) tellApart(name string) string {
	c.alike[name]++
	if n := c.alike[name]; n > 1 {
		return c.tellApart(fmt.Sprintf("%s (%d)", name, n)) // which may be another's
	}
	return name
}

func (c *collector) seriesOf(key seriesKey) int32 {
	i, ok := c.series[key]
	if !ok {
		i = int32(len(c.history.Series))
		c.series[key] = i
		c.history.Series = append(c.history.Series, Series{Machine: key.machine, Case: key.of})
		c.seen = append(c.seen, nil)
	}
	return i
}

// tellModelsApart finds the models that have one name and different weights, which make
// no one series.
func (c *collector) tellModelsApart(files []readFile) {
	seen := make(map[unique.Handle[Case]]bool)
	for _, f := range files {
		if f.file == nil {
			continue
		}
		for _, r := range f.runs {
			for _, v := range r.values {
				if seen[v.of] {
					continue
				}
				seen[v.of] = true
				of := v.of.Value()
				c.apart.Add(results.ParseName(of.Name).Model(), of.weights)
			}
		}
	}
	for _, model := range slices.Sorted(slices.Values(c.apart.Names())) {
		c.note(true, "%s is the name of models with %d different weights, each of which has series of its own", term.Quote(model), len(c.apart.Of(model)))
	}
}

// caseOf is the case of a series. What is not known to be of other weights keeps its
// name.
func (c *collector) caseOf(h unique.Handle[Case]) Case {
	of, known := c.cases[h]
	if !known {
		of = h.Value()
		if name := results.ParseName(of.Name); of.weights != "" && c.apart.Of(name.Model()) != nil {
			of.Name = name.Apart(of.weights).Full
		}
		of.weights = ""
		c.cases[h] = of
	}
	return of
}

// learn takes what a file says of units, and what it has that was not asked for.
// Files that contradict each other on a unit's direction say nothing.
func (c *collector) learn(f *file) {
	for unit, d := range f.units {
		if have, ok := c.units[unit]; ok && have.better != d.better {
			d.better = 0
		}
		c.units[unit] = d
	}
	c.lines += f.lines
	maps.Copy(c.otherNames, f.otherNames)
	maps.Copy(c.otherUnits, f.otherUnits)
}

// finish sorts the observations of each series by points.
func (c *collector) finish(ctx context.Context) error {
	for i, rest := range c.seen {
		if err := ctx.Err(); err != nil {
			return err
		}
		slices.SortFunc(rest, func(a, b observation) int { return cmp.Compare(a.point, b.point) })
		s := &c.history.Series[i]
		for len(rest) > 0 {
			var values []float64
			for _, o := range rest {
				if o.point != rest[0].point {
					break
				}
				values = append(values, o.value)
			}
			s.At, s.Values, s.Files = append(s.At, rest[0].point), append(s.Values, median(values)), append(s.Files, int32(len(values)))
			rest = rest[len(values):]
		}
	}
	c.seen = nil
	for i := range c.history.Series {
		s := &c.history.Series[i]
		unit, d := results.UnitOf(s.Unit), c.units[s.Unit]
		s.Better, s.Exact = cmp.Or(unit.Better, d.better), unit.Exact || d.exact
	}
	if c.opt.Units == nil {
		c.history.Series = slices.DeleteFunc(c.history.Series, func(s Series) bool { return s.Better == 0 })
	}
	slices.SortStableFunc(c.history.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), strings.Compare(a.Package, b.Package),
			strings.Compare(a.Name, b.Name), cmp.Compare(a.Procs, b.Procs), strings.Compare(a.Unit, b.Unit))
	})
	return nil
}

// nothing says why there is no series.
func (c *collector) nothing(dir string, files int) error {
	units := slices.Sorted(maps.Keys(c.otherUnits))
	switch {
	case c.lines == 0:
		return fmt.Errorf("%s: none of %s has results in Go's benchmark format", dir, count.Of(files, "file"))
	case len(c.otherNames) > 0:
		var names []results.Name
		for _, name := range slices.Sorted(maps.Keys(c.otherNames)) {
			names = append(names, results.ParseName(name))
		}
		if err := results.CheckFilter(c.opt.Filter, names, "pkg", "goos", "goarch", "cpu", "commit", ".unit", ".file"); err != nil {
			return fmt.Errorf("filter %s: %w", term.QuoteAlways(c.opt.Filter), err)
		}
		return fmt.Errorf("filter %s matches no benchmark of %s", term.QuoteAlways(c.opt.Filter), dir)
	case len(units) > 0 && c.opt.Units != nil:
		return fmt.Errorf("%s has no values in %s; there are: %s", dir, strings.Join(c.opt.Units, ", "), term.Text(strings.Join(units, ", ")))
	}
	return fmt.Errorf("%s: no value can be used: %s", dir, strings.Join(c.history.Notes, "; "))
}
