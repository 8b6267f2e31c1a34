package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/require"
	"onebit/models/arch"
	"onebit/models/synth"
)

// inspect says of every generation of Prism's files who reads it, and of others
// nothing.
func TestInspectGenerations(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	for _, tt := range []struct {
		preset string
		typ    *formats.Type // of matrices; nil: the preset's
		block  int           // of the rotation; 0: it is not rotated
		set    *container.KV // changed in the file
		want   string        // "": no line
	}{
		{"tiny-qwen35", nil, 0, nil, "type 41: onebit, PrismML-Eng/llama.cpp and ggml-org/llama.cpp read it"},
		{"tiny-qwen35", formats.Q2_0, 0, nil, "type 42 in blocks of 64: onebit, PrismML-Eng/llama.cpp and ggml-org/llama.cpp read it"},
		{"tiny-qwen35", formats.Q2_0_g128, 0, nil,
			"legacy, type 42 in blocks of 128: onebit reads it, PrismML-Eng/llama.cpp no longer, and ggml-org/llama.cpp takes it for blocks of 64"},
		{"tiny-qwen35", formats.PQ2_0, 0, nil, "Prism's types 142 and 143, not rotated: onebit and PrismML-Eng/llama.cpp read it, ggml-org/llama.cpp does not"},
		{"tiny-qwen35", formats.PTQ1_0, 0, nil, "Prism's types 142 and 143, not rotated: onebit and PrismML-Eng/llama.cpp read it, ggml-org/llama.cpp does not"},
		{"tiny-qwen35", formats.PQ2_0, 128, nil,
			"Bonsai 2, rotated (14 layers in blocks of 128): onebit and PrismML-Eng/llama.cpp of September 2026 read it, ggml-org/llama.cpp does not"},
		{"tiny-qwen35", formats.PTQ1_0, 64, nil,
			"Bonsai 2, rotated (14 layers in blocks of 64): onebit and PrismML-Eng/llama.cpp of September 2026 read it, ggml-org/llama.cpp does not"},
		{"tiny-qwen35", formats.Q2_0, 128, nil,
			"rotated (14 layers in blocks of 128): onebit and PrismML-Eng/llama.cpp of September 2026 read it, ggml-org/llama.cpp loads it and gives nonsense"},
		{"tiny-qwen35", nil, 128, nil,
			"rotated (14 layers in blocks of 128): onebit and PrismML-Eng/llama.cpp of September 2026 read it, ggml-org/llama.cpp loads it and gives nonsense"},
		{"tiny-qwen35", formats.PQ2_0, 128, &container.KV{Key: "prism.hadamard.version", Value: container.Of(uint32(3))},
			`rotated, and not as it should be: FILE: key "prism.hadamard.version": 3 is unknown (known: 1, 2)`},
		{"tiny", nil, 0, nil, "type 41: onebit, PrismML-Eng/llama.cpp and ggml-org/llama.cpp read it"},
		{"tiny-bitnet", nil, 0, nil, ""},
	} {
		p, err := arch.LookupPreset(tt.preset)
		if err != nil {
			t.Fatal(err)
		}
		changed := *p
		if changed.Rotation = tt.block; tt.typ != nil {
			changed.Types = map[arch.Role]*formats.Type{arch.Embedding: formats.PQ2_0, arch.Projection: formats.PQ2_0, arch.Control: formats.BF16}
		}
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, altered(t, &changed, tt.typ, tt.set), 0o600); err != nil {
			t.Fatal(err)
		}
		tt.want = strings.ReplaceAll(tt.want, "FILE", path)
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), nil, &stdout, &stderr, []string{"inspect", path, "--json"}); code != 0 {
			t.Fatalf("exit %d: %s", code, &stderr)
		}
		var said struct{ Readers string }
		if err := json.Unmarshal(stdout.Bytes(), &said); err != nil {
			t.Fatal(err)
		}
		if said.Readers != tt.want {
			t.Errorf("%s, rotated by %d:\n%q\nwant\n%q", tt.preset, tt.block, said.Readers, tt.want)
		}
		stdout.Reset()
		run(t.Context(), nil, &stdout, &stderr, []string{"inspect", path})
		if line := "\ngeneration"; strings.Contains(stdout.String(), line) != (tt.want != "") || !strings.Contains(stdout.String(), tt.want) {
			t.Errorf("%s, rotated by %d: no line of %q in\n%s", tt.preset, tt.block, tt.want, &stdout)
		}
	}
}

// altered is a preset's file with the tensors that are in pq2_0 in another format, and a
// key's other value.
func altered(t *testing.T, p *arch.Preset, to *formats.Type, kv *container.KV) []byte {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var b, out bytes.Buffer
	check(synth.Write(&b, p, 1))
	f, err := gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	check(err)
	meta, tensors := slices.Clone(f.Metadata()), slices.Clone(f.Tensors())
	for i := range meta {
		if kv != nil && meta[i].Key == kv.Key {
			meta[i] = *kv
		}
	}
	for i := range tensors {
		if tensors[i].Type == formats.PQ2_0 && to != nil {
			tensors[i].Type = to
		}
	}
	w, err := gguf.NewWriter(&out, meta, tensors)
	check(err)
	for _, info := range tensors {
		tensor, err := f.Tensor(info.Name)
		check(err)
		x, err := tensor.Floats()
		check(err)
		rows, cols := tensor.Dims()
		size, err := info.Type.Bytes(rows, cols)
		check(err)
		data := make([]byte, size)
		check(info.Type.Matrix(data, rows, cols).Quantize(x))
		check(w.WriteTensor(info.Name, data))
	}
	check(w.Close())
	return out.Bytes()
}
