package cpu

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/models/engine"
)

// Weights of rows are those of the specification, of scores that are not finite too.
func TestSoften(t *testing.T) { eachVectors(t, testSoften) }

func testSoften(t *testing.T, v *Vectors) {
	rng := rand.New(rand.NewPCG(9, 10))
	inf := float32(math.Inf(1))
	for _, rows := range []int{1, 2, 7} {
		for _, special := range []float32{0, -inf, inf, float32(math.NaN())} {
			scores := make([]float32, rows*cacheTile)
			for i := range scores {
				scores[i] = float32(rng.NormFloat64() * math.Exp(3*rng.NormFloat64()))
				if special != 0 && rng.IntN(50) == 0 {
					scores[i] = special
				}
			}
			want := slices.Clone(scores)
			tops, sums, wantTops, wantSums := make([]float32, rows), make([]float32, rows), make([]float32, rows), make([]float32, rows)
			v.soften(scores, tops, sums, 0.7)
			softenScalar(want, wantTops, wantSums, 0.7)
			sameBits(t, fmt.Sprint("weights of ", rows, " rows with ", special), scores, want)
			sameBits(t, "largest scores", tops, wantTops)
			sameBits(t, "sums", sums, wantSums)
		}
	}
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	g, w := bits32(got), bits32(want)
	for i := range w {
		if g[i] != w[i] {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// Values are as extreme as often as not, and weights as large as they get: sums are.
func TestWeigh(t *testing.T) { eachVectors(t, testWeigh) }

func testWeigh(t *testing.T, v *Vectors) {
	rng := rand.New(rand.NewPCG(11, 12))
	extreme := func(x, or float64) float32 {
		if rng.IntN(2) == 0 {
			x = or
		}
		return float32(x)
	}
	for _, blocks := range []int{1, 2, 3, 4, 8} {
		for _, rows := range []int{1, 2, 3, 6, 13, 24} {
			for _, positions := range []int{1, 2, 9, 64, 127, 128} {
				w := &weighing{
					answers: adversarial(rng, rows*blocks*q8Len, false), weights: make([]float32, rows*cacheTile),
					by: adversarial(rng, rows, false), parts: adversarial(rng, rows, false), scales: make([]float32, blocks*cacheTile),
					factors: make([]float32, rows*blocks), units: adversarial(rng, rows*blocks, false), stride: rng.IntN(2) * blocks,
					values: make([]byte, roundUp(positions, keyGroup)*blocks*q8Len), blocks: blocks, positions: positions,
					ahead: make([]byte, 4096), codes: make([]int16, meetRows*blocks*cacheTile),
				}
				for i := range w.weights {
					if i%cacheTile < positions {
						w.weights[i] = extreme(rng.Float64(), 1)
					}
				}
				for i := range w.scales {
					w.scales[i] = extreme(2*rng.Float64()-1, -1)
				}
				for i := range w.factors {
					w.factors[i] = codeMost
				}
				for i := range w.values {
					w.values[i] = byte(int(extreme(float64(rng.IntN(256)-128), -127)))
				}
				want := *w
				want.answers = slices.Clone(w.answers)
				v.weigh(w)
				weighScalar(&want)
				sameBits(t, fmt.Sprintf("%d rows, %d blocks, %d positions", rows, blocks, positions), w.answers, want.answers)
			}
		}
	}
}

func TestGreatest(t *testing.T) {
	eachVectors(t, func(t *testing.T, v *Vectors) {
		rng := rand.New(rand.NewPCG(13, 14))
		halves := make([]byte, 2*cacheTile)
		if got := v.greatest(halves); got != 0 {
			t.Errorf("of zeros %#x", got)
		}
		for i := range cacheTile {
			fill(rng, halves)
			for j := range cacheTile {
				halves[2*j+1] &= 0xbf // below 2
			}
			half.Put(halves[2*i:], -3)
			if got, want := v.greatest(halves), half.FromFloat32(3); got != want {
				t.Errorf("with -3 at %d: %#x, want %#x", i, got, want)
			}
			fill(rng, halves)
			if got, want := v.greatest(halves), greatestScalar(halves); got != want {
				t.Errorf("%#x, want %#x", got, want)
			}
		}
	})
}

// Keys and values of q4_0 are unpacked as the specification does it.
func TestUnpackQ4(t *testing.T) {
	eachVectors(t, func(t *testing.T, v *Vectors) {
		rng := rand.New(rand.NewPCG(8, 9))
		for _, blocks := range []int{1, 2, 5} {
			keys := make([]byte, blocks*keyGroup*q4Bytes)
			fill(rng, keys)
			got, want := make([]byte, blocks*keyGroup*q8Bytes), make([]byte, blocks*keyGroup*q8Bytes)
			v.unpackQ4(got, keys, blocks)
			unpackQ4Scalar(want, keys, blocks)
			if !bytes.Equal(got, want) {
				t.Errorf("keys of %d blocks differ from the specification's", blocks)
			}
			for _, quads := range []int{2, 32} {
				values := make([]byte, quads*2*blocks*q8Len)
				fill(rng, values)
				got, want := make([]byte, 2*len(values)), make([]byte, 2*len(values))
				v.unpackPairs(got, values, blocks*q8Len)
				unpackPairsScalar(want, values, blocks*q8Len)
				if !bytes.Equal(got, want) {
					t.Errorf("values of %d positions of %d blocks differ from the specification's", 4*quads, blocks)
				}
			}
		}
	})
}

// Attention over values that q8_0 holds exactly is as near to that in float64 as
// weights of 15 bits let it be, also where one position has most of the weight and
// next to no value, as the first of a text has.
func TestInt8AttentionError(t *testing.T) {
	const heads, dim, positions = 2, 64, 300
	rng := rand.New(rand.NewPCG(15, 16))
	// codes fills blocks with numbers that are exact with a scale.
	codes := func(x []float32, scale float64) {
		for i := range x {
			x[i] = float32(scale * float64(rng.IntN(255)-127))
			if i%q8Len == 0 {
				x[i] = float32(scale * 127)
			}
		}
	}
	e := newTestEngine(t, Options{Threads: 1})
	s := newTestStream(t, e, engine.StreamOptions{
		States: []engine.State{engine.KV{Heads: 1, Dim: dim}}, Context: positions, Batch: 1, Cache: formats.Q8_0,
	})
	q, k, v, out := s.Buffer(heads*dim), s.Buffer(dim), s.Buffer(dim), s.Buffer(heads*dim)
	query := make([]float32, heads*dim)
	codes(query, 0x1p-6)
	var keys, values []float32
	var wrong, all float64
	for p := range positions {
		key, value := make([]float32, dim), make([]float32, dim)
		codes(key, 0x1p-7)
		codes(value, math.Ldexp(1, rng.IntN(4)-9))
		if p == 0 {
			copy(key, query)
			codes(value, 0x1p-14)
		}
		for b, x := range map[engine.Buffer][]float32{q: query, k: key, v: value} {
			s.Write(b, x)
		}
		keys, values = append(keys, key...), append(values, value...)
		s.Begin(1)
		s.Enter(0)
		s.Attend("attn", out, q, k, v)
		want := exactAttention(query, keys, values, dim, p+1)
		for i, x := range out.(*buffer).column(0) {
			wrong += (float64(x) - want[i]) * (float64(x) - want[i])
			all += want[i] * want[i]
		}
		s.End()
	}
	t.Logf("NMSE %.3g", wrong/all)
	if !(wrong/all < 1e-6) {
		t.Errorf("an NMSE of %.3g, want less than 1e-6", wrong/all)
	}
}
