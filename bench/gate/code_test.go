package gate

import "testing"

func TestCodeSentences(t *testing.T) {
	same := []Benchmark{{"p", "A"}, {"p", "B"}}
	for want, c := range map[string]Code{
		"": {},
		"This change reaches none of 2 benchmarks: what they run is the same code.": {Same: same},
		"This change reaches 1 of 3 benchmarks.":                                    {Same: same, Reached: []Reached{{Benchmark{"p", "C"}, "reaches p.F, which differs"}}},
		"This change reaches the one benchmark.":                                    {Reached: []Reached{{Benchmark{"p", "C"}, "reaches p.F, which differs"}}},
		"The code of benchmarks could not be compared: no source.":                  {Unknown: "no source"},
	} {
		got := append(c.Sentences(), "")[0]
		if got != want {
			t.Errorf("%+v says %q, want %q", c, got, want)
		}
	}
	c := Code{Same: same, Unreached: []string{"p.F", "p.G", "p.H", "p.I", "p.J"}}
	if got, want := c.Sentences()[1], "No benchmark reaches p.F, p.G, p.H and 2 others, which you changed."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
