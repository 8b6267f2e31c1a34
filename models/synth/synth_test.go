package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/source"
)

func preset(t *testing.T, name string) *arch.Preset {
	t.Helper()
	p, err := arch.LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, p *arch.Preset, seed uint64) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p, seed); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), p.Name, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is written reads back as the model that it is of.
func TestWriteReadsBack(t *testing.T) {
	for _, name := range []string{"tiny", "tiny-bitnet"} {
		t.Run(name, func(t *testing.T) {
			p := preset(t, name)
			f := write(t, p, 1)
			a, c, err := source.ConfigFromGGUF(f)
			if err != nil {
				t.Fatal(err)
			}
			if c != p.Config {
				t.Errorf("config %+v, want %+v", c, p.Config)
			}
			if bad := a.CheckInventory(c, f.Tensors()); len(bad) > 0 {
				t.Errorf("inventory: %v", bad)
			}
			for i, want := range p.Tensors() {
				got := f.Tensors()[i]
				if got.Name != want.Name || got.Type != want.Type {
					t.Errorf("tensor %d is %s of %s, want %s of %s", i, got.Name, got.TypeName, want.Name, want.Type.Name)
				}
				tensor, err := f.Tensor(got.Name)
				if err != nil {
					t.Fatal(err)
				}
				if err := tensor.Matrix().Validate(); err != nil {
					t.Errorf("tensor %s: %v", got.Name, err)
				}
			}
		})
	}
}

// The bytes follow from preset and seed. The digest changes only with the
// generator, which breaks comparisons with files already written: say so in
// the commit.
func TestWriteIsReproducible(t *testing.T) {
	for name, want := range map[string]string{
		"tiny":        "08029ac04dce7bb341d59f9457ef572768e0afbcc912cc5297d0499904bd2a45",
		"tiny-bitnet": "bbc27503cd35c74192119eb999e98408c13f4e660440526d72b3570f0e20cab8",
	} {
		sum := sha256.New()
		if err := Write(sum, preset(t, name), 1); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != want {
			t.Errorf("%s: SHA-256 %s, want %s", name, got, want)
		}
	}
}

// Every real preset's metadata keys; the values of size are in
// TestVocabularies.
func TestMetadataKeys(t *testing.T) {
	general := "general.architecture general.description general.file_type general.name general.quantization_version "
	tests := map[string]string{
		"bonsai-1.7b": general +
			"qwen3.attention.head_count qwen3.attention.head_count_kv qwen3.attention.key_length " +
			"qwen3.attention.layer_norm_rms_epsilon qwen3.attention.value_length qwen3.block_count qwen3.context_length " +
			"qwen3.embedding_length qwen3.feed_forward_length qwen3.rope.freq_base " +
			"tokenizer.chat_template tokenizer.ggml.add_bos_token tokenizer.ggml.bos_token_id tokenizer.ggml.eos_token_id " +
			"tokenizer.ggml.merges tokenizer.ggml.model tokenizer.ggml.padding_token_id tokenizer.ggml.pre " +
			"tokenizer.ggml.token_type tokenizer.ggml.tokens",
		// The 24 keys of the official file, and general.description.
		"bitnet-2b-4t": "bitnet-b1.58.attention.head_count bitnet-b1.58.attention.head_count_kv " +
			"bitnet-b1.58.attention.layer_norm_rms_epsilon bitnet-b1.58.block_count bitnet-b1.58.context_length " +
			"bitnet-b1.58.embedding_length bitnet-b1.58.feed_forward_length bitnet-b1.58.rope.dimension_count " +
			"bitnet-b1.58.rope.freq_base bitnet-b1.58.vocab_size " + general +
			"tokenizer.chat_template tokenizer.ggml.add_bos_token tokenizer.ggml.bos_token_id tokenizer.ggml.eos_token_id " +
			"tokenizer.ggml.merges tokenizer.ggml.model tokenizer.ggml.padding_token_id tokenizer.ggml.scores " +
			"tokenizer.ggml.token_type tokenizer.ggml.tokens",
	}
	for name, want := range tests {
		meta, err := metadata(preset(t, name), 1)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, kv := range meta {
			keys = append(keys, kv.Key)
		}
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestSpecialIDs(t *testing.T) {
	tests := []struct {
		preset string
		ids    map[string]string
	}{
		{"bonsai-1.7b", map[string]string{keyBOS: "<|endoftext|>", keyEOS: "<|im_end|>", keyPadding: "<|endoftext|>"}},
		{"bitnet-2b-4t", map[string]string{keyBOS: "<|begin_of_text|>", keyEOS: "<|end_of_text|>", keyPadding: "<|end_of_text|>"}},
		{"bitnet-large", map[string]string{keyBOS: "<s>", keyEOS: "</s>", keyUnknown: "<unk>", keyPadding: "<pad>"}},
		{"tiny", map[string]string{keyBOS: "<|endoftext|>", keyEOS: "<|im_end|>", keyPadding: "<|endoftext|>"}},
	}
	for _, tt := range tests {
		values := map[string]container.Value{}
		for _, kv := range tokenizers[preset(t, tt.preset).Tokenizer](preset(t, tt.preset).Config.Vocab) {
			values[kv.Key] = kv.Value
		}
		tokens, err := values[keyTokens].Strings()
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range tt.ids {
			n, err := values[key].Uint()
			if err != nil {
				t.Fatal(err)
			}
			if got := tokens[n]; got != want {
				t.Errorf("%s: %s is %d, %q, want %q", tt.preset, key, n, got, want)
			}
		}
	}
}

// A peakWriter counts bytes and remembers how large the heap was.
type peakWriter struct{ size, peak uint64 }

func (w *peakWriter) Write(p []byte) (int, error) {
	w.size += uint64(len(p))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.peak = max(w.peak, m.HeapAlloc)
	return len(p), nil
}

// Writing needs memory for a chunk, not for the model nor for a tensor.
func TestWriteStreams(t *testing.T) {
	const limit = 16 << 20
	p := *preset(t, "tiny")
	p.Config.Hidden, p.Config.FFN, p.Config.Layers = 2048, 128<<10, 2
	runtime.GC()
	w := &peakWriter{}
	if err := Write(w, &p, 1); err != nil {
		t.Fatal(err)
	}
	if w.size < 10*limit {
		t.Errorf("wrote %d bytes, too few to show anything", w.size)
	}
	if w.peak > limit {
		t.Errorf("heap grew to %d bytes while %d were written, want at most %d", w.peak, w.size, limit)
	}
}

type fullWriter struct{ left int }

var errFull = errors.New("no space left on device")

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriteReportsFullDisk(t *testing.T) {
	for _, left := range []int{0, 100, 50_000, 200_000} {
		if err := Write(&fullWriter{left}, preset(t, "tiny"), 1); !errors.Is(err, errFull) {
			t.Errorf("with %d bytes of room: error %v, want %v", left, err, errFull)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	p := *preset(t, "tiny")
	p.Tokenizer = "words"
	err := Write(io.Discard, &p, 1)
	if want := `preset tiny: no tokenizer "words" can be synthesized`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Every preset can be written: sizes against those of the real files are in
// package models.
func TestEveryPresetHasGenerators(t *testing.T) {
	for _, p := range arch.Presets() {
		if tokenizers[p.Tokenizer] == nil {
			t.Errorf("%s: no tokenizer %q", p.Name, p.Tokenizer)
		}
		for _, spec := range p.Tensors() {
			_, cols := spec.Dims()
			if _, ok := generatorOf(spec.Type, cols); !ok {
				t.Errorf("%s: tensor %s: no generator for %s", p.Name, spec.Name, spec.Type.Name)
			}
		}
	}
}

func TestMade(t *testing.T) {
	if !Made(write(t, preset(t, "tiny"), 1).Metadata()) {
		t.Error("a model that Write made is not known as one")
	}
	of := func(key, value string) []container.KV { return []container.KV{{Key: key, Value: container.Of(value)}} }
	if Made(nil) || Made(of("general.description", "a model")) || Made(of("general.name", "random weights and a made-up vocabulary")) {
		t.Error("a model that Write did not make")
	}
}
