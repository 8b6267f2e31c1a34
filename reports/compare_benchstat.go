package reports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"onebit/bench"
	"onebit/internal/bounded"
	"onebit/internal/term"
)

// BenchstatOptions says what [Benchstat] compares. The zero value compares as benchstat does without
// flags: a table per file-level configuration and unit, a row per benchmark, a column per file.
// Filter and the four projections use the syntax of golang.org/x/perf/benchproc/syntax.
type BenchstatOptions struct {
	Filter     string  // benchmarks and units to use; "" means "*"
	Table      string  // what splits results into tables; "" means ".config"
	Row        string  // what makes a row; "" means ".fullname"
	Col        string  // what is compared side by side; "" means ".file"
	Ignore     string  // keys whose differences do not matter
	Alpha      float64 // a difference is significant when p < Alpha; 0 means 0.05
	Confidence float64 // level of the intervals; 0 means 0.95
	Format     string  // "text" or "csv"; "" means "text"
}

// Benchstat writes to w, byte for byte but for what could harm a terminal, what benchstat prints for
// the same files and options, and to werr what benchstat prints there: malformed lines and, for CSV,
// the warnings. A file is a path, "label=path", or "-" for standard input.
//
// Where benchstat exits 0, or does not end, Benchstat returns an error, after nothing has been
// written to w: for a file that it can't read, for files without benchmarks (ErrNoBenchmarks), for
// a value that is no measurement, and for a projection by a key that no result has. It ends early,
// with ctx's error, when ctx does.
func Benchstat(ctx context.Context, w, werr io.Writer, opt BenchstatOptions, files ...string) error {
	render, err := compareFormat(opt.Format)
	if err != nil {
		return err
	}
	tables, err := benchstatTables(ctx, werr, opt, files)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return fmt.Errorf("%s: %w", strings.Join(files, ", "), ErrNoBenchmarks)
	}
	var out, warnings bytes.Buffer
	if err := render(&out, &warnings, tables); err != nil {
		return err
	}
	if _, err := werr.Write(term.Clean(warnings.Bytes())); err != nil {
		return err
	}
	_, err = w.Write(term.Clean(out.Bytes()))
	return err
}

// ErrNoBenchmarks is the error for files that have no benchmarks, or none that the filter matches.
var ErrNoBenchmarks = errors.New("no benchmarks to compare")

var errNoKey = errors.New("no result has the key")

// Check reports an option that makes no sense.
func (opt BenchstatOptions) Check() error {
	if _, err := compareFormat(opt.Format); err != nil {
		return err
	}
	_, err := newComparer(opt)
	return err
}

func compareFormat(name string) (func(w, werr io.Writer, tables []*deltaTable) error, error) {
	switch name {
	case "", "text":
		return writeDeltaText, nil
	case "csv":
		return writeDeltaCSV, nil
	}
	return nil, fmt.Errorf("unknown comparison format %q: use text or csv", name)
}

// A deltaTable compares one unit under one configuration: rows × columns of samples, the first
// column being the base that the others are compared with.
type deltaTable struct {
	config  []configLine // the table's configuration, in the projection's order
	unit    string
	better  int // +1 higher, -1 lower, 0 unknown
	rows    []benchproc.Key
	cols    []benchproc.Key
	cells   map[cellKey]*deltaCell
	geomean []geomeanCell // one per column
}

type configLine struct{ key, value string }

type cellKey struct{ row, col benchproc.Key }

// A deltaCell is one sample, and its comparison with the base sample of the same row.
type deltaCell struct {
	values   []float64
	residues map[benchproc.Key]struct{}

	sample   *benchmath.Sample
	summary  benchmath.Summary
	warnings []error // about the summary

	compared   bool // there is a base sample, in another column
	comparison benchmath.Comparison
	delta      string
}

// A geomeanCell sums a column up: the geometric mean of its centers, and of their ratios to the
// base over the rows that both columns have.
type geomeanCell struct {
	ok     bool // every center is positive
	center float64
	delta  string // "" in the base column
	issues []error
}

// unknownDelta stands for a change that can't be computed.
const unknownDelta = "?"

var (
	errCentersNotPositive = errors.New("summaries must be >0 to compute geomean")
	errRatiosNotPositive  = errors.New("ratios must be >0 to compute geomean")
	errRowsDiffer         = errors.New("benchmark set differs from baseline; geomeans may not be comparable")
)

// A comparer sorts results into tables as they are read.
type comparer struct {
	filter                *benchproc.Filter
	tableBy, rowBy, colBy *benchproc.Projection
	unitField             *benchproc.Field
	residueBy             *benchproc.Projection
	thresholds            benchmath.Thresholds
	confidence            float64
	used                  map[*benchproc.Field]bool // keys of projections that a result has
	tables                map[benchproc.Key]map[cellKey]*deltaCell
}

func newComparer(opt BenchstatOptions) (*comparer, error) {
	c := &comparer{
		thresholds: benchmath.DefaultThresholds,
		confidence: 0.95,
		used:       make(map[*benchproc.Field]bool),
		tables:     make(map[benchproc.Key]map[cellKey]*deltaCell),
	}
	if opt.Alpha != 0 {
		c.thresholds.CompareAlpha = opt.Alpha
	}
	if opt.Confidence != 0 {
		c.confidence = opt.Confidence
	}
	if a := c.thresholds.CompareAlpha; !(a >= 0 && a <= 1) {
		return nil, fmt.Errorf("alpha %v is outside [0, 1]", a)
	}
	if !(c.confidence >= 0 && c.confidence <= 1) {
		return nil, fmt.Errorf("confidence %v is outside [0, 1]", c.confidence)
	}
	var err error
	if c.filter, err = bench.ParseFilter(opt.Filter); err != nil {
		return nil, fmt.Errorf("parsing filter: %w", err)
	}
	var parser benchproc.ProjectionParser
	if c.tableBy, c.unitField, err = parser.ParseWithUnit(orDefault(opt.Table, ".config"), c.filter); err != nil {
		return nil, fmt.Errorf("parsing table projection: %w", err)
	}
	if c.rowBy, err = parser.Parse(orDefault(opt.Row, ".fullname"), c.filter); err != nil {
		return nil, fmt.Errorf("parsing row projection: %w", err)
	}
	if c.colBy, err = parser.Parse(orDefault(opt.Col, ".file"), c.filter); err != nil {
		return nil, fmt.Errorf("parsing column projection: %w", err)
	}
	if _, err = parser.Parse(opt.Ignore, c.filter); err != nil {
		return nil, fmt.Errorf("parsing ignored keys: %w", err)
	}
	// Whatever no projection mentions must not vary within a cell, or the cell mixes unlike things.
	c.residueBy = parser.Residue()
	return c, c.checkKeys()
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// benchstatTables reads the files and returns the tables in their order of printing.
func benchstatTables(ctx context.Context, werr io.Writer, opt BenchstatOptions, paths []string) ([]*deltaTable, error) {
	c, err := newComparer(opt)
	if err != nil {
		return nil, err
	}
	var reader benchfmt.Reader // one for all: units that a file declares hold for the others too
	for _, f := range labelled(paths) {
		if err := c.read(ctx, werr, &reader, f); err != nil {
			return nil, err
		}
	}
	if len(c.tables) > 0 {
		if err := c.checkUsed(); err != nil {
			return nil, err
		}
	}
	return c.finish(ctx, benchfmt.UnitMetadataMap(reader.Units()))
}

type labelledFile struct{ label, path string }

// labelled splits "label=path". A path without a label is its own; one that is given twice is
// numbered, as benchstat does. Without paths standard input is read.
//
// benchfmt.Files does the same, but leaves a file open that it did not read to its end, which no one
// can remove on Windows then.
func labelled(paths []string) []labelledFile {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	count, number := map[string]int{}, map[string]int{}
	for _, path := range paths {
		count[path]++
	}
	var files []labelledFile
	for _, path := range paths {
		f := labelledFile{path, path}
		if label, rest, ok := strings.Cut(path, "="); ok {
			f = labelledFile{label, rest}
		} else if count[path] > 1 {
			f.label = fmt.Sprintf("%s#%d", path, number[path])
			number[path]++
		}
		files = append(files, f)
	}
	return files
}

// read adds the results of a file.
func (c *comparer) read(ctx context.Context, werr io.Writer, reader *benchfmt.Reader, f labelledFile) error {
	in := os.Stdin
	if f.path != "-" {
		var err error
		if in, err = bounded.Open(f.path); err != nil {
			return err
		}
		defer in.Close()
	}
	reader.Reset(in, f.path, ".file", f.label)
	for reader.Scan() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading %s: %w", f.path, err)
		}
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			// The rest of the file is still worth comparing.
			if _, err := fmt.Fprintln(werr, term.Text(rec.Error())); err != nil {
				return err
			}
		case *benchfmt.Result:
			if err := checkMeasured(rec); err != nil {
				return err
			}
			c.add(rec)
		}
	}
	return reader.Err()
}

// checkMeasured refuses what is no measurement. A NaN is unequal to itself, for which the
// Mann-Whitney test of the dependency waits for ever.
func checkMeasured(rec *benchfmt.Result) error {
	for _, v := range rec.Values {
		if err := (bench.Metric{Unit: v.Unit, Value: v.Value}).Check(); err != nil {
			file, line := rec.Pos()
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
	return nil
}

// A projection is one of the comparer's whose keys must exist.
type projection struct {
	what string
	*benchproc.Projection
}

func (c *comparer) projections() []projection {
	return []projection{{"table", c.tableBy}, {"row", c.rowBy}, {"column", c.colBy}}
}

// checkKeys refuses keys with a dot in front that benchproc does not know: it takes them for a
// setting that no file has.
func (c *comparer) checkKeys() error {
	known := []string{".name", ".fullname", ".config", ".unit", ".file"}
	for _, p := range c.projections() {
		for _, f := range p.Fields() {
			if strings.HasPrefix(f.Name, ".") && !slices.Contains(known, f.Name) {
				return fmt.Errorf("%s projection: unknown key %s (known: %s, /KEY of a name, KEY of a header)",
					p.what, f.Name, strings.Join(known, ", "))
			}
		}
	}
	return nil
}

// note remembers which of a projection's keys a result has.
func (c *comparer) note(p *benchproc.Projection, key benchproc.Key) {
	for _, f := range p.Fields() {
		if !f.IsTuple && key.Get(f) != "" {
			c.used[f] = true
		}
	}
}

// checkUsed refuses keys of projections that no result has.
func (c *comparer) checkUsed() error {
	for _, p := range c.projections() {
		for _, f := range p.Fields() {
			if !f.IsTuple && !c.used[f] {
				return fmt.Errorf("%s projection: %w %s", p.what, errNoKey, f.Name)
			}
		}
	}
	return nil
}

func (c *comparer) add(res *benchfmt.Result) {
	// Apply's error only explains why a result was left out, such as a key that it does not have.
	if ok, _ := c.filter.Apply(res); !ok {
		return
	}
	at := cellKey{row: c.rowBy.Project(res), col: c.colBy.Project(res)}
	residue := c.residueBy.Project(res)
	c.note(c.rowBy, at.row)
	c.note(c.colBy, at.col)
	for i, table := range c.tableBy.ProjectValues(res) {
		c.note(c.tableBy, table)
		cells := c.tables[table]
		if cells == nil {
			cells = make(map[cellKey]*deltaCell)
			c.tables[table] = cells
		}
		cell := cells[at]
		if cell == nil {
			cell = &deltaCell{residues: make(map[benchproc.Key]struct{})}
			cells[at] = cell
		}
		cell.values = append(cell.values, res.Values[i].Value)
		cell.residues[residue] = struct{}{}
	}
}

func (c *comparer) finish(ctx context.Context, units benchfmt.UnitMetadataMap) ([]*deltaTable, error) {
	keys := sortedKeys(c.tables)
	tables := make([]*deltaTable, 0, len(keys))
	for _, key := range keys {
		t, err := c.finishTable(ctx, key, units)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func (c *comparer) finishTable(ctx context.Context, key benchproc.Key, units benchfmt.UnitMetadataMap) (*deltaTable, error) {
	unit := key.Get(c.unitField)
	t := &deltaTable{unit: unit, better: units.GetBetter(unit), cells: c.tables[key]}
	for _, f := range c.tableBy.FlattenedFields() {
		if f != c.unitField {
			t.config = append(t.config, configLine{f.Name, key.Get(f)})
		}
	}
	rows := make(map[benchproc.Key]struct{})
	cols := make(map[benchproc.Key]struct{})
	for at := range t.cells {
		rows[at.row], cols[at.col] = struct{}{}, struct{}{}
	}
	t.rows, t.cols = sortedKeys(rows), sortedKeys(cols)

	assume := units.GetAssumption(unit)
	for _, cell := range t.cells {
		cell.summarize(assume, &c.thresholds, c.confidence)
	}
	for _, row := range t.rows {
		// A rank test of 25 samples with ties takes ten milliseconds.
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("comparing %s: %w", unit, err)
		}
		base := t.cells[cellKey{row, t.cols[0]}]
		for _, col := range t.cols[1:] {
			if cell := t.cells[cellKey{row, col}]; base != nil && cell != nil {
				cell.compare(assume, base)
			}
		}
	}
	t.sumUp()
	return t, nil
}

func sortedKeys[V any](m map[benchproc.Key]V) []benchproc.Key {
	keys := make([]benchproc.Key, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	benchproc.SortKeys(keys)
	return keys
}

func (cell *deltaCell) summarize(assume benchmath.Assumption, th *benchmath.Thresholds, confidence float64) {
	residues := make([]benchproc.Key, 0, len(cell.residues))
	for k := range cell.residues {
		residues = append(residues, k)
	}
	if fields := benchproc.NonSingularFields(residues); len(fields) > 0 {
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Name
		}
		cell.warnings = append(cell.warnings, fmt.Errorf("benchmarks vary in %s", strings.Join(names, ", ")))
	}
	cell.sample = benchmath.NewSample(cell.values, th)
	cell.summary = assume.Summary(cell.sample, confidence)
	cell.warnings = append(cell.warnings, cell.sample.Warnings...)
	cell.warnings = append(cell.warnings, cell.summary.Warnings...)
}

func (cell *deltaCell) compare(assume benchmath.Assumption, base *deltaCell) {
	cell.compared = true
	cell.comparison = assume.Compare(base.sample, cell.sample)
	cell.delta = cell.comparison.FormatDelta(base.summary.Center, cell.summary.Center)
}

// sumUp computes the geometric means.
func (t *deltaTable) sumUp() {
	t.geomean = make([]geomeanCell, len(t.cols))
	for i, col := range t.cols {
		g := &t.geomean[i]
		if i > 0 && t.lacksRows(col) {
			g.issues = append(g.issues, errRowsDiffer)
		}
		g.center, g.ok = geomean(t.centers(col))
		if !g.ok {
			g.issues = append(g.issues, errCentersNotPositive)
		}
		if i > 0 {
			t.sumUpRatios(g, col)
		}
	}
}

// lacksRows reports whether the base column has a row that col has not.
func (t *deltaTable) lacksRows(col benchproc.Key) bool {
	return slices.ContainsFunc(t.rows, func(row benchproc.Key) bool {
		return t.cells[cellKey{row, t.cols[0]}] != nil && t.cells[cellKey{row, col}] == nil
	})
}

func (t *deltaTable) centers(col benchproc.Key) []float64 {
	var centers []float64
	for _, row := range t.rows {
		if cell := t.cells[cellKey{row, col}]; cell != nil {
			centers = append(centers, cell.summary.Center)
		}
	}
	return centers
}

func (t *deltaTable) sumUpRatios(g *geomeanCell, col benchproc.Key) {
	var ratios []float64
	for _, row := range t.rows {
		base, cell := t.cells[cellKey{row, t.cols[0]}], t.cells[cellKey{row, col}]
		if base != nil && cell != nil {
			ratios = append(ratios, ratio(base.summary.Center, cell.summary.Center))
		}
	}
	g.delta = unknownDelta
	if slices.ContainsFunc(ratios, func(r float64) bool { return math.IsInf(r, 0) }) {
		return // a base of zero, which the row itself shows
	}
	mean, ok := geomean(ratios)
	if !ok {
		g.issues = append(g.issues, errRatiosNotPositive)
		return
	}
	g.delta = fmt.Sprintf("%+.2f%%", (mean-1)*100)
}

// ratio is after/before, with 0/0 = 1: nothing has changed.
func ratio(before, after float64) float64 {
	if before == after {
		return 1
	}
	return after / before
}

// geomean returns the geometric mean of xs as the exponential of the running mean of their
// logarithms, which can't overflow. It is not defined unless there is a value and all are positive.
func geomean(xs []float64) (mean float64, ok bool) {
	logs := 0.0
	for i, x := range xs {
		if !(x > 0) {
			return math.NaN(), false
		}
		logs += (math.Log(x) - logs) / float64(i+1)
	}
	return math.Exp(logs), len(xs) > 0
}
