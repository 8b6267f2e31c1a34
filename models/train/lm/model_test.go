package lm

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	_ "onebit/models/engine/cpu"
	"onebit/models/modeltest"
	"onebit/models/source"
	"onebit/models/train"
)

// tiny is a shape with all that an architecture has: grouped queries, more than one
// block and more than one tile of attention would be too much for finite differences,
// which a test of their own covers.
func tiny(t testing.TB, architecture string, form, embedding *train.Form, hidden, length int) Shape {
	t.Helper()
	a, err := arch.Lookup(architecture)
	if err != nil {
		t.Fatal(err)
	}
	return Shape{
		Table: a, Form: form, Embedding: embedding, Length: length,
		Config: arch.Config{
			Arch: architecture, Layers: 2, Hidden: hidden, FFN: 3 * hidden / 2, Heads: 4, KVHeads: 2, HeadDim: hidden / 4,
			Vocab: 48, Context: 2 * length, RopeBase: 1e4, Eps: 1e-5, TiedHead: true,
		},
	}
}

func newModel(t testing.TB, s Shape, threads int) *Model {
	t.Helper()
	require.Procs(t, threads)
	pool := kernels.NewPool(threads)
	t.Cleanup(pool.Close)
	m, err := NewModel(s, pool, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Gains other than 1, or their products would hide mistakes.
	rng := rand.New(rand.NewPCG(5, 6))
	for _, p := range m.Params() {
		if len(p.Shape) == 1 {
			for i := range p.W {
				p.W[i] = float32(0.7 + 0.6*rng.Float64())
			}
		}
	}
	return m
}

func randomTokens(n, vocab int) []int32 {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(rng.IntN(vocab))
	}
	return out
}

// export returns the model as a parsed file.
func export(t testing.TB, m *Model) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	if err := m.Export(&b, "test", "a test", nil); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), "test.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// oracleLoss is the mean loss in float64, by the definition in package modeltest, of
// the weights as they are exported.
func oracleLoss(t testing.TB, m *Model, ids, targets []int32) float64 {
	t.Helper()
	oracle, err := modeltest.Load(export(t, m))
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for w := 0; w < len(ids); w += m.shape.Length {
		var window []int
		for _, id := range ids[w : w+m.shape.Length] {
			window = append(window, int(id))
		}
		for i, z := range oracle.Logits(window) {
			top := slices.Max(z)
			total := 0.0
			for _, x := range z {
				total += math.Exp(x - top)
			}
			sum += top + math.Log(total) - z[targets[w+i]]
		}
	}
	return sum / float64(len(ids))
}

// The gradients of every parameter are those of the loss in float64, by finite
// differences, in both architectures. Weights are not rounded, so that the
// loss has slopes; what rounding adds is tested in package train.
func TestGradients(t *testing.T) {
	for _, name := range []string{"bitnet-b1.58", "bitnet", "qwen3"} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, tiny(t, name, train.Float, train.Float, 16, 12), 2)
			ids, targets := randomTokens(24, 48), randomTokens(25, 48)[1:]
			loss := m.Pass(ids, targets)
			if want := oracleLoss(t, m, ids, targets); math.Abs(loss-want) > 1e-5 {
				t.Fatalf("loss %v, want %v", loss, want)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for _, p := range m.Params() {
				checkGradient(t, m, p, rng, func() float64 { return oracleLoss(t, m, ids, targets) })
			}
		})
	}
}

// checkGradient compares the slope along a random direction.
func checkGradient(t *testing.T, m *Model, p *train.Param, rng *rand.Rand, loss func() float64) {
	t.Helper()
	const step = 2e-4
	w := slices.Clone(p.W)
	direction := make([]float64, len(w))
	var want, norm float64
	for i := range w {
		direction[i] = rng.NormFloat64()
	}
	shift := func(sign float64) (moved []float64, at float64) {
		for i := range w {
			p.W[i] = w[i] + float32(sign*step*direction[i])
			moved = append(moved, float64(p.W[i])-float64(w[i])) // as far as float32 lets it
		}
		return moved, loss()
	}
	up, above := shift(1)
	down, below := shift(-1)
	copy(p.W, w)
	for i := range w {
		want += float64(p.Grad[i]) * (up[i] - down[i])
		norm += float64(p.Grad[i]) * float64(p.Grad[i]) * (up[i] - down[i]) * (up[i] - down[i])
	}
	// The third derivative and rounding are below 1e-3 of the terms' size.
	if got := above - below; math.Abs(got-want) > 1e-3*math.Sqrt(norm)+1e-9 {
		t.Errorf("%s: the loss changes by %.6g, its gradient says %.6g (terms of %.2g)", p.Name, got, want, math.Sqrt(norm))
	}
}

// Attention over several tiles, whose last is not whole, equals that over one window
// in the oracle.
func TestLongWindow(t *testing.T) {
	s := tiny(t, "qwen3", train.Float, train.Float, 16, 2*attentionTile+44)
	m := newModel(t, s, 2)
	ids := randomTokens(2*s.Length, 48)
	targets := append(slices.Clone(ids[1:]), 0)
	loss := m.Pass(ids, targets)
	if want := oracleLoss(t, m, ids, targets); math.Abs(loss-want) > 1e-5 {
		t.Errorf("loss %v, want %v", loss, want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range m.Params() {
		if strings.HasPrefix(p.Name, "blk.0.attn") {
			checkGradient(t, m, p, rng, func() float64 { return oracleLoss(t, m, ids, targets) })
		}
	}
}

// Loss and gradients are the same bits for any number of threads.
func TestThreads(t *testing.T) {
	for _, name := range []string{"bitnet-b1.58", "qwen3"} {
		s := tiny(t, name, train.Float, train.Float, 32, 200)
		ids := randomTokens(3*s.Length, 48)
		var first *Model
		var loss float64
		for _, threads := range []int{1, 2, 3, 5} {
			m := newModel(t, s, threads)
			got := m.Pass(ids, ids)
			if first == nil {
				first, loss = m, got
				continue
			}
			if got != loss {
				t.Errorf("%s: loss %v with %d threads, %v with one", name, got, threads, loss)
			}
			for i, p := range m.Params() {
				if !slices.Equal(p.Grad, first.Params()[i].Grad) {
					t.Errorf("%s: %s: another gradient with %d threads", name, p.Name, threads)
				}
			}
		}
	}
}

// formsOf are what models are exported as.
var formsOf = []struct {
	architecture    string
	form, embedding *train.Form
}{
	{"bitnet-b1.58", train.B158, train.EightBit},
	{"qwen3", train.OneBit, train.OneBit},
	{"qwen3", train.OneBit, train.EightBit},
	{"qwen3", train.Float, train.Float},
}

// A model in a file predicts what it predicted in training, on the engine that runs
// models: with its kernels, its activations in int8, its cache.
func TestEngineAgrees(t *testing.T) {
	for _, f := range formsOf {
		t.Run(f.architecture+"/"+f.form.Name+"/"+f.embedding.Name, func(t *testing.T) {
			s := tiny(t, f.architecture, f.form, f.embedding, 256, 64)
			m := newModel(t, s, 2)
			scale(m.tied.head.Weight.W, 0.2) // logits as small as a trained model's
			ids := randomTokens(s.Length, 48)
			want := m.Logits(ids)
			got := engineLogits(t, export(t, m), ids)
			var difference, size float64
			for i := range want {
				difference += float64(got[i]-want[i]) * float64(got[i]-want[i])
				size += float64(want[i]) * float64(want[i])
			}
			// Where float32 sums of another order round an activation to the next int8,
			// that is 1/127 of one number.
			if nmse := difference / size; nmse > 1e-4 {
				t.Errorf("logits differ by an NMSE of %.2g", nmse)
			}
			if a, b := meanNats(want, ids, 48), meanNats(got, ids, 48); math.Abs(a-b) > 1e-3 {
				t.Errorf("perplexity %v in training, %v on the engine", math.Exp(a), math.Exp(b))
			}
		})
	}
}

func engineLogits(t *testing.T, f *gguf.File, ids []int32) (out []float32) {
	t.Helper()
	model, err := models.Load(context.Background(), source.FromGGUF(f), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession(models.SessionOptions{Cache: formats.F32})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var tokens []int
	for _, id := range ids {
		tokens = append(tokens, int(id))
	}
	for logits, err := range session.Logits(tokens) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, logits...)
	}
	return out
}

func meanNats(logits []float32, ids []int32, vocab int) (sum float64) {
	n := len(ids) - 1
	for i := range n {
		sum += deviation.Predict(logits[i*vocab : (i+1)*vocab]).NLL(int(ids[i+1]))
	}
	return sum / float64(n)
}

// The file has the names, keys and types of the architecture's published ones, but
// for the embedding's.
func TestExportIsTheArchitectures(t *testing.T) {
	for _, f := range formsOf[:2] {
		m := newModel(t, tiny(t, f.architecture, f.form, f.embedding, 256, 64), 1)
		file := export(t, m)
		a, c, err := source.ConfigFromGGUF(file)
		if err != nil {
			t.Fatal(err)
		}
		if c != m.Config {
			t.Errorf("config %+v, want %+v", c, m.Config)
		}
		if bad := a.CheckInventory(c, file.Tensors()); len(bad) > 0 {
			t.Errorf("inventory: %v", bad)
		}
		for _, spec := range a.Tensors(c) {
			info, _ := file.Info(spec.Name)
			if info.Type != spec.Type && spec.Role != arch.Embedding {
				t.Errorf("%s: %s is %s, published files have %s", f.architecture, spec.Name, info.TypeName, spec.Type.Name)
			}
		}
		var keys []string
		for _, kv := range file.Metadata() {
			keys = append(keys, kv.Key)
		}
		for _, kv := range a.Metadata(c) {
			if !slices.ContainsFunc(file.Metadata(), func(own container.KV) bool { return own.Key == kv.Key }) {
				t.Errorf("%s: key %s is missing among %q", f.architecture, kv.Key, keys)
			}
		}
	}
}

func TestShapeErrors(t *testing.T) {
	for _, tt := range []struct {
		change func(*Shape)
		want   string
	}{
		{func(s *Shape) { s.Config.Heads = 3 }, "attention.head_count_kv: 2 key and value heads cannot be shared evenly by 3 heads"},
		{func(s *Shape) { s.Config.TiedHead = false }, "a head of its own is not trained"},
		{func(s *Shape) { s.Config.RopeScaling.Type = "linear"; s.Config.RopeScaling.Factor = 2 }, "a stretched RoPE (linear) is not trained"},
		{func(s *Shape) { s.Length = 4096 }, "windows of 4096 tokens are not between 2 and the context of 128"},
		{func(s *Shape) { s.Config.Hidden = 320 }, "tensor token_embd.weight: form 1bit needs a multiple of 128 inputs, not 320"},
		{func(s *Shape) { s.Config.FFN = 200 }, "tensor blk.0.ffn_down.weight: form 1bit needs a multiple of 128 inputs, not 200"},
	} {
		s := tiny(t, "qwen3", train.OneBit, train.OneBit, 256, 64)
		tt.change(&s)
		if _, err := NewModel(s, nil, 1); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}
