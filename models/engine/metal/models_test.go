package metal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/internal/require"
	"onebit/metal/softmetal/frameworks"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/metal"
	"onebit/models/lockstep"
	"onebit/models/modeltest"
	"onebit/models/source"
	"onebit/models/synth"
)

// file is a small synthetic model.
func file(t *testing.T, preset string) *gguf.File {
	t.Helper()
	p, err := arch.LookupPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := synth.Write(&b, p, 1); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), preset+".gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// generate returns the tokens that follow a prompt.
func generate(t *testing.T, f *gguf.File, opt models.Options, cache *formats.Type, sampling models.SamplerOptions, n int) (ids []int) {
	t.Helper()
	m, err := models.Load(t.Context(), source.FromGGUF(f), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Engine().Close()
	s, err := m.NewSession(models.SessionOptions{Context: 64, Batch: 4, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sampler, err := models.NewSampler(sampling)
	if err != nil {
		t.Fatal(err)
	}
	for id, err := range s.Generate(t.Context(), []int{1, 2, 3, 5, 8}, sampler) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, id); len(ids) == n {
			break
		}
	}
	return ids
}

// The tiny model of every architecture says what it says on the CPU engine,
// also where a few of its likeliest tokens are drawn from, or keys and values are
// in q8_0, for which the CPU engine rounds queries too: too little for other tokens to
// be the likeliest, but not for a router to choose other experts.
func TestSameText(t *testing.T) {
	type text struct {
		preset   string
		cache    *formats.Type
		sampling models.SamplerOptions
	}
	var texts []text
	for _, p := range arch.Presets() {
		if !strings.HasPrefix(p.Name, "tiny") {
			continue
		}
		texts = append(texts, text{p.Name, formats.F16, models.SamplerOptions{Temperature: 0.7, TopK: 10, Seed: 1}})
		if p.Config.Experts.Count == 0 {
			texts = append(texts, text{p.Name, formats.Q8_0, models.SamplerOptions{}})
		}
	}
	d := device(t)
	for _, c := range require.Draw(t, 8, texts) {
		t.Run(c.preset+"/"+c.cache.Name, func(t *testing.T) {
			const n = 4
			f := file(t, c.preset)
			want := generate(t, f, models.Options{}, c.cache, c.sampling, n)
			got := generate(t, f, models.Options{Engine: metal.Options{Device: d}}, c.cache, c.sampling, n)
			if !slices.Equal(got, want) {
				t.Errorf("%+v: tokens %v, want %v", c.sampling, got, want)
			}
		})
	}
}

// prefill returns the logits after three tokens, and what multiplied the projections.
// loaded is called when weights are there, and no token is.
func prefill(t *testing.T, f *gguf.File, opt metal.Options, loaded func()) ([]float32, []string) {
	t.Helper()
	m, err := models.Load(t.Context(), source.FromGGUF(f), models.Options{Engine: opt})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Engine().Close()
	loaded()
	s, err := m.NewSession(models.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Prefill(t.Context(), []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	var kernels []string
	for _, b := range m.Blocks() {
		for _, l := range b.Linears() {
			kernels = append(kernels, l.Kernel())
		}
	}
	return slices.Clone(x), kernels
}

// A watched engine keeps its last stream.
type watched struct {
	engine.Engine
	stream engine.Stream
}

func (w *watched) NewStream(opt engine.StreamOptions) (s engine.Stream, err error) {
	w.stream, err = w.Engine.NewStream(opt)
	return w.stream, err
}

// watchedOptions open engines that are watched.
type watchedOptions struct{ metal.Options }

func (o watchedOptions) Open(src engine.Source) (engine.Engine, error) {
	e, err := o.Options.Open(src)
	return &watched{Engine: e}, err
}

// A token is one command buffer. What does not need each other has no barrier between:
// the projections of a block, keys and values, queries and keys.
func TestEncoded(t *testing.T) {
	d := device(t)
	m, err := models.Load(t.Context(), source.FromGGUF(file(t, "tiny")), models.Options{Engine: watchedOptions{metal.Options{Device: d}}})
	if err != nil {
		t.Fatal(err)
	}
	w := m.Engine().(*watched)
	defer m.Engine().Close()
	s, err := m.NewSession(models.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts := func() metal.Counts { return w.stream.(interface{ Encoded() metal.Counts }).Encoded() }
	if _, err := s.Prefill(t.Context(), []int{1}); err != nil {
		t.Fatal(err)
	}
	before := counts()
	if _, err := s.Prefill(t.Context(), []int{2}); err != nil {
		t.Fatal(err)
	}
	after := counts()
	got := metal.Counts{
		CommandBuffers: after.CommandBuffers - before.CommandBuffers, Dispatches: after.Dispatches - before.Dispatches, Barriers: after.Barriers - before.Barriers,
	}
	if want := (metal.Counts{CommandBuffers: 1, Dispatches: 50, Barriers: 37}); got != want {
		t.Errorf("a token takes %+v, want %+v", got, want)
	}
}

// Where simdgroups have other than 32 threads, the kernels multiply that do not rely on
// it, and give the same bits. Attention takes any multiple of eight.
func TestOtherSimdgroups(t *testing.T) {
	d, lib := faulty(t)
	defer lib.SIMDWidth(0)
	relies := func(kernel string) bool {
		return strings.Contains(kernel, "metal-bytes") || strings.Contains(kernel, "metal-lanes")
	}
	for _, native := range []bool{false, true} {
		f, opt := file(t, "tiny"), metal.Options{Device: d, Native: native}
		lib.SIMDWidth(0)
		want, kernels := prefill(t, f, opt, func() {})
		if native && !slices.ContainsFunc(kernels, relies) {
			t.Fatalf("none of %v relies on simdgroups of 32", kernels)
		}
		for _, width := range []int{8, 16, 64} {
			lib.SIMDWidth(width)
			got, kernels := prefill(t, f, opt, func() {})
			if width < 64 && slices.ContainsFunc(kernels, relies) {
				t.Errorf("simdgroups of %d multiply by %v", width, kernels)
			}
			if !slices.Equal(got, want) {
				t.Errorf("native %v, simdgroups of %d: other logits", native, width)
			}
		}
	}
	lib.SIMDWidth(4)
	m, err := models.Load(t.Context(), source.FromGGUF(file(t, "tiny")), models.Options{Engine: metal.Options{Device: d}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Engine().Close()
	const refused = "kernel attend: not on this GPU: its simdgroups have 4 threads, want 8"
	if _, err := m.NewSession(models.SessionOptions{}); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("simdgroups of 4: %v, want %q", err, refused)
	}
}

// A prompt is multiplied by matrices of simdgroups, where a GPU has them, and gives the
// bits of one token after another.
func TestPrompt(t *testing.T) {
	require.Turns(t, "TestLongTexts", "TestLongTextsWithoutMemory", "TestOlderGPU", "TestAllocationsFail", "TestPrompt")
	d := device(t)
	prompt := make([]int, 33)
	for i := range prompt {
		prompt[i] = i + 1
	}
	for _, preset := range require.Draw(t, 3, []string{"tiny", "tiny-bitnet", "tiny-llama"}) {
		m, err := models.Load(t.Context(), source.FromGGUF(file(t, preset)), models.Options{Engine: metal.Options{Device: d}})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Engine().Close()
		logits := func(batch int) []float32 {
			s, err := m.NewSession(models.SessionOptions{Context: 64, Batch: batch})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			x, err := s.Prefill(t.Context(), prompt)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Clone(x)
		}
		if !slices.Equal(logits(len(prompt)), logits(8)) {
			t.Errorf("%s: a prompt at once has other logits than in batches of eight", preset)
		}
	}
}

// A kernel whose registers leave room for fewer threads than it takes is not used:
// several columns are multiplied one by one then; what cannot be done otherwise is an
// error when the engine is opened.
func TestFewThreads(t *testing.T) {
	d, lib := faulty(t)
	defer lib.MaxThreads(0)
	f, opt := file(t, "tiny"), metal.Options{Device: d}
	want, _ := prefill(t, f, opt, func() {})
	got, _ := prefill(t, f, opt, func() { lib.MaxThreads(128) })
	if !slices.Equal(got, want) {
		t.Error("with few threads for several columns: other logits")
	}
	const refused = "kernel rms_norm: not on this GPU: its registers leave room for 128 threads in a threadgroup, want 256"
	if _, err := opt.Open(nil); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("%v, want %q", err, refused)
	}
}

// A GPU of Apple5, which knows no sums over simdgroups, gives the bits of one of
// Apple7, by the same kernels; also where the variant is asked for that needs them.
func TestOlderGPU(t *testing.T) {
	require.Turns(t, "TestLongTexts", "TestLongTextsWithoutMemory", "TestOlderGPU", "TestAllocationsFail")
	d, lib := faulty(t)
	logits := func(f *gguf.File, opt metal.Options) ([]float32, []string) {
		opt.Device = d
		return prefill(t, f, opt, func() {})
	}
	defer lib.Family(frameworks.Apple7)
	for _, preset := range require.Draw(t, 3, []string{"tiny", "tiny-bitnet", "tiny-qwen35"}) {
		for _, native := range []bool{false, true} {
			f, opt := file(t, preset), metal.Options{Native: native}
			lib.Family(frameworks.Apple7)
			want, kernels := logits(f, opt)
			lib.Family(frameworks.Apple5)
			if got, older := logits(f, opt); !slices.Equal(got, want) || !slices.Equal(older, kernels) {
				t.Errorf("%s, native %v: kernels %v, on Apple7 %v; the logits are the same: %v", preset, native, older, kernels, slices.Equal(got, want))
			}
			opt.Variant = "metal-simd"
			if got, older := logits(f, opt); !slices.Equal(got, want) || !slices.Equal(older, kernels) {
				t.Errorf("%s, native %v, asked for metal-simd: kernels %v, want %v; the logits are the same: %v", preset, native, older, kernels, slices.Equal(got, want))
			}
		}
	}
}

// Beside the reference, the engine is a variant like another: a projection alone
// is as far from it as on the CPU, to the bit, and a block nearly.
func TestLockstep(t *testing.T) {
	d, f := device(t), file(t, "tiny")
	model := func(opt models.Options) *models.Model {
		m, err := models.Load(t.Context(), source.FromGGUF(f), opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Engine().Close() })
		return m
	}
	reference, err := lockstep.Reference(nil)
	if err != nil {
		t.Fatal(err)
	}
	against := func(opt models.Options) *lockstep.Result {
		r, err := lockstep.Run(t.Context(), model(reference), model(opt), []int{1, 2, 3, 5}, lockstep.Options{Batch: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want, got := against(models.Options{}), against(models.Options{Engine: metal.Options{Device: d}})
	if len(got.Tensors) != len(want.Tensors) || len(got.Tensors) == 0 {
		t.Fatalf("%d tensors are compared, on the CPU %d", len(got.Tensors), len(want.Tensors))
	}
	for i, w := range want.Tensors {
		g := got.Tensors[i]
		if g.Input != w.Input || g.Block != w.Block || g.Name != w.Name {
			t.Fatalf("tensor %d is %+v, want %+v", i, g, w)
		}
		alone := g.Input == lockstep.Isolated && g.Name != lockstep.BlockOutput && g.Name != lockstep.Logits
		if alone && g.Errors != w.Errors || !(g.NMSE > 0.9*w.NMSE && g.NMSE < 1.1*w.NMSE) {
			t.Errorf("%s, block %d, %s: %+v, on the CPU %+v", g.Input, g.Block, g.Name, g.Errors, w.Errors)
		}
	}
}

// Weights of a mapped file take no memory of their own where it has them as they
// are multiplied, and give the bits that they do packed. What is on the device beside
// them is gains and streams.
func TestInPlace(t *testing.T) {
	d := device(t)
	if !d.Emulated() {
		require.Skip(t, "linux", "only a GPU that is played counts what was allocated and nothing else")
	}
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	p, err := arch.LookupPreset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := synth.Write(&b, p, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(path, gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parts := filepath.Join(t.TempDir(), "tiny")
	if err := errors.Join(modeltest.Split(file, parts, 3), file.Close()); err != nil {
		t.Fatal(err)
	}
	var logits [3][]float32
	for i, path := range []string{path, path, parts + "-00002-of-00003.gguf"} {
		native := i != 1
		before := d.Allocated()
		m, err := models.Open(t.Context(), path, models.Options{Engine: metal.Options{Device: d, Native: native}})
		if err != nil {
			t.Fatal(err)
		}
		if taken := d.Allocated() - before; native != (taken < m.WeightBytes()/2) {
			t.Errorf("native %v: %d bytes were allocated for weights of %d", native, taken, m.WeightBytes())
		}
		s, err := m.NewSession(models.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Prefill(t.Context(), []int{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		logits[i] = slices.Clone(x)
		if err := errors.Join(s.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(logits[0], logits[1]) {
		t.Error("in place, the logits are others")
	}
	if !slices.Equal(logits[2], logits[1]) {
		t.Error("in place of several files, the logits are others")
	}
}
