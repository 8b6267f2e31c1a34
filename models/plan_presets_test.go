package models_test

import (
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/sysinfo"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/source"
)

// presetSource is a preset's model without a file: a plan reads no weights.
type presetSource struct {
	source.Source
	preset *arch.Preset
	infos  []container.TensorInfo
}

func newPresetSource(t *testing.T, name string) source.Source {
	t.Helper()
	s := presetSource{preset: must(arch.LookupPreset(name))}
	for _, d := range s.preset.Tensors() {
		s.infos = append(s.infos, container.TensorInfo{Name: d.Name, Type: d.Type, Shape: d.Shape, Size: int64(must(d.Bytes()))})
	}
	return s
}

func (s presetSource) Name() string { return s.preset.Name }
func (s presetSource) Config() (*arch.Table, arch.Config, error) {
	return s.preset.Table, s.preset.Config, nil
}
func (s presetSource) Rotation() (*arch.Rotation, error) { return nil, nil }
func (s presetSource) Tensors() []container.TensorInfo   { return s.infos }
func (s presetSource) InPlace() bool                     { return true }

// Bonsai 27B with 32k tokens of context runs in 8 GB, 1 GiB of which is left to the
// system, in every format of keys and values.
func TestBonsai27BFitsIn8GB(t *testing.T) {
	const context, memory = 32768, 8e9 - 1<<30
	plan := must(models.NewPlan(newPresetSource(t, "bonsai-27b"), models.Options{Engine: cpu.Options{Threads: 2}}))
	for _, want := range []struct {
		format *formats.Type
		token  float64 // 16 blocks × 4 heads × 256 numbers, keys and values
	}{
		{formats.F16, 16 * 4 * 256 * 2 * 2},
		{formats.Q8_0, 16 * 4 * 256 * 2 * 34 / 32},
		{formats.Q4_0, 16 * 4 * 256 * 2 * 18 / 32},
	} {
		f, err := plan.Check(models.SessionOptions{Context: context, Cache: want.format}, memory)
		if err != nil {
			t.Error(err)
		}
		if f.TokenBytes() != want.token || f.Cache != context*int64(want.token) {
			t.Errorf("%s: %v bytes a token and %d in all, want %v and %v", want.format.Name, f.TokenBytes(), f.Cache, want.token, context*want.token)
		}
		// 48 blocks: 48 matrices of 128 × 128, and 3 inputs of 10240 channels.
		if f.State != 2*48*4*(48*128*128+3*10240) {
			t.Errorf("%d bytes of states and their copies", f.State)
		}
		t.Logf("%s: %s: %v", want.format.Name, sysinfo.Bytes(f.Total()), f)
	}
	t.Logf("of %s: %+v", sysinfo.Bytes(memory), plan.Fits(memory, 0))
}
