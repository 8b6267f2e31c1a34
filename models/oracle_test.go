package models_test

import (
	"cmp"
	"fmt"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/modeltest"
)

// exact multiplies with float32 activations and rounds nothing else.
func exact(t *formats.Type) (*kernels.Variant, error) {
	if kernels.FormatOf(t).Scheme == kernels.F32 {
		return nil, nil
	}
	return kernels.Lookup(t.Name, "reference", kernels.F32)
}

// An oracleModel is compared with the oracle.
type oracleModel struct {
	name   string
	preset *arch.Preset
	change func(t testing.TB, x *fixture)
	tokens int // of the text; 0: 24
}

var oracleModels = []oracleModel{
	{name: "qwen3", preset: preset("tiny"), tokens: 132}, // beyond a tile of the cache
	{name: "qwen3 with its own head", preset: tinyUntied()},
	{name: "qwen3 under YaRN", preset: preset("tiny"), change: func(t testing.TB, x *fixture) {
		x.set("qwen3.rope.freq_base", container.Of(float32(1e4)))
		x.set("qwen3.rope.scaling.type", container.Of("yarn"))
		x.set("qwen3.rope.scaling.factor", container.Of(float32(4)))
		x.set("qwen3.rope.scaling.original_context_length", container.Of(uint32(4096)))
	}},
	{name: "qwen3 under linear scaling", preset: preset("tiny"), change: func(t testing.TB, x *fixture) {
		x.set("qwen3.rope.scaling.type", container.Of("linear"))
		x.set("qwen3.rope.scaling.factor", container.Of(float32(2)))
	}},
	{name: "llama", preset: preset("tiny-llama")},
	{name: "minicpm", preset: must(arch.LookupPreset("tiny-minicpm"))},
	{name: "minicpm of q4_k", preset: minicpmIn4Bits(true)},
	{name: "minicpm with its own head, without keys", preset: minicpmIn4Bits(false), change: func(t testing.TB, x *fixture) {
		for _, key := range []string{"embedding_scale", "residual_scale", "logit_scale", "rope.scaling.type", "rope.scaling.original_context_length"} {
			x.unset("minicpm." + key)
		}
	}},
	{name: "qwen35", preset: preset("tiny-qwen35")},
	{name: "qwen35 of 8 blocks", preset: smallQwen35()},
	{name: "qwen35 rotated", preset: smallQwen35(), change: fold},
	{name: "llama under divisors", preset: preset("tiny-llama"), change: func(t testing.TB, x *fixture) {
		divisors := make([]float32, preset("tiny-llama").Config.HeadDim/2)
		for i := range divisors {
			divisors[i] = 1 + 7*float32(i)/float32(len(divisors))
		}
		data := make([]byte, 4*len(divisors))
		if err := formats.F32.Matrix(data, 1, len(divisors)).Quantize(divisors); err != nil {
			t.Fatal(err)
		}
		x.put(t, "rope_freqs.weight", formats.F32, data, len(divisors))
	}},
	{name: "maple", preset: smallMaple(), change: clampEarly},
	{name: "maple of windows over tiles", preset: mapleOfLongWindows(), tokens: 300},
	{name: "qwen35 of short keys", preset: smallQwen35(), change: shortKeys},
}

var bitnetModels = []oracleModel{
	{name: "bitnet-b1.58", preset: preset("tiny-bitnet")},
	{name: "bitnet", preset: tiny1bitLLM()},
	{name: "bitnet in tq1_0 and q2_0, head in q8_0", preset: tiny1bitLLM(), change: func(t testing.TB, x *fixture) {
		for n := range 2 {
			x.requantize(t, fmt.Sprintf("blk.%d.ffn_down.weight", n), formats.TQ1_0)
			x.requantize(t, fmt.Sprintf("blk.%d.attn_output.weight", n), formats.Q2_0)
		}
		x.requantize(t, "token_embd.weight", formats.Q8_0)
	}},
}

// The engine's logits after every token of a text are those of the oracle: up
// to rounding with exact products, and up to the quantization of activations
// with the integer ones that a user gets.
func TestLogitsMatchOracle(t *testing.T) {
	require.Unraced(t, "the engines are raced where they stand")
	share := 3
	if testing.Short() {
		share = 6
	}
	testOracle(t, require.Draw(t, share, oracleModels))
}

// The same of the BitNet family, whole.
func TestBitNetMatchesOracle(t *testing.T) { testOracle(t, bitnetModels) }

func testOracle(t *testing.T, all []oracleModel) {
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			x := newFixture(t, tt.preset)
			if tt.change != nil {
				tt.change(t, x)
			}
			ids := text(cmp.Or(tt.tokens, 24), tt.preset.Config.Vocab)
			oracle, err := modeltest.Load(x.file(t))
			if err != nil {
				t.Fatal(err)
			}
			want := oracle.Logits(ids)
			// Roundings add up over the blocks, in another order on every ISA: eight
			// blocks of qwen35 have 8.1e-12 to 1.03e-11, and mistakes in them 0.018 and more.
			rounding := 5e-12 * float64(max(2, tt.preset.Config.Layers))
			for _, o := range []struct {
				name  string
				model models.Options
				cache *formats.Type
				bound float64
			}{
				{"exact", models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}}, formats.F32, rounding},
				{"exact, fp16 cache", models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}}, formats.F16, 1e-6},
				{"exact, int8 cache", models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}}, formats.Q8_0, 4e-4},
				{"exact, 4-bit cache", models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}}, formats.Q4_0, 0.05},
				{"default", models.Options{}, formats.F16, 5e-3},
			} {
				s := session(t, x.open(t, o.model), models.SessionOptions{Cache: o.cache})
				if got := nmse(t, s, ids, want); !(got <= o.bound) {
					t.Errorf("%s: NMSE of the logits %.3g, want at most %g", o.name, got, o.bound)
				} else {
					t.Logf("%s: %.3g", o.name, got)
				}
			}
		})
	}
}

// nmse is Σ(got-want)² / Σwant² over the logits of all tokens.
func nmse(t *testing.T, s *models.Session, ids []int, want [][]float64) float64 {
	t.Helper()
	var sum deviation.Sum
	i := 0
	for logits, err := range s.Logits(ids) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(deviation.Of(logits, want[i]))
		i++
	}
	if i != len(want) {
		t.Fatalf("logits of %d tokens, want %d", i, len(want))
	}
	return sum.NMSE()
}

// minicpmIn4Bits has an embedding in q4_k, which may be its head; or that is in q6_k.
func minicpmIn4Bits(tied bool) *arch.Preset {
	p := *must(arch.LookupPreset("tiny-minicpm"))
	p.Types, p.Config.TiedHead = nil, tied
	return &p
}

// MiniCPM's factors all count: a file with another gives other logits.
func TestMiniCPMFactors(t *testing.T) {
	p := must(arch.LookupPreset("tiny-minicpm"))
	x := newFixture(t, p)
	ids := text(8, p.Config.Vocab)
	oracle := must(modeltest.Load(x.file(t)))
	want := oracle.Logits(ids)
	one := container.Of(float32(1))
	for _, tt := range []struct {
		name   string
		change func(x *fixture)
	}{
		{"embedding_scale", func(x *fixture) { x.set("minicpm.embedding_scale", one) }},
		{"residual_scale", func(x *fixture) { x.set("minicpm.residual_scale", container.Of(float32(0.3))) }},
		{"logit_scale", func(x *fixture) { x.set("minicpm.logit_scale", container.Of(float32(2))) }},
	} {
		x := newFixture(t, p)
		tt.change(x)
		s := session(t, x.open(t, models.Options{}), models.SessionOptions{})
		if got := nmse(t, s, ids, want); !(got > 5e-3) {
			t.Errorf("%s does not count: NMSE %.3g", tt.name, got)
		}
	}
}

// What is wrong with the factors and divisors is told by the key or the tensor.
func TestMiniCPMRefuses(t *testing.T) {
	p := must(arch.LookupPreset("tiny-minicpm"))
	for _, tt := range []struct {
		name   string
		change func(x *fixture)
		want   string
	}{
		{"no scale", func(x *fixture) { x.set("minicpm.residual_scale", container.Of(float32(0))) }, `key "minicpm.residual_scale": is 0`},
		{"negative scale", func(x *fixture) { x.set("minicpm.logit_scale", container.Of(float32(-1))) }, `key "minicpm.logit_scale": -1 is not positive and finite`},
		{"no divisors", func(x *fixture) { x.remove("rope_factors_short.weight") }, `tensor "rope_factors_short.weight": missing`},
		{"too few", func(x *fixture) { x.put(t, "rope_factors_short.weight", formats.F32, nil, 31) }, "has shape [31], want [32]"},
		{"zero", func(x *fixture) { x.put(t, "rope_factors_short.weight", formats.F32, nil, 32) }, "divisor 0 of the rotary embedding's frequencies is 0"},
		{"longer", func(x *fixture) {
			x.set("minicpm.rope.scaling.original_context_length", container.Of(uint32(256)))
		}, "longrope beyond the original context is not supported"},
	} {
		x := newFixture(t, p)
		tt.change(x)
		x.refused(t, tt.name, tt.want)
	}
}

// Texts longer than the original context of YaRN are what the formulas say, and
// without it would be something else.
func TestYaRNPastOriginalContext(t *testing.T) {
	require.Unraced(t, "the engines are raced where they stand")
	sameEverywhere(t)
	const original, n = 208, 240
	x := newFixture(t, preset("tiny"))
	x.set("qwen3.rope.freq_base", container.Of(float32(1e4)))
	ids := text(n, preset("tiny").Config.Vocab)
	unscaled := must(modeltest.Load(x.file(t))).Logits(ids)
	x.set("qwen3.rope.scaling.type", container.Of("yarn"))
	x.set("qwen3.rope.scaling.factor", container.Of(float32(4)))
	x.set("qwen3.rope.scaling.original_context_length", container.Of(uint32(original)))
	want := must(modeltest.Load(x.file(t))).Logits(ids)
	s := session(t, x.open(t, models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}}), models.SessionOptions{Cache: formats.F32})
	var past, without deviation.Sum
	i := 0
	for logits, err := range s.Logits(ids) {
		if err != nil {
			t.Fatal(err)
		}
		if i >= original {
			past.Add(deviation.Of(logits, want[i]))
			without.Add(deviation.Of(logits, unscaled[i]))
		}
		i++
	}
	if got := past.NMSE(); i != n || !(got <= 1e-11) {
		t.Errorf("%d logits, NMSE of those past the original context %.3g, want at most 1e-11", i, got)
	}
	if got := without.NMSE(); !(got > 1e-3) {
		t.Errorf("NMSE without YaRN %.3g: the scaling does not count", got)
	}
}
