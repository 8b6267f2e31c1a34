package reports

import (
	"fmt"
	"strings"
	"testing"

	"onebit/bench/results"
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
	cells := func(tables []pageTable) (n int) {
		for _, t := range tables {
			for _, row := range t.Rows {
				n += len(row)
			}
		}
		return n
	}
	const cases = 20_000
	a, b := fixture(t, text("a", cases)), fixture(t, text("b", cases))
	if n := cells(newDigest(a).pageTables()); n < cases || n > maxCells {
		t.Errorf("%d cells of one machine, for %d cases", n, cases)
	}
	// 20,000 keys of each are 800 million comparisons where each is looked for among the others.
	f := newFleet(&results.Fleet{Machines: []*results.Set{a, b}})
	if keys, _ := f.columnsOf("X"); len(keys) != 2*cases {
		t.Errorf("%d keys, want %d", len(keys), 2*cases)
	}
	if n := cells(f.pageTables()); n < 2*cases || n > 2*maxCells {
		t.Errorf("%d cells of two machines, for %d cases each", n, cases)
	}
}
