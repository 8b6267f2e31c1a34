package models_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/source"
	"onebit/models/synth"
)

// A fixture is a GGUF file in the making: a synthetic tiny model that a test
// changes before it is written.
type fixture struct {
	meta    []container.KV
	tensors []container.TensorInfo
	data    map[string][]byte
}

// preset returns one of the tiny presets, made smaller still. The widths of
// qwen3's heads do not add up to the hidden size.
func preset(name string) *arch.Preset {
	p := *must(arch.LookupPreset(name))
	p.Config.Hidden, p.Config.FFN = 128, 256
	if name == "tiny-bitnet" {
		p.Config.Heads, p.Config.KVHeads = 2, 1
	}
	return &p
}

// tiny1bitLLM is like 1bitLLM's models: SiLU, no grouped heads.
func tiny1bitLLM() *arch.Preset {
	p := preset("tiny-bitnet")
	p.Name, p.Tokenizer = "tiny-1bitllm", "sentencepiece"
	p.Table = must(arch.Lookup("bitnet"))
	p.Config.Arch, p.Config.Heads, p.Config.KVHeads, p.Config.HeadDim = "bitnet", 4, 4, 32
	return p
}

// tinyUntied has a head of its own, and three query heads to a key head.
func tinyUntied() *arch.Preset {
	p := preset("tiny")
	p.Name = "tiny-untied"
	p.Config.TiedHead, p.Config.HeadDim, p.Config.Heads, p.Config.KVHeads = false, 128, 3, 1
	return p
}

// smallPresets are those of every architecture that tests run.
func smallPresets() []*arch.Preset {
	return slices.DeleteFunc(arch.Presets(), func(p *arch.Preset) bool { return p.Config.Hidden > 512 })
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// synthesized are the small presets' files, which many tests begin with.
var synthesized sync.Map

// synthesize returns a preset's file, to be read only.
func synthesize(t testing.TB, p *arch.Preset) *gguf.File {
	t.Helper()
	key := fmt.Sprintf("%+v", *p)
	if f, ok := synthesized.Load(key); ok {
		return f.(*gguf.File)
	}
	size := 64 << 10 // of metadata
	for _, spec := range p.Tensors() {
		size += must(spec.Bytes())
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	if err := synth.Write(b, p, 1); err != nil {
		t.Fatal(err)
	}
	f := must(gguf.Parse(b.Bytes(), p.Name, gguf.Options{}))
	if size < 8<<20 {
		synthesized.Store(key, f)
	}
	return f
}

func newFixture(t testing.TB, p *arch.Preset) *fixture {
	t.Helper()
	f := synthesize(t, p)
	x := &fixture{meta: slices.Clone(f.Metadata()), tensors: slices.Clone(f.Tensors()), data: map[string][]byte{}}
	for _, info := range f.Tensors() {
		x.data[info.Name] = slices.Clone(must(f.Raw(info.Name)))
	}
	return x
}

func (x *fixture) set(key string, v container.Value) {
	x.meta = slices.DeleteFunc(x.meta, func(kv container.KV) bool { return kv.Key == key })
	x.meta = append(x.meta, container.KV{Key: key, Value: v})
}

func (x *fixture) unset(key string) {
	x.meta = slices.DeleteFunc(x.meta, func(kv container.KV) bool { return kv.Key == key })
}

func (x *fixture) remove(name string) {
	x.tensors = slices.DeleteFunc(x.tensors, func(t container.TensorInfo) bool { return t.Name == name })
}

// put adds a tensor, or replaces it. Without data it is zero.
func (x *fixture) put(t testing.TB, name string, typ *formats.Type, data []byte, shape ...int) {
	t.Helper()
	if data == nil {
		data = make([]byte, must(typ.Bytes(formats.Dims(shape))))
	}
	x.remove(name)
	x.tensors = append(x.tensors, container.TensorInfo{Name: name, Type: typ, Shape: shape})
	x.data[name] = data
}

// requantize brings a tensor into another format.
func (x *fixture) requantize(t testing.TB, name string, to *formats.Type) {
	t.Helper()
	i := slices.IndexFunc(x.tensors, func(t container.TensorInfo) bool { return t.Name == name })
	info := x.tensors[i]
	tensor := formats.Tensor{Name: name, Type: info.Type, Shape: info.Shape, Data: x.data[name]}
	rows, cols := tensor.Dims()
	data := make([]byte, must(to.Bytes(rows, cols)))
	if err := to.Matrix(data, rows, cols).Quantize(must(tensor.Floats())); err != nil {
		t.Fatal(err)
	}
	x.put(t, name, to, data, info.Shape...)
}

// bytes writes the file.
func (x *fixture) bytes(t testing.TB) []byte {
	t.Helper()
	size := 64 << 10 // of metadata
	for _, data := range x.data {
		size += len(data)
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	w, err := gguf.NewWriter(b, x.meta, x.tensors)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range x.tensors {
		if err := w.WriteTensor(info.Name, x.data[info.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file parses it in memory.
func (x *fixture) file(t testing.TB) *gguf.File {
	t.Helper()
	return must(gguf.Parse(x.bytes(t), "model.gguf", gguf.Options{}))
}

// path puts it on disk.
func (x *fixture) path(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, x.bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refused checks that it makes no model, and that the error says all of these.
func (x *fixture) refused(t testing.TB, name string, wants ...string) {
	t.Helper()
	m, err := models.Load(t.Context(), source.FromGGUF(x.file(t)), models.Options{})
	if err == nil {
		m.Close()
	}
	for _, want := range wants {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

// open makes a model of it that the test's end closes.
func (x *fixture) open(t testing.TB, opt models.Options) *models.Model {
	t.Helper()
	m, err := models.Load(t.Context(), source.FromGGUF(x.file(t)), opt)
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

func session(t testing.TB, m *models.Model, opt models.SessionOptions) *models.Session {
	t.Helper()
	s, err := m.NewSession(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sameEverywhere skips, in a short run, what is the same code on every machine and
// shares nothing between threads that other tests don't.
func sameEverywhere(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a short run leaves out what is the same everywhere")
	}
}

// text is n tokens that differ.
func text(n, vocab int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = (i*i*7 + 3*i + 1) % vocab
	}
	return ids
}
