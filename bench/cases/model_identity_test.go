package cases

import (
	"slices"
	"strings"
	"testing"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/cpu"
)

// seeded is a model called model, of random weights by a seed.
func seeded(t *testing.T, seed uint64) ModelFile {
	t.Helper()
	f := seededFile(t, "tiny", seed)
	f.Name = "model"
	return f
}

// Two files called model.gguf are two models in one run, and in the headers of two.
func TestModelsHaveAnIdentity(t *testing.T) {
	weights := func(files ...ModelFile) (setting string, cases []bench.Case) {
		t.Helper()
		s, err := Models(t.Context(), ModelsOptions{Files: files, Tokens: 1, Threads: []int{1}, Host: small(), Features: cpu.Detected()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		i := slices.IndexFunc(s.Settings, func(set results.Setting) bool { return set.Key == results.ModelsKey })
		if i < 0 {
			t.Fatalf("the header does not say which weights there are: %v", s.Settings)
		}
		return s.Settings[i].Value, s.Cases
	}
	one, other := seeded(t, 1), seeded(t, 2)
	first, _ := weights(one)
	again, _ := weights(seeded(t, 1))
	second, _ := weights(other)
	if first != again || first == second || !strings.HasPrefix(first, "model=") {
		t.Errorf("weights %q, of the same %q, of others %q", first, again, second)
	}
	both, cases := weights(one, other)
	var models []string
	for _, c := range cases {
		if m := results.ParseName(c.Name).Get(names.Model); !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	digest := func(setting string) string { return strings.TrimPrefix(setting, "model=") }
	want := []string{results.ModelApart("model", digest(first)), results.ModelApart("model", digest(second))}
	if !slices.Equal(models, want) || both != want[0]+"="+digest(first)+" "+want[1]+"="+digest(second) {
		t.Errorf("models %q in a run of both, header %q; want %q", models, both, want)
	}
}

// What is sampled of a large tensor reaches from its first byte to its last.
func TestSampleSum(t *testing.T) {
	for _, n := range []int{wholeTensor, wholeTensor + 1, 5*wholeTensor + 77} {
		raw := make([]byte, n)
		before := sampleSum(raw)
		for _, at := range []int{0, n - 1} {
			raw[at] = 1
			if sampleSum(raw) == before {
				t.Errorf("byte %d of %d does not count", at, n)
			}
			raw[at] = 0
		}
	}
}
