package models_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/source"
)

// greedy generates n tokens after a prompt, and returns them with the logits
// of the last.
func greedy(t testing.TB, s *models.Session, prompt []int, n int) ([]int, []float32) {
	t.Helper()
	sampler := must(models.NewSampler(models.SamplerOptions{}))
	var out []int
	for id, err := range s.Generate(context.Background(), prompt, sampler) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, id); len(out) == n {
			break
		}
	}
	logits, err := s.Decode(out[n-1])
	if err != nil {
		t.Fatal(err)
	}
	return out, logits
}

// Tokens and logits are the same, to the bit, for any number of threads, any
// batch, any instruction set, packed or in place. The text crosses a tile of
// the cache while generating.
func TestResultsDoNotDependOnHow(t *testing.T) {
	require.Procs(t, 3)
	const generated = 4
	for _, preset := range []*arch.Preset{preset("tiny"), preset("tiny-bitnet")} {
		x := newFixture(t, preset)
		prompt := text(128-2, preset.Config.Vocab)
		path := x.path(t)
		var wantIDs []int
		var wantLogits []float32
		var cache *formats.Type
		check := func(name string, opt models.Options, batch int) {
			t.Run(preset.Name+"/"+name, func(t *testing.T) {
				m, err := models.Open(t.Context(), path, opt)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { m.Close() })
				s := session(t, m, models.SessionOptions{Batch: batch, Cache: cache})
				ids, logits := greedy(t, s, prompt, generated)
				if wantIDs == nil {
					wantIDs, wantLogits = ids, slices.Clone(logits)
				}
				if !slices.Equal(ids, wantIDs) {
					t.Errorf("tokens %v, want %v", ids, wantIDs)
				}
				if i := differ(logits, wantLogits); i >= 0 {
					t.Errorf("logit %d is %v, want %v", i, logits[i], wantLogits[i])
				}
			})
		}
		checkAll := func(ways []way) {
			wantIDs = nil
			check(ways[0].name, ways[0].opt, ways[0].batch) // what the others are compared with
			for _, w := range require.Draw(t, 3, ways[1:]) {
				check(w.name, w.opt, w.batch)
			}
		}
		ways := threadsAndBatches("", [][2]int{{1, 1}, {1, 64}, {2, 4}, {2, 256}, {3, 1}, {3, 64}})
		for _, name := range exactVariants() {
			ways = append(ways, way{"variant=" + name, models.Options{Engine: cpu.Options{Kernels: must(cpu.Prefer(name, "")), Threads: 2}}, 64})
		}
		checkAll(append(ways,
			way{"in place", models.Options{Engine: cpu.Options{Packing: cpu.PackNever}}, 64},
			way{"packing behind", models.Options{Engine: cpu.Options{Packing: cpu.PackBehind}}, 8},
			way{"streaming", models.Options{Engine: cpu.Options{Packing: cpu.Stream}}, 64}))

		for _, cache = range []*formats.Type{formats.Q8_0, formats.Q4_0} {
			ways := threadsAndBatches(cache.Name+" cache/", [][2]int{{1, 1}, {1, 64}, {2, 4}, {3, 256}})
			checkAll(append(ways, way{cache.Name + " cache/variant=scalar", models.Options{Engine: cpu.Options{Kernels: must(cpu.Prefer("scalar", ""))}}, 64}))
		}
	}
}

// A way is one to compute the same.
type way struct {
	name  string
	opt   models.Options
	batch int
}

func threadsAndBatches(prefix string, pairs [][2]int) (ways []way) {
	for _, p := range pairs {
		ways = append(ways, way{fmt.Sprintf("%sthreads=%d/batch=%d", prefix, p[0], p[1]), models.Options{Engine: cpu.Options{Threads: p[0]}}, p[1]})
	}
	return ways
}

// exactVariants names the variants of this machine, all of which give the same
// bits: the reference alone is float64.
func exactVariants() (names []string) {
	for _, v := range kernels.Variants() {
		// One that a model's format has in another scheme alone computes something else.
		usual := !slices.ContainsFunc([]*formats.Type{formats.Q1_0_g128, formats.I2_S}, func(t *formats.Type) bool {
			_, err := kernels.Lookup(t.Name, v.Name, kernels.FormatOf(t).Scheme)
			return err != nil && slices.ContainsFunc(kernels.Schemes(), func(s kernels.Scheme) bool {
				_, err := kernels.Lookup(t.Name, v.Name, s)
				return err == nil
			})
		})
		if usual && v.Available() == nil && v.Name != "reference" && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}

// differ returns where two slices of the same length differ, or -1.
func differ(a, b []float32) int {
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

// A token that is decoded, one in a batch, and one decoded again after others
// have been forgotten, get the same logits.
func TestSessionSteps(t *testing.T) {
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	ids := text(9, p.Config.Vocab)
	var want [][]float32
	one := session(t, m, models.SessionOptions{})
	for _, id := range ids {
		logits, err := one.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, slices.Clone(logits))
	}
	check := func(name string, i int, logits []float32, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if j := differ(logits, want[i]); j >= 0 {
			t.Errorf("%s: logit %d after token %d is %v, want %v", name, j, i, logits[j], want[i][j])
		}
	}

	all := session(t, m, models.SessionOptions{Batch: 4})
	i := 0
	for logits, err := range all.Logits(ids) {
		check("Logits", i, logits, err)
		i++
	}
	if i != len(ids) || all.Position() != len(ids) {
		t.Errorf("logits of %d tokens, position %d, want %d", i, all.Position(), len(ids))
	}

	if err := all.Truncate(5); err != nil {
		t.Fatal(err)
	}
	logits, err := all.Prefill(t.Context(), ids[5:])
	check("after Truncate", 8, logits, err)

	steps := session(t, m, models.SessionOptions{Batch: 2}) // and Start takes more
	if err := steps.Start(ids); err != nil {
		t.Fatal(err)
	}
	for n, b := range m.Blocks() {
		if b.Index != n {
			t.Errorf("block %d has index %d", n, b.Index)
		}
		steps.Forward(b)
	}
	logits, err = steps.Finish()
	check("in steps", 8, logits, err)
}

// What a forgotten token left in the cache does not reach later ones, not even
// if it was infinite.
func TestTruncateForgets(t *testing.T) {
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	s := session(t, m, models.SessionOptions{})
	ids := text(3, p.Config.Vocab)
	want := slices.Clone(must(s.Prefill(t.Context(), ids)))
	if err := errors.Join(s.Truncate(2), s.Start([]int{4, 5})); err != nil {
		t.Fatal(err)
	}
	hidden := make([]float32, 2*p.Config.Hidden)
	for i := range hidden {
		hidden[i] = float32(i%7) * 1e38 // its keys and values overflow
	}
	s.SetHidden(hidden)
	for _, b := range m.Blocks() {
		s.Forward(b)
	}
	s.Finish() // whatever comes of it
	if err := s.Truncate(2); err != nil {
		t.Fatal(err)
	}
	if i := differ(must(s.Prefill(t.Context(), ids[2:])), want); i >= 0 {
		t.Errorf("logit %d differs after a token with infinite values was forgotten", i)
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	for _, name := range []string{"tiny", "tiny-bitnet", "tiny-qwen35", "rotated"} {
		p := smallQwen35()
		if name != "rotated" {
			p = preset(name)
		}
		x := newFixture(t, p)
		if name == "rotated" {
			fold(t, x)
		}
		m := x.open(t, models.Options{Engine: cpu.Options{Threads: 2}})
		for _, cache := range []*formats.Type{formats.F16, formats.Q8_0, formats.Q4_0} {
			s := session(t, m, models.SessionOptions{Cache: cache})
			must(s.Prefill(t.Context(), text(3, p.Config.Vocab)))
			if n := testing.AllocsPerRun(20, func() { must(s.Decode(5)) }); n != 0 {
				t.Errorf("%s, cache in %s: %v allocations per token", name, cache.Name, n)
			}
		}
	}
}

// A head that is converted has the error of its format, and the logits follow
// it.
func TestHeadFormat(t *testing.T) {
	p := must(arch.LookupPreset("tiny-bitnet")) // whose rows fill blocks of 256
	x := newFixture(t, p)
	ids := text(20, p.Config.Vocab)
	plain := x.open(t, models.Options{})
	if plain.HeadError != 0 || plain.Head.Type != formats.F16 {
		t.Errorf("head in %s with an error of %g, want f16 and 0", plain.Head.Type.Name, plain.HeadError)
	}
	var want [][]float64
	for logits, err := range session(t, plain, models.SessionOptions{}).Logits(ids) {
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, len(logits))
		for i, v := range logits {
			row[i] = float64(v)
		}
		want = append(want, row)
	}
	for _, tt := range []struct {
		format    *formats.Type
		low, high float64 // of the error
	}{
		{formats.Q8_0, 1e-6, 1e-4},
		{formats.Q6_K, 2.8e-4, 3.2e-4},
		// Signs and mean magnitudes of Gaussian weights: 1 - 2/π = 0.363.
		{formats.Q1_0_g128, 0.34, 0.38},
	} {
		m := x.open(t, models.Options{Head: tt.format})
		if m.HeadError < tt.low || m.HeadError > tt.high {
			t.Errorf("%s: error of the head %g, want %g to %g", tt.format.Name, m.HeadError, tt.low, tt.high)
		}
		if m.Head.Type != tt.format {
			t.Errorf("%s: the head is in %s", tt.format.Name, m.Head.Type.Name)
		}
		got := nmse(t, session(t, m, models.SessionOptions{}), ids, want)
		if got < tt.low || got > 2*tt.high {
			t.Errorf("%s: NMSE of the logits %g, want %g to %g", tt.format.Name, got, tt.low, 2*tt.high)
		}
	}
	if _, err := models.Load(t.Context(), source.FromGGUF(x.file(t)), models.Options{Head: formats.I2_S}); err == nil {
		t.Error("a head in i2_s, whose scale is the tensor's, was accepted")
	}
	narrow := newFixture(t, preset("tiny-bitnet")).file(t)
	_, err := models.Load(t.Context(), source.FromGGUF(narrow), models.Options{Head: formats.Q6_K})
	const want128 = `tensor "token_embd.weight": cannot convert the head: q6_k: 128 columns do not fill blocks of 256; choose another format, such as q8_0`
	if err == nil || !strings.Contains(err.Error(), want128) {
		t.Errorf("a q6_k head of 128 columns: %v, want %q", err, want128)
	}
}

// A watcher counts the bytes and the operations that it sees.
type watcher struct {
	bytes   map[string]int
	macs    map[string]int
	names   []string
	results map[string]int
}

func (w *watcher) Observe(op engine.Op) {
	w.bytes[op.Name] += op.Bytes
	w.macs[op.Name] += op.MACs
	if op.Block <= 0 {
		w.names = append(w.names, op.Name)
	}
	for _, r := range op.Results {
		w.results[r.Name] = len(r.Values)
	}
}

func TestObserver(t *testing.T) {
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 1}})
	w := &watcher{bytes: map[string]int{}, macs: map[string]int{}, results: map[string]int{}}
	s := session(t, m, models.SessionOptions{Observer: w})
	must(s.Decode(1))
	want := []string{
		"token_embd",
		"attn_norm", "attn_qkv", "attn_q_norm", "attn_k_norm", "rope", "attn", "attn_output", "attn_residual",
		"ffn_norm", "ffn_gate_up", "ffn_act", "ffn_down", "ffn_residual",
		"output_norm", "output",
	}
	if !slices.Equal(w.names, want) {
		t.Errorf("operations %q, want %q", w.names, want)
	}
	if got := w.bytes["attn_qkv"] + w.bytes["attn_output"] + w.bytes["ffn_gate_up"] + w.bytes["ffn_down"] + w.bytes["output"]; got != m.WeightBytes() {
		t.Errorf("products read %d bytes, want the %d of the model", got, m.WeightBytes())
	}
	for name, n := range map[string]int{"blk.1.attn_q.weight": 256, "blk.1.attn_v.weight": 128, "blk.1.ffn_up.weight": 256, "token_embd.weight": 512} {
		if w.results[name] != n {
			t.Errorf("%s gave %d values, want %d", name, w.results[name], n)
		}
	}
	// 18 bytes per 128 weights.
	blocks, head := m.MultiplyAdds()
	if got := w.macs["attn_qkv"] + w.macs["attn_output"] + w.macs["ffn_gate_up"] + w.macs["ffn_down"]; got != blocks || w.macs["output"] != head {
		t.Errorf("products take %d and %d multiply-adds, want %d and %d", got, w.macs["output"], blocks, head)
	}
	// Every head meets one key and one value in each block; a row of the embedding has 18 bytes per 128.
	if got, want := w.macs["attn"], 2*p.Config.Layers*p.Config.Heads*p.Config.HeadDim; got != want {
		t.Errorf("attention takes %d multiply-adds, want %d", got, want)
	}
	if got, want := w.bytes["token_embd"], p.Config.Hidden/128*18; got != want {
		t.Errorf("a row of the embedding has %d bytes, want %d", got, want)
	}
	if want := (blocks + head) / 128 * 18; m.WeightBytes() != want {
		t.Errorf("%d bytes of weights, want %d", m.WeightBytes(), want)
	}
}

func TestPrefer(t *testing.T) {
	if _, err := cpu.Prefer("abacus", ""); err == nil || err.Error() != `unknown variant "abacus"` {
		t.Errorf("error %v", err)
	}
	choose := must(cpu.Prefer("scalar", kernels.Q8Row))
	if v := must(choose.Variant(formats.Q1_0_g128)); v.Name != "scalar" || v.Scheme != kernels.Q8Row {
		t.Errorf("%v, want scalar under q8_row", v)
	}
	if v := must(choose.Variant(formats.F16)); v.ISA != kernels.Go || v.Scheme != kernels.F32 {
		t.Errorf("%v, want Go under f32", v)
	}
	if choose.Vectors != cpu.Scalar {
		t.Errorf("vectors %s with scalar products", choose.Vectors.Name)
	}
	choose = must(cpu.Prefer("reference", ""))
	for _, f := range []*formats.Type{formats.Q1_0_g128, formats.I2_S, formats.F16} {
		if v := must(choose.Variant(f)); v.Name != "reference" || v.Scheme != kernels.F32 {
			t.Errorf("%v, want the reference of %s under f32", v, f.Name)
		}
	}
}

// Every architecture of machine gives these tokens and these logits. Only a
// change of the model or of the order of float operations changes them.
func TestResultsOnEveryMachine(t *testing.T) {
	for _, tt := range []struct {
		preset string
		tokens []int
		hash   uint64 // FNV-1a of the last logits' bits
	}{
		{"tiny", []int{298, 298, 409, 282, 197, 325}, 0x1bf0e728580678f6},
		{"tiny-bitnet", []int{677, 469, 468, 419, 677, 469}, 0xfbc77b56c4661319},
	} {
		p := preset(tt.preset)
		m := newFixture(t, p).open(t, models.Options{})
		ids, logits := greedy(t, session(t, m, models.SessionOptions{}), text(40, p.Config.Vocab), 6)
		h := fnv.New64a()
		if err := binary.Write(h, binary.LittleEndian, logits); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ids, tt.tokens) || h.Sum64() != tt.hash {
			t.Errorf("%s: tokens %v, hash %#x; want %v, %#x", tt.preset, ids, h.Sum64(), tt.tokens, tt.hash)
		}
	}
}

// Sessions of one model may run at the same time, while it is being packed.
func TestSessionsSideBySide(t *testing.T) {
	p := preset("tiny")
	x := newFixture(t, p)
	want, _ := greedy(t, session(t, x.open(t, models.Options{Engine: cpu.Options{Threads: 1}}), models.SessionOptions{}), text(20, p.Config.Vocab), 5)
	m := x.open(t, models.Options{Engine: cpu.Options{Threads: 2, Packing: cpu.PackBehind}})
	got := make([][]int, 4)
	var wg sync.WaitGroup
	for i := range got {
		s := session(t, m, models.SessionOptions{Batch: 1 + 7*i})
		wg.Go(func() {
			sampler := must(models.NewSampler(models.SamplerOptions{}))
			for id, err := range s.Generate(context.Background(), text(20, p.Config.Vocab), sampler) {
				if err != nil {
					t.Error(err)
					return
				}
				if got[i] = append(got[i], id); len(got[i]) == len(want) {
					return
				}
			}
		})
	}
	wg.Wait()
	for i, ids := range got {
		if !slices.Equal(ids, want) {
			t.Errorf("session %d: tokens %v, want %v", i, ids, want)
		}
	}
	if err := m.Packed(); err != nil {
		t.Error(err)
	}
	for _, b := range m.Blocks() {
		best := must(kernels.Best(b.Q.Type.Name))
		if v := b.Q.Variant(); v != best {
			t.Errorf("block %d is multiplied by %v after packing, want %v", b.Index, v, best)
		}
	}
}
