package enginetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/models/engine"
	"onebit/models/engine/plain"
)

// A Subject is an engine under test, and how far its results may be from those
// in float64: as Σ(y-x)²/Σx².
type Subject struct {
	Engine engine.Opener
	// Cache is the format of keys and values.
	Cache *formats.Type
	// Products bounds Multiply and what contains it, Attention what keys and
	// values in Cache cost, Floats everything else.
	Products, Attention, Floats float64
}

// Run tests the engine.
func Run(t *testing.T, s Subject) {
	t.Run("operations", s.operations)
	t.Run("batches", s.batches)
	t.Run("going back", s.goingBack)
	t.Run("top", s.top)
	t.Run("observers", s.observers)
	t.Run("errors", s.errors)
	t.Run("models", s.models)
}

// The sizes of the operations' tests.
const (
	hidden, inner     = 256, 512
	heads, kvHeads    = 4, 2
	headDim           = 64
	keyHeads, valHead = 2, 4
	keyDim, valueDim  = 32, 64
	channels, taps    = 96, 4
	vocab             = 40
	expertCount       = 7
	expertsUsed       = 3
	expertRows        = 96
	positions         = 64
)

// blocks are what the blocks of a test keep.
var blocks = []engine.State{
	engine.KV{Heads: kvHeads, Dim: headDim},
	engine.Delta{KeyHeads: keyHeads, ValueHeads: valHead, KeyDim: keyDim, ValueDim: valueDim, Channels: channels, Taps: taps},
	engine.KV{Heads: kvHeads, Dim: headDim},
	engine.Delta{KeyHeads: keyHeads, ValueHeads: valHead, KeyDim: keyDim, ValueDim: valueDim, Tiled: true},
	engine.KV{Heads: kvHeads, Dim: headDim, Window: 5},
	engine.KV{Heads: kvHeads, Dim: headDim, Window: 20},
}

// requests are the weights of a test.
var requests = []engine.Request{
	{Tensor: "table", Use: engine.Table},
	{Tensor: "gain", Use: engine.Gain},
	{Tensor: "taps", Use: engine.Gain},
	{Tensor: "rate", Use: engine.Gain},
	{Tensor: "one bit", Use: engine.Matrix},
	{Tensor: "ternary", Use: engine.Matrix},
	{Tensor: "half", Use: engine.Matrix},
	{Tensor: "half", Use: engine.Matrix, Type: formats.Q8_0},
	{Tensor: "experts", Use: engine.Experts},
	{Tensor: "narrow experts", Use: engine.Experts},
}

// A fixture is an engine with weights and a stream.
type fixture struct {
	engine.Stream
	weights map[string]engine.Weight
	buffers map[string]engine.Buffer
}

func (s Subject) fixture(t *testing.T) *fixture { return s.fixtureOf(t, s.Engine) }

func (s Subject) fixtureOf(t *testing.T, opener engine.Opener) *fixture {
	t.Helper()
	src := tensorFile(t)
	e, err := opener.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustBe(t, nil, e.Close()) })
	weights, err := e.Load(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	r := &fixture{weights: map[string]engine.Weight{}, buffers: map[string]engine.Buffer{}}
	for i, q := range requests {
		name := q.Tensor
		if q.Type != nil {
			name += " in " + q.Type.Name
		}
		r.weights[name] = weights[i]
	}
	mustBe(t, nil, e.Wait())
	mustBe(t, nil, e.Check())
	freq := make([]float64, headDim/2)
	for i := range freq {
		freq[i] = math.Pow(1e4, -2*float64(i)/headDim)
	}
	r.Stream, err = e.NewStream(engine.StreamOptions{
		States: blocks, Context: positions, Batch: 8, Cache: s.Cache, Rope: engine.Rope{Freq: freq, Magnitude: 1.1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustBe(t, nil, r.Close()) })
	return r
}

// pair returns the engine's fixture and one in float64.
func (s Subject) pair(t *testing.T) []*fixture {
	return []*fixture{s.fixture(t), s.fixtureOf(t, plain.Options{})}
}

// buffer returns the buffer of a name, made at its first use.
func (r *fixture) buffer(name string, width int) engine.Buffer {
	if r.buffers[name] == nil {
		r.buffers[name] = r.Buffer(width)
	}
	return r.buffers[name]
}

// input is n columns of random values, the same for every engine.
func (r *fixture) input(name string, width, n int, seed uint64, spread float64) engine.Buffer {
	b := r.buffer(name, width)
	r.Write(b, random(n*width, seed, spread))
	return b
}

func ids(n int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]int, n)
	for i := range out {
		out[i] = rng.IntN(vocab)
	}
	return out
}

func random(n int, seed uint64, spread float64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64() * spread)
	}
	return out
}

func (r *fixture) read(t *testing.T, b engine.Buffer) []float32 {
	t.Helper()
	x, err := r.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return append([]float32(nil), x...)
}

func mustBe(t *testing.T, want, got error) {
	t.Helper()
	if got != want {
		t.Errorf("error %v, want %v", got, want)
	}
}
