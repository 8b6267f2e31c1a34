package reports

import (
	"fmt"
	"onebit/reports/doc"
	"strings"
	"testing"
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
	cells := func(members []*member) (n int) {
		for _, t := range []*doc.Table{caseTable(members, "X", maxRows)} {
			for _, row := range t.Rows {
				n += len(row)
			}
		}
		return n
	}
	const cases = 20_000
	a, b := fixture(t, text("a", cases)), fixture(t, text("b", cases))
	if n := cells([]*member{{digest: newDigest(a)}}); n == 0 || n > maxCells {
		t.Errorf("%d cells of one machine, for %d cases", n, cases)
	}
	// 20,000 keys of each are 800 million comparisons where each is looked for among the others.
	f := newFleet(made(a, b))
	if n := cells(f.members); n == 0 || n > 2*maxCells {
		t.Errorf("%d cells of two machines, for %d cases each", n, cases)
	}
}
