package models_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/modeltest"
	"onebit/models/source"
)

// hf writes the fixture as a checkpoint.
func (x *fixture) hf(t testing.TB, how modeltest.HF) string {
	t.Helper()
	dir := t.TempDir()
	if err := modeltest.WriteHF(dir, x.file(t), how); err != nil {
		t.Fatal(err)
	}
	return dir
}

// projections are the matrices of the blocks.
func (x *fixture) projections() []container.TensorInfo {
	return slices.DeleteFunc(slices.Clone(x.tensors), func(t container.TensorInfo) bool {
		return len(t.Shape) < 2 || !strings.HasPrefix(t.Name, "blk.")
	})
}

// masters gives the projections trained weights, and returns the fixture of
// what they are ternarized to.
func (x *fixture) masters(t testing.TB, typ *formats.Type) *fixture {
	t.Helper()
	ternary := &fixture{meta: x.meta, tensors: slices.Clone(x.tensors), data: map[string][]byte{}}
	for name, data := range x.data {
		ternary.data[name] = data
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, info := range x.projections() {
		rows, cols := info.Shape[0], info.Shape[1]
		w := make([]float32, rows*cols)
		for i := range w {
			w[i] = float32(r.NormFloat64() / math.Sqrt(float64(cols)))
		}
		data := make([]byte, must(typ.Bytes(rows, cols)))
		if err := typ.Matrix(data, rows, cols).Quantize(w); err != nil {
			t.Fatal(err)
		}
		x.put(t, info.Name, typ, data, rows, cols)
		if err := typ.Matrix(data, rows, cols).Dequantize(w); err != nil {
			t.Fatal(err)
		}
		must(formats.Ternarize(w, w))
		data = make([]byte, must(formats.I2_S.Bytes(rows, cols)))
		if err := formats.I2_S.Matrix(data, rows, cols).Quantize(w); err != nil {
			t.Fatal(err)
		}
		ternary.put(t, info.Name, formats.I2_S, data, rows, cols)
	}
	return ternary
}

// logits of a text after the last token.
func lastLogits(t testing.TB, m *models.Model) []float32 {
	t.Helper()
	s := session(t, m, models.SessionOptions{})
	return slices.Clone(must(s.Prefill(t.Context(), text(20, m.Config.Vocab))))
}

func openPath(t testing.TB, path string, opt models.Options) *models.Model {
	t.Helper()
	m, err := models.Open(t.Context(), path, opt)
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

// A checkpoint gives the logits of a GGUF file with the same weights, to the
// bit, however it is stored and whenever it is packed.
func TestHFEqualsGGUF(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	bitlinear := func(x *fixture) *fixture {
		for _, info := range x.projections() {
			rows, cols := info.Shape[0], info.Shape[1]
			scale := must(formats.I2_S.Matrix(x.data[info.Name], rows, cols).TensorScale())
			// What comes back of a scale whose inverse is stored.
			if err := formats.I2_S.Matrix(x.data[info.Name], rows, cols).SetTensorScale(1 / (1 / scale)); err != nil {
				t.Fatal(err)
			}
		}
		return x
	}
	floats := func(x *fixture, typ *formats.Type) *fixture {
		for _, info := range slices.Clone(x.tensors) {
			if len(info.Shape) > 1 {
				x.requantize(t, info.Name, typ)
			}
		}
		return x
	}
	trained := func(p *arch.Preset, typ *formats.Type) (stored, want *fixture) {
		x := newFixture(t, p)
		return x, x.masters(t, typ)
	}
	same := func(x *fixture) (stored, want *fixture) { return x, x }
	for _, tt := range []struct {
		name string
		how  modeltest.HF
		make func() (stored, want *fixture)
	}{
		{"autobitlinear", modeltest.HF{Linear: "autobitlinear"}, func() (_, _ *fixture) { return same(newFixture(t, preset("tiny-bitnet"))) }},
		{"bitlinear in three files", modeltest.HF{Linear: "bitlinear", Files: 3}, func() (_, _ *fixture) { return same(bitlinear(newFixture(t, preset("tiny-bitnet")))) }},
		{"llama, bitlinear", modeltest.HF{Linear: "bitlinear"}, func() (_, _ *fixture) { return same(bitlinear(newFixture(t, preset("tiny-llama")))) }},
		{"ternary floats", modeltest.HF{}, func() (_, _ *fixture) { return same(newFixture(t, preset("tiny-bitnet"))) }},
		{"1bitLLM, masters in f32", modeltest.HF{InnerLN: true}, func() (_, _ *fixture) { return trained(tiny1bitLLM(), formats.F32) }},
		{"masters in bf16", modeltest.HF{}, func() (_, _ *fixture) { return trained(preset("tiny-bitnet"), formats.BF16) }},
		{"masters in f16", modeltest.HF{}, func() (_, _ *fixture) { return trained(preset("tiny-bitnet"), formats.F16) }},
		{"qwen3 in bf16", modeltest.HF{}, func() (_, _ *fixture) { return same(floats(newFixture(t, preset("tiny")), formats.BF16)) }},
		{"maple, rows of ternary floats, in three files", modeltest.HF{Files: 3}, func() (_, _ *fixture) { return same(newFixture(t, smallMaple())) }},
		{"llama in f16", modeltest.HF{}, func() (_, _ *fixture) { return same(floats(newFixture(t, preset("tiny-llama")), formats.F16)) }},
		{"minicpm in bf16", modeltest.HF{}, func() (_, _ *fixture) {
			return same(floats(newFixture(t, must(arch.LookupPreset("tiny-minicpm"))), formats.BF16))
		}},
		{"qwen3 in f32, its own head", modeltest.HF{Files: 2}, func() (_, _ *fixture) { return same(floats(newFixture(t, tinyUntied()), formats.F32)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored, gguf := tt.make()
			dir := stored.hf(t, tt.how)
			want := lastLogits(t, gguf.open(t, models.Options{}))
			for _, opt := range []models.Options{{}, {Engine: cpu.Options{Packing: cpu.PackNever, Threads: 1}}, {Engine: cpu.Options{Packing: cpu.PackBehind}}, {Engine: cpu.Options{Packing: cpu.Stream}}} {
				m := openPath(t, dir, opt)
				if got := lastLogits(t, m); !slices.Equal(got, want) {
					t.Errorf("%+v: the logits differ", opt.Engine)
				}
			}
		})
	}
}

// A checkpoint in every way of storing one matches the oracle, which has the
// weights from elsewhere.
func TestHFMatchesOracle(t *testing.T) {
	require.Unplayed(t, "sessions are the same code on every machine")
	sameEverywhere(t)
	for _, tt := range require.Draw(t, 3, []struct {
		preset *arch.Preset
		how    modeltest.HF
	}{{preset("tiny-bitnet"), modeltest.HF{Linear: "bitlinear"}}, {tiny1bitLLM(), modeltest.HF{InnerLN: true}}, {preset("tiny"), modeltest.HF{}},
		{preset("tiny-llama"), modeltest.HF{Linear: "bitlinear"}}, {preset("tiny-llama"), modeltest.HF{}}, {must(arch.LookupPreset("tiny-minicpm")), modeltest.HF{}},
		{preset("tiny-qwen35"), modeltest.HF{Files: 2}}, {smallQwen35(), modeltest.HF{}}, {smallQwen35(), modeltest.HF{Class: 1}}}) {
		x := newFixture(t, tt.preset)
		ids := text(16, tt.preset.Config.Vocab)
		want := must(modeltest.Load(x.file(t))).Logits(ids)
		m := openPath(t, x.hf(t, tt.how), models.Options{Engine: cpu.Options{Kernels: cpu.Kernels{Variant: exact}}})
		s := session(t, m, models.SessionOptions{Cache: formats.F32})
		if got := nmse(t, s, ids, want); !(got <= 1e-11) {
			t.Errorf("%s: NMSE of the logits %.3g", tt.preset.Name, got)
		}
	}
}

// What a checkpoint is read as, written as a GGUF file, is a model of the logits of the
// one that the checkpoint was made of: the oracle, which knows nothing of checkpoints,
// computes both.
func TestHFBecomesGGUF(t *testing.T) {
	sameEverywhere(t)
	for _, tt := range require.Draw(t, 3, []struct {
		preset *arch.Preset
		how    modeltest.HF
	}{{smallQwen35(), modeltest.HF{}}, {smallQwen35(), modeltest.HF{Class: 1}}, {must(arch.LookupPreset("tiny-minicpm")), modeltest.HF{}},
		{preset("tiny-llama"), modeltest.HF{}}, {preset("tiny-llama"), modeltest.HF{Linear: "bitlinear"}}, {smallMaple(), modeltest.HF{}}}) {
		x := newFixture(t, tt.preset)
		src := must(source.Open(x.hf(t, tt.how), gguf.Options{}))
		defer src.Close()
		meta, err := src.Metadata()
		if err != nil && !errors.Is(err, os.ErrNotExist) { // of a tokenizer
			t.Fatal(err)
		}
		made := &fixture{meta: meta, data: map[string][]byte{}}
		for _, info := range src.Tensors() {
			made.put(t, info.Name, info.Type, must(src.Raw(info.Name)), info.Shape...)
		}
		ids := text(12, tt.preset.Config.Vocab)
		got, want := must(modeltest.Load(made.file(t))).Logits(ids), must(modeltest.Load(x.file(t))).Logits(ids)
		var sum deviation.Sum
		for i := range want {
			row := make([]float32, len(got[i]))
			for j, y := range got[i] {
				row[j] = float32(y)
			}
			sum.Add(deviation.Of(row, want[i]))
		}
		if e := sum.NMSE(); !(e <= 1e-12) {
			t.Errorf("%s: an NMSE of %.3g", tt.preset.Name, e)
		}
	}
}

// A checkpoint of LLaMA's kind that does not say that it is ternary isn't made so.
func TestHFOfPlainLlama(t *testing.T) {
	x := newFixture(t, preset("tiny-llama"))
	for _, info := range x.projections() {
		x.requantize(t, info.Name, formats.BF16)
	}
	src := must(source.Open(x.hf(t, modeltest.HF{}), gguf.Options{}))
	defer src.Close()
	for _, info := range src.Tensors() {
		if want := x.data[info.Name]; len(info.Shape) > 1 && !slices.Equal(must(src.Tensor(info.Name)).Data, want) {
			t.Errorf("%s in %s is not the checkpoint's", info.Name, info.TypeName)
		}
	}
}

// What a GGUF file says of a directory is what the directory says.
func TestHFMetadata(t *testing.T) {
	yarn := preset("tiny")
	yarn.Config.RopeScaling = arch.RopeScaling{Type: "yarn", Factor: 2, OriginalContext: 256}
	wide := preset("tiny-bitnet")
	wide.Config.HeadDim = 128
	for _, p := range []*arch.Preset{preset("tiny"), tinyUntied(), yarn, preset("tiny-bitnet"), wide, tiny1bitLLM()} {
		meta := append([]container.KV{{Key: "general.architecture", Value: container.Of(p.Config.Arch)}}, p.Table.Metadata(p.Config)...)
		x := &fixture{meta: meta, data: map[string][]byte{}}
		x.put(t, "token_embd.weight", formats.F32, nil, p.Config.Vocab, p.Config.Hidden)
		for i := range p.Config.Layers {
			x.put(t, fmt.Sprint(i), formats.F32, nil, 1)
		}
		if !p.Config.TiedHead {
			x.put(t, "output.weight", formats.F32, nil, 1)
		}
		if _, c, err := source.ConfigFromGGUF(x.file(t)); err != nil || c != p.Config {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", p.Name, err, c, p.Config)
		}
	}
	x := newFixture(t, preset("tiny"))
	for _, info := range x.projections() {
		x.requantize(t, info.Name, formats.BF16)
	}
	dir := x.hf(t, modeltest.HF{})
	src := must(source.Open(dir, gguf.Options{}))
	defer src.Close()
	got := map[string]string{}
	for _, kv := range must(src.Metadata()) {
		got[kv.Key] = kv.Value.String()
	}
	for _, kv := range x.meta {
		switch kv.Key {
		case "general.name", "general.description", "general.file_type", "general.quantization_version":
		default:
			if got[kv.Key] != kv.Value.String() {
				t.Errorf("%s is %s, want %s", kv.Key, got[kv.Key], kv.Value)
			}
		}
	}
	if want := fmt.Sprintf("%q", filepath.Base(dir)); got["general.name"] != want {
		t.Errorf("named %s, want %s", got["general.name"], want)
	}
	// Without a tokenizer there is the rest, and the reason.
	if err := os.Remove(filepath.Join(dir, "tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	if meta, err := src.Metadata(); len(meta) < 10 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%d keys, %v", len(meta), err)
	}
}

// A checkpoint that differs from its architecture is refused with the name
// that the tensor has there, or should have.
func TestHFInventory(t *testing.T) {
	for _, tt := range []struct {
		change       func(x *fixture)
		tensor, want string
	}{
		{func(x *fixture) { x.remove("blk.1.attn_sub_norm.weight") }, "model.layers.1.self_attn.attn_sub_norm.weight", "missing, in a model of architecture bitnet-b1.58"},
		{func(x *fixture) { x.put(t, "blk.0.ffn_gate.weight", formats.F32, nil, 254, 128) }, "model.layers.0.mlp.gate_proj.weight", "has shape [254 128], want [256 128]"},
		{func(x *fixture) { x.put(t, "blk.0.attn_q_norm.weight", formats.F32, nil, 64) }, "model.layers.0.self_attn.q_norm.weight", "unexpected"},
		{func(x *fixture) { x.put(t, "token_embd.weight", formats.F16, nil, 700, 128) }, "model.embed_tokens.weight", "has shape [700 128], want [768 128]"},
	} {
		x := newFixture(t, preset("tiny-bitnet"))
		tt.change(x)
		dir := x.hf(t, modeltest.HF{Linear: "autobitlinear"})
		m, err := models.Open(t.Context(), dir, models.Options{Engine: cpu.Options{Threads: 1}})
		var bad *container.FormatError
		if !errors.As(err, &bad) || bad.Tensor != tt.tensor || !strings.Contains(bad.Msg, tt.want) || !strings.HasPrefix(bad.File, dir) {
			t.Errorf("error %v, want one about %s: %s", err, tt.tensor, tt.want)
		}
		if m != nil {
			m.Close()
		}
	}
	if _, err := models.Open(t.Context(), t.TempDir(), models.Options{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "config.json: is missing, so the directory is no Hugging Face checkpoint") {
		t.Errorf("error %v", err)
	}
}
