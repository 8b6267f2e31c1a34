package kernels_test

import (
	"testing"

	"onebit/internal/cpu"
	"onebit/kernels"
)

func TestFastest(t *testing.T) {
	anywhere := &kernels.ISA{Name: "anywhere"}
	some := &kernels.ISA{Name: "some", Requires: cpu.AVX2}
	more := &kernels.ISA{Name: "more", Requires: cpu.AVX2 | cpu.AVX512F}
	for _, c := range []struct {
		features cpu.Set
		want     *kernels.ISA
	}{{0, anywhere}, {cpu.AVX2, some}, {cpu.AVX512F, anywhere}, {cpu.AVX2 | cpu.AVX512F | cpu.NEON, more}} {
		if got := kernels.Fastest([]*kernels.ISA{anywhere, some, more}, c.features); got != c.want {
			t.Errorf("with features %q: %s, want %s", c.features, got.Name, c.want.Name)
		}
	}
}
