package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/digest"
	"onebit/reports/reportstest"
)

func compareRuns(t *testing.T, old, new *results.Set) *Comparison {
	t.Helper()
	c := &Comparison{Old: RunOrigin{Label: "OLD"}, New: RunOrigin{Label: "NEW"}}
	if err := c.compare(old, new); err != nil {
		t.Fatal(err)
	}
	return c
}

// planted is a copy of a run in which a variant takes longer.
func planted(run *results.Set, family string, factor float64) *results.Set {
	slow := *run
	slow.Samples = slices.Clone(run.Samples)
	for i, s := range slow.Samples {
		if digest.FamilyOf(s.Name) == family {
			slow.Samples[i] = reportstest.Stretched(s, factor)
		}
	}
	return &slow
}

// named are the families that a comparison names, whole or by a case, and with them what else it says.
func (c *Comparison) namedFamilies() (slower []string, other bool) {
	for _, f := range c.Families {
		if f.Sign > 0 {
			slower = append(slower, f.Name)
		}
		other = other || f.Sign < 0
	}
	for _, x := range c.Cases {
		if x.Sign > 0 {
			slower = append(slower, digest.FamilyOf(results.ParseName(x.Name)))
		}
		other = other || x.Sign < 0
	}
	for _, s := range append(c.Classes, c.Suite) {
		other = other || s.Sign != 0
	}
	slices.Sort(slower)
	return slices.Compact(slower), other || len(moved(c.Memory)) > 0
}

// simd are the families of the recordings that a variant near the best has.
var simd = []string{
	"avx2 q8_row of i2_s", "avx2 q8_row of ternary_u32", "avx2 q8_128 of q1_0_g128", "avx2-lookup q8_128 of q1_0_g128", "avx2-native q8_128 of q1_0_g128",
}

// simdOf are the families of simd that the runs have.
func simdOf(runs []*results.Set) []string {
	return slices.DeleteFunc(slices.Clone(simd), func(family string) bool {
		return !slices.ContainsFunc(runs[0].Samples, func(s results.Sample) bool { return digest.FamilyOf(s.Name) == family })
	})
}

// TestCompareOfOneBinary: of pairs of real runs of one binary at most one in twenty says anything at all.
func TestCompareOfOneBinary(t *testing.T) {
	reportstest.OfRecordings(t, append(reportstest.Sliced, "noise"), testCompareOfOneBinary)
}

func testCompareOfOneBinary(t *testing.T, runs []*results.Set) {
	type pair struct{ old, new int }
	var pairs []pair
	for i := range runs {
		for j := i + 1; j < len(runs); j++ {
			pairs = append(pairs, pair{i, j})
		}
	}
	said, shows := 0, make(map[string][]float64)
	drawn := require.Draw(t, 30, pairs)
	for _, p := range drawn {
		c := compareRuns(t, runs[p.old], runs[p.new])
		if c.Verdict != "nothing shows a change" {
			said++
			t.Logf("runs %d and %d: %s", p.old+1, p.new+1, c.Verdict)
		}
		for _, x := range c.Cases {
			kind := " of pure Go"
			if slices.Contains(simd, digest.FamilyOf(results.ParseName(x.Name))) {
				kind = " by SIMD"
			}
			shows[x.Class+kind] = append(shows[x.Class+kind], x.Noise)
		}
		for _, f := range c.Families {
			if slices.Contains(simd, f.Name) {
				shows["a SIMD variant as a whole"] = append(shows["a SIMD variant as a whole"], f.Noise)
			}
		}
	}
	t.Logf("%d of %d pairs say something", said, len(drawn))
	for what, scatter := range shows {
		t.Logf("%s: shows from %.0f%%", what, 100*noise.Median(scatter))
	}
	if said > max(1, len(drawn)/20) {
		t.Errorf("%d of %d pairs of runs of one binary say something", said, len(drawn))
	}
}

// TestComparePlanted: a variant that is slower in a copy of a run is named, and nothing else is. Of two real runs it
// is named the more often the slower it is.
func TestComparePlanted(t *testing.T) {
	reportstest.OfRecordings(t, append(reportstest.Sliced, "noise"), testComparePlanted)
}

func testComparePlanted(t *testing.T, runs []*results.Set) {
	simd := simdOf(runs)
	for i, run := range require.Draw(t, 5, runs) {
		for _, factor := range []float64{1.05, 1.1} {
			family := simd[i%len(simd)]
			slower, other := compareRuns(t, run, planted(run, family, factor)).namedFamilies()
			if fmt.Sprint(slower) != fmt.Sprint([]string{family}) || other {
				t.Errorf("%s slower by %v in a copy: named %q, other %v", family, factor, slower, other)
			}
		}
	}
	type pair struct {
		old, new int
		family   string
	}
	var pairs []pair
	for i := range runs {
		for j := range runs {
			switch {
			case i == j:
			case len(runs) < 10:
				for _, family := range simd {
					pairs = append(pairs, pair{i, j, family})
				}
			case (i+2*j)%3 == 0:
				pairs = append(pairs, pair{i, j, simd[len(pairs)%len(simd)]})
			}
		}
	}
	drawn := require.Draw(t, 8, pairs)
	for _, factor := range []float64{1.03, 1.05, 1.1, 1.2, 2} {
		found, others := 0, 0
		for _, p := range drawn {
			family := p.family
			c := compareRuns(t, runs[p.old], planted(runs[p.new], family, factor))
			slower, other := c.namedFamilies()
			if slices.Contains(slower, family) {
				found++
			}
			if other || len(slower) > 1 || len(slower) == 1 && slower[0] != family {
				others++
				t.Logf("runs %d and %d, %s by %v: %s", p.old+1, p.new+1, family, factor, c.Verdict)
			}
			for _, f := range c.Families {
				if f.Name == family && f.Sign < 0 {
					t.Errorf("%s is slower by %v and called faster", family, factor)
				}
			}
		}
		t.Logf("slower by %.0f%%: named in %d of %d pairs, something else in %d", 100*(factor-1), found, len(drawn), others)
		if factor == 2 && found < len(drawn)*3/4 {
			t.Errorf("a variant that takes twice as long is named in %d of %d pairs", found, len(drawn))
		}
		most := max(1, len(drawn)/10)
		if !require.All() {
			most += 2 // few pairs stray further
		}
		if others > most {
			t.Errorf("something else is named in %d of %d pairs", others, len(drawn))
		}
	}
}

// damages are what may have happened to the file of a run before it is compared with another.
var damages = map[string]func(s results.Sample, place, of int) (kept results.Sample, ok bool){
	"cut in the middle":      func(s results.Sample, place, of int) (results.Sample, bool) { return s, 2*place < of },
	"one process":            func(s results.Sample, place, of int) (results.Sample, bool) { return s, s.Process == 1 },
	"processes are not told": func(s results.Sample, place, of int) (results.Sample, bool) { s.Process = 0; return s, true },
	"samples of half the length": func(s results.Sample, place, of int) (results.Sample, bool) {
		s.Slices = s.Slices[:len(s.Slices)/2]
		return s, true
	},
	"samples in one piece": func(s results.Sample, place, of int) (results.Sample, bool) { s.Slices = nil; return s, true },
	"neither groups nor slices": func(s results.Sample, place, of int) (results.Sample, bool) {
		s.Slices, s.Group = nil, ""
		return s, true
	},
	"samples four times as long": func(s results.Sample, place, of int) (results.Sample, bool) { s.Iters *= 4; return s, true },
	"times of 0": func(s results.Sample, place, of int) (results.Sample, bool) {
		if s.Name.Get("variant") == "reference" {
			s.Values = []results.Metric{{Unit: results.NsPerOp}}
		}
		return s, true
	},
	"half of the samples of each": func(s results.Sample, place, of int) (results.Sample, bool) { return s, s.Process%2 == 1 },
}

// damageSaid is what a comparison says of damages.
var damageSaid = map[string]string{
	"one process":                "A file has cases of one process",
	"samples in one piece":       "NEW is of the format before samples had slices",
	"neither groups nor slices":  "NEW is of the format before samples had slices",
	"samples four times as long": "times as long in NEW as in OLD (median)",
	"times of 0":                 " not compared, for a time is 0 or less",
}

// TestCompareOfDamagedRuns: a file that lacks something, or of an older format, is judged with what it has, which is
// said: nothing is named falsely, and a variant that takes five times as long is.
func TestCompareOfDamagedRuns(t *testing.T) {
	runs := reportstest.Recordings(t, "calm")
	for what, damage := range damages {
		t.Run(what, func(t *testing.T) {
			damaged := *runs[1]
			damaged.Samples = nil
			for i, s := range runs[1].Samples {
				if s, ok := damage(s, i, len(runs[1].Samples)); ok {
					damaged.Samples = append(damaged.Samples, s)
				}
			}
			c := compareRuns(t, runs[0], &damaged)
			if slower, other := c.namedFamilies(); len(c.Cases) == 0 || len(slower) > 0 || other {
				t.Errorf("%d cases are judged, %q are named, other %v: %s", len(c.Cases), slower, other, c.Verdict)
			}
			if said := strings.Join(c.remarks(), "\n"); !strings.Contains(said, damageSaid[what]) {
				t.Errorf("it does not say %q:\n%s", damageSaid[what], said)
			}
			const family = "avx2 q8_row of i2_s"
			if slower, _ := compareRuns(t, runs[0], planted(&damaged, family, 5)).namedFamilies(); !slices.Contains(slower, family) {
				t.Errorf("%s takes five times as long, and %q are named", family, slower)
			}
		})
	}
}
