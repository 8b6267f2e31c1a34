package architectures_test

import (
	"fmt"
	"strings"
	"testing"

	"onebit/models/arch"
	_ "onebit/models/architectures"
)

func TestProjectionShapes(t *testing.T) {
	for preset, want := range map[string]string{
		"bonsai-1.7b":  "[2048×2048 1024×2048 6144×2048 2048×6144]",
		"bonsai-4b":    "[4096×2560 1024×2560 2560×4096 9728×2560 2560×9728]",
		"bonsai-27b":   "[10240×5120 6144×5120 5120×6144 17408×5120 5120×17408 12288×5120 1024×5120]",
		"bitnet-2b-4t": "[2560×2560 640×2560 6912×2560 2560×6912]",
		"bitnet-large": "[1536×1536 4096×1536 1536×4096]",
	} {
		shapes, err := arch.ProjectionShapes(preset)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(shapes); got != want {
			t.Errorf("%s: %s, want %s", preset, got, want)
		}
	}
	var known []string
	for _, p := range arch.Presets() {
		known = append(known, p.Name)
	}
	_, err := arch.ProjectionShapes("gpt-2")
	if want := `unknown preset "gpt-2" (known: ` + strings.Join(known, ", ") + ")"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPresetsAreValid(t *testing.T) {
	for _, p := range arch.Presets() {
		if bad := p.Config.Check(); bad != nil {
			t.Errorf("%s: %+v", p.Name, *bad)
		}
		if a, err := arch.Lookup(p.Config.Arch); err != nil || p.Table != a {
			t.Errorf("%s: table %p of architecture %v, %v", p.Name, p.Table, a, err)
		}
		for _, spec := range p.Tensors() {
			if _, err := spec.Bytes(); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	_, err := arch.Lookup("gemma3")
	if want := `unknown architecture "gemma3" (known: bitnet, bitnet-25, bitnet-b1.58, llama, maple, minicpm, qwen3, qwen35, recurrent, toy)`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	for name, want := range map[string]arch.Activation{"qwen3": arch.SiLU, "bitnet-b1.58": arch.ReLU2, "bitnet-25": arch.ReLU2, "bitnet": arch.SiLU} {
		a, err := arch.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if a.Activation != want {
			t.Errorf("%s is gated by %s, want %s", name, a.Activation, want)
		}
	}
}
