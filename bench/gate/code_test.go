package gate

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"onebit/internal/require"
)

func TestTopLevel(t *testing.T) {
	for pattern, want := range map[string][]string{
		".":                []string{"BenchmarkA", "BenchmarkB"},
		"A":                {"BenchmarkA"},
		"A/x":              {"BenchmarkA"},
		"A/x|kB/y":         {"BenchmarkA", "BenchmarkB"},
		"A/x|y":            {"BenchmarkA"},
		"(A|B)/x":          {"BenchmarkA", "BenchmarkB"},
		"[/(]|kB":          {"BenchmarkB"},
		`\/|kB`:            {"BenchmarkB"},
		"^BenchmarkA$/[|]": {"BenchmarkA"},
		"/x":               {"BenchmarkA", "BenchmarkB"},
	} {
		top := topLevel(pattern)
		got := slices.DeleteFunc([]string{"BenchmarkA", "BenchmarkB"}, func(name string) bool { return !top.MatchString(name) })
		if !slices.Equal(got, want) {
			t.Errorf("%q takes %q, want %q", pattern, got, want)
		}
	}
}

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

// A release of Go is asked for by its number, and one that cannot be had is an error.
func TestUseGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		require.Skip(t, "go", "there is no go command")
	}
	t.Setenv("GOPROXY", "off")
	here, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
	for release, wrong := range map[string]bool{here: false, "go" + here: false, "1.20.99": true, "latest": true} {
		m := &Module{Dir: t.TempDir()}
		if err := m.UseGo(t.Context(), release); (err != nil) != wrong {
			t.Errorf("%s: %v", release, err)
		}
	}
}
