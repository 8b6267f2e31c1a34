package enginetest

import (
	"errors"
	"slices"
	"testing"

	"onebit/models/engine"
)

// batches says that a column's result does not depend on those beside it.
func (s Subject) batches(t *testing.T) {
	for _, name := range []string{"q", "attn", "delta", "product", "window", "experts"} {
		t.Run(name, func(t *testing.T) {
			together, alone := s.fixture(t), s.fixture(t)
			const n = 21
			all := step(t, together, name, 0, n)
			var each []float32
			for from := 0; from < n; {
				end := min(from+1+from%4, n)
				each = append(each, step(t, alone, name, from, end)...)
				from = end
			}
			if i := firstDifference(all, each); i >= 0 {
				t.Errorf("value %d of %d is %v in one batch, %v in several", i, len(all), all[i], each[i])
			}
		})
	}
}

// step takes tokens [from, end) of a text through something that looks back, or
// multiplies.
func step(t *testing.T, r *fixture, what string, from, end int) []float32 {
	t.Helper()
	n := end - from
	column := func(name string, width int, seed uint64, spread float64) engine.Buffer {
		b := r.buffer(name, width)
		r.Write(b, random(positions*width, seed, spread)[from*width:end*width])
		return b
	}
	r.Begin(n)
	out := r.buffer("out of "+what, inner)
	switch what {
	case "q":
		r.Enter(0)
		out = column("q", heads*headDim, 1, 1)
		r.Rotate("op", out, column("k", kvHeads*headDim, 2, 1))
	case "attn":
		r.Enter(0)
		out = r.buffer("attended", heads*headDim)
		r.Attend("op", out, column("q", heads*headDim, 1, 1), column("k", kvHeads*headDim, 2, 1), column("v", kvHeads*headDim, 3, 1))
	case "window":
		r.Enter(4)
		out = r.buffer("attended", heads*headDim)
		r.Attend("op", out, column("q", heads*headDim, 1, 1), column("k", kvHeads*headDim, 2, 1), column("v", kvHeads*headDim, 3, 1))
	case "experts":
		chosen, product := r.buffer("chosen", 2*expertsUsed), r.buffer("experts' product", expertsUsed*expertRows)
		r.Route("op", chosen, column("logits", expertCount, 11, 1), engine.Routing{Used: expertsUsed, Normalized: true})
		r.MultiplyExperts("op", column("x", hidden, 10, 1), chosen, []engine.Product{{Weight: r.weights["experts"], Dst: product}})
		out = r.buffer("combined", expertRows)
		r.Combine("op", out, product, chosen)
	case "delta":
		r.Enter(1)
		x := column("channels", channels, 4, 1)
		r.Convolve("op", x, r.weights["taps"])
		out = r.buffer("recalled", valHead*valueDim)
		r.DeltaRule("op", out, column("dq", keyHeads*keyDim, 5, 0.2), column("dk", keyHeads*keyDim, 6, 0.2),
			column("dv", valHead*valueDim, 7, 1), column("decay", valHead, 8, 0.3), column("beta", valHead, 9, 0.5))
	case "product":
		r.Multiply("op", column("x", hidden, 10, 1), []engine.Product{{Weight: r.weights["one bit"], Dst: out}})
	}
	r.Enter(engine.Outside)
	r.End()
	return r.read(t, out)
}

func firstDifference(a, b []float32) int {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// goingBack forgets tokens and takes others in, which get what they would have
// got first; a state without positions refuses, and begins anew.
func (s Subject) goingBack(t *testing.T) {
	r := s.fixture(t)
	want := step(t, r, "attn", 0, 9)
	if got := r.Position(); got != 9 {
		t.Fatalf("position %d after 9 tokens", got)
	}
	if r.StateBytes(9) <= r.StateBytes(1) {
		t.Errorf("%d bytes of state after 9 tokens, %d after one", r.StateBytes(9), r.StateBytes(1))
	}
	for _, n := range []int{-1, 10} {
		if err := r.Truncate(n); err == nil || errors.Is(err, engine.ErrNoRollback) {
			t.Errorf("back to %d of 9 tokens: error %v", n, err)
		}
	}
	if err := r.Truncate(9); err != nil {
		t.Errorf("staying where it is: %v", err)
	}
	if err := r.Truncate(4); !errors.Is(err, engine.ErrNoRollback) {
		t.Errorf("back to the middle of a text that a block keeps a matrix of: error %v, want one that wraps %v", err, engine.ErrNoRollback)
	}
	mustBe(t, nil, r.Mark())
	first := step(t, r, "delta", 9, 10)
	for range 2 { // a mark is good for more than once
		step(t, r, "delta", 10, 14)
		if err := r.Truncate(9); err != nil || r.Position() != 9 {
			t.Fatalf("back to the mark: error %v, position %d", err, r.Position())
		}
		if i := firstDifference(step(t, r, "delta", 9, 10), first); i >= 0 {
			t.Errorf("value %d of the delta rule differs behind the mark", i)
		}
	}
	if err := r.Truncate(0); err != nil || r.Position() != 0 {
		t.Fatalf("back to the start: error %v, position %d", err, r.Position())
	}
	if i := firstDifference(step(t, r, "attn", 0, 9), want); i >= 0 {
		t.Errorf("value %d differs when a text begins anew", i)
	}
	if i := firstDifference(step(t, r, "delta", 9, 10), first); i >= 0 {
		t.Errorf("value %d of the delta rule differs when a text begins anew", i)
	}
}

// A watcher keeps what it sees, and may change it.
type watcher struct {
	ops    []engine.Op
	change float32
}

func (w *watcher) Observe(op engine.Op) {
	for i, r := range op.Results {
		r.Values[0] += w.change
		op.Results[i].Values = slices.Clone(r.Values)
	}
	op.Results = slices.Clone(op.Results)
	w.ops = append(w.ops, op)
}

// observers see every operation with its place and results, and what they write
// to them is gone on with.
func (s Subject) observers(t *testing.T) {
	r := s.fixture(t)
	w := &watcher{change: 1}
	r.Observe(w)
	r.Begin(2)
	r.Enter(0)
	a, b := r.buffer("a", inner), r.buffer("b", inner)
	r.Multiply("siblings", r.input("x", hidden, 2, 1, 1), []engine.Product{{Weight: r.weights["one bit"], Dst: a}, {Weight: r.weights["half"], Dst: b}})
	r.Enter(engine.Outside)
	r.Add("sum", a, b)
	r.Observe(nil)
	r.Add("unseen", a, b)
	if len(w.ops) != 2 {
		t.Fatalf("%d operations seen, want 2", len(w.ops))
	}
	multiply, add := w.ops[0], w.ops[1]
	if multiply.Name != "siblings" || multiply.Block != 0 || multiply.Tokens != 2 || len(multiply.Results) != 2 ||
		multiply.Results[0].Name != "one bit" || multiply.Results[1].Name != "half" || len(multiply.Results[1].Values) != 2*inner {
		t.Errorf("the products were seen as %q of block %d, %d tokens, %d results", multiply.Name, multiply.Block, multiply.Tokens, len(multiply.Results))
	}
	if add.Name != "sum" || add.Block != engine.Outside || add.Start.Before(multiply.Start) {
		t.Errorf("the sum was seen as %q of block %d", add.Name, add.Block)
	}
	if got, want := add.Results[0].Values[0], multiply.Results[0].Values[0]+multiply.Results[1].Values[0]+1; got != want {
		t.Errorf("the sum of what an observer wrote is %v, want %v", got, want)
	}
}
