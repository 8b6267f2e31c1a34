package models_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/models"
	"onebit/models/engine/cpu"
)

// Every model that cannot run is refused with an error that names the file
// and the tensor or key: when it is opened or, weights in place whose products
// show what is wrong, before anything is made of them.
func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name        string
		preset      string
		change      func(t testing.TB, x *fixture)
		tensor, key string
		want        string // part of the message
	}{
		{"missing projection", "tiny", func(t testing.TB, x *fixture) { x.remove("blk.1.ffn_up.weight") },
			"blk.1.ffn_up.weight", "", "missing, in a model of architecture qwen3"},
		{"missing norm", "tiny-bitnet", func(t testing.TB, x *fixture) { x.remove("blk.0.attn_sub_norm.weight") },
			"blk.0.attn_sub_norm.weight", "", "missing"},
		{"missing head norm and more", "tiny", func(t testing.TB, x *fixture) {
			x.remove("blk.0.attn_q_norm.weight")
			x.remove("blk.1.attn_q_norm.weight")
		}, "blk.0.attn_q_norm.weight", "", "missing, in a model of architecture qwen3 (and 1 more tensors differ)"},
		{"another architecture's tensor", "tiny", func(t testing.TB, x *fixture) {
			x.put(t, "blk.0.attn_sub_norm.weight", formats.F32, nil, 256)
		}, "blk.0.attn_sub_norm.weight", "", "unexpected"},
		{"bias", "tiny", func(t testing.TB, x *fixture) { x.put(t, "blk.0.attn_q.bias", formats.F32, nil, 256) },
			"blk.0.attn_q.bias", "", "unexpected"},
		{"wrong shape", "tiny", func(t testing.TB, x *fixture) {
			x.put(t, "blk.0.attn_k.weight", formats.Q1_0_g128, nil, 256, 128)
		}, "blk.0.attn_k.weight", "", "has shape [256 128], want [128 128]"},
		{"norm too short", "tiny", func(t testing.TB, x *fixture) { x.put(t, "output_norm.weight", formats.F32, nil, 64) },
			"output_norm.weight", "", "has shape [64], want [128]"},
		{"norm in one bit", "tiny", func(t testing.TB, x *fixture) {
			x.put(t, "blk.1.ffn_norm.weight", formats.Q1_0_g128, nil, 128)
		}, "blk.1.ffn_norm.weight", "", "is q1_0_g128, want a norm in f32, f16 or bf16"},
		{"type without a decoder", "tiny", func(t testing.TB, x *fixture) {
			x.remove("blk.0.attn_q.weight")
			x.tensors = append(x.tensors, container.TensorInfo{Name: "blk.0.attn_q.weight", TypeName: "q4_1", Shape: []int{256, 128}})
			x.data["blk.0.attn_q.weight"] = make([]byte, 256*128/32*20)
		}, "blk.0.attn_q.weight", "", "q4_1"},
		{"scale that is NaN", "tiny", func(t testing.TB, x *fixture) {
			binary.LittleEndian.PutUint16(x.data["blk.1.attn_v.weight"][18:], 0x7e00)
		}, "blk.1.attn_v.weight", "", "not finite"},
		{"tensor scale that is infinite", "tiny-bitnet", func(t testing.TB, x *fixture) {
			data := x.data["blk.0.ffn_gate.weight"]
			binary.LittleEndian.PutUint32(data[len(data)-32:], math.Float32bits(float32(math.Inf(1))))
		}, "blk.0.ffn_gate.weight", "", "tensor scale +Inf is not finite"},
		{"code without a meaning", "tiny-bitnet", func(t testing.TB, x *fixture) { x.data["blk.0.attn_q.weight"][5] = 0xff },
			"blk.0.attn_q.weight", "", "code"},
		{"norm that is NaN", "tiny", func(t testing.TB, x *fixture) {
			binary.LittleEndian.PutUint32(x.data["blk.0.attn_norm.weight"], 0x7fc00000)
		}, "blk.0.attn_norm.weight", "", "not finite"},
		{"embedding that is infinite", "tiny-bitnet", func(t testing.TB, x *fixture) {
			binary.LittleEndian.PutUint16(x.data["token_embd.weight"][400:], 0x7c00)
		}, "token_embd.weight", "", "not finite"},
		{"embedding of another vocabulary", "tiny-bitnet", func(t testing.TB, x *fixture) {
			x.put(t, "token_embd.weight", formats.F16, nil, 700, 128)
		}, "token_embd.weight", "", "has shape [700 128], want [768 128]"},
		{"tokenizer of another vocabulary", "tiny", func(t testing.TB, x *fixture) {
			x.set("tokenizer.ggml.tokens", container.ArrayOf([]string{"a", "b", "c"}))
		}, "token_embd.weight", "", "has a row for each of 512 tokens, and tokenizer.ggml.tokens lists 3"},
		{"Hadamard rotation", "tiny", func(t testing.TB, x *fixture) { x.set("prism.hadamard.block_size", container.Of(uint32(128))) },
			"", "prism.hadamard.version", "missing"},
		{"part of a split file", "tiny", func(t testing.TB, x *fixture) { x.set("split.count", container.Of(uint16(3))) },
			"", "split.no", "is missing"},
		{"vision tower", "tiny", func(t testing.TB, x *fixture) { x.set("general.architecture", container.Of("clip")) },
			"", "general.architecture", "is what sees pictures beside a model (mmproj), and no model"},
		{"unknown architecture", "tiny", func(t testing.TB, x *fixture) { x.set("general.architecture", container.Of("gemma4")) },
			"", "general.architecture", `unknown architecture "gemma4"`},
	}
	for _, packing := range []cpu.Packing{cpu.PackFirst, cpu.PackNever, cpu.PackBehind, cpu.Stream} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				x := newFixture(t, preset(tt.preset))
				tt.change(t, x)
				path := x.path(t)
				m, err := models.Open(t.Context(), path, models.Options{Engine: cpu.Options{Packing: packing, Threads: 1}})
				if err == nil {
					lazy := packing == cpu.PackNever || packing == cpu.PackBehind
					if !lazy || !strings.Contains(tt.want, "not finite") {
						t.Error("opened")
					}
					err = refusal(t, m)
				}
				var bad *container.FormatError
				if !errors.As(err, &bad) {
					t.Fatalf("error %v is no FormatError", err)
				}
				if bad.File != path || bad.Tensor != tt.tensor || bad.Key != tt.key || !strings.Contains(bad.Msg, tt.want) {
					t.Errorf("file %q, tensor %q, key %q: %q; want tensor %q, key %q, %q",
						bad.File, bad.Tensor, bad.Key, bad.Msg, tt.tensor, tt.key, tt.want)
				}
			})
		}
	}
}

// refusal is the error of a model's first use, which all ways to use one give,
// and keep giving.
func refusal(t *testing.T, m *models.Model) error {
	t.Helper()
	err := m.Check()
	s := session(t, m, models.SessionOptions{})
	same := func(way string, e error) {
		if e == nil || err == nil || e.Error() != err.Error() {
			t.Errorf("%s gives error %v, and Check %v", way, e, err)
		}
	}
	for range 2 {
		logits, e := s.Prefill(t.Context(), []int{5, 6, 7})
		same("Prefill", e)
		if logits != nil || s.Position() != 0 {
			t.Errorf("Prefill returned %d logits and left the session at %d", len(logits), s.Position())
		}
	}
	same("Start", s.Start([]int{5}))
	for logits, e := range s.Logits([]int{5, 6}) {
		if same("Logits", e); logits != nil {
			t.Error("Logits yielded some")
		}
	}
	if e := m.Close(); e != nil {
		t.Errorf("Close tells again: %v", e)
	}
	return err
}

// Products that are not finite are not the weights' fault if these are: the
// model runs on, and what comes of it is the sampler's to refuse.
func TestOverflowIsNoBadWeight(t *testing.T) {
	x := newFixture(t, preset("tiny"))
	gain := x.data["blk.0.attn_norm.weight"]
	for i := 0; i < len(gain); i += 4 {
		binary.LittleEndian.PutUint32(gain[i:], math.Float32bits(math.MaxFloat32))
	}
	s := session(t, x.open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever, Threads: 1}}), models.SessionOptions{})
	logits, err := s.Prefill(t.Context(), []int{5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	if finite := !slices.ContainsFunc(logits, func(y float32) bool { return y != y }); finite {
		t.Error("the gain did not overflow: this tests nothing")
	}
}

func TestContextLimit(t *testing.T) {
	p := preset("tiny")
	m := newFixture(t, p).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	for _, tt := range []struct {
		opt  models.SessionOptions
		want string
	}{
		{models.SessionOptions{Context: 513}, "a context of 513 tokens is not between 1 and the model's 512"},
		{models.SessionOptions{Context: -1}, "a context of -1 tokens is not between 1 and the model's 512"},
		{models.SessionOptions{Batch: -1}, "a batch of -1 tokens is not positive"},
		{models.SessionOptions{Cache: formats.I2_S}, "keys and values cannot be kept in i2_s (want one of f16, f32, q4_0, q8_0)"},
	} {
		if _, err := m.NewSession(tt.opt); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
	s := session(t, m, models.SessionOptions{Context: 6})
	if s.Context() != 6 {
		t.Errorf("context %d, want 6", s.Context())
	}
	must(s.Prefill(t.Context(), text(4, p.Config.Vocab)))
	_, err := s.Prefill(t.Context(), text(3, p.Config.Vocab))
	if !errors.Is(err, models.ErrContextFull) ||
		err.Error() != "model.gguf: context is full: 4 tokens and 3 more exceed the 6 of this session (the model's limit is 512)" {
		t.Errorf("error %v", err)
	}
	if s.Position() != 4 {
		t.Errorf("a refused prompt left the session at %d tokens, want 4", s.Position())
	}
	// 2 blocks × 2 kv heads × 64 wide × keys and values × 2 bytes.
	if got := s.CacheBytes(); got != 4*2*2*64*2*2 {
		t.Errorf("cache of %d bytes", got)
	}
	// Two tokens fit, the second is drawn after the first has been taken in;
	// the third would have to be.
	var ids []int
	for id, e := range s.Generate(context.Background(), []int{1, 2}, must(models.NewSampler(models.SamplerOptions{}))) {
		if err = e; err != nil {
			break
		}
		ids = append(ids, id)
	}
	if len(ids) != 1 || !errors.Is(err, models.ErrContextFull) {
		t.Errorf("generated %d tokens, then %v", len(ids), err)
	}
}

func TestTokensOutsideTheVocabulary(t *testing.T) {
	m := newFixture(t, preset("tiny")).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	s := session(t, m, models.SessionOptions{})
	for _, ids := range [][]int{{512}, {-1}, {3, 600}, nil} {
		if _, err := s.Prefill(t.Context(), ids); err == nil {
			t.Errorf("tokens %v were accepted", ids)
		}
		for _, err := range s.Logits(ids) {
			if err == nil {
				t.Errorf("tokens %v were accepted", ids)
			}
		}
	}
	if s.Position() != 0 {
		t.Errorf("position %d after refused tokens", s.Position())
	}
}

func TestGenerateStops(t *testing.T) {
	m := newFixture(t, preset("tiny")).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	s := session(t, m, models.SessionOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var ids []int
	var last error
	for id, err := range s.Generate(ctx, []int{1}, must(models.NewSampler(models.SamplerOptions{}))) {
		if last = err; err != nil {
			break
		}
		if ids = append(ids, id); len(ids) == 3 {
			cancel()
		}
	}
	if len(ids) != 3 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d tokens, then %v", len(ids), last)
	}
	if s.Position() != 3 {
		t.Errorf("position %d, want the prompt and two tokens: the third was not wanted", s.Position())
	}
}

// Blocks come in order, and stopping early is fine.
func TestBlocks(t *testing.T) {
	m := newFixture(t, preset("tiny-bitnet")).open(t, models.Options{Engine: cpu.Options{Threads: 1}})
	var got []int
	for i, b := range m.Blocks() {
		got = append(got, i)
		for _, l := range b.Linears() {
			if l.Type != formats.I2_S || l.Bytes() == 0 || l.Variant() == nil {
				t.Errorf("block %d: %s is not ready", i, l.Name)
			}
		}
		if b.AttnSubNorm == nil || b.FFNSubNorm == nil || b.QNorm != nil {
			t.Errorf("block %d has the wrong norms", i)
		}
	}
	if !slices.Equal(got, []int{0, 1}) {
		t.Errorf("blocks %v", got)
	}
	for range m.Blocks() {
		break
	}
}

// Errors of a session at work name the model's file.
func TestSessionErrorsNameTheFile(t *testing.T) {
	x := newFixture(t, preset("tiny"))
	norm := x.data["output_norm.weight"]
	for i := 0; i < len(norm); i += 4 { // finite, and too large for what comes after
		binary.LittleEndian.PutUint32(norm[i:], math.Float32bits(math.MaxFloat32))
	}
	m := x.open(t, models.Options{})
	generate := func(ids []int, context int) error {
		s := session(t, m, models.SessionOptions{Context: context})
		for _, err := range s.Generate(t.Context(), ids, must(models.NewSampler(models.SamplerOptions{}))) {
			return err
		}
		return nil
	}
	if err := generate(text(5, 512), 16); !errors.Is(err, models.ErrNotFinite) || !strings.HasPrefix(err.Error(), "model.gguf: the logits are not finite") {
		t.Errorf("overflow: %v", err)
	}
	if err := generate(text(17, 512), 16); !errors.Is(err, models.ErrContextFull) || !strings.HasPrefix(err.Error(), "model.gguf: context is full") {
		t.Errorf("a full context: %v", err)
	}
}
