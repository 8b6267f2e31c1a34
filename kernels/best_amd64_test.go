//go:build !purego

package kernels_test

import (
	"testing"

	"onebit/internal/cpu"
	"onebit/kernels"
)

// TestQ1Best expects the choice that the tables in doc.go justify, on machines
// with less and less.
func TestQ1Best(t *testing.T) {
	best := "avx512vnni"
	if cpu.Vendor() == "AuthenticAMD" && cpu.Family() == 0x19 {
		best = "avx512-lookup"
	}
	for features, want := range map[cpu.Set]string{
		kernels.AVX512VNNI.Requires:                                best,
		kernels.AVX512VNNI.Requires &^ cpu.AVX512VNNI:              "avx512-lookup",
		kernels.AVXVNNI.Requires:                                   "avx2-lookup",
		kernels.AVX2.Requires:                                      "avx2-lookup",
		kernels.AVX512VNNI.Requires &^ (cpu.AVX512VNNI | cpu.AVX2): "unrolled",
		0: "unrolled",
	} {
		v, err := kernels.BestFor("q1_0_g128", kernels.Q8Per128, features)
		if err != nil {
			t.Error(err)
		} else if v.Name != want {
			t.Errorf("with %v: %s, want %s", features, v.Name, want)
		}
	}
}

// TestTwoBitBest expects the widest instruction set to be chosen.
func TestTwoBitBest(t *testing.T) {
	for name := range twoBitBlocks {
		for features, want := range map[cpu.Set]string{
			kernels.AVX2.Requires:                                      "avx2",
			kernels.AVXVNNI.Requires:                                   "avxvnni",
			kernels.AVX512VNNI.Requires:                                "avx512vnni",
			kernels.AVX512VNNI.Requires | kernels.AVXVNNI.Requires:     "avx512vnni",
			kernels.AVX512VNNI.Requires &^ cpu.AVX512VNNI:              "avx2",
			kernels.AVX512VNNI.Requires &^ (cpu.AVX512VNNI | cpu.AVX2): "unrolled",
		} {
			if v, err := kernels.BestFor(name, kernels.DefaultScheme(name), features); err != nil {
				t.Error(err)
			} else if v.Name != want {
				t.Errorf("%s with %v: %s, want %s", name, features, v.Name, want)
			}
		}
	}
}
