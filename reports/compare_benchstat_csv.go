package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/perf/benchproc"
)

// A deltaCSV writes comparison tables as CSV: a value and its interval per column and, right of the
// base, the change and its p-value. Warnings go to werr, named by the cell that a spreadsheet shows.
type deltaCSV struct {
	out  *csv.Writer
	werr io.Writer
	line int
	err  error // the first of werr's
}

func writeDeltaCSV(w, werr io.Writer, tables []*deltaTable) error {
	d := &deltaCSV{out: csv.NewWriter(w), werr: werr}
	var config []configLine
	for i, t := range tables {
		if i > 0 {
			d.write(nil)
		}
		for _, line := range changedConfig(config, t.config) {
			d.write([]string{line.key + ": " + line.value})
		}
		config = t.config
		d.writeTable(t)
	}
	d.out.Flush()
	if err := d.out.Error(); err != nil {
		return err
	}
	return d.err
}

func (d *deltaCSV) write(record []string) {
	d.line++
	// The writer keeps its first error for Error.
	_ = d.out.Write(record)
}

func (d *deltaCSV) warn(column int, warnings []error) {
	for _, w := range warnings {
		if d.err == nil {
			_, d.err = fmt.Fprintf(d.werr, "%s%d: %v\n", spreadsheetColumn(column), d.line+1, w)
		}
	}
}

// spreadsheetColumn names column i, counted from 0: A to Z, AA, AB, …
func spreadsheetColumn(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// csvColumn is where compared column i starts: after the label, two cells for the base and four for
// each of the others.
func csvColumn(i int) int {
	if i == 0 {
		return 1
	}
	return 3 + 4*(i-1)
}

func (d *deltaCSV) writeTable(t *deltaTable) {
	for _, field := range t.cols[0].Projection().FlattenedFields() {
		record := make([]string, csvColumn(len(t.cols)))
		for i, col := range t.cols {
			record[csvColumn(i)] = col.Get(field)
		}
		d.write(record)
	}
	units := []string{"", t.unit, "CI"}
	for range t.cols[1:] {
		units = append(units, t.unit, "CI", "vs base", "P")
	}
	d.write(units)
	for _, row := range t.rows {
		d.writeRow(t, row)
	}
	d.writeGeomean(t)
}

func (d *deltaCSV) writeRow(t *deltaTable, row benchproc.Key) {
	record := []string{row.StringValues()}
	for i, col := range t.cols {
		cell := t.cells[cellKey{row, col}]
		if cell == nil {
			continue
		}
		record = padRecord(record, csvColumn(i))
		d.warn(len(record), cell.warnings)
		record = append(record, exactNumber(cell.summary.Center), cell.summary.PctRangeString())
		if cell.compared {
			d.warn(len(record), cell.comparison.Warnings)
			record = append(record, cell.delta, cell.comparison.String())
		}
	}
	d.write(record)
}

func (d *deltaCSV) writeGeomean(t *deltaTable) {
	record := []string{geomeanLabel}
	for i, g := range t.geomean {
		value := ""
		if g.ok {
			value = exactNumber(g.center)
		}
		d.warn(len(record), g.issues)
		record = append(record, value, "")
		if i > 0 {
			record = append(record, g.delta, "")
		}
	}
	d.write(record)
}

// exactNumber prints the fewest digits that read back as v.
func exactNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// padRecord extends record with empty fields to n fields.
func padRecord(record []string, n int) []string {
	for len(record) < n {
		record = append(record, "")
	}
	return record
}
