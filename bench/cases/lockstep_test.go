package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"onebit/bench"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/synth"
	"onebit/models/tokenizer"
)

// tinyLockstep compares these variants of a tiny synthetic model.
func tinyLockstep(t *testing.T, variants ...string) Lockstep {
	t.Helper()
	preset, err := models.LookupPreset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := synth.Write(&b, preset, 1); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), path, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := tokenizer.FromGGUF(f)
	if err != nil {
		t.Fatal(err)
	}
	pool := kernels.NewPool(2)
	t.Cleanup(pool.Close)
	l := Lockstep{
		Model: "tiny", Pool: pool, Tokens: LockstepTokens(text, 21),
		Open: func(opt models.Options) (*models.Model, error) { return models.Open(path, opt) },
	}
	for _, name := range variants {
		choose, err := models.PreferVariant(name, "")
		if err != nil {
			t.Fatal(err)
		}
		l.Contenders = append(l.Contenders, Contender{name, models.Options{Variant: choose}})
	}
	return l
}

func TestLockstepStudy(t *testing.T) {
	l := tinyLockstep(t, "unrolled", "scalar")
	study := l.Study("tiny", 2_000_000)
	if study.Name != "Lockstep/model=tiny/variant=unrolled" || study.Group != "tiny" || study.Time != 14*time.Millisecond {
		t.Errorf("study %+v", study)
	}
	samples := map[string]bench.Sample{}
	err := study.Run(t.Context(), func(s bench.Sample) error {
		if _, again := samples[s.Name.Full]; again {
			t.Errorf("%s twice", s.Name.Full)
		}
		samples[s.Name.Full] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	value := func(name, unit string) float64 {
		for _, m := range samples[name].Values {
			if m.Unit == unit {
				return m.Value
			}
		}
		t.Errorf("%s has no %s", name, unit)
		return 0
	}
	// Of each variant: 2 inputs of 2 blocks with 7 projections and the stream,
	// and the head; and the logits.
	if want := 2 * (2*(2*8+1) + 1); len(samples) != want {
		t.Errorf("%d samples, want %d", len(samples), want)
	}
	for _, variant := range []string{"unrolled", "scalar"} {
		name := "Lockstep/model=tiny/variant=" + variant
		alone := value(name+"/input=isolated/block=1/tensor=ffn_down", bench.NMSE)
		whole := value(name+"/input=accumulated/block=1/tensor=block", bench.NMSE)
		if !(alone > 0 && alone < 1e-3 && whole > 0 && whole < 1e-2) {
			t.Errorf("%s: NMSE %v of a projection, %v of the stream", variant, alone, whole)
		}
		if c := value(name+"/input=isolated/block=outside/tensor=output", bench.Cosine); !(c > 0.99 && c < 1) {
			t.Errorf("%s: cosine %v of the head", variant, c)
		}
		logits := fmt.Sprintf("Logits/model=tiny/variant=%s/tokens=20", variant)
		if kld := value(logits, bench.KLD); !(kld > 0 && kld < 0.01) {
			t.Errorf("%s: divergence %v", variant, kld)
		}
		if ppl, reference := value(logits, bench.Perplexity), value(logits, bench.RefPpl); !(ppl > 1 && reference > 1 && ppl != reference) {
			t.Errorf("%s: perplexity %v, the reference's %v", variant, ppl, reference)
		}
		if top1, top5 := value(logits, bench.Top1), value(logits, bench.Top5); !(top1 > 0.5 && top1 <= 1 && top5 > 0.5 && top5 <= 1) {
			t.Errorf("%s: top1 %v, top5 %v", variant, top1, top5)
		}
	}
}

// The errors of one scheme are not passed off as another's.
func TestLockstepRefusesAnotherScheme(t *testing.T) {
	err := tinyLockstep(t, "unrolled", "reference").run(t.Context(), func(bench.Sample) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "variant reference: logit ") {
		t.Errorf("error %v", err)
	}
}

func TestLockstepStops(t *testing.T) {
	l := tinyLockstep(t, "unrolled")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.run(cancelled, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancellation", err)
	}
	full := errors.New("full")
	if err := l.run(t.Context(), func(bench.Sample) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want that of emit", err)
	}
}
