package models_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/cellm"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/source"
)

// writeCellm writes a file of the tiny model's tensors, which are zero, with a
// header that was changed.
func writeCellm(t *testing.T, c arch.Config, change func(h *cellm.Header, tensors *[]container.TensorInfo)) string {
	t.Helper()
	table := must(arch.Lookup("qwen3"))
	var tensors []container.TensorInfo
	for _, s := range table.Tensors(c) {
		if s.Role == arch.Norm {
			s.Type = formats.F16
		}
		tensors = append(tensors, container.TensorInfo{Name: s.Name, Type: s.Type, Shape: s.Shape})
	}
	var b bytes.Buffer
	w, err := source.NewCellm(&b, table, c, nil, tensors)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, w)
	if change != nil {
		f, err := cellm.Parse(b.Bytes(), "tiny")
		if err != nil {
			t.Fatal(err)
		}
		h, tensors := f.Header, f.Tensors()
		change(&h, &tensors)
		var changed bytes.Buffer
		if w, err = cellm.NewWriter(&changed, h, tensors); err != nil {
			t.Fatal(err)
		}
		finish(t, w)
		b = changed
	}
	path := filepath.Join(t.TempDir(), "tiny.cellm")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// finish writes zeros.
func finish(t *testing.T, w *container.Writer) {
	t.Helper()
	for {
		info, err := w.Next()
		if err != nil {
			break
		}
		if _, err := w.Write(make([]byte, info.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A configuration comes back as it was, with what the original loses: the width
// of heads, and a stretched RoPE.
func TestCellmConfig(t *testing.T) {
	base := must(arch.LookupPreset("tiny")).Config
	wide, yarn, linear, untied := base, base, base, base
	wide.HeadDim = 128
	yarn.RopeScaling = arch.RopeScaling{Type: "yarn", Factor: 4.1, OriginalContext: 32768}
	linear.RopeScaling = arch.RopeScaling{Type: "linear", Factor: 2}
	untied.TiedHead = false
	for _, want := range []arch.Config{base, wide, yarn, linear, untied} {
		src := must(source.Open(writeCellm(t, want, nil), gguf.Options{}))
		defer src.Close()
		table, got, err := src.Config()
		if err != nil || got != want || len(table.CheckInventory(got, src.Tensors())) > 0 {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

// Files of the original's converter say neither how wide heads are nor, mostly,
// whether the head is tied: their tensors do. The longest context may be missing too;
// it is then the one of Hugging Face's class.
func TestCellmOfTheOriginal(t *testing.T) {
	for _, tied := range []bool{true, false} {
		want := must(arch.LookupPreset("tiny")).Config
		want.HeadDim, want.TiedHead, want.Context = 96, tied, must(arch.Lookup("qwen3")).Classes[0].Context
		path := writeCellm(t, want, func(h *cellm.Header, _ *[]container.TensorInfo) { h.HeadDim, h.Tied, h.MaxPositions = nil, nil, nil })
		src := must(source.Open(path, gguf.Options{}))
		defer src.Close()
		if _, got, err := src.Config(); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

func TestCellmRefused(t *testing.T) {
	zero, odd := uint32(0), uint32(63)
	for _, tt := range []struct {
		name      string
		change    func(h *cellm.Header, tensors *[]container.TensorInfo)
		key, want string
	}{
		{"another architecture", func(h *cellm.Header, _ *[]container.TensorInfo) { h.ModelType = "gemma4" }, "model_type", `"gemma4" is an architecture that onebit does not read from .cellm (known: qwen3)`},
		{"empty context", func(h *cellm.Header, _ *[]container.TensorInfo) { h.MaxPositions = &zero }, "max_position_embeddings", "0 is not positive"},
		{"no heads", func(h *cellm.Header, _ *[]container.TensorInfo) { h.NumHeads = 0 }, "num_heads", "0 is not between"},
		{"odd heads", func(h *cellm.Header, _ *[]container.TensorInfo) { h.HeadDim = &odd }, "head_dim", "heads are 63 wide"},
		{"heads that do not share", func(h *cellm.Header, _ *[]container.TensorInfo) { h.NumKVHeads = 3 }, "num_kv_heads", "cannot be shared"},
		{"blocks beyond the tensors", func(h *cellm.Header, _ *[]container.TensorInfo) { h.NumLayers = 1 << 19 }, "num_layers", "524288 blocks, and the file has 24 tensors"},
		{"absurd count", func(h *cellm.Header, _ *[]container.TensorInfo) { h.HiddenDim = 1<<32 - 1 }, "hidden_dim", "is not between"},
		{"no epsilon", func(h *cellm.Header, _ *[]container.TensorInfo) { h.RMSNormEps = 0 }, "rms_norm_eps", "is not between 0 and 1"},
		{"negative theta", func(h *cellm.Header, _ *[]container.TensorInfo) { h.RopeTheta = -1 }, "rope_theta", "is not positive"},
		{"unknown scaling", func(h *cellm.Header, _ *[]container.TensorInfo) {
			h.RopeScaling = &cellm.RopeScaling{Type: "dynamic", Factor: 2}
		}, "rope_scaling", `"dynamic" is unknown`},
	} {
		path := writeCellm(t, must(arch.LookupPreset("tiny")).Config, tt.change)
		_, err := source.Open(path, gguf.Options{})
		var bad *container.FormatError
		if !errors.As(err, &bad) || bad.File != path || bad.Key != tt.key || !strings.Contains(bad.Msg, tt.want) {
			t.Errorf("%s: %v, want one about %s: %s", tt.name, err, tt.key, tt.want)
		}
	}
	// GGUF's names are not the container's: two tensors would be one.
	path := writeCellm(t, must(arch.LookupPreset("tiny")).Config, func(_ *cellm.Header, tensors *[]container.TensorInfo) {
		*tensors = append(slices.Clone(*tensors), container.TensorInfo{Name: "output_norm.weight", Type: formats.F16, Shape: []int{256}})
	})
	var bad *container.FormatError
	if _, err := source.Open(path, gguf.Options{}); !errors.As(err, &bad) || bad.Tensor != "output_norm.weight" || !strings.Contains(bad.Msg, "has GGUF's name; .cellm calls it model.norm.weight") {
		t.Errorf("%v, want one about output_norm.weight", err)
	}
	// Tensors that are not the model's are found on loading, under their own names.
	path = writeCellm(t, must(arch.LookupPreset("tiny")).Config, func(_ *cellm.Header, tensors *[]container.TensorInfo) { *tensors = (*tensors)[1:] })
	if _, err := models.Open(t.Context(), path, models.Options{}); !errors.As(err, &bad) || bad.Tensor != "model.embed_tokens.weight" || !strings.Contains(bad.Msg, "missing") {
		t.Errorf("%v, want one about the embedding", err)
	}
}
