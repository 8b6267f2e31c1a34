package digest

import (
	"fmt"
	"strings"
	"testing"

	"onebit/reports/reportstest"
)

// TestColumnsWorkIsLinear: the columns of a page's tables were looked for among those of
// all machines, and each case had a cell in every column that any other has.
func TestColumnsWorkIsLinear(t *testing.T) {
	text := func(machine string, cases int) []byte {
		var b strings.Builder
		fmt.Fprintf(&b, "cpu: %s\nmem-total: 8\n", machine)
		for i := range cases {
			fmt.Fprintf(&b, "BenchmarkX/%s%d=1 1 5 ns/op\n", machine, i)
		}
		return []byte(b.String())
	}
	const cases = 20_000
	a, b := reportstest.Set(t, text("a", cases)), reportstest.Set(t, text("b", cases))
	// 20,000 keys of each are 800 million comparisons where each is looked for among the others.
	for _, members := range [][]*Member{{{Digest: Of(a)}}, {{Digest: Of(a), Name: "a"}, {Digest: Of(b), Name: "b"}}} {
		byMember := make([][]*Case, len(members))
		for i, m := range members {
			byMember[i] = m.OfBase("X")
		}
		keys, units := columnsOf(members, byMember)
		if len(keys) != cases*len(members) || len(units) != 1 {
			t.Errorf("%d keys and %d units of %d machines, for %d cases each", len(keys), len(units), len(members), cases)
		}
		// A cell is made for each column of each row: as many as a page may have make four rows, or two of each machine.
		table := CaseTable(members, "X", MaxRows)
		if n := len(table.Rows); n != 4 || n*(len(keys)+2) > 2*maxCells {
			t.Errorf("%d rows of %d machines, want 4", n, len(members))
		}
		// Shown are the columns that a row has something in: its own key, the time and the number of samples.
		if want := 4 + 2 + len(members) - 1; len(table.Columns) != want {
			t.Errorf("%d columns of %d machines, want %d", len(table.Columns), len(members), want)
		}
	}
}
