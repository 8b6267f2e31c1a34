package gate

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exampleRules = `# what this module says about its gate
threshold = "3%"

[units]
"allocs/op" = 0
"B/op" = "1 %"

[[rule]]
package = "/codec$"
benchmark = "^Decode"
threshold = 10
reason = "reads a file"

[[rule]]
benchmark = "^Decode/large"
unit = "B/op"
threshold = "5%"

[[leave-out]]
benchmark = "^Network$"
reason = "talks to a server"
`

func parse(t *testing.T, text string) *Rules {
	t.Helper()
	r, err := ParseRules([]byte(text), "rules.toml")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A rule that names the unit comes before the units' thresholds, and these
// before a rule that names none.
func TestThresholdOf(t *testing.T) {
	r := parse(t, exampleRules)
	for _, test := range []struct {
		pkg, name, unit string
		want            float64 // 0.03 is the gate's own
	}{
		{"m/codec", "Decode/large", "ns/op", 0.10},
		{"m/codec", "Decode/large", "B/op", 0.05},
		{"m/codec", "Decode/small", "B/op", 0.01},
		{"m/codec", "Decode/small", "allocs/op", 0},
		{"m/codec/internal", "Decode", "ns/op", 0.03},
		{"m/codec", "Encode", "ns/op", 0.03},
	} {
		got, ok := r.ThresholdOf(Benchmark{test.pkg, test.name}, test.unit)
		if !ok {
			got = 0.03
		}
		if math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s %s %s: %v, want %v", test.pkg, test.name, test.unit, got, test.want)
		}
	}
	wide := parse(t, "[[rule]]\nbenchmark = 'a'\nthreshold = 50")
	if got, ok := wide.ThresholdOf(Benchmark{"", "a"}, "allocs/op"); ok {
		t.Errorf("a rule that names no unit gives allocations %v", got)
	}
	loose := parse(t, "[units]\n\"allocs/op\" = 7.5")
	if got, ok := loose.ThresholdOf(Benchmark{}, "allocs/op"); got != 0.075 || !ok {
		t.Errorf("allocs/op has %v, %v, want the file's 7.5%%", got, ok)
	}
}

// Leaving out a benchmark leaves out its parts, and not what only begins alike.
func TestSelect(t *testing.T) {
	r := parse(t, exampleRules)
	judged, left := r.Select([]Benchmark{{"m", "Network"}, {"m", "Network/slow"}, {"m", "Network/slow/x=1"}, {"m", "NetworkLess"}, {"m", "A/Network"}})
	if diff := cmp.Diff([]Benchmark{{"m", "NetworkLess"}, {"m", "A/Network"}}, judged); diff != "" {
		t.Error(diff)
	}
	if len(left) != 3 || left[2] != (LeftOut{Benchmark{"m", "Network/slow/x=1"}, "talks to a server"}) {
		t.Errorf("left out: %v", left)
	}
}

func TestUnusedRules(t *testing.T) {
	r := parse(t, exampleRules)
	report := &Report{Findings: []Finding{{Benchmark: Benchmark{"m/codec", "Decode/large"}, Unit: "ns/op"}}}
	got := strings.Join(r.Unused(report), "\n")
	for _, want := range []string{"rules.toml:14: no benchmark matches", "rules.toml:19: no benchmark matches"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "toml:8:") {
		t.Errorf("a rule that matches is called unused: %q", got)
	}
}

func TestRuleChanges(t *testing.T) {
	base := parse(t, exampleRules)
	head := parse(t, strings.NewReplacer(`"3%"`, `"30%"`, "^Network$", ".").Replace(exampleRules))
	want := []string{
		"head adds: threshold 30%", "head adds: leave out benchmark . (talks to a server)",
		"head drops: threshold 3%", "head drops: leave out benchmark ^Network$ (talks to a server)",
	}
	if diff := cmp.Diff(want, head.Changes(base)); diff != "" {
		t.Error(diff)
	}
	if got := base.Changes(parse(t, "# moved\n"+exampleRules)); got != nil {
		t.Errorf("moved lines are changes: %v", got)
	}
}

// Whatever is wrong with the file, its line is named.
func TestBadRules(t *testing.T) {
	const rule = "\n[[rule]]\n"
	for i, test := range []struct{ text, want string }{
		{"treshold = 3", `rules.toml:1: unknown key "treshold"`},
		{rule + "benchmark = 'a'\nthreshold = 1\nwhy = 'x'", `rules.toml:5: unknown key "rule.why"`},
		{"threshold = ", "rules.toml:1: "},
		{"\nthreshold = 'much'", `rules.toml:2: "much" is no percentage`},
		{"\nthreshold = true", `rules.toml: "true" is no percentage`},
		{"\nthreshold = -3", "rules.toml:2: threshold -3%: give a percentage above 0"},
		{"threshold = 0", "rules.toml:1: threshold 0%"},
		{"threshold = nan", "rules.toml:1: threshold NaN%"},
		{"threshold = '-1%'", `rules.toml:1: "-1%" is no percentage`},
		{"threshold = 3\nthreshold = 4", "rules.toml:2: "},
		{"[units]\n'ns/op' = 1\n'B/op' = 2000", "rules.toml:3: 2000% is no percentage"},
		{rule + "benchmark = '('\nthreshold = 1", "rules.toml:3: error parsing regexp"},
		{rule + "benchmark = ''\nthreshold = 1", "rules.toml:3: an empty pattern"},
		{rule + "benchmark = 'a'", "rules.toml:2: this rule has no threshold"},
		{rule + "threshold = 1", "rules.toml:2: this rule names no package and no benchmark"},
		{rule + "benchmark = 'a'\nthreshold = -1", "rules.toml:4: -1% is no percentage"},
		{"[[leave-out]]\nbenchmark = 'a'", "rules.toml:1: what is left out needs a reason"},
		{"[[leave-out]]\nbenchmark = 'a'\nreason = ' '", "rules.toml:1: what is left out needs a reason"},
		{"[[leave-out]]\nreason = 'a'", "rules.toml:1: name the package or the benchmark"},
		{"[[leave-out]]\nbenchmark = 'a'\nreason = 'b'\nunit = 'B/op'", "rules.toml:1: a benchmark is left out as a whole"},
		{"rule = [{benchmark = 'a'}]", "rules.toml:1: this rule has no threshold"},
	} {
		_, err := ParseRules([]byte(test.text), "rules.toml")
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%d: %q: %v, want %s", i, test.text, err, test.want)
		}
	}
}

func TestReadRules(t *testing.T) {
	none := filepath.Join(t.TempDir(), RulesFile)
	if _, err := ReadRules(none); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("a file that is named must be there: %v", err)
	}
	if r, err := ReadRulesIfAny(none); err != nil || len(r.lines()) != 0 {
		t.Errorf("no file is no rules: %v, %v", r, err)
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add(exampleRules)
	f.Add("rule = [{benchmark = 'a', threshold = 1}]\n[units]\na.b = 3")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRules([]byte(text), "f")
		if err == nil {
			r.Changes(&Rules{})
			r.Unused(&Report{})
			r.ThresholdOf(Benchmark{"a", "b/c"}, "ns/op")
			r.Excluded(Benchmark{"a", "b/c"})
		}
	})
}
