package architectures_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/safetensors"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	_ "onebit/models/engine/cpu"
	"onebit/models/forward"
	"onebit/models/source"
	"onebit/models/synth"
	"onebit/models/tokenizer"
)

var toy = forward.Register(newToy())

// What a new architecture takes: this, in one file. Its block is
// attention and a single matrix behind a norm that no other architecture has.
func newToy() *forward.Architecture {
	return &forward.Architecture{Table: arch.Table{
		Name:    "toy",
		Summary: "an architecture for tests",
		Types: map[arch.Role]*formats.Type{
			arch.Norm: formats.F32, arch.Embedding: formats.F16, arch.Head: formats.F16, arch.Projection: formats.F16,
		},
		Keys: []string{
			arch.KeyBlockCount, arch.KeyContextLength, arch.KeyEmbeddingLength, arch.KeyFeedForwardLength,
			arch.KeyHeadCount, arch.KeyHeadCountKV, arch.KeyRMSEpsilon, arch.KeyRopeFreqBase,
		},
		Global: []arch.Declaration{
			arch.Matrix("token_embd", arch.Embedding, arch.Vocab, arch.Hidden),
			arch.Vector("output_norm", arch.Norm, arch.Hidden),
			arch.Matrix("output", arch.Head, arch.Vocab, arch.Hidden),
		},
		Block: []arch.Declaration{
			arch.Vector("attn_norm", arch.Norm, arch.Hidden),
			arch.Matrix("attn_q", arch.Projection, arch.Query, arch.Hidden),
			arch.Matrix("attn_k", arch.Projection, arch.KV, arch.Hidden),
			arch.Matrix("attn_v", arch.Projection, arch.KV, arch.Hidden),
			arch.Matrix("attn_output", arch.Projection, arch.Hidden, arch.Query),
			arch.Vector("mix_norm", arch.Norm, arch.Hidden),
			arch.Matrix("mix", arch.Projection, arch.Hidden, arch.Hidden),
		},
		Text: arch.Text{IgnoreTemplate: true, Chat: &arch.Chat{
			Name: "toy", About: "> … <", Marks: []string{"toytoy"},
			Turns: map[string]arch.Turn{arch.User: {Before: "> ", After: "\n", Content: strings.ToLower}},
			Reply: "< ",
		}},
		Classes: []arch.Class{{
			Name: "ToyForCausalLM", Context: 64, Eps: 1e-5, RopeBase: 1e4,
			Names: map[string][]string{"mix_norm": {"mixer.norm"}, "mix": {"mixer.proj"}},
		}},
		Presets: []*arch.Preset{{
			Name: "tiny-toy", Summary: "a toy", ModelName: "toy", Tokenizer: "qwen2",
			Config: arch.Config{
				Layers: 2, Hidden: 64, FFN: 64, Heads: 4, KVHeads: 2, HeadDim: 16,
				Vocab: 300, Context: 64, RopeBase: 1e4, Eps: 1e-5, TiedHead: true,
			},
		}},
	}, Forward: func(b *forward.Block, p *forward.Pass) {
		p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
		p.Multiply("attn_qkv", p.H, b.Q.To(p.Q), b.K.To(p.K), b.V.To(p.V))
		p.Rotate("rope", p.Q, p.K)
		p.Attend("attn")
		p.Multiply("attn_output", p.Att, b.Output.To(p.H))
		p.Add("attn_residual", p.X, p.H)
		p.Norm("mix_norm", p.H, p.X, b.Gain("mix_norm"))
		p.Multiply("mix", p.H, b.Linear("mix").To(p.Q))
		p.Add("mix_residual", p.X, p.Q)
	}}
}

// A new architecture is one file: with the one above, a preset is written, opened,
// told its text and run, and a checkpoint of the same weights gives the same
// logits.
func TestNewArchitecture(t *testing.T) {

	preset, err := arch.LookupPreset("tiny-toy")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := synth.Write(&file, preset, 1); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "toy.gguf")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m := openToy(t, path)
	if m.Arch != toy || m.Config != preset.Config {
		t.Errorf("%s with %+v", m.Arch.Name, m.Config)
	}
	ids := toyPrompt(t, m)
	var ops operationNames
	logits := toyLogits(t, m, ids, &ops)
	block := []string{"attn_norm", "attn_qkv", "rope", "attn", "attn_output", "attn_residual", "mix_norm", "mix", "mix_residual"}
	if want := slices.Concat([]string{"token_embd"}, block, block, []string{"output_norm", "output"}); !slices.Equal(ops, want) {
		t.Errorf("operations %q, want %q", ops, want)
	}
	if generated := toyReply(t, m, ids); len(generated) != 8 {
		t.Errorf("tokens %v", generated)
	}

	writeToyCheckpoint(t, dir, m.Source())
	checkpoint := openToy(t, dir)
	if checkpoint.Arch != toy || checkpoint.Config != preset.Config {
		t.Errorf("the checkpoint is %s with %+v", checkpoint.Arch.Name, checkpoint.Config)
	}
	if got := toyLogits(t, checkpoint, ids, nil); !slices.Equal(got, logits) {
		t.Error("the checkpoint has other logits")
	}
}

func openToy(t *testing.T, path string) *models.Model {
	t.Helper()
	m, err := models.Open(context.Background(), path, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// toyPrompt lays out a conversation in the model's own way.
func toyPrompt(t *testing.T, m *models.Model) []int {
	t.Helper()
	words, err := m.Source().Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	chat, err := words.Chat(arch.Chats())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := tokenizer.Prompt(chat, tokenizer.Message{Role: arch.User, Content: "Hello"})
	if err != nil {
		t.Fatal(err)
	}
	ids := words.EncodeParts(parts)
	if text := words.Decode(ids); text != "> hello\n< " {
		t.Errorf("the prompt is %q", text)
	}
	return ids
}

// operationNames are those that it observes.
type operationNames []string

func (o *operationNames) Observe(op engine.Op) { *o = append(*o, op.Name) }

func toyLogits(t *testing.T, m *models.Model, ids []int, o engine.Observer) []float32 {
	t.Helper()
	s, err := m.NewSession(models.SessionOptions{Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	logits, err := s.Prefill(context.Background(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(logits)
}

func toyReply(t *testing.T, m *models.Model, ids []int) []int {
	t.Helper()
	s, err := m.NewSession(models.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sampler, err := models.NewSampler(models.SamplerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for id, err := range s.Generate(context.Background(), ids, sampler) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, id); len(out) == 8 {
			break
		}
	}
	return out
}

// writeToyCheckpoint writes a source's tensors under the names that they have at
// Hugging Face.
func writeToyCheckpoint(t *testing.T, dir string, src source.Source) {
	t.Helper()
	names := strings.NewReplacer("token_embd", "model.embed_tokens", "output_norm", "model.norm", "blk.", "model.layers.",
		"attn_norm", "input_layernorm", "attn_q", "self_attn.q_proj", "attn_k", "self_attn.k_proj", "attn_v", "self_attn.v_proj",
		"attn_output", "self_attn.o_proj", "mix_norm", "mixer.norm", "mix", "mixer.proj")
	var tensors []safetensors.Tensor
	for _, info := range src.Tensors() {
		tensor, err := src.Tensor(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, safetensors.Tensor{
			Name: names.Replace(info.Name), DType: strings.ToUpper(tensor.Type.Name), Shape: tensor.Shape, Data: tensor.Data,
		})
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{
		"architectures": []string{"ToyForCausalLM"}, "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 64,
		"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 300, "tie_word_embeddings": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(safetensors.Write(f, tensors), f.Close(), os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600)); err != nil {
		t.Fatal(err)
	}
}
