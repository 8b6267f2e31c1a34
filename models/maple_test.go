package models_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/modeltest"
	"onebit/models/source"
)

// smallMaple has what the real model has and tiny-maple has not: several windows in a
// row, and heads that share keys by four.
func smallMaple() *arch.Preset {
	p := *must(arch.LookupPreset("tiny-maple"))
	p.Name = "small-maple"
	p.Config.Layers, p.Config.Vocab, p.Config.Heads, p.Config.KVHeads = 8, 300, 4, 1
	p.Config.Sliding = arch.Sliding{Window: 7, Interval: 4}
	return &p
}

// mapleOfLongWindows has windows that begin in another tile of the cache than they end,
// and two blocks. All experts are used: rounding would make other ones be chosen now and
// then, in so many tokens.
func mapleOfLongWindows() *arch.Preset {
	p := smallMaple()
	p.Config.Layers, p.Config.Sliding = 2, arch.Sliding{Window: 150, Interval: 2}
	p.Config.Experts = arch.Experts{Count: 2, Used: 2, Normalized: true}
	return p
}

// clampEarly makes gates be clamped where random weights bring them.
func clampEarly(t testing.TB, x *fixture) {
	limits := make([]float32, smallMaple().Config.Layers)
	for i := range limits {
		limits[i] = 0.75
	}
	x.set("maple.swiglu_clamp_exp", container.ArrayOf(limits))
}

// The comparison with the oracle shows every mistake: each alone moves the logits by far
// more than rounding does.
func TestOracleCatchesMaple(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	sameEverywhere(t)
	x := newFixture(t, smallMaple())
	clampEarly(t, x)
	ids := text(20, 300)
	got := prefill(t, x.open(t, exactly), ids)
	nmse := func(mistakes ...modeltest.Mistake) float64 {
		oracle := must(modeltest.Load(x.file(t), mistakes...))
		return deviation.Of(got, oracle.Logits(ids)[len(ids)-1]).NMSE()
	}
	if e := nmse(); !(e < 1e-11) {
		t.Fatalf("an NMSE of %.3g without a mistake", e)
	} else {
		t.Logf("%.3g without a mistake", e)
	}
	for _, mistake := range require.Draw(t, 5, []modeltest.Mistake{
		modeltest.WindowShort, modeltest.WindowLong, modeltest.WindowsAll, modeltest.WindowsNone, modeltest.WindowsShifted,
		modeltest.RotatedAll, modeltest.RotatedNone, modeltest.RotatedFirst, modeltest.LastHalf, modeltest.Adjacent, modeltest.WholeRope,
		modeltest.NarrowScore, modeltest.NoHeadNorm, modeltest.ClampLate, modeltest.ClampNone, modeltest.ClampBelow, modeltest.ClampAbove,
		modeltest.NotNormalized, modeltest.OneLess, modeltest.OneMore, modeltest.SigmoidGates, modeltest.RouterUnnormed,
		modeltest.Interleaved, modeltest.WeightsReversed, modeltest.WeightsBefore, modeltest.GateIsUp, modeltest.Parallel, modeltest.TiedHead,
	}) {
		if e := nmse(mistake); !(e > 1e-4) {
			t.Errorf("%s: an NMSE of %.3g is not seen", mistake, e)
		} else {
			t.Logf("%s: %.3g", mistake, e)
		}
	}
}

// Any batches of a text, on any number of threads, give the same bits: experts are
// grouped otherwise, and windows begin elsewhere in a batch.
func TestExpertsInAnyBatches(t *testing.T) {
	x := newFixture(t, smallMaple())
	ids := text(300, 300) // beyond two tiles of the cache
	for _, cache := range require.Draw(t, 2, []*formats.Type{formats.F16, formats.F32, formats.Q8_0, formats.Q4_0}) {
		var want []float32
		for _, threads := range []int{1, 3} {
			m := x.open(t, models.Options{Engine: onThreads(threads)})
			for _, batch := range []int{64, 1, 7, 300} {
				s := session(t, m, models.SessionOptions{Batch: batch, Cache: cache})
				got := must(s.Prefill(t.Context(), ids))
				if want == nil {
					want = slices.Clone(got)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: batches of %d on %d threads give other logits", cache.Name, batch, threads)
				}
			}
		}
	}
}

func onThreads(n int) cpu.Options { return cpu.Options{Threads: n} }

// Of experts is told how many bytes a text has met: those of a token behind the first.
func TestExpertBytes(t *testing.T) {
	p := smallMaple()
	m := newFixture(t, p).open(t, models.Options{})
	one := must(formats.TQ2_0.Bytes(256, 256))
	count, used := p.Config.Layers*3*p.Config.Experts.Count, p.Config.Layers*3*p.Config.Experts.Used
	check := func(met int) {
		t.Helper()
		if got, all, token := m.ExpertBytes(); got != int64(met*one) || all != int64(count*one) || token != int64(used*one) {
			t.Errorf("met %d of %d bytes, %d a token; want %d of %d, %d", got, all, token, met*one, count*one, used*one)
		}
	}
	check(0)
	s := session(t, m, models.SessionOptions{})
	must(s.Prefill(t.Context(), []int{7}))
	check(used)
	must(s.Prefill(t.Context(), text(400, 300)))
	check(count)
}

// What is wrong with experts and windows is told by the key or the tensor.
func TestMapleRefuses(t *testing.T) {
	p := smallMaple()
	set := func(key string, v container.Value) func(x *fixture) {
		return func(x *fixture) { x.set("maple."+key, v) }
	}
	one := func(n int) container.Value { return container.Of(uint32(n)) }
	pattern := func(n int, whole ...int) container.Value {
		slides := make([]bool, n)
		for i := range slides {
			slides[i] = !slices.Contains(whole, i)
		}
		return container.ArrayOf(slides)
	}
	put := func(name string, typ *formats.Type, shape ...int) func(x *fixture) {
		return func(x *fixture) { x.put(t, name, typ, nil, shape...) }
	}
	for _, tt := range []struct {
		name   string
		change func(x *fixture)
		want   string
	}{
		{"no experts", set("expert_count", one(0)), `key "maple.expert_count": is 0`},
		{"many experts", set("expert_count", one(1<<20)), `key "maple.expert_count": 1048576 is not between 1 and 65536`},
		{"none used", set("expert_used_count", one(0)), `key "maple.expert_used_count": 0 is not between 1 and the 16 experts`},
		{"too many used", set("expert_used_count", one(17)), `key "maple.expert_used_count": 17 is not between 1 and the 16 experts`},
		{"no width", set("expert_feed_forward_length", one(0)), `key "maple.expert_feed_forward_length": 0 is not between 1 and`},
		{"endless width", set("expert_feed_forward_length", container.Of(float32(math.Inf(1)))), `key "maple.expert_feed_forward_length": 0 is not between 1 and`},
		{"widths of other blocks", set("expert_feed_forward_length", container.ArrayOf([]uint32{256, 256})), "has 2 elements for 8 blocks"},
		{"unequal widths", set("expert_feed_forward_length", container.ArrayOf([]uint32{256, 128})), "element 1 is 128, and the first is 256"},
		{"another gating", set("expert_gating_func", one(3)), "3 is not supported, only 1 (softmax) and 2 (sigmoid)"},
		{"groups", set("expert_group_count", one(4)), `key "maple.expert_group_count": 4 is not supported`},
		{"no window", set("attention.sliding_window", one(0)), `key "maple.attention.sliding_window": is 0`},
		{"a short pattern", set("attention.sliding_window_pattern", pattern(7, 3)), "has 7 elements for 8 blocks"},
		{"a long pattern", set("attention.sliding_window_pattern", pattern(9, 3, 7)), "has 9 elements for 8 blocks"},
		{"no pattern", set("attention.sliding_window_pattern", one(4)), "is missing, or not a list"},
		{"another pattern", set("attention.sliding_window_pattern", pattern(8, 3, 6)), "element 6 is false, and of every 4 blocks the last looks at the whole text"},
		{"all the whole text", set("attention.sliding_window_pattern", pattern(8, 0, 1, 2, 3, 4, 5, 6, 7)), "which is no pattern"},
		{"a pattern of words", set("attention.sliding_window_pattern", container.ArrayOf([]string{"a"})), "want true or false"},
		{"a limit below 0", set("swiglu_clamp_exp", container.ArrayOf([]float32{-7, -7, -7, -7, -7, -7, -7, -7})), "-7 is not positive and finite"},
		{"unequal limits", set("swiglu_clamp_exp", container.ArrayOf([]float32{7, 7, 7, 7, 7, 7, 7, 6})), "element 7 is 6, and the first is 7"},
		{"limits of words", set("swiglu_clamp_exp", container.ArrayOf([]string{"seven"})), "want a number"},
		{"no turned values", set("rope.dimension_count", one(0)), `key "maple.rope.dimension_count": is 0`},
		{"a matrix for experts", put("blk.1.ffn_up_exps.weight", formats.TQ2_0, 256, 256), "has shape [256 256], want [16 256 256]"},
		{"fewer experts", put("blk.1.ffn_up_exps.weight", formats.TQ2_0, 15, 256, 256), "has shape [15 256 256], want [16 256 256]"},
		{"experts for a matrix", put("blk.1.attn_q.weight", formats.TQ2_0, 1, 256, 256), "has shape [1 256 256], want [256 256]"},
		{"another router", put("blk.1.ffn_gate_inp.weight", formats.F32, 8, 256), "has shape [8 256], want [16 256]"},
		{"a scale of all", func(x *fixture) {
			x.put(t, "blk.2.ffn_up_exps.weight", formats.I2_S, nil, 16, 256, 256)
		}, "whose scale is one of the whole tensor"},
	} {
		x := newFixture(t, p)
		tt.change(x)
		x.refused(t, tt.name, tt.want)
	}
}

// Files may say otherwise what comes to the same: the rotary embedding of windows by keys
// of its own, and widths for each block.
func TestMapleOtherKeys(t *testing.T) {
	ids := text(20, 300)
	want := prefill(t, newFixture(t, smallMaple()).open(t, models.Options{}), ids)
	x := newFixture(t, smallMaple())
	widths := make([]uint32, 8)
	for i := range widths {
		widths[i] = 256
	}
	x.set("maple.rope.dimension_count", container.Of(uint32(0)))
	x.set("maple.rope.dimension_count_swa", container.Of(uint32(32)))
	x.set("maple.rope.freq_base", container.Of(float32(5e5)))
	x.set("maple.rope.freq_base_swa", container.Of(float32(1e4)))
	x.set("maple.expert_feed_forward_length", container.ArrayOf(widths))
	x.set("maple.feed_forward_length", container.Of(uint32(4096)))
	for _, key := range []string{"swiglu_clamp_exp", "expert_weights_norm", "expert_gating_func"} {
		x.unset("maple." + key)
	}
	if !slices.Equal(prefill(t, x.open(t, models.Options{}), ids), want) {
		t.Error("other logits")
	}
}

// The error about an expert's weight that is not finite names its tensor, when the expert
// is chosen or when all weights are checked.
func TestBadExpert(t *testing.T) {
	x := newFixture(t, smallMaple())
	data := x.data["blk.5.ffn_down_exps.weight"]
	for at := 64; at < len(data); at += 66 { // scales of tq2_0
		data[at], data[at+1] = 0, 0x7e
	}
	for name, use := range map[string]func(s *models.Session) error{
		"chosen": func(s *models.Session) error {
			_, err := s.Prefill(t.Context(), text(4, 300))
			return err
		},
		"looked at": func(s *models.Session) error { return s.Model().Check() },
	} {
		err := use(session(t, x.open(t, models.Options{}), models.SessionOptions{}))
		if err == nil || !strings.Contains(err.Error(), "blk.5.ffn_down_exps.weight") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A window's ring goes back as far as it reaches, to its mark, and to the start; else it
// says so, and keeps its text.
func TestRingGoesBack(t *testing.T) {
	p := smallMaple()
	m := newFixture(t, p).open(t, models.Options{})
	ids, other := text(480, 300), text(31, 211)
	take := func(s *models.Session, ids []int) []float32 {
		t.Helper()
		return slices.Clone(must(s.Prefill(t.Context(), ids)))
	}
	fresh := func(n int) []float32 { // what ids up to n and then the others give
		return take(session(t, m, models.SessionOptions{}), append(slices.Clone(ids[:n]), other...))
	}
	s := session(t, m, models.SessionOptions{Batch: 16})
	take(s, ids[:200])
	if err := s.Mark(); err != nil {
		t.Fatal(err)
	}
	take(s, ids[200:])
	back := func(n int) {
		t.Helper()
		if err := s.Truncate(n); err != nil || s.Position() != n {
			t.Fatalf("back to %d: error %v, position %d", n, err, s.Position())
		}
		if !slices.Equal(take(s, other), fresh(n)) {
			t.Errorf("back to %d: other logits", n)
		}
	}
	back(470)
	for _, n := range []int{100, 201} {
		at := s.Position()
		if err := s.Truncate(n); !errors.Is(err, models.ErrNoRollback) || s.Position() != at || !strings.Contains(err.Error(), "look at the last 7") {
			t.Errorf("back to %d: error %v, position %d", n, err, s.Position())
		}
	}
	back(200)
	take(s, ids[200:400])
	back(200)
	back(0)
}

// Of the caches of windows nothing grows with the text, and a plan says so.
func TestRingIsSmall(t *testing.T) {
	m := newFixture(t, smallMaple()).open(t, models.Options{})
	s := session(t, m, models.SessionOptions{Batch: 16})
	size := func(n int) int {
		must(s.Prefill(t.Context(), text(n-s.Position(), 300)))
		return s.CacheBytes()
	}
	token := 2 * 2 * 64 // of a block: keys and values of a head in fp16
	before := size(400)
	if got := size(500) - before; got != 100*2*token { // of 8 blocks, 2 look at all
		t.Errorf("100 tokens take %d bytes, want %d", got, 200*token)
	}
	of := func(context int) models.Footprint {
		return must(m.Plan().Footprint(models.SessionOptions{Context: context, Batch: 16}))
	}
	if long, short := of(512), of(256); long.Cache-short.Cache != int64(256*2*token) || long.State != short.State || long.State < int64(2*6*2*128*token) {
		t.Errorf("planned %+v, and of half the context %+v", long, short)
	}
}

// FuzzExperts: whatever a file says of experts and windows, there is an error that names the
// key or the tensor, or a model whose numbers are sound.
func FuzzExperts(f *testing.F) {
	f.Add(uint32(16), uint32(4), uint32(256), uint32(7), uint32(1), float32(7), []byte{1, 1, 1, 0, 1, 1, 1, 0})
	f.Add(uint32(0), uint32(9), uint32(1), uint32(0), uint32(2), float32(-1), []byte{1, 0})
	f.Add(uint32(1<<31), uint32(1<<31), uint32(1<<31), uint32(1<<31), uint32(3), float32(math.Inf(1)), []byte{})
	x := newFixture(f, smallMaple())
	f.Fuzz(func(t *testing.T, experts, used, width, window, gating uint32, limit float32, pattern []byte) {
		y := &fixture{meta: slices.Clone(x.meta), tensors: x.tensors, data: x.data}
		slides, limits := make([]bool, len(pattern)), make([]float32, len(pattern))
		for i, b := range pattern {
			slides[i], limits[i] = b&1 == 1, limit
		}
		for key, n := range map[string]uint32{"expert_count": experts, "expert_used_count": used, "expert_feed_forward_length": width,
			"attention.sliding_window": window, "expert_gating_func": gating} {
			y.set("maple."+key, container.Of(n))
		}
		y.set("maple.attention.sliding_window_pattern", container.ArrayOf(slides))
		y.set("maple.swiglu_clamp_exp", container.ArrayOf(limits))
		m, err := models.Load(t.Context(), source.FromGGUF(y.file(t)), models.Options{Engine: onThreads(1)})
		if err != nil {
			if !strings.Contains(err.Error(), "key") && !strings.Contains(err.Error(), "tensor") {
				t.Errorf("error %v", err)
			}
			return
		}
		defer m.Close()
		if bad := m.Config.Check(); bad != nil {
			t.Errorf("%+v", *bad)
		}
		if logits := prefill(t, m, []int{1, 2, 3}); len(logits) != m.Config.Vocab {
			t.Errorf("%d logits", len(logits))
		}
	})
}
