package models_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"onebit/internal/require"
	"onebit/models"
	"onebit/models/engine/cpu"
	"onebit/models/engine/plain"
	"onebit/models/gopher"
	"onebit/models/tokenizer"
)

// repeats is a text of n tokens that says the same again and again.
func repeats(n, vocab int) []int {
	ids := text(7, vocab)
	for len(ids) < n {
		ids = append(ids, ids[len(ids)-7])
	}
	return ids
}

// decoded returns n tokens behind a prompt, by Generate or, with p, by Speculate,
// and the logits of the one after.
func decoded(t testing.TB, s *models.Session, prompt []int, n int, opt models.SamplerOptions, p *models.Speculator) ([]int, []float32) {
	t.Helper()
	sampler := must(models.NewSampler(opt))
	ids := s.Generate(t.Context(), prompt, sampler)
	if p != nil {
		ids = s.Speculate(t.Context(), prompt, sampler, p)
	}
	var out []int
	for id, err := range ids {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, id); len(out) == n {
			break
		}
	}
	if got, want := s.Position(), len(prompt)+n-1; got != want {
		t.Errorf("the session holds %d tokens, want %d", got, want)
	}
	return out, slices.Clone(must(s.Decode(out[n-1])))
}

func timeless(most int) *models.Speculator {
	p := models.NewSpeculator(most)
	p.Timeless()
	return p
}

var draws = []models.SamplerOptions{
	{},
	{RepetitionPenalty: 1.3},
	{Temperature: 0.3, Seed: 1},
	{Temperature: 0.8, TopK: 5, Seed: 2},
	{Temperature: 1, TopP: 0.5, MinP: 0.05, RepetitionPenalty: 1.1, Seed: 3},
}

// Drafts change no token, greedy or drawn, of any architecture whose state can go
// back, nor what is left in the session.
func TestSpeculateEqualsGenerate(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	const n = 40
	sameEverywhere(t)
	for _, p := range smallPresets() {
		t.Run(p.Name, func(t *testing.T) {
			m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
			prompt := repeats(24, p.Config.Vocab)
			if m.Recurrent() {
				refusesDrafts(t, m, prompt)
				return
			}
			drafted := 0
			for _, opt := range draws {
				want, wantLogits := decoded(t, session(t, m, models.SessionOptions{}), prompt, n, opt, nil)
				for _, most := range []int{1, models.MostDraft} {
					sp := timeless(most)
					got, logits := decoded(t, session(t, m, models.SessionOptions{Batch: 4}), prompt, n, opt, sp)
					if !slices.Equal(got, want) || differ(logits, wantLogits) >= 0 {
						t.Errorf("%+v, drafts of %d: tokens %v, want %v", opt, most, got, want)
					}
					stats := sp.Stats()
					if stats.Tokens < n-1 || stats.Passes+stats.Accepted != stats.Tokens {
						t.Errorf("%+v, drafts of %d: %+v", opt, most, stats)
					}
					drafted += stats.Drafted
				}
			}
			if drafted == 0 {
				t.Error("nothing was drafted")
			}
		})
	}
}

func refusesDrafts(t *testing.T, m *models.Model, prompt []int) {
	s := session(t, m, models.SessionOptions{})
	for _, err := range s.Speculate(t.Context(), prompt, must(models.NewSampler(models.SamplerOptions{})), models.NewSpeculator(4)) {
		if !errors.Is(err, models.ErrNoRollback) || s.Position() != 0 {
			t.Errorf("error %v, position %d", err, s.Position())
		}
	}
}

// The models inside the program say again what their prompt said, so that drafts
// come true, by the clock too.
func TestSpeculateText(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	for _, name := range gopher.Names() {
		t.Run(name, func(t *testing.T) {
			src := must(gopher.Open(name))
			words := must(src.Tokenizer())
			m := must(models.Load(t.Context(), src, models.Options{}))
			defer m.Close()
			prompt := words.Encode(goText, tokenizer.Options{AddSpecial: true})
			want, _ := decoded(t, session(t, m, models.SessionOptions{}), prompt, 60, models.SamplerOptions{}, nil)
			sp := timeless(models.UsualDraft)
			got, _ := decoded(t, session(t, m, models.SessionOptions{}), prompt, 60, models.SamplerOptions{}, sp)
			if !slices.Equal(got, want) {
				t.Errorf("tokens %v, want %v", got, want)
			}
			if stats := sp.Stats(); stats.Accepted < 10 {
				t.Errorf("%+v", stats)
			}
			byClock := models.NewSpeculator(models.UsualDraft)
			if got, _ := decoded(t, session(t, m, models.SessionOptions{}), prompt, 60, models.SamplerOptions{}, byClock); !slices.Equal(got, want) {
				t.Errorf("by the clock, tokens %v, want %v", got, want)
			}
		})
	}
}

const goText = `
func (b *Buffer) ReadByte() (byte, error)
    ReadByte reads and returns the next byte from the buffer.
    If no byte is available, it returns error io.EOF.

func (b *Buffer) ReadRune() (r rune, size int, err error)
    ReadRune reads and returns the next rune from the buffer.
    If no rune is available, it returns error io.EOF.

func (b *Buffer) ReadString(delim byte) (line string, err error)
    ReadString reads and returns the next string from the buffer.
`

// Where passes cost what they did on the machine of docs/measurements/models.md, in
// passes over one column, drafts lose less than three hundredths of any text, and win
// where it says again what it said.
func TestSpeculatePays(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	costs := map[string][]float64{ // by columns, from 1
		gopher.Ternary: {1, 1.58, 2.17, 2.30, 2.63, 2.99, 3.30, 3.59},
		gopher.OneBit:  {1, 1.55, 2.05, 2.46, 2.80, 3.33, 4.00, 4.71},
	}
	for _, test := range []struct {
		model, name, text string
		gain              float64
	}{{gopher.Ternary, "repeating", goText, 1.4}, {gopher.OneBit, "repeating", goText, 1.3}, {gopher.Ternary, "other", gopher.Text, 1}, {gopher.OneBit, "other", gopher.Text, 1}} {
		src := must(gopher.Open(test.model))
		m := must(models.Load(t.Context(), src, models.Options{}))
		defer m.Close()
		prompt := must(src.Tokenizer()).Encode(test.text, tokenizer.Options{AddSpecial: true})
		prompt = prompt[:min(len(prompt), 380)]
		for n, least := range map[int]float64{64: 0.97, 128: test.gain} {
			sp := models.NewSpeculator(models.UsualDraft)
			spent := sp.Costing(func(columns int) float64 { return costs[test.model][columns-1] })
			decoded(t, session(t, m, models.SessionOptions{Context: 512}), prompt, n, models.SamplerOptions{}, sp)
			stats := sp.Stats()
			if gain := float64(stats.Tokens) / spent(); gain < least || math.Abs(stats.Gain-gain) > 0.1*gain {
				t.Errorf("%s, a %s text, %d tokens: %.2f times as fast, want %g; it estimates %.2f of %+v", test.model, test.name, n, gain, least, stats.Gain, stats)
			}
		}
	}
}

// Another engine verifies as well.
func TestSpeculateOnAnotherEngine(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: plain.Options{}})
	prompt := repeats(12, p.Config.Vocab)
	want, _ := decoded(t, session(t, m, models.SessionOptions{}), prompt, 12, models.SamplerOptions{}, nil)
	if got, _ := decoded(t, session(t, m, models.SessionOptions{}), prompt, 12, models.SamplerOptions{}, timeless(5)); !slices.Equal(got, want) {
		t.Errorf("tokens %v, want %v", got, want)
	}
}

// Three tokens behind a prompt, drawn with drafts of what earlier texts drew, are
// distributed as the model has it: all 27 of three candidates each, whose
// probabilities are enumerated, by Pearson's χ².
func TestSpeculateDistribution(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	s := session(t, m, models.SessionOptions{Context: 64})
	const texts = 1000
	opt := models.SamplerOptions{Temperature: 4, TopK: 3}
	prompt := repeats(10, p.Config.Vocab)

	expected := map[[3]int]float64{}
	for a, pa := range candidates(t, s, prompt, opt) {
		for b, pb := range candidates(t, s, append(slices.Clone(prompt), a), opt) {
			for c, pc := range candidates(t, s, append(slices.Clone(prompt), a, b), opt) {
				expected[[3]int{a, b, c}] = texts * pa * pb * pc
			}
		}
	}
	seen := map[[3]int]float64{}
	sp := timeless(models.UsualDraft)
	for seed := range uint64(texts) {
		if err := s.Truncate(0); err != nil {
			t.Fatal(err)
		}
		opt.Seed = seed
		ids, _ := decoded(t, s, prompt, 3, opt, sp)
		seen[[3]int(ids)]++
	}
	if stats := sp.Stats(); stats.Accepted < texts/20 || stats.Drafted-stats.Accepted < texts/20 {
		t.Errorf("%+v: the test says nothing of what is accepted or refused", stats)
	}
	chi2 := 0.0
	for ids, want := range expected {
		chi2 += (seen[ids] - want) * (seen[ids] - want) / want
		delete(seen, ids)
	}
	const most = 61.7 // exceeded once in 10,000 times with 26 degrees of freedom
	if len(seen) > 0 || len(expected) != 27 || chi2 > most {
		t.Errorf("χ² = %.1f of %d outcomes, want at most %g; unexpected: %v", chi2, len(expected), most, seen)
	}
}

// candidates returns the probability of each token that may follow ids.
func candidates(t *testing.T, s *models.Session, ids []int, opt models.SamplerOptions) map[int]float64 {
	t.Helper()
	if err := s.Truncate(0); err != nil {
		t.Fatal(err)
	}
	logits := must(s.Prefill(t.Context(), ids))
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if logits[a] > logits[b] {
			return -1
		} else if logits[a] < logits[b] {
			return 1
		}
		return 0
	})
	out, sum := map[int]float64{}, 0.0
	for _, id := range order[:opt.TopK] {
		out[id] = math.Exp(float64(logits[id]-logits[order[0]]) / opt.Temperature)
		sum += out[id]
	}
	for id := range out {
		out[id] /= sum
	}
	return out
}

// A full context and a context that is done end the text where they end it without
// drafts.
func TestSpeculateEnds(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	prompt := repeats(24, p.Config.Vocab)
	count := func(ctx context.Context, sp *models.Speculator) (n int, end error) {
		s := session(t, m, models.SessionOptions{Context: 40})
		sampler := must(models.NewSampler(models.SamplerOptions{}))
		ids := s.Generate(ctx, prompt, sampler)
		if sp != nil {
			ids = s.Speculate(ctx, prompt, sampler, sp)
		}
		for _, err := range ids {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	want, _ := count(t.Context(), nil)
	if got, err := count(t.Context(), timeless(7)); got != want || !errors.Is(err, models.ErrContextFull) {
		t.Errorf("%d tokens and error %v, want %d and one that wraps %v", got, err, want, models.ErrContextFull)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := count(done, timeless(7)); got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d tokens and error %v of a context that is done", got, err)
	}
}
