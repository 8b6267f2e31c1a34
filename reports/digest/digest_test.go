package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/reportstest"
)

// TestSpreadOfNothing: no share of 0 is shown, and no factor that nobody believes.
func TestSpreadOfNothing(t *testing.T) {
	estimate := func(center, lo, hi float64) string {
		return stat{noise.Estimate{Center: center, Lo: lo, Hi: hi}, []float64{lo, center, hi}}.SpreadText(results.NsPerOp)
	}
	if got := estimate(0, 0, 2) + estimate(0, -1, 0); got != "" {
		t.Errorf("of 0: %q", got)
	}
	if got := estimate(1, 0.1, 1760); got != "±?" {
		t.Errorf("of 1 to 1760: %q", got)
	}
}

func TestGlossary(t *testing.T) {
	d := Of(reportstest.Set(t, []byte("BenchmarkModel/model=m/variant=v/packing=native/test=tg8 1 5 ns/op 30 tok/s 3 widgets\n")))
	var got []string
	for _, f := range d.Glossary() {
		got = append(got, f.Name)
	}
	if want := []string{"decode, tg", "native", "A/A pair", "tie", results.NsPerOp, results.TokenRate}; !slices.Equal(got, want) {
		t.Errorf("terms %q, want %q", got, want)
	}
}

// TestOneNamePerVariant: operations, errors and tests of a model call a variant the same.
func TestOneNamePerVariant(t *testing.T) {
	const text = `BenchmarkModel/model=m/variant=v/act=q8_32/packing=packed/test=tg16/threads=1 1 5 ns/op 30 tok/s
BenchmarkModel/model=m/variant=v/act=q8_128/packing=packed/test=tg16/threads=1 1 5 ns/op 30 tok/s
BenchmarkOp/model=m/variant=v/act=q8_128/packing=packed/test=tg16/threads=1/block=0/op=rope 1 5 ns/op
`
	for _, c := range Of(reportstest.Set(t, []byte(text))).Cases {
		if want := "v " + c.Name.Get(names.Act) + " packed"; c.Variant != want {
			t.Errorf("%s: the variant is %q, want %q", c.Name.Full, c.Variant, want)
		}
	}
}

func TestDoubts(t *testing.T) {
	tests := []struct {
		name     string
		warnings []string
		want     []string
	}{
		{"two of a kind", []string{"group g: 7% slower", "group h: 9% slower"}, []string{"group g: 7% slower", "group h: 9% slower"}},
		{"groups that are no tasks", []string{"group g: 7% slower", "group h: 9.5% slower", "group h: 8% slower"}, []string{"2 groups: 7 to 9.5% slower"}},
		{"times in several units",
			[]string{"group g: took 53.5 ms of 796 ms, 7%", "group h: took 810 ms of 1.00 s, 81%", "group h: took 1.07 s of 1.03 s, 104%"},
			[]string{"2 groups: took 53.5 ms to 1.07 s of 796 ms to 1.03 s, 7 to 104%"}},
		{"times in one unit", []string{"took 53.5 ms", "took 47 ms", "took 99 ms"}, []string{"3 times: took 47 to 99 ms"}},
		{"without groups", []string{"round 4 of 9", "clock?", "round 5 of 9", "round 2 of 9"}, []string{"3 times: round 2 to 5 of 9", "clock?"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "BenchmarkB 1 5 ns/op\n"
			for _, w := range tt.warnings {
				text += "# warning: " + w + "\n"
			}
			var got []string
			all := 0
			for _, w := range Of(reportstest.Set(t, []byte(text))).Doubts() {
				got = append(got, w.Text)
				all += max(1, len(w.All))
			}
			if !slices.Equal(got, tt.want) || all != len(tt.warnings) {
				t.Errorf("%q for %d warnings, want %q for %d", got, all, tt.want, len(tt.warnings))
			}
		})
	}
}

func TestRankingAndTies(t *testing.T) {
	const name = "BenchmarkMatVec/format=f/variant=%s/rows=2/cols=2/threads=1/cache=warm 1 %v ns/op"
	at := func(variant string, ns float64) string { return fmt.Sprintf(name, variant, ns) }
	// noisy overlaps with 100 ± 5 so much that no test tells them apart.
	noisy := func(variant string, center float64, devs ...float64) string {
		var b strings.Builder
		for _, dev := range devs {
			b.WriteString(at(variant, center+dev) + "\n")
		}
		return b.String()
	}
	tests := []struct {
		name, text string
		want       []string // ranked
		ties       int
	}{
		{"clear", reportstest.Repeat(6, at("a", 100)) + reportstest.Repeat(6, at("b", 200)), []string{"a", "b"}, 0},
		{"within the noise floor", reportstest.AaPairs(10) + reportstest.Repeat(6, at("a", 100)) + reportstest.Repeat(6, at("b", 100.9)) + reportstest.Repeat(6, at("c", 103)), []string{"a", "b", "c"}, 1},
		{"not significant", noisy("a", 100, -5, -3, -1, 1, 3, 5) + noisy("b", 101, 1, -5, 5, -1, -3, 3) + noisy("c", 150, 3, 1, -5, 5, -1, -3), []string{"b", "a", "c"}, 1},
		{"too few samples to test", at("a", 100) + "\n" + at("b", 101) + "\n", []string{"a", "b"}, 0},
		{"equal", reportstest.Repeat(6, at("a", 100)) + reportstest.Repeat(6, at("b", 100)), []string{"a", "b"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Of(reportstest.Set(t, []byte(tt.text)))
			s, ok := d.Rank(d.Tasks[0], d.Tasks[0].Cases[0].Panel)
			if !ok {
				t.Fatal("nothing was ranked")
			}
			var got []string
			for _, c := range s.Ranked {
				got = append(got, c.Variant)
			}
			if !slices.Equal(got, tt.want) || s.Ties != tt.ties {
				t.Errorf("ranked %q with %d ties, want %q with %d", got, s.Ties, tt.want, tt.ties)
			}
		})
	}
}

// TestUnitsWorkIsLinear counts allocations: samples of each unit were looked for among those of all others.
func TestUnitsWorkIsLinear(t *testing.T) {
	text := func(units int) []byte {
		var b strings.Builder
		for i := range units {
			fmt.Fprintf(&b, "BenchmarkX 1 %d u%[1]d\n", i+1)
		}
		return []byte(b.String())
	}
	for _, units := range []int{500, 4000} {
		res := reportstest.Set(t, text(units))
		if n := testing.AllocsPerRun(1, func() { Of(res) }); n > 80*float64(units) {
			t.Errorf("%.0f allocations for %d units", n, units)
		}
	}
	byUnit := samplesByUnit(reportstest.Set(t, text(300)).Samples)
	for unit, samples := range byUnit {
		if len(samples) != 1 {
			t.Errorf("%d samples are looked at for %s, which one has", len(samples), unit)
		}
	}
}
