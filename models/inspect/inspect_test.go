package inspect

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"onebit/formats/gguf"
	"onebit/models/arch"
	_ "onebit/models/engine/cpu"
	"onebit/models/source"
	"onebit/models/synth"
)

// A description has the preset's own numbers, lists the tensors that were asked for, and
// totals of all.
func TestDescribe(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := arch.LookupPreset("tiny-bitnet")
	check(err)
	var b bytes.Buffer
	check(synth.Write(&b, p, 1))
	path := filepath.Join(t.TempDir(), "model.gguf")
	check(os.WriteFile(path, b.Bytes(), 0o600))
	src, err := source.Open(path, gguf.Options{})
	check(err)
	defer src.Close()
	m, err := Describe(src, regexp.MustCompile(`ffn_up`))
	check(err)
	if m.Model == nil || len(m.Model.Mismatches) > 0 || m.Model.Tensors != len(p.Tensors()) || m.Model.Config.Hidden != p.Config.Hidden {
		t.Errorf("model %+v, %s", m.Model, m.ModelError)
	}
	size, err := synth.Bytes(p)
	check(err)
	if len(m.Tensors) != p.Config.Layers || m.Total.Tensors != len(p.Tensors()) || m.Total.Bytes != size || m.Bytes != int64(b.Len()) {
		t.Errorf("%d tensors listed, total %+v, %d bytes", len(m.Tensors), m.Total, m.Bytes)
	}
	if err := Validate(src); err != nil {
		t.Error(err)
	}
	memory, err := PlanMemory(src, 64, 1<<30)
	check(err)
	if memory.Context != 64 || memory.Mapped+memory.Packed == 0 || len(memory.Caches) == 0 || memory.Caches[0].Bytes <= 0 {
		t.Errorf("memory %+v", memory)
	}
}
