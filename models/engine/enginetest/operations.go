package enginetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/models/arch"
	"onebit/models/engine"
)

// An operation is a run of one, on a batch of n columns at the stream's
// position, and the buffer with its result.
type operation struct {
	name  string
	bound float64
	block int
	run   func(r *fixture, n int) engine.Buffer
}

// list returns every operation. Inputs are seeded by position, so that columns
// differ from batch to batch.
func (s Subject) list() []operation {
	seed := func(r *fixture, k uint64) uint64 { return 100*uint64(r.Position()) + k }
	out := []operation{
		{"Embed", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("embedded", hidden)
			r.Embed("op", b, r.weights["table"], ids(n, seed(r, 0)))
			return b
		}},
		{"Norm", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("normed", hidden)
			r.Norm("op", b, r.input("x", hidden, n, seed(r, 1), 3), r.weights["gain"], 1e-5)
			return b
		}},
		{"Norm in place, of runs", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.input("runs", 2*hidden, n, seed(r, 2), 1e-3)
			r.Norm("op", b, b, r.weights["gain"], 1e-6)
			return b
		}},
		{"Rotate queries", s.Floats, 0, func(r *fixture, n int) engine.Buffer {
			q, k := r.input("q", heads*headDim, n, seed(r, 3), 1), r.input("k", kvHeads*headDim, n, seed(r, 4), 1)
			r.Rotate("op", q, k)
			return q
		}},
		{"Rotate keys", s.Floats, 0, func(r *fixture, n int) engine.Buffer {
			q, k := r.input("q", heads*headDim, n, seed(r, 3), 1), r.input("k", kvHeads*headDim, n, seed(r, 4), 1)
			r.Rotate("op", q, k)
			return k
		}},
		{"Attend", s.Attention, 2, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("attended", heads*headDim)
			r.Attend("op", b, r.input("q", heads*headDim, n, seed(r, 6), 1), r.input("k", kvHeads*headDim, n, seed(r, 7), 1),
				r.input("v", kvHeads*headDim, n, seed(r, 8), 1))
			return b
		}},
		{"Convolve", s.Floats, 1, func(r *fixture, n int) engine.Buffer {
			b := r.input("channels", channels, n, seed(r, 9), 1)
			r.Convolve("op", b, r.weights["taps"])
			return b
		}},
		{"DeltaRule", s.Floats, 1, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("recalled", valHead*valueDim)
			r.DeltaRule("op", b, r.input("dq", keyHeads*keyDim, n, seed(r, 10), 0.2), r.input("dk", keyHeads*keyDim, n, seed(r, 11), 0.2),
				r.input("dv", valHead*valueDim, n, seed(r, 12), 1), r.input("decay", valHead, n, seed(r, 13), 0.3), r.input("beta", valHead, n, seed(r, 14), 0.5))
			return b
		}},
		{"DeltaRule of tiled heads", s.Floats, 3, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("recalled", valHead*valueDim)
			r.DeltaRule("op", b, r.input("dq", keyHeads*keyDim, n, seed(r, 10), 0.2), r.input("dk", keyHeads*keyDim, n, seed(r, 11), 0.2),
				r.input("dv", valHead*valueDim, n, seed(r, 12), 1), r.input("decay", valHead, n, seed(r, 13), 0.3), r.input("beta", valHead, n, seed(r, 14), 0.5))
			return b
		}},
		{"DeltaGates decay", s.Floats, 1, func(r *fixture, n int) engine.Buffer {
			b := r.input("raw decay", hidden, n, seed(r, 21), 9)
			r.DeltaGates("op", b, r.input("raw beta", hidden, n, seed(r, 22), 3), r.weights["rate"], r.weights["gain"])
			return b
		}},
		{"DeltaGates beta", s.Floats, 1, func(r *fixture, n int) engine.Buffer {
			b := r.input("raw beta", hidden, n, seed(r, 22), 3)
			r.DeltaGates("op", r.input("raw decay", hidden, n, seed(r, 21), 3), b, r.weights["rate"], r.weights["gain"])
			return b
		}},
		{"Normalize", s.Floats, 1, func(r *fixture, n int) engine.Buffer {
			b := r.input("x", hidden, n, seed(r, 23), 0.01)
			r.Normalize("op", b, 32, 1e-6, 0.3)
			return b
		}},
		{"Select", 0, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("selected", hidden/4)
			r.Select("op", b, r.input("x", hidden, n, seed(r, 24), 1), 32, 16, 64)
			return b
		}},
		{"Select the end", 0, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("selected end", 56)
			r.Select("op", b, r.input("x", hidden, n, seed(r, 24), 1), 200, 56, hidden)
			return b
		}},
		{"Hadamard", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("rotated", hidden)
			r.Hadamard("op", b, r.input("x", hidden, n, seed(r, 25), 1), rotation(hidden, 128))
			return b
		}},
		{"Hadamard of long blocks, back, in place", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.input("y", 2048, n, seed(r, 26), 1)
			back := *rotation(2048, 1024)
			back.Inverse, back.Rows, back.Run = true, 4, 16 // which the way back is without
			r.Hadamard("op", b, b, &back)
			return b
		}},
		{"Hadamard in another order", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("rotated", inner)
			to := *rotation(inner, 4)
			to.Rows, to.Run = 4, 64
			r.Hadamard("op", b, r.input("x", inner, n, seed(r, 27), 1), &to)
			return b
		}},
		{"Add", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.input("a", inner, n, seed(r, 15), 1)
			r.Add("op", b, r.input("b", inner, n, seed(r, 16), 1))
			return b
		}},
		{"Scale", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.input("a", inner, n, seed(r, 15), 1)
			r.Scale("op", b, -0.3)
			return b
		}},
		{"Take", s.Floats, engine.Outside, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("taken", hidden)
			r.Take(b, r.input("x", hidden, n, seed(r, 17), 1), n-1, n)
			return b
		}},
	}
	for _, f := range []arch.Activation{arch.SiLU, arch.ReLU2, arch.Sigmoid} {
		out = append(out, operation{"Gate " + string(f), s.Floats, 0, func(r *fixture, n int) engine.Buffer {
			b := r.input("gate", inner, n, seed(r, 18), 2)
			r.Gate("op", b, r.input("up", inner, n, seed(r, 19), 1), f)
			return b
		}})
	}
	for _, w := range []string{"one bit", "ternary", "half", "half in q8_0"} {
		out = append(out, operation{"Multiply " + w, s.Products, 0, func(r *fixture, n int) engine.Buffer {
			b, other := r.buffer("product", inner), r.buffer("sibling", inner)
			x := r.input("x", hidden, n, seed(r, 20), 1)
			r.Multiply("op", x, []engine.Product{{Weight: r.weights["ternary"], Dst: other}, {Weight: r.weights[w], Dst: b}})
			return b
		}})
	}
	return append(out, s.experts(seed)...)
}

// experts are the operations that experts and windows need.
func (s Subject) experts(seed func(r *fixture, k uint64) uint64) []operation {
	var out []operation
	for i, name := range []string{"Attend in a window", "Attend in a longer window"} {
		out = append(out, operation{name, s.Attention, 4 + i, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("attended", heads*headDim)
			r.Attend("op", b, r.input("q", heads*headDim, n, seed(r, 6), 1), r.input("k", kvHeads*headDim, n, seed(r, 7), 1),
				r.input("v", kvHeads*headDim, n, seed(r, 8), 1))
			return b
		}})
	}
	for _, by := range []struct {
		name string
		engine.Routing
	}{
		{"softmax", engine.Routing{Used: 3}}, {"softmax, normalized", engine.Routing{Used: 3, Normalized: true}},
		{"sigmoid, scaled", engine.Routing{Used: 2, Sigmoid: true, Scale: 2.5}},
		{"sigmoid, normalized", engine.Routing{Used: 4, Sigmoid: true, Normalized: true}}, {"all", engine.Routing{Used: expertCount, Scale: 0.5}},
	} {
		out = append(out, operation{"Route by " + by.name, s.Floats, 0, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("chosen of "+by.name, 2*by.Used)
			r.Route("op", b, r.input("logits", expertCount, n, seed(r, 41), 2), by.Routing)
			return b
		}})
	}
	return append(out,
		operation{"Clamp", 0, 0, func(r *fixture, n int) engine.Buffer {
			b := r.input("a", inner, n, seed(r, 15), 1)
			r.Clamp("op", b, -0.5, 0.25)
			return b
		}},
		operation{"Clamp from above", 0, 0, func(r *fixture, n int) engine.Buffer {
			b := r.input("a", inner, n, seed(r, 15), 1)
			r.Clamp("op", b, float32(math.Inf(-1)), 0.25)
			return b
		}},
		operation{"MultiplyExperts of one input", s.Products, 0, func(r *fixture, n int) engine.Buffer {
			b, other := r.buffer("experts' product", expertsUsed*expertRows), r.buffer("experts' sibling", expertsUsed*expertRows)
			r.MultiplyExperts("op", r.input("x", hidden, n, seed(r, 20), 1), r.chosen(n, seed(r, 42)),
				[]engine.Product{{Weight: r.weights["experts"], Dst: other}, {Weight: r.weights["experts"], Dst: b}})
			return b
		}},
		operation{"MultiplyExperts of an input each", s.Products, 0, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("experts' product", expertsUsed*expertRows)
			r.MultiplyExperts("op", r.input("experts' x", expertsUsed*hidden, n, seed(r, 43), 1), r.chosen(n, seed(r, 42)),
				[]engine.Product{{Weight: r.weights["experts"], Dst: b}})
			return b
		}},
		operation{"MultiplyExperts in fp16", s.Products, 0, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("experts' narrow product", expertsUsed*7)
			r.MultiplyExperts("op", r.input("narrow x", expertsUsed*40, n, seed(r, 43), 1), r.chosen(n, seed(r, 42)),
				[]engine.Product{{Weight: r.weights["narrow experts"], Dst: b}})
			return b
		}},
		operation{"Combine", s.Floats, 0, func(r *fixture, n int) engine.Buffer {
			b := r.buffer("combined", 100)
			r.Combine("op", b, r.input("experts' results", expertsUsed*100, n, seed(r, 44), 1), r.chosen(n, seed(r, 42)))
			return b
		}},
	)
}

// chosen is experts of n columns: different ones of a column, and some of several.
func (r *fixture) chosen(n int, seed uint64) engine.Buffer {
	b := r.buffer("chosen", 2*expertsUsed)
	values := random(n*2*expertsUsed, seed, 0.5)
	for c := range n {
		order := rand.New(rand.NewPCG(seed, uint64(c))).Perm(expertCount)
		for k := range expertsUsed {
			values[c*2*expertsUsed+k] = float32(order[k])
		}
	}
	r.Write(b, values)
	return b
}

// rotation has random signs.
func rotation(width, block int) *engine.Rotation {
	r := &engine.Rotation{Signs: random(width, 31, 1), Block: block}
	for i, x := range r.Signs {
		r.Signs[i] = float32(math.Copysign(1, float64(x)))
	}
	return r
}

// operations compares each with its definition, over batches of several sizes
// in a row.
func (s Subject) operations(t *testing.T) {
	for _, op := range require.Draw(t, 3, s.list()) {
		t.Run(op.name, func(t *testing.T) {
			fixtures := s.pair(t)
			for _, n := range require.Draw(t, 2, []int{1, 3, 17, 1}) {
				var got [2][]float32
				for i, r := range fixtures {
					got[i] = op.batch(t, r, n)
				}
				if e := deviation.Of(got[0], got[1]).NMSE(); !(e <= op.bound) {
					t.Errorf("batch of %d: an NMSE of %.3g, want at most %g", n, e, op.bound)
				}
			}
		})
	}
}

// batch runs the operation as a batch of its own.
func (op operation) batch(t *testing.T, r *fixture, n int) []float32 {
	t.Helper()
	r.Begin(n)
	r.Enter(op.block)
	out := op.run(r, n)
	r.Enter(engine.Outside)
	x := r.read(t, out)
	if len(x)%out.Width() != 0 || len(x) == 0 {
		t.Fatalf("%d values in columns of %d", len(x), out.Width())
	}
	r.End()
	return x
}
