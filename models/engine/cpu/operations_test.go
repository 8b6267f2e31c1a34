package cpu

import (
	"math"
	"testing"

	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/engine"
)

func near(t *testing.T, name string, got []float32, want ...float64) {
	t.Helper()
	nearBy(t, name, 0, got, want...)
}

// nearBy is near, of results that are rounded besides, by no more than is given.
func nearBy(t *testing.T, name string, rounding float64, got []float32, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 2e-7*math.Max(1, math.Abs(w))+rounding {
			t.Errorf("%s: value %d is %v, want %v", name, i, got[i], w)
		}
	}
}

// (3, 4) has the mean square 12.5; ε = 3.5 makes that 16, whose root is 4.
func TestRMSNorm(t *testing.T) {
	x := []float32{3, 4, -4, 3}
	Scalar.norm(x, x, []float32{2, 10}, 3.5)
	near(t, "norm", x, 1.5, 10, -2, 7.5)
}

// Heads of four with θ = 10000: frequencies 1 and 1/100. At position 2 the
// pairs (x0, x2) and (x1, x3) turn by 2 and by 0.02 radians.
func TestRope(t *testing.T) {
	r := engine.Rope{Freq: []float64{1, 0.01}, Magnitude: 1}
	cos, sin := make([]float32, 2), make([]float32, 2)
	angles(r, cos, sin, 2)
	x := []float32{1, 0, 0, 1, 0, 2, 3, 0}
	Scalar.rotate(x, cos, sin, &engine.Rope{Head: 2 * len(cos)})
	c, s, c1, s1 := math.Cos(2), math.Sin(2), math.Cos(0.02), math.Sin(0.02)
	near(t, "rope", x, c, -s1, s, c1, -3*s, 2*c1, 3*c, 2*s1)
}

// Scores 0, ln 3 and ln 4 times 2, under a scale of ½, are 1 : 3 : 4.
func TestSoftmax(t *testing.T) {
	normalized := func(x []float32, scale float32) []float32 {
		state := softmax{top: float32(math.Inf(-1))}
		state.advance(Scalar, x, scale)
		for i := range x {
			x[i] /= float32(state.sum)
		}
		return x
	}
	near(t, "softmax", normalized([]float32{0, float32(2 * math.Log(3)), float32(2 * math.Log(4))}, 0.5), 0.125, 0.375, 0.5)
	near(t, "far apart", normalized([]float32{-200, 1000, -1000}, 1), 0, 1, 0)
	if x := normalized([]float32{1, float32(math.NaN())}, 1); x[0] == x[0] {
		t.Error("a score that is NaN left a number")
	}

	// The same in two parts, the larger score behind: sums so far are to shrink.
	state := softmax{top: float32(math.Inf(-1))}
	first, second := []float32{0, 2}, []float32{3}
	state.advance(Scalar, first, 1)
	by := state.advance(Scalar, second, 1)
	near(t, "of earlier parts", []float32{by, float32(state.sum), second[0]}, math.Exp(-1), 1+math.Exp(-1)+math.Exp(-3), 1)
}

// Tasks that store keys and values take each column once, and two tasks never write
// to positions that share bytes.
func TestStoreTasks(t *testing.T) {
	for position := range 2 * storeTogether {
		for n := 1; n <= 3*storeTogether; n++ {
			next, last := 0, -1
			for i := range storeTasks(position, n) {
				from, to := storedBy(i, position, n)
				shared := (position + from) / storeTogether
				if from != next || to <= from || shared == last || (position+to-1)/storeTogether != shared {
					t.Errorf("of %d columns at position %d task %d stores [%d, %d)", n, position, i, from, to)
				}
				next, last = to, shared
			}
			if next != n {
				t.Errorf("of %d columns at position %d those from %d on are not stored", n, position, next)
			}
		}
	}
}

// Of a head that 4 bits cannot hold nothing is left that looks like numbers, and
// other positions are not touched.
func TestBadQ4(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), 3e38} {
		data := make([]byte, 3*q4Bytes)
		src := make([]float32, 2*q8Len)
		src[40] = bad
		encodeQ4(nil, data, src, nil)
		got := make([]float32, 3*q8Len)
		if err := formats.Q4_0.Matrix(data, 1, len(got)).Dequantize(got); err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if finite := x == x; finite != (i >= len(src)) {
				t.Fatalf("%v: number %d is %v", bad, i, x)
			}
		}
	}
}

func TestGates(t *testing.T) {
	gate := []float32{0, 2, -3, -200}
	Scalar.gate(gate, []float32{5, 10, 1, 1}, arch.SiLU)
	near(t, "silu", gate, 0, 20/(1+math.Exp(-2)), -3/(1+math.Exp(3)), 0)
	gate = []float32{0, 2, -3, 300}
	Scalar.gate(gate, []float32{5, 10, 1, 2}, arch.ReLU2)
	near(t, "relu2", gate, 0, 40, 0, 180000)
}

// Two query heads share one key head. After keys (127, 0, …) and (0, 127, 0, …)
// the query (127/32, 0, …) scores ln 3, by the scale that is chosen, and 0, so it
// weighs the values 3 : 1; the query 0 weighs them alike. Every format and all vectors have these
// numbers.
func TestAttention(t *testing.T) {
	for _, v := range AllVectors() {
		if v.Available() != nil {
			continue
		}
		for _, format := range CacheFormats() {
			t.Run(v.Name+"/"+format.Name, func(t *testing.T) { testAttention(t, v, format) })
		}
	}
}

func testAttention(t *testing.T, v *Vectors, format *formats.Type) {
	const dim, ln3 = 32, 1.0986122886681098
	head := func(x, y float32) []float32 { return append([]float32{x, y}, make([]float32, dim-2)...) }
	e := newTestEngine(t, Options{Threads: 1, Kernels: Kernels{Vectors: v}})
	kv := engine.KV{Heads: 1, Dim: dim}
	s := newTestStream(t, e, engine.StreamOptions{States: []engine.State{kv, kv}, Context: 300, Batch: 1, Cache: format})
	s.q, s.dst = &buffer{width: 2 * dim}, &buffer{width: 2 * dim}
	s.q.resize(1)
	s.dst.resize(1)
	copy(s.q.data, append(head(127.0/32, 0), head(0, 0)...)) // which int8 and fp16 hold
	s.Enter(1)
	a := s.newAttention()
	put := func(block, position int, key, value []float32) { s.cache.put(block, position, key, value, &a.writer) }
	answer := func(position, heads int) []float32 {
		s.position = position
		for h := 0; h < 2; h += heads {
			a.answer(s, h, heads, 0, 1)
		}
		out := s.dst.data
		return []float32{out[0], out[1], out[dim], out[dim+1]}
	}
	put(1, 0, head(127, 0), head(127*8, 127*8)) // which q4_0 holds too
	put(1, 1, head(0, 127), head(0, -127*4))
	put(0, 1, head(9, 9), head(9, 9)) // another block's
	put(1, 2, head(9, 9), head(9, 9)) // a later position's
	s.scoreScale *= float32(math.Sqrt(dim) * ln3 / (127.0 / 32) / 127)
	rounding := 0.0
	switch {
	case s.cache.int8:
		rounding = 127 * 8 / 2.0 / codeMost // half a unit of the largest value
	case s.cache.halves:
		rounding = 127 * 8 * 4e-6 // as math32.Exp2
	}
	for heads := 1; heads <= 2; heads++ {
		nearBy(t, "two positions", rounding, answer(1, heads), 762, 635, 508, 254)
	}

	// Across tiles: 256 positions weigh alike, one value stands out.
	for p := range 256 {
		put(1, p, head(0, 0), head(127, 0))
	}
	put(1, 130, head(0, 0), head(127*128, 127*128))
	nearBy(t, "across tiles", rounding, answer(255, 2), 127*383/256.0, 63.5, 127*383/256.0, 63.5)
}
