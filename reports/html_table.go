package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/count"
)

type pageTable struct {
	ID, Base, Caption string
	Columns           []pageColumn
	Rows              [][]pageValue
}

type pageColumn struct {
	Label, About string
	Number       bool
}

type pageValue struct {
	Text, Spread, Value string
	Header, Number      bool
}

// foldedBase reports whether a benchmark has so many lines that only sheets and charts show them, and
// CSV all.
func foldedBase(base string) bool { return base == names.BaseOp || base == names.BaseLockstep }

// maxRows is how many cases the tables of the page have together, and leastRows how many each has at most
// where the others leave none: a page of ten times as many takes a browser seconds.
const (
	maxRows   = 1000
	leastRows = 100

	// maxCells bounds a table with more columns than any real one.
	maxCells = 100_000
)

// rowsOf is how many rows a table has with so many columns, at most.
func rowsOf(most, columns int) int { return max(1, min(most, maxCells/columns)) }

// pageTables are those of all benchmarks.
func (d *digest) pageTables() []pageTable {
	var tables []pageTable
	left := maxRows
	for _, base := range d.bases() {
		if !foldedBase(base) {
			t := d.pageTable(base, len(tables), max(left, leastRows))
			left -= len(t.Rows)
			tables = append(tables, t)
		}
	}
	return tables
}

// pageTable shows cases of a benchmark, at most so many, with every unit that any of them has.
func (d *digest) pageTable(base string, number, most int) pageTable {
	cases := d.ofBase(base)
	keys, units := nameKeys(cases), d.unitsIn(cases)
	t := pageTable{
		ID: "table-" + strconv.Itoa(number+1), Base: base,
		Caption: count.Of(len(cases), "case") + ". Medians with 95% confidence intervals; ±? stands where there are too few samples for one, or it spans a factor of ten, and nothing where there is but one.",
	}
	for _, k := range keys {
		t.Columns = append(t.Columns, pageColumn{Label: cmp.Or(k, "name")})
	}
	for _, u := range units {
		t.Columns = append(t.Columns, pageColumn{Label: u, About: results.UnitOf(u).About, Number: true})
	}
	t.Columns = append(t.Columns, pageColumn{Label: "samples", Number: true})
	if most = rowsOf(most, len(t.Columns)); len(cases) > most {
		cases = cases[:most]
		t.Caption += fmt.Sprintf(" These are the first %d: onebit report --format csv prints all.", most)
	}
	t.Caption = sentences(t.Caption, signsText(signsOf(cases)), aboveText(cases))
	for _, c := range cases {
		t.Rows = append(t.Rows, pageRow(c, keys, units))
		t.Rows[len(t.Rows)-1][0].Header = true
	}
	return t
}

// pageRow is a case's row, a value for each key and unit.
func pageRow(c *caseStats, keys, units []string) []pageValue {
	var row []pageValue
	for _, k := range keys {
		row = append(row, pageValue{Text: nameValue(c.name, k)})
	}
	for _, u := range units {
		v := pageValue{Number: true}
		if s, ok := c.stats[u]; ok {
			v.Text, v.Spread = signedValue(c, u), s.spread(u)
			v.Value = sortKey(s.Center)
		}
		row = append(row, v)
	}
	n := strconv.Itoa(c.samples)
	return append(row, pageValue{Text: n, Value: n, Number: true})
}

// sortKey is a number to sort a column by, in few characters.
func sortKey(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 5, 64), "e+", "e", 1)
}
