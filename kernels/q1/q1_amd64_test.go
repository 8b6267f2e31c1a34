//go:build !purego

package q1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/kernels"
)

// normal returns n values of a normal distribution.
func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// q1Variants are those of this architecture that run here.
func q1Variants() []*kernels.Variant {
	var out []*kernels.Variant
	for _, v := range kernels.Variants() {
		if v.Format == formats.Q1_0_g128 && v.ISA.Arch == "amd64" && v.Available() == nil {
			out = append(out, v)
		}
	}
	return out
}

// q1Product multiplies rows [r0, r1) in a result that is marked everywhere,
// and returns all of it.
func q1Product(t *testing.T, v *kernels.Variant, tensor *formats.Tensor, x []float32, n, r0, r1 int) []float32 {
	t.Helper()
	m, err := v.Pack(tensor, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var a kernels.Activations
	v.Prepare(&a, x, n, m.Cols)
	y := make([]float32, n*m.Rows)
	for i := range y {
		y[i] = 12345
	}
	v.Rows(y, m, &a, r0, r1)
	return y
}

func q1Compare(t *testing.T, v *kernels.Variant, tensor *formats.Tensor, x []float32, n, r0, r1 int, what string) {
	t.Helper()
	scalar, err := kernels.Lookup(v.Format.Name, "scalar", v.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	got, want := q1Product(t, v, tensor, x, n, r0, r1), q1Product(t, scalar, tensor, x, n, r0, r1)
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%v: %s: result %d is %v, the generic path gives %v", v, what, i, got[i], want[i])
		}
	}
}

// TestQ1Shapes takes numbers of rows around the tiles, with scales of
// both signs, some subnormal.
func TestQ1Shapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var numbers []int
	for rows := 1; rows <= 40; rows++ {
		numbers = append(numbers, rows)
	}
	for _, v := range q1Variants() {
		for _, rows := range require.Draw(t, 8, numbers) {
			cols := 128 * (1 + rows%8)
			for _, n := range []int{1, 5, 6, 7} {
				x := normal(rng, n*cols)
				q1Compare(t, v, randomQ1(t, rng, rows, cols), x, n, 0, rows, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
			}
		}
	}
}

// TestQ1Ranges checks that a range of rows is computed and nothing else.
func TestQ1Ranges(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const rows, cols = 100, 384
	tensor := randomQ1(t, rng, rows, cols)
	for _, n := range require.Draw(t, 3, []int{1, 5, 6, 7, 9, 43}) {
		ranges := min(20, 180/n)
		x := normal(rng, n*cols)
		for _, v := range q1Variants() {
			for range ranges {
				r0 := rng.IntN(rows) / v.Layout.RowTile * v.Layout.RowTile
				r1 := min(rows, r0+v.Layout.RowTile*(1+rng.IntN(50)))
				q1Compare(t, v, tensor, x, n, r0, r1, fmt.Sprintf("%d columns, rows %d to %d", n, r0, r1))
			}
		}
	}
}

// TestQ1Strips takes batches of native rows, which panels or one of the look-ups
// multiply. Rows fill no tile, or strips of panels.
func TestQ1Strips(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for _, v := range q1Variants() {
		if v.Layout != kernels.Native {
			continue
		}
		for _, n := range require.Draw(t, 3, []int{7, 8, 9, 13, 19, 43}) {
			for _, shape := range [][2]int{{1, 384}, {127, 256}, {131, 1280}, {600, 128}} {
				rows, cols := shape[0], shape[1]
				x := normal(rng, n*cols)
				q1Compare(t, v, randomQ1(t, rng, rows, cols), x, n, 0, rows, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
			}
		}
	}
}

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

// TestQ1Extremes has every sum as large as it gets: all bits alike, every q
// 127 or −127, in one block and in a very long row.
func TestQ1Extremes(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, cols := range []int{128, 384, 1 << 17} {
		const n = 8
		rows := 17
		if cols > 384 {
			rows = 2
		}
		x := make([]float32, n*cols)
		for i := range x { // columns all +, all −, alternating, random
			switch i / cols % 4 {
			case 0:
				x[i] = 1
			case 1:
				x[i] = -1
			case 2:
				x[i] = float32(1 - 2*(i%2))
			case 3:
				x[i] = float32(1 - 2*rng.IntN(2))
			}
		}
		for _, bits := range []byte{0, 0xff, 0x55, 0x81} {
			tensor := randomQ1(t, rng, rows, cols)
			for i := range tensor.Data {
				if i%q1Block >= 2 {
					tensor.Data[i] = bits
				}
			}
			for _, v := range q1Variants() {
				columns := n
				if cols > 384 {
					columns = 1 // the generic path takes its time
				}
				q1Compare(t, v, tensor, x[:columns*cols], columns, 0, rows, fmt.Sprintf("%d columns of weights, bits %#x", cols, bits))
			}
		}
	}
}
