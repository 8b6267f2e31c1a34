package models_test

import (
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"onebit/models"
	"onebit/models/gopher"
	"onebit/models/tokenizer"
)

var speculateOn = flag.String("speculate.model", "", "a model's file that BenchmarkSpeculate takes besides those inside the program")

// A passage is what BenchmarkSpeculate goes on from, and how it draws.
type passage struct {
	name   string
	text   string // "": random tokens
	draws  models.SamplerOptions
	traps  bool // runs of tokens of the text to come were followed by others before
	tokens int
}

var hot = models.SamplerOptions{Temperature: 1.5, Seed: 1}

var passages = []passage{
	{name: "repeating", text: goText, tokens: 128},
	{name: "other", text: gopher.Text, tokens: 128},
	{name: "drawn", text: goText, draws: models.SamplerOptions{Temperature: 0.8, Seed: 1}, tokens: 128},
	{name: "hot", text: goText, draws: hot, tokens: 128},
	{name: "random", draws: hot, tokens: 128},
	{name: "traps", text: gopher.Text, draws: hot, traps: true, tokens: 64},
	{name: "traps", text: gopher.Text, draws: hot, traps: true, tokens: 256},
}

// BenchmarkSpeculate decodes texts without drafts and with, by turns, and tells by how
// many times the latter is faster: the median of neighbours' ratios, and the ends of
// its interval of 95 % or more, by order statistics. What drafts estimate of that, and
// how many there were, is of the last round. In a text of traps drafts are wrong, and
// by every match.
//
//	go test ./models -run '^$' -bench BenchmarkSpeculate -benchtime 40x
func BenchmarkSpeculate(b *testing.B) {
	words := must(must(gopher.Open(gopher.Default)).Tokenizer())
	for _, name := range append(gopher.Names(), *speculateOn) {
		if name == "" {
			continue
		}
		b.Run("model="+filepath.Base(name), func(b *testing.B) {
			var m *models.Model
			if gopher.Has(name) {
				m = must(models.Load(b.Context(), must(gopher.Open(name)), models.Options{}))
			} else {
				m = must(models.Open(b.Context(), name, models.Options{}))
			}
			defer m.Close()
			for _, p := range passages {
				b.Run(fmt.Sprintf("text=%s/tokens=%d", p.name, p.tokens), func(b *testing.B) { p.byTurns(b, m, words) })
			}
		})
	}
}

// byTurns times the passage.
func (p passage) byTurns(b *testing.B, m *models.Model, words *tokenizer.Tokenizer) {
	prompt := text(128, m.Config.Vocab)
	if p.text != "" {
		prompt = words.Encode(p.text, tokenizer.Options{AddSpecial: true})
	}
	prompt = prompt[:min(len(prompt), m.Config.Context-p.tokens, 380)]
	last := len(prompt) - 1
	s := must(m.NewSession(models.SessionOptions{Context: len(prompt) + p.tokens}))
	defer s.Close()
	must(s.Prefill(b.Context(), prompt))
	decode := func(sp *models.Speculator) (ids []int, took time.Duration) {
		if err := s.Truncate(last); err != nil {
			b.Fatal(err)
		}
		sampler := must(models.NewSampler(p.draws))
		start := time.Now()
		next := s.Generate(b.Context(), prompt[last:], sampler)
		if sp != nil {
			next = s.Speculate(b.Context(), prompt[last:], sampler, sp)
		}
		for id, err := range next {
			if err != nil {
				b.Fatal(err)
			}
			if ids = append(ids, id); len(ids) == p.tokens {
				break
			}
		}
		return ids, time.Since(start)
	}
	want, _ := decode(nil)
	var ratios []float64
	var stats models.SpeculationStats
	for b.Loop() {
		sp := models.NewSpeculator(models.UsualDraft)
		sp.Accept(p.past(prompt, want, m.Config.Vocab)...)
		got, with := decode(sp)
		_, without := decode(nil)
		if !slices.Equal(got, want) {
			b.Fatalf("with drafts the text is %v, without %v", got, want)
		}
		ratios = append(ratios, without.Seconds()/with.Seconds())
		stats = sp.Stats()
	}
	slices.Sort(ratios)
	n := len(ratios)
	inner := max(0, int(float64(n)/2-0.98*math.Sqrt(float64(n)))-1) // of the binomial distribution, if n > 5
	b.ReportMetric(ratios[n/2], "x-plain")
	b.ReportMetric(ratios[inner], "x-low")
	b.ReportMetric(ratios[n-1-inner], "x-high")
	b.ReportMetric(stats.Gain, "x-estimate")
	b.ReportMetric(float64(stats.Drafted)/float64(stats.Passes), "drafted/pass")
	b.ReportMetric(float64(stats.Accepted)/float64(max(1, stats.Drafted)), "accepted")
}

// past is what the text has said before its prompt's last token.
func (p passage) past(prompt, next []int, vocab int) (out []int) {
	if p.traps {
		all := slices.Concat(prompt, next)
		for i := len(prompt); i < len(all); i++ {
			out = append(out, all[i-4:i]...)
			out = append(out, (all[i]+1)%vocab)
		}
	}
	return append(out, prompt[:len(prompt)-1]...)
}
