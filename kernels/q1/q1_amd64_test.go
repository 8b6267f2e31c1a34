//go:build !purego

package q1

import (
	"testing"

	"onebit/internal/cpu"
	"onebit/kernels"
)

// TestQ1NamesAreOneKernel expects what decides about batches to be the variant's, and
// its rank alone to be the CPU's: of twins the one that looks sums up comes first on
// Zen 4 only, and packed layouts come before both.
func TestQ1NamesAreOneKernel(t *testing.T) {
	find := func(name string) *kernels.Variant {
		v, err := kernels.Lookup("q1_0_g128", name, kernels.Q8Per128)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	planes, words, packed := find("avx512vnni-native"), find("avx512vnni-native-lookup"), find("avx512vnni")
	if k := planes.Kernels[1]; k.Order != q1PanelOrder || k.From != q1NativePanelsFrom || k.TaskRows != nil {
		t.Errorf("%v does not multiply panels", planes)
	}
	if k := words.Kernels[1]; k.Order != nil || k.From != q1WordLookup.stripFrom {
		t.Errorf("%v does not look sums up", words)
	}
	for _, c := range []struct {
		vendor string
		family int
		best   *kernels.Variant
	}{
		{"AuthenticAMD", 0x19, words}, {"AuthenticAMD", 0x1a, planes}, {"GenuineIntel", 6, planes}, {"GenuineIntel", 0x19, planes},
	} {
		m := cpu.Machine{Features: kernels.AVX512VNNI.Requires, Vendor: c.vendor, Family: c.family}
		best := planes
		if words.Rank(m) > planes.Rank(m) {
			best = words
		}
		if best != c.best || best.Rank(m) >= packed.Rank(m) {
			t.Errorf("%s of family %#x: %v before its twin, and %d before %d of the packed layout", c.vendor, c.family, best, best.Rank(m), packed.Rank(m))
		}
	}
}

// TestQ1StripTaskRows expects whole tiles, strips that stay in L2, and work for all.
func TestQ1StripTaskRows(t *testing.T) {
	for _, c := range []struct{ rows, cols, threads, want int }{
		{6144, 2048, 2, 1536},
		{2048, 2048, 2, 1024},
		{1024, 2048, 2, 512},
		{2048, 6144, 2, 512},
		{2048, 2048, 16, 128},
		{1, 1 << 20, 1, 128}, // a tile is larger than a strip
	} {
		if got := q1StripTaskRows(&kernels.Matrix{Rows: c.rows, Cols: c.cols}, c.threads); got != c.want {
			t.Errorf("%d×%d, %d threads: %d rows, want %d", c.rows, c.cols, c.threads, got, c.want)
		}
	}
}

// TestQ1NibbleTaskRows expects whole strips, and work for all.
func TestQ1NibbleTaskRows(t *testing.T) {
	for _, c := range []struct{ rows, cols, threads, want int }{
		{6144, 2048, 2, 128},
		{6144, 256, 2, 768},
		{1024, 256, 2, 128},
		{64, 128, 4, 128},
	} {
		if got := q1NibbleTaskRows(&kernels.Matrix{Rows: c.rows, Cols: c.cols}, c.threads); got != c.want {
			t.Errorf("%d×%d, %d threads: %d rows, want %d", c.rows, c.cols, c.threads, got, c.want)
		}
	}
}
