package digest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/reports/reportstest"
)

// threeProcesses has A/A pairs enough for a floor of about 12%, and five variants: b is 22% behind a
// by the medians and 30% by its processes one by one; c is 10% behind; d is 3% behind by the medians and
// 20% by its processes, which is known better; e is behind b by the medians, and 10% behind a by its processes.
func threeProcesses() string {
	const name = "MatVec/format=f/variant=%s/rows=2/cols=2/threads=1/cache=warm"
	var b strings.Builder
	for p, times := range [][5]float64{{100, 130, 110, 120, 150}, {115, 149.5, 126.5, 138, 126}, {140, 140, 154, 118.5, 145}} {
		fmt.Fprintf(&b, "# process %d\n", p+1)
		for i, v := range []string{"a", "b", "c", "d", "e"} {
			fmt.Fprintf(&b, "Benchmark"+name+" 1 %v ns/op\n", v, times[i])
		}
		for pair := range 8 {
			arm := fmt.Sprintf("MatVec/format=g%d/variant=a/rows=2/cols=2/threads=1/cache=warm", pair)
			fmt.Fprintf(&b, "Benchmark%s 1 100 ns/op\nBenchmarkAA/%[1]s/arm=b 1 %v ns/op\n", arm, 100+float64((pair%2*2-1)*12))
		}
	}
	return b.String()
}

// TestTieAndItsRatio: what is printed beside a tie is the ratio that was tested, and every difference
// below the floor is a tie.
func TestTieAndItsRatio(t *testing.T) {
	d := Of(reportstest.Set(t, []byte(threeProcesses())))
	i := slices.IndexFunc(d.Tasks, func(t *Task) bool { return t.Subject == "f" })
	s, _ := d.Rank(d.Tasks[i], d.Tasks[i].Cases[0].Panel)
	floor := d.Floors.Of(s.Best().Stats[results.NsPerOp].Class).Floor
	var got []string
	for i, c := range s.Ranked {
		ratio, spread := s.Versus(i)
		got = append(got, strings.TrimSpace(strings.Join([]string{c.Variant, ratio, spread}, " ")))
		if diff := s.Diffs[i]; i > 0 && math.Abs(diff.Ratio-1) <= floor && !diff.Tie {
			t.Errorf("%s differs by less than the floor of %v, and is no tie: %+v", c.Variant, floor, diff)
		}
	}
	if want := []string{"a", "e tie ±27 %", "c tie ±24 %", "d tie ±27 %", "b 1.30× ±26 %"}; !slices.Equal(got, want) {
		t.Errorf("%q with a floor of %v, want %q", got, floor, want)
	}
	if got := NamesOf(s.Fastest()); got != "a, e, c and d" {
		t.Errorf("first %s, want a, e, c and d", got)
	}
}
