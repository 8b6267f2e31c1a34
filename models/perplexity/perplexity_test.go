package perplexity_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/perplexity"
	"onebit/models/source"
	"onebit/models/synth"
)

// A fake predicts the token after the last one with the logits of a table, and
// writes down what it was asked.
type fake struct {
	logits map[int][]float32 // by the last token
	calls  []string
	text   []int
}

func (f *fake) Truncate(n int) error { f.text = f.text[:n]; return nil }

func (f *fake) Prefill(_ context.Context, ids []int) ([]float32, error) {
	f.calls = append(f.calls, fmt.Sprint("take ", append(f.text, ids...)))
	f.text = append(f.text, ids...)
	return nil, nil
}

func (f *fake) Logits(ids []int) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		for _, id := range ids {
			f.text = append(f.text, id)
			f.calls = append(f.calls, fmt.Sprint("predict after ", f.text))
			if !yield(f.logits[id], nil) {
				return
			}
		}
	}
}

// Probabilities as logits; a constant added to all changes nothing.
func logits(constant float64, p ...float64) []float32 {
	z := make([]float32, len(p))
	for i, x := range p {
		z[i] = float32(math.Log(x) + constant)
	}
	return z
}

var table = map[int][]float32{
	0: logits(0, 0.5, 0.25, 0.125, 0.125),
	1: logits(100, 0.25, 0.25, 0.25, 0.25),
	2: logits(-7, 0.125, 0.125, 0.25, 0.5),
	3: logits(0, 0.125, 0.5, 0.125, 0.25),
}

func last(t *testing.T, seq iter.Seq2[perplexity.Estimate, error]) perplexity.Estimate {
	t.Helper()
	var e perplexity.Estimate
	for next, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		e = next
	}
	return e
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}

// Two windows of 4; of each, the last token is scored after 3 tokens:
// 1 after 3 (½) and 2 after 1 (¼). NLLs ln 2 and 2 ln 2: mean 1.5 ln 2, standard
// error 0.5 ln 2.
func TestWindowsWithoutOverlap(t *testing.T) {
	f := &fake{logits: table}
	p := perplexity.Protocol{Context: 4, BOS: -1}
	e := last(t, p.Evaluate(t.Context(), f, []int{0, 2, 3, 1, 3, 0, 1, 2, 3, 3}))
	ppl, stdErr := e.PPL()
	near(t, "PPL", ppl, math.Pow(2, 1.5))
	near(t, "standard error", stdErr, math.Pow(2, 1.5)*0.5*math.Ln2)
	if e.Windows != 2 || e.Tokens != 2 {
		t.Errorf("%d tokens in %d windows, want 2 in 2", e.Tokens, e.Windows)
	}
	want := []string{
		"take [0 2]", "predict after [0 2 3]",
		"take [3 0]", "predict after [3 0 1]",
	}
	if d := cmp.Diff(want, f.calls); d != "" {
		t.Error(d)
	}
}

// BOS takes the place of the first token of each window, in the model's input
// and not in the caller's text.
func TestBOS(t *testing.T) {
	f := &fake{logits: table}
	ids := []int{0, 2, 3, 1, 3, 0, 1, 2}
	text := slices.Clone(ids)
	last(t, perplexity.Protocol{Context: 4, BOS: 2}.Evaluate(t.Context(), f, ids))
	if !slices.Equal(ids, text) {
		t.Error("the text was changed")
	}
	if f.calls[0] != "take [2 2]" || f.calls[2] != "take [2 0]" {
		t.Errorf("calls %q", f.calls)
	}
}

// A context of 4 and a stride of 2 are windows of 5, one every 2 tokens, of
// which the last 2 are scored. Of 8 tokens the windows are 0-4 and 2-6.
// NLLs: 1 after 3 (½), 3 after 1 (¼); 0 after 3 (⅛), 1 after 0 (¼).
func TestStride(t *testing.T) {
	f := &fake{logits: table}
	p := perplexity.Protocol{Context: 4, Stride: 2, BOS: -1}
	e := last(t, p.Evaluate(t.Context(), f, []int{0, 2, 3, 1, 3, 0, 1, 2}))
	near(t, "NLL", e.NLL.Value(), (1+2+3+2)*math.Ln2/4)
	want := []string{
		"take [0 2]", "predict after [0 2 3]", "predict after [0 2 3 1]",
		"take [3 1]", "predict after [3 1 3]", "predict after [3 1 3 0]",
	}
	if d := cmp.Diff(want, f.calls); d != "" {
		t.Error(d)
	}
	// The third window would end with a text of 9 tokens, and is left out.
	for tokens, want := range map[int]int{5: 0, 6: 1, 7: 1, 8: 2, 9: 2, 10: 3} {
		if got := p.Windows(tokens); got != want {
			t.Errorf("%d windows in %d tokens, want %d", got, tokens, want)
		}
	}
}

// After token 3 the reference says (½, ¼, ¼, 0+) where the session says
// (⅛, ½, ⅛, ¼): divergence ½ ln 4 + ¼ ln ½ + ¼ ln 2 = ln 2. After token 1 they
// agree.
func TestCompare(t *testing.T) {
	reference := map[int][]float32{
		1: logits(3, 0.25, 0.25, 0.25, 0.25),
		3: logits(0, 0.5, 0.25, 0.25, 1e-12),
	}
	p := perplexity.Protocol{Context: 4, BOS: -1}
	e := last(t, p.Compare(t.Context(), &fake{logits: table}, &fake{logits: reference}, []int{0, 2, 3, 1, 3, 0, 1, 2}))
	near(t, "KLD", e.KLD.Value(), math.Ln2/2)
	near(t, "KLD's standard error", e.KLD.StdErr(), math.Ln2/2)
	quantiles := e.KLDQuantiles(0, 0.5, 0.75, 1)
	for i, want := range []float64{0, 0.5, 0.75, 1} {
		near(t, "quantile of KLD", quantiles[i], want*math.Ln2)
	}
	near(t, "difference of NLLs", e.NLLDiff.Value(), (math.Log(2)-math.Log(4))/2)
	near(t, "same top", e.SameTop.Value(), 0.5)
	near(t, "top 5", e.Top5.Value(), 1) // of 4
	near(t, "probability difference", e.ProbDiff.Value(), (0.5-0.25)/2)
	near(t, "its root mean square", e.RMSProbDiff(), 0.25/math.Sqrt2)
	ppl, pplErr := e.ReferencePPL()
	near(t, "reference PPL", ppl, 4)
	near(t, "its standard error", pplErr, 0)
	ratio, ratioErr := e.PPLRatio()
	near(t, "ratio of PPL", ratio, 1/math.Sqrt2)
	near(t, "its standard error", ratioErr, 1/math.Sqrt2*math.Ln2/2)
	diff, diffErr := e.PPLDiff()
	near(t, "difference of PPL", diff, math.Pow(2, 1.5)-4)
	near(t, "its standard error", diffErr, math.Pow(2, 1.5)*math.Ln2/2) // the reference's is 0
	near(t, "NLL", e.NLL.Value(), 1.5*math.Ln2)
}

func TestRefuse(t *testing.T) {
	nan := map[int][]float32{0: logits(0, 1, 1, 1, 1)}
	nan[0][3] = float32(math.NaN())
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		p     perplexity.Protocol
		table map[int][]float32
		ids   []int
		want  string
	}{
		{"short text", nil, perplexity.Protocol{Context: 4, BOS: -1}, table, []int{0, 1, 2}, "the text has 3 tokens, and the protocol needs 4 at least"},
		{"short text for a stride", nil, perplexity.Protocol{Context: 4, Stride: 2, BOS: -1}, table, []int{0, 1, 2, 3, 0}, "needs 6 at least"},
		{"small context", nil, perplexity.Protocol{Context: 3, BOS: -1}, table, []int{0, 1, 2}, "a context of 3 tokens"},
		{"large stride", nil, perplexity.Protocol{Context: 4, Stride: 4, BOS: -1}, table, []int{0}, "a stride of 4 tokens"},
		{"NaN", nil, perplexity.Protocol{Context: 4, BOS: -1}, nan, []int{0, 0, 0, 0}, "window 1: the logits are not finite"},
		{"vocabulary", nil, perplexity.Protocol{Context: 4, BOS: -1}, table, []int{0, 0, 0, 4}, "window 1: token 4 is not in the model's vocabulary of 4"},
		{"cancelled", cancelled, perplexity.Protocol{Context: 4, BOS: -1}, table, []int{0, 0, 0, 0}, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			var err error
			for _, err = range c.p.Evaluate(c.ctx, &fake{logits: c.table}, c.ids) {
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if c.ctx == cancelled && !errors.Is(err, context.Canceled) {
				t.Error("the error is not context.Canceled")
			}
		})
	}
}

// A real session: what Evaluate says is what Prefill of every prefix says, and
// the reference engine differs a little.
func TestSession(t *testing.T) {
	p := perplexity.Protocol{Context: 12, BOS: 5}
	ids := make([]int, 30)
	for i := range ids {
		ids[i] = i * 37 % 512
	}
	s := session(t, engine)
	e := last(t, p.Evaluate(t.Context(), s, ids))

	var sum float64
	for _, start := range []int{0, 12} {
		window := slices.Clone(ids[start:][:12])
		window[0] = 5
		for end := 7; end < 12; end++ {
			s.Truncate(0)
			z, err := s.Prefill(t.Context(), window[:end])
			if err != nil {
				t.Fatal(err)
			}
			var total float64
			for _, x := range z {
				total += math.Exp(float64(x))
			}
			sum += math.Log(total) - float64(z[window[end]])
		}
	}
	near(t, "NLL", e.NLL.Value(), sum/10)

	reference := session(t, referenceEngine)
	e = last(t, p.Compare(t.Context(), s, reference, ids))
	near(t, "NLL", e.NLL.Value(), sum/10)
	if kld := e.KLD.Value(); !(kld > 0 && kld < 0.1) {
		t.Errorf("KLD %v from the reference engine", kld)
	}
	again := session(t, engine)
	e = last(t, p.Compare(t.Context(), s, again, ids))
	if e.KLDQuantiles(1)[0] > 1e-12 || e.NLLDiff.Value() != 0 || e.SameTop.Value() != 1 {
		t.Errorf("a model differs from itself: %+v", e)
	}
}

var (
	engine          = models.Options{}
	referenceEngine = models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Kernels: cpu.Kernels{Variant: func(f *formats.Type) (*kernels.Variant, error) {
		if f == formats.F16 { // the cache
			return nil, nil
		}
		return kernels.Lookup(f.Name, "reference", kernels.F32)
	}}}}
)

func session(t *testing.T, opt models.Options) *models.Session {
	t.Helper()
	preset, err := arch.LookupPreset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := synth.Write(&file, preset, 1); err != nil {
		t.Fatal(err)
	}
	parsed, err := gguf.Parse(file.Bytes(), "tiny.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(t.Context(), source.FromGGUF(parsed), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	s, err := m.NewSession(models.SessionOptions{Context: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
