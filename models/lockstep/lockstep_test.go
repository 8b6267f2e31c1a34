package lockstep_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/lockstep"
	"onebit/models/modeltest"
	"onebit/models/source"
	"onebit/models/synth"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// file is a tiny synthetic model; change may touch the raw bytes of a tensor.
func file(t *testing.T, preset string, change func(raw func(tensor string) []byte)) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	if err := synth.Write(&b, must(arch.LookupPreset(preset)), 1); err != nil {
		t.Fatal(err)
	}
	f := must(gguf.Parse(b.Bytes(), preset+".gguf", gguf.Options{}))
	if change != nil {
		change(func(tensor string) []byte { return must(f.Raw(tensor)) })
	}
	return f
}

func open(t *testing.T, f *gguf.File, opt models.Options) *models.Model {
	t.Helper()
	m, err := models.Load(t.Context(), source.FromGGUF(f), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func reference(t *testing.T, f *gguf.File) *models.Model {
	t.Helper()
	return open(t, f, must(lockstep.Reference(nil)))
}

// text is n tokens that differ.
func text(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = (i*i*7 + 3*i + 1) % 512
	}
	return ids
}

func run(t *testing.T, reference, test *models.Model, ids []int, opt lockstep.Options) *lockstep.Result {
	t.Helper()
	r, err := lockstep.Run(t.Context(), reference, test, ids, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var presets = []string{"tiny", "tiny-bitnet"}

// The reference against itself: no error at all, in every place, in order.
func TestReferenceAgainstItself(t *testing.T) {
	for _, preset := range presets {
		m := reference(t, file(t, preset, nil))
		r := run(t, m, reference(t, file(t, preset, nil)), text(10), lockstep.Options{Cache: formats.F32})
		i := 0
		for _, input := range []lockstep.Input{lockstep.Isolated, lockstep.Accumulated} {
			check := func(block int, name string) {
				want := lockstep.Tensor{Input: input, Block: block, Name: name, Errors: lockstep.Errors{Cosine: 1}}
				if i >= len(r.Tensors) || r.Tensors[i] != want {
					t.Fatalf("%s: tensor %d of %+v, want %+v", preset, i, r.Tensors, want)
				}
				i++
			}
			for block := range m.Config.Layers {
				for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "block"} {
					check(block, name)
				}
			}
			check(engine.Outside, "output")
		}
		if i != len(r.Tensors) {
			t.Errorf("%s: %d tensors, want %d", preset, len(r.Tensors), i)
		}
		e := r.Estimate
		if r.Tokens != 9 || e.Tokens != 9 || e.KLDQuantiles(1)[0] != 0 || e.KLD.Value() != 0 || e.NLLDiff.Value() != 0 ||
			e.SameTop.Value() != 1 || e.Top5.Value() != 1 {
			t.Errorf("%s: %+v", preset, e)
		}
	}
}

// A sign turned in one matrix shows up there, in its block, and in the stream
// from there on.
func TestDamageIsLocated(t *testing.T) {
	damaged := reference(t, file(t, "tiny", func(raw func(string) []byte) { raw("blk.1.ffn_up.weight")[2] ^= 1 }))
	r := run(t, reference(t, file(t, "tiny", nil)), damaged, text(10), lockstep.Options{Cache: formats.F32})
	for _, e := range r.Tensors {
		at := e.Block == 1 && (e.Name == "ffn_up" || e.Name == "block")
		if e.Input == lockstep.Accumulated {
			at = at || e.Block == 1 && e.Name == "ffn_down" || e.Block > 1 || e.Block == engine.Outside
		}
		if wrong := e.NMSE > 0; wrong != at || wrong != (e.MaxAbs > 0) || wrong != (e.Cosine < 1) {
			t.Errorf("%+v, want an error: %v", e, at)
		}
	}
	if _, ok := r.Find(lockstep.Isolated, 1, "ffn_up"); !ok {
		t.Error("no errors of the damaged matrix")
	}
	if _, ok := r.Find(lockstep.Isolated, 99, "ffn_up"); ok {
		t.Error("errors of a block that is not there")
	}
}

// Neither threads nor batches change anything.
func TestInvariance(t *testing.T) {
	var want *lockstep.Result
	for _, c := range []struct{ threads, batch int }{{1, 0}, {2, 1}, {3, 4}, {2, 64}} {
		opt := must(lockstep.Reference(nil))
		on := opt.Engine.(cpu.Options)
		on.Threads = c.threads
		opt.Engine = on
		ref := open(t, file(t, "tiny-bitnet", nil), opt)
		test := open(t, file(t, "tiny-bitnet", nil), models.Options{Engine: cpu.Options{Threads: c.threads}})
		r := run(t, ref, test, text(20), lockstep.Options{Batch: c.batch})
		if want == nil {
			want = r
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%d threads, batches of %d: %+v, want %+v", c.threads, c.batch, r, want)
		}
	}
}

// values are a session's results by tensor, token after token.
type values map[string][]float32

func (v values) Observe(op engine.Op) {
	for _, r := range op.Results {
		v[r.Name] = slices.Clone(r.Values)
	}
}

// direct is Σ(y-r)²/Σr².
func direct(y []float32, r []float64) float64 {
	var diff, signal float64
	for i, v := range r {
		diff += (float64(y[i]) - v) * (float64(y[i]) - v)
		signal += v * v
	}
	return diff / signal
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*want) {
		t.Errorf("%s: NMSE %v, want %v", what, got, want)
	}
}

// An isolated projection: the test's kernel on what enters the projection in
// the reference, against the float64 product.
func TestIsolatedProjection(t *testing.T) {
	f := file(t, "tiny", nil)
	ref, test := reference(t, file(t, "tiny", nil)), open(t, file(t, "tiny", nil), models.Options{})
	ids := text(7)
	r := run(t, ref, test, ids, lockstep.Options{})

	seen := values{}
	s := must(ref.NewSession(models.SessionOptions{Cache: formats.F32, Observer: seen}))
	defer s.Close()
	must(s.Prefill(t.Context(), ids[:6]))
	// The last block's: what Observe saw last under these names.
	last := ref.Config.Layers - 1
	for _, c := range []struct{ input, name string }{{"ffn_norm", "ffn_gate"}, {"ffn_act", "ffn_down"}, {"attn", "attn_output"}} {
		x := seen[c.input]
		tensor := must(f.Tensor("blk." + string(rune('0'+last)) + "." + c.name + ".weight"))
		rows, cols := tensor.Dims()
		v := must(kernels.Best(tensor.Type.Name))
		m := must(v.Pack(&tensor, nil))
		y, exact := make([]float32, 6*rows), make([]float64, 6*rows)
		cpu.PoolOf(test.Engine()).MatMul(y, v, m, x, 6)
		for i := range 6 {
			if err := kernels.Reference(exact[i*rows:][:rows], &tensor, x[i*cols:][:cols], 0, rows); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := r.Find(lockstep.Isolated, last, c.name)
		near(t, c.name, got.NMSE, direct(y, exact), 1e-6)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Accumulated logits against the float64 oracle, which shares no code with the
// reference engine.
func TestLogitsAgainstOracle(t *testing.T) {
	for _, preset := range presets {
		f := file(t, preset, nil)
		test := open(t, file(t, preset, nil), models.Options{})
		ids := text(20)
		r := run(t, reference(t, file(t, preset, nil)), test, ids, lockstep.Options{Batch: 6})
		var oracle []float64
		for _, logits := range must(modeltest.Load(f)).Logits(ids[:19]) {
			oracle = append(oracle, logits...)
		}
		s := must(test.NewSession(models.SessionOptions{}))
		defer s.Close()
		var got []float32
		for logits, err := range s.Logits(ids[:19]) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, logits...)
		}
		e, _ := r.Find(lockstep.Accumulated, engine.Outside, lockstep.Logits)
		near(t, preset, e.NMSE, direct(got, oracle), 1e-3)
		if kld := r.Estimate.KLD.Value(); !(kld > 0 && kld < 0.01) {
			t.Errorf("%s: divergence %v", preset, kld)
		}
		isolated, _ := r.Find(lockstep.Isolated, engine.Outside, lockstep.Logits)
		if !(isolated.NMSE < e.NMSE) {
			t.Errorf("%s: NMSE %v of the head alone, %v of the whole", preset, isolated.NMSE, e.NMSE)
		}
	}
}

// Isolated, a block's error does not grow with the depth as the accumulated
// one does, and one that only the cache makes is its own.
func TestIsolatedBlocks(t *testing.T) {
	ref, test := reference(t, file(t, "tiny", nil)), reference(t, file(t, "tiny", nil))
	r := run(t, ref, test, text(20), lockstep.Options{Cache: formats.F16, Batch: 5})
	for block := range ref.Config.Layers {
		for _, name := range []string{"attn_q", "ffn_down"} {
			if e, _ := r.Find(lockstep.Isolated, block, name); e.NMSE != 0 {
				t.Errorf("block %d: NMSE %v of %s, want 0 from a cache in f16", block, e.NMSE, name)
			}
		}
		alone, _ := r.Find(lockstep.Isolated, block, lockstep.BlockOutput)
		whole, _ := r.Find(lockstep.Accumulated, block, lockstep.BlockOutput)
		if !(alone.NMSE > 0 && alone.NMSE < 1e-6) || block == 0 && alone != whole || block > 0 && !(whole.NMSE > alone.NMSE) {
			t.Errorf("block %d: %+v alone, %+v in the stack", block, alone, whole)
		}
	}
}

func TestRefuse(t *testing.T) {
	tiny, bitnet := reference(t, file(t, "tiny", nil)), reference(t, file(t, "tiny-bitnet", nil))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		test *models.Model
		ids  []int
		opt  lockstep.Options
		want string
	}{
		{"another model", t.Context(), bitnet, text(4), lockstep.Options{}, "differ in architecture or size"},
		{"one token", t.Context(), tiny, text(1), lockstep.Options{}, "1 tokens given, at least 2"},
		{"negative batch", t.Context(), tiny, text(4), lockstep.Options{Batch: -1}, "a batch of -1 tokens"},
		{"unknown token", t.Context(), tiny, []int{1, 512, 3}, lockstep.Options{}, "token 512 is not in the model's vocabulary"},
		{"unknown target", t.Context(), tiny, []int{1, 2, 512}, lockstep.Options{}, "token 512 is not in the model's vocabulary"},
		{"long text", t.Context(), tiny, text(600), lockstep.Options{}, "a context of 599 tokens"},
		{"cancelled", cancelled, tiny, text(4), lockstep.Options{}, "context canceled"},
	} {
		_, err := lockstep.Run(c.ctx, tiny, c.test, c.ids, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if c.ctx == cancelled && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error is not context.Canceled", c.name)
		}
	}
}
