package reports

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchproc"
	"gonum.org/v1/plot"

	"onebit/bench"
)

// mostRatios is how many rows a comparison's plot shows: those that changed most.
const mostRatios = 40

// WriteComparePlots draws what Compare prints: a PNG per table with rows in several columns, each
// row's ratio to the base and the ratio's 95% confidence interval. It returns the files' paths. Rows
// beyond the 40 that changed most are left out, and so are tables without any change. What does not parse in the files is passed over;
// Compare reports it.
func WriteComparePlots(ctx context.Context, dir string, opt BenchstatOptions, files ...string) ([]string, error) {
	tables, err := benchstatTables(ctx, io.Discard, opt, files)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("writing plots: %w", err)
	}
	var paths []string
	taken := make(fileNames)
	for _, t := range tables {
		if err := ctx.Err(); err != nil {
			return paths, fmt.Errorf("drawing: %w", err)
		}
		f := ratioFigure(t)
		if f == nil {
			continue
		}
		f.name = taken.unique(f.name) // tables of one unit differ in their configuration
		var b bytes.Buffer
		if err := f.writePNG(&b); err != nil {
			return paths, fmt.Errorf("drawing %s: %w", f.name, err)
		}
		path := filepath.Join(dir, f.name+".png")
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			return paths, fmt.Errorf("writing plots: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// A ratioRow is one row of a comparison: a benchmark, new over old.
type ratioRow struct {
	name  string
	ratio bench.Ratio
}

// ratioRows compares one column with the base, in the rows that changed most; what has no positive
// finite ratio is left out.
func ratioRows(t *deltaTable, col benchproc.Key) []ratioRow {
	type change struct {
		name       string
		base, cell *deltaCell
		size       float64
	}
	var changes []change
	for _, row := range t.rows {
		base, cell := t.cells[cellKey{row, t.cols[0]}], t.cells[cellKey{row, col}]
		if base == nil || cell == nil {
			continue
		}
		if r := ratio(base.summary.Center, cell.summary.Center); positive(r) {
			changes = append(changes, change{row.StringValues(), base, cell, math.Abs(math.Log(r))})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(b.size, a.size) })
	if len(changes) == 0 || changes[0].size == 0 {
		return nil // nothing differs
	}
	var rows []ratioRow
	for _, c := range changes[:min(len(changes), mostRatios)] {
		r := bench.Compare(bench.Series{Unit: t.unit, Values: c.base.values}, bench.Series{Unit: t.unit, Values: c.cell.values})
		if positive(r.Value) && positive(r.Lo) && positive(r.Hi) {
			rows = append(rows, ratioRow{c.name, r})
		}
	}
	slices.SortStableFunc(rows, func(a, b ratioRow) int { return cmp.Compare(a.ratio.Value, b.ratio.Value) })
	return rows
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// ratioFigure draws a panel per column right of the base; nil if nothing can be compared.
func ratioFigure(t *deltaTable) *figure {
	columns := make([][]ratioRow, 0, len(t.cols)-1)
	values := []float64{1}
	tallest := 0
	for _, col := range t.cols[1:] {
		rows := ratioRows(t, col)
		for _, r := range rows {
			values = append(values, r.ratio.Lo, r.ratio.Hi)
		}
		columns = append(columns, rows)
		tallest = max(tallest, len(rows))
	}
	if tallest == 0 {
		return nil
	}
	axis := newAxis(values, true, 7, func(v float64) string { return fmt.Sprintf("%.3g×", v) })
	var grid [][]*plot.Plot
	for i, rows := range columns {
		if len(rows) > 0 {
			title := fmt.Sprintf("%s: %s ÷ %s", t.unit, t.cols[i+1].StringValues(), t.cols[0].StringValues())
			grid = append(grid, []*plot.Plot{ratioPanel(label(title), rows, axis, t.better)})
		}
	}
	return &figure{
		name: fileName("compare", strings.ReplaceAll(t.unit, "%", "pct")), heading: "ratio of " + t.unit,
		height: rowsHeight(tallest, len(grid)), panels: grid,
	}
}

// ratioPanel draws rows whose interval excludes 1 in the colour of better or worse.
func ratioPanel(title string, rows []ratioRow, axis valueAxis, better int) *plot.Plot {
	p := newPanel(title)
	axis.apply(&p.X)
	nominalAxis(p, shortNames(rows), true)
	addGrid(p, true, true)
	p.Add(polyline{points: [][2]float64{{1, p.Y.Min}, {1, p.Y.Max}}, color: inkOf(roleMuted), width: 1.2, dashes: dashed})
	for i, r := range rows {
		row := rowAt(i, len(rows))
		series := ratioSeries(r.ratio, better)
		p.Add(interval{lo: r.ratio.Lo, hi: r.ratio.Hi, row: row, color: inkOf(seriesRole(series))})
		p.Add(mark{x: r.ratio.Value, y: row, style: glyph(series, 4)})
		p.Add(besides{lo: r.ratio.Lo, hi: r.ratio.Hi, row: row, text: times(r.ratio.Value)})
	}
	return p
}

// shortNames leaves out of the rows' names what all of them share, and the keys.
func shortNames(rows []ratioRow) []string {
	names := make([]bench.Name, len(rows))
	for i, r := range rows {
		names[i] = bench.ParseName(r.name)
	}
	shared := func(key, value string) bool {
		return !slices.ContainsFunc(names, func(n bench.Name) bool { return n.Get(key) != value })
	}
	short := make([]string, len(rows))
	for i, n := range names {
		parts := []string{n.Base}
		for _, k := range n.Keys {
			if k.Key == "" || !shared(k.Key, k.Value) {
				parts = append(parts, k.Value)
			}
		}
		short[i] = strings.Join(parts, " ")
	}
	return short
}

// The series, and with them colour and shape, of a ratio.
const (
	ratioBetter = 2
	ratioWorse  = 1
	ratioSame   = 7
)

func ratioSeries(r bench.Ratio, better int) int {
	sign := 0
	switch {
	case r.Lo > 1:
		sign = 1
	case r.Hi < 1:
		sign = -1
	}
	switch {
	case sign == 0 || better == 0:
		return ratioSame
	case sign == better:
		return ratioBetter
	}
	return ratioWorse
}
