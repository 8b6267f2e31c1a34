package models_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/forward"
	"onebit/models/source"
)

// A plan says what is taken then: weights in place and packed, keys and values and
// states to the byte, activations within their bound and not far from it.
func TestPlanIsWhatIsTaken(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	for _, p := range []*arch.Preset{preset("tiny"), tinyUntied(), preset("tiny-bitnet"), must(arch.LookupPreset("tiny-qwen35"))} {
		x := newFixture(t, p)
		for _, opt := range []models.Options{
			{Engine: cpu.Options{Packing: cpu.PackFirst, Threads: 2}},
			{Engine: cpu.Options{Packing: cpu.PackBehind, Threads: 1}},
			{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 3}},
			{Engine: cpu.Options{Packing: cpu.PackFirst, Threads: 2}, Head: formats.Q8_0},
		} {
			t.Run(fmt.Sprintf("%s/packing %d/head %v", p.Name, opt.Engine.(cpu.Options).Packing, opt.Head != nil), func(t *testing.T) {
				testPlan(t, x.open(t, opt), must(models.NewPlan(source.FromGGUF(x.file(t)), opt)))
			})
		}
	}
}

func testPlan(t *testing.T, m *models.Model, plan *models.Plan) {
	if err := m.Packed(); err != nil {
		t.Fatal(err)
	}
	packed, _, _ := m.Engine().(*cpu.Engine).Taken()
	inPlace, layers := int64(0), 0
	count := func(l *forward.Linear) {
		if layers++; l.Variant().Layout.PackedBytes == nil && l.Type != formats.Q8_0 {
			inPlace += int64(l.Bytes())
		}
	}
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			count(l)
		}
	}
	count(m.Head)
	// Packed matrices begin at cache lines.
	if plan.Mapped != inPlace || plan.Packed > packed || plan.Packed < packed-int64(64*layers) {
		t.Errorf("planned %d bytes of weights in place and %d packed, there are %d and %d", plan.Mapped, plan.Packed, inPlace, packed)
	}
	for _, format := range cpu.CacheFormats() {
		opt := models.SessionOptions{Context: 300, Cache: format, Batch: 64}
		want := must(plan.Footprint(opt))
		s := must(m.NewSession(opt))
		if got := int64(len(s.HostMemory()[0])); got != want.Cache {
			t.Errorf("%s: planned %d bytes of keys and values, there are %d", format.Name, want.Cache, got)
		}
		if got := int64(s.CacheBytes()); 2*got != want.State {
			t.Errorf("%s: planned %d bytes of states and their copies, there are %d of states", format.Name, want.State, got)
		}
		for _, err := range s.Logits(text(opt.Context, m.Config.Vocab)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := int64(s.BufferBytes()); got > want.Scratch || 2*want.Scratch > 3*got {
			t.Errorf("%s: planned %d bytes of activations, there are %d", format.Name, want.Scratch, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A session beyond memory is refused, with the contexts that fit: those are
// granted, and no larger ones. What other sessions were promised is not there.
func TestSessionsBeyondMemory(t *testing.T) {
	p := deepCache()
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 2}})
	plan := m.Plan()
	one := must(plan.Footprint(models.SessionOptions{Context: 1}))
	const tiles = 20
	memory := one.Total() + tiles*one.Cache
	_, err := m.NewSession(models.SessionOptions{Context: p.Config.Context, Memory: memory})
	var refused *models.MemoryError
	if !errors.As(err, &refused) {
		t.Fatalf("%d tokens in %d bytes: %v, want a MemoryError", p.Config.Context, memory, err)
	}
	for _, want := range []string{"model.gguf: ", "32768 tokens", "keys and values 1 GiB in f16", " in q8_0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %q", err, want)
		}
	}
	if !slices.IsSortedFunc(refused.Fits, func(a, b models.Fit) int { return a.Context - b.Context }) || len(refused.Fits) < 3 {
		t.Errorf("fits %+v: want every format, the most precise first", refused.Fits)
	}
	for _, fit := range refused.Fits {
		opt := models.SessionOptions{Context: fit.Context, Cache: fit.Format, Memory: memory}
		s, err := m.NewSession(opt)
		if err != nil {
			t.Errorf("what is said to fit: %v", err)
			continue
		}
		if fit.Format == formats.F16 {
			if fit.Context < (tiles-1)*128 || fit.Context > (tiles+1)*128 {
				t.Errorf("%d tokens fit in the room of some %d", fit.Context, tiles*128)
			}
			if _, err := m.NewSession(opt); !errors.As(err, &refused) || refused.Memory > memory-int64(len(s.HostMemory()[0])) {
				t.Errorf("a second session in the same memory: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		opt.Context++
		if _, err := m.NewSession(opt); !errors.As(err, &refused) {
			t.Errorf("%s: one token more than fit: %v", fit.Format.Name, err)
		}
	}
	if _, err := m.NewSession(models.SessionOptions{Context: 1, Memory: 1000}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "a single token") {
		t.Errorf("in 1000 bytes: %v", err)
	}
}

// What a session holds is counted while it does: as its text grows, when it goes
// back, and when it is closed.
func TestEngineCountsCaches(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	p := deepCache()
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 2}})
	s := must(m.NewSession(models.SessionOptions{Context: 1000}))
	size, tile := int64(len(s.HostMemory()[0])), int64(128*tokenBytes(t, p, formats.F16))
	expect := func(what string, taken, promised int64) {
		t.Helper()
		if _, a, b := m.Engine().(*cpu.Engine).Taken(); a != taken || b != promised {
			t.Errorf("%s: %d bytes are taken of %d promised, want %d of %d", what, a, b, taken, promised)
		}
	}
	expect("at first", 0, size)
	must(s.Prefill(context.Background(), text(385, p.Config.Vocab)))
	expect("after 385 tokens", 4*tile, size)
	if err := s.Truncate(100); err != nil {
		t.Fatal(err)
	}
	expect("back at 100", 2*tile, size)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		expect("closed", 0, 0)
	}
}

// deepCache is a model whose keys and values are large beside its weights: 4 MiB
// for 128 tokens in f16, two huge pages.
func deepCache() *arch.Preset {
	p := preset("tiny")
	c := &p.Config
	c.Layers, c.Heads, c.KVHeads, c.HeadDim, c.Context = 8, 8, 8, 128, 1<<15
	return p
}

// tokenBytes is the size of a token's keys and values.
func tokenBytes(t *testing.T, p *arch.Preset, format *formats.Type) int {
	t.Helper()
	c := p.Config
	return c.Layers * c.KVHeads * 2 * must(format.Bytes(1, c.HeadDim))
}
