package models_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/models"
)

// drawn returns how often each token comes in n draws from the same logits.
func drawn(t *testing.T, opt models.SamplerOptions, logits []float32, n int, accepted ...int) []int {
	t.Helper()
	s := must(models.NewSampler(opt))
	s.Accept(accepted...)
	counts := make([]int, len(logits))
	for range n {
		id, err := s.Sample(slices.Clone(logits))
		if err != nil {
			t.Fatal(err)
		}
		counts[id]++
	}
	return counts
}

// logs makes logits of probabilities.
func logs(ps ...float64) []float32 {
	out := make([]float32, len(ps))
	for i, p := range ps {
		out[i] = float32(math.Log(p)) + 3 // logits have no zero of their own
	}
	return out
}

// A NaN is found wherever it stands, as is an infinity.
func TestSampleRefusesWhatIsNotFinite(t *testing.T) {
	sampler := must(models.NewSampler(models.SamplerOptions{}))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, bad := range [][]float32{{nan, 1, 2}, {1, nan, 2}, {1, 2, nan}, {nan, nan, nan}, {inf, 1, 2}, {-inf, -inf, -inf}} {
		if id, err := sampler.Sample(bad); !errors.Is(err, models.ErrNotFinite) {
			t.Errorf("%v: token %d, %v", bad, id, err)
		}
	}
	if id, err := sampler.Sample([]float32{-inf, -3, -inf}); id != 1 || err != nil {
		t.Errorf("token %d, %v, want 1", id, err)
	}
}

func TestSampler(t *testing.T) {
	const n = 20000
	half := logs(0.1, 0.5, 0.25, 0.15)
	tests := []struct {
		name     string
		opt      models.SamplerOptions
		logits   []float32
		accepted []int
		want     []float64 // probabilities
	}{
		{"greedy", models.SamplerOptions{}, half, nil, []float64{0, 1, 0, 0}},
		{"greedy tie", models.SamplerOptions{}, []float32{1, 2, 2, 0}, nil, []float64{0, 1, 0, 0}},
		{"as they are", models.SamplerOptions{Temperature: 1}, half, nil, []float64{0.1, 0.5, 0.25, 0.15}},
		// √p, normalized: sums to 0.3162+0.7071+0.5+0.3873 = 1.9106
		{"hotter", models.SamplerOptions{Temperature: 2}, half, nil, []float64{0.1655, 0.3701, 0.2617, 0.2027}},
		{"top-k", models.SamplerOptions{Temperature: 1, TopK: 2}, half, nil, []float64{0, 2. / 3, 1. / 3, 0}},
		{"top-k of a tie", models.SamplerOptions{Temperature: 1, TopK: 2}, []float32{1, 1, 1, 1}, nil, []float64{0.5, 0.5, 0, 0}},
		{"top-k beyond all", models.SamplerOptions{Temperature: 1, TopK: 5000}, half, nil, []float64{0.1, 0.5, 0.25, 0.15}},
		// 0.5 + 0.25 reach 0.7; of the first 2 alone 0.5 is 2/3.
		{"top-p", models.SamplerOptions{Temperature: 1, TopP: 0.7}, half, nil, []float64{0, 2. / 3, 1. / 3, 0}},
		{"top-p after top-k", models.SamplerOptions{Temperature: 1, TopK: 2, TopP: 0.6}, half, nil, []float64{0, 1, 0, 0}},
		{"top-p keeps one", models.SamplerOptions{Temperature: 1, TopP: 0.01}, half, nil, []float64{0, 1, 0, 0}},
		{"min-p", models.SamplerOptions{Temperature: 1, MinP: 0.29}, half, nil, []float64{0, 0.5 / 0.9, 0.25 / 0.9, 0.15 / 0.9}},
		{"min-p is of the likeliest", models.SamplerOptions{Temperature: 5, MinP: 0.9}, half, nil, []float64{0, 1, 0, 0}},
		{"penalty", models.SamplerOptions{RepetitionPenalty: 2}, []float32{-1, 4, 3, -3}, []int{1}, []float64{0, 0, 1, 0}},
		{"penalty once, however often", models.SamplerOptions{RepetitionPenalty: 1.3}, []float32{-1, 4, 3, -3}, []int{1, 1, 1}, []float64{0, 1, 0, 0}},
		{"penalty of a negative logit", models.SamplerOptions{RepetitionPenalty: 3}, []float32{-1, -2, -9, -9}, []int{0}, []float64{0, 1, 0, 0}},
		{"penalty within its window", models.SamplerOptions{RepetitionPenalty: 2, RepetitionWindow: 2}, []float32{-1, 4, 3, -3}, []int{1, 0, 3}, []float64{0, 1, 0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := drawn(t, tt.opt, tt.logits, n, tt.accepted...)
			for i, p := range tt.want {
				// Five standard deviations of a binomial count; exact for 0 and 1.
				if bound := 5*math.Sqrt(n*p*(1-p)) + 1e-6*n*p; math.Abs(float64(got[i])-n*p) > bound {
					t.Errorf("token %d drawn %d times of %d, want %.0f ± %.0f", i, got[i], n, n*p, bound)
				}
			}
		})
	}
}

// Top-p finds the same cut in a large flat vocabulary as by sorting it all.
func TestSamplerTopPOfMany(t *testing.T) {
	logits := make([]float32, 5000)
	for i := range logits {
		logits[i] = float32((i*7919)%5000) / 5000
	}
	s := must(models.NewSampler(models.SamplerOptions{Temperature: 1, TopP: 0.5, Seed: 3}))
	// Of weights e^x with x even in [0, 1), the top half of the mass lies
	// above ln((1+e)/2) = 0.62.
	for range 100 {
		id, err := s.Sample(logits)
		if err != nil {
			t.Fatal(err)
		}
		if logits[id] < 0.6199 {
			t.Fatalf("drew a token with logit %v, below the cut at 0.62", logits[id])
		}
	}
}

func TestSamplerSeed(t *testing.T) {
	logits := make([]float32, 1000)
	draw := func(seed uint64) []int {
		s := must(models.NewSampler(models.SamplerOptions{Temperature: 1, Seed: seed}))
		var out []int
		for range 10 {
			out = append(out, must(s.Sample(logits)))
		}
		return out
	}
	if a, b := draw(7), draw(7); !slices.Equal(a, b) {
		t.Errorf("the same seed drew %v and %v", a, b)
	}
	if a, b := draw(7), draw(8); slices.Equal(a, b) {
		t.Errorf("two seeds both drew %v", a)
	}
}

func TestSamplerRefuses(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	s := must(models.NewSampler(models.SamplerOptions{Temperature: 1}))
	for _, logits := range [][]float32{{1, nan, 2}, {nan}, {1, inf}, {-inf, -inf}} {
		if id, err := s.Sample(logits); err == nil || !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%v: token %d, error %v", logits, id, err)
		}
	}
	for _, tt := range []struct {
		opt  models.SamplerOptions
		want string
	}{
		{models.SamplerOptions{Temperature: -1}, "temperature -1 is not between 0 and 1000"},
		{models.SamplerOptions{Temperature: math.NaN()}, "temperature NaN is not between 0 and 1000"},
		{models.SamplerOptions{TopP: 1.5}, "top-p 1.5 is not between 0 and 1"},
		{models.SamplerOptions{MinP: -0.1}, "min-p -0.1 is not between 0 and 1"},
		{models.SamplerOptions{TopK: -2}, "top-k -2 is not between 0 and 2.147483647e+09"},
	} {
		if _, err := models.NewSampler(tt.opt); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// Generate, which has the engine look for the likeliest tokens where those are
// enough, draws what Sample does of all logits.
func TestGenerateDrawsAsSample(t *testing.T) {
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{})
	const n = 12
	for _, opt := range []models.SamplerOptions{
		{}, {RepetitionPenalty: 1.3},
		{Temperature: 0.8, TopK: 20, TopP: 0.9, MinP: 0.01, Seed: 3},
		{Temperature: 0.8, TopK: 20, RepetitionPenalty: 1.2, Seed: 4},
		{Temperature: 1.5, TopK: 2000, Seed: 5}, {Temperature: 1.5, TopP: 0.7, Seed: 6},
	} {
		s, sampler := session(t, m, models.SessionOptions{}), must(models.NewSampler(opt))
		prompt := text(9, p.Config.Vocab)
		sampler.Accept(prompt...)
		var want []int
		for next := prompt; len(want) < n; next = want[len(want)-1:] {
			want = append(want, must(sampler.Sample(must(s.Prefill(t.Context(), next)))))
			sampler.Accept(want[len(want)-1])
		}
		var got []int
		for id, err := range session(t, m, models.SessionOptions{}).Generate(t.Context(), prompt, must(models.NewSampler(opt))) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, id); len(got) == n {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: tokens %v, want %v", opt, got, want)
		}
	}
}
