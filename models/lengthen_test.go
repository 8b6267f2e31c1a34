package models_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/plain"
)

// attended records the last attention's work.
type attended struct{ op engine.Op }

func (a *attended) Observe(op engine.Op) {
	if op.Name == "attn" {
		a.op = op
		a.op.Results = nil
	}
}

// What comes behind a text that was lengthened does the work of what comes behind
// one that was computed: attention reads and multiplies as much, over copies of what
// was computed.
func TestLengthenedTexts(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	ctx := context.Background()
	for _, name := range []string{"tiny", "tiny-qwen35"} {
		m := newFixture(t, preset(name)).open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 2}})
		for _, format := range []*formats.Type{formats.F16, formats.Q8_0, formats.Q4_0} {
			t.Run(fmt.Sprintf("%s/%s", name, format.Name), func(t *testing.T) {
				var computed, lengthened attended
				opt := models.SessionOptions{Context: 400, Cache: format}
				opt.Observer = &computed
				a := must(m.NewSession(opt))
				defer a.Close()
				opt.Observer = &lengthened
				b := must(m.NewSession(opt))
				defer b.Close()
				ids := text(301, m.Config.Vocab)
				must(a.Prefill(ctx, ids[:300]))
				must(b.Prefill(ctx, ids[:128]))
				if err := b.Lengthen(300); err != nil || b.Position() != 300 {
					t.Fatalf("%d tokens: %v", b.Position(), err)
				}
				kv := b.HostMemory()[0]
				tile := len(kv) / 4 // of 400 tokens in tiles of 128
				for i := range 2 {
					if again := kv[(i+1)*tile:][:tile]; !bytes.Equal(again, kv[:tile]) || bytes.Count(again, []byte{0}) == tile {
						t.Errorf("tile %d is not the first one again", i+1)
					}
				}
				if err := b.Mark(); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					must(b.Decode(ids[300]))
					if err := b.Truncate(300); err != nil {
						t.Fatal(err)
					}
				}
				must(a.Decode(ids[300]))
				x, y := computed.op, lengthened.op
				if x.Moved == 0 || x.Moved != y.Moved || x.MACs != y.MACs || x.Bytes != y.Bytes {
					t.Errorf("attention moves %d bytes and multiplies %d times behind copies, %d and %d behind what was computed", y.Moved, y.MACs, x.Moved, x.MACs)
				}
			})
		}
	}
}

// A text is lengthened by whole steps of what there is, within its context, by an
// engine that can.
func TestLengthenRefuses(t *testing.T) {
	ctx := context.Background()
	x := newFixture(t, preset("tiny"))
	m := x.open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 1}})
	s := must(m.NewSession(models.SessionOptions{Context: 300}))
	defer s.Close()
	refuse := func(n int) {
		t.Helper()
		at := s.Position()
		if err := s.Lengthen(n); err == nil || s.Position() != at {
			t.Errorf("from %d tokens to %d: %v", at, s.Position(), err)
		}
	}
	refuse(200)
	must(s.Prefill(ctx, text(100, m.Config.Vocab)))
	refuse(200)
	must(s.Prefill(ctx, text(28, m.Config.Vocab)))
	refuse(127)
	refuse(301)
	if err := s.Lengthen(300); err != nil {
		t.Error(err)
	}
	other := must(x.open(t, models.Options{Engine: plain.Options{}}).NewSession(models.SessionOptions{Context: 300}))
	defer other.Close()
	if err := other.Lengthen(300); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("another engine: %v", err)
	}
}

// What decoding takes behind 4096 tokens, by turns behind those that were computed and
// those that were not: the ratio is 1 but for noise.
func BenchmarkDecodeBehind(b *testing.B) {
	const depth = 4096
	m := newFixture(b, deepCache()).open(b, models.Options{Engine: cpu.Options{Packing: cpu.PackFirst, Threads: 2}})
	var sessions []*models.Session
	for _, computed := range []int{depth, 512} {
		s := must(m.NewSession(models.SessionOptions{Context: depth + 1}))
		defer s.Close()
		must(s.Prefill(context.Background(), text(computed, m.Config.Vocab)))
		if err := s.Lengthen(depth); err != nil {
			b.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	var took [2]time.Duration
	for b.Loop() {
		for i, s := range sessions {
			start := clock.Now()
			must(s.Decode(1))
			took[i] += clock.Since(start)
			if err := s.Truncate(depth); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "lengthened/computed")
}
