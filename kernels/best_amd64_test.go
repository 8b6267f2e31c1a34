//go:build !purego

package kernels_test

import (
	"testing"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// TestQ1Best expects the choice that was measured, on machines with less and less.
func TestQ1Best(t *testing.T) {
	for _, m := range []struct {
		machine      cpu.Machine
		best, best32 string
	}{{xeon, "avx512vnni", "avx512vnni"}, {zen4, "avx512-lookup", "avx512vnni-lookup"}, {zen5, "avx512vnni", "avx512vnni"}} {
		if v, err := kernels.BestFor("q1_0_g128", kernels.Q8Per32, m.machine.With(kernels.AVX512VNNI.Requires)); err != nil || v.Name != m.best32 {
			t.Errorf("%s of family %#x under q8_32: %v, error %v, want %s", m.machine.Vendor, m.machine.Family, v, err, m.best32)
		}
		for features, want := range map[cpu.Set]string{
			kernels.AVX512VNNI.Requires:                                m.best,
			kernels.AVX512VNNI.Requires &^ cpu.AVX512VNNI:              "avx512-lookup",
			kernels.AVXVNNI.Requires:                                   "avx2-lookup",
			kernels.AVX2.Requires:                                      "avx2-lookup",
			kernels.AVX512VNNI.Requires &^ (cpu.AVX512VNNI | cpu.AVX2): "unrolled",
			0: "unrolled",
		} {
			v, err := kernels.BestFor("q1_0_g128", kernels.Q8Per128, m.machine.With(features))
			if err != nil {
				t.Error(err)
			} else if v.Name != want {
				t.Errorf("%s of family %#x with %v: %s, want %s", m.machine.Vendor, m.machine.Family, features, v.Name, want)
			}
		}
	}
}

// TestTwoBitBest expects the widest instruction set to be chosen.
func TestTwoBitBest(t *testing.T) {
	for _, name := range formatsThat(twoBit) {
		format, err := formats.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for features, want := range map[cpu.Set]string{
			kernels.AVX2.Requires:                                      "avx2",
			kernels.AVXVNNI.Requires:                                   "avxvnni",
			kernels.AVX512VNNI.Requires:                                "avx512vnni",
			kernels.AVX512VNNI.Requires | kernels.AVXVNNI.Requires:     "avx512vnni",
			kernels.AVX512VNNI.Requires &^ cpu.AVX512VNNI:              "avx2",
			kernels.AVX512VNNI.Requires &^ (cpu.AVX512VNNI | cpu.AVX2): "unrolled",
		} {
			if v, err := kernels.BestFor(name, kernels.FormatOf(format).Scheme, xeon.With(features)); err != nil {
				t.Error(err)
			} else if v.Name != want {
				t.Errorf("%s with %v: %s, want %s", name, features, v.Name, want)
			}
			if name == formats.I2_S_X4.Name {
				continue // whose rows have no kernel for it
			}
			if v, err := kernels.BestFor(name, kernels.Q8Per32, xeon.With(features)); err != nil || v.Name != want {
				t.Errorf("%s under q8_32 with %v: %v, error %v, want %s", name, features, v, err, want)
			}
		}
	}
}
