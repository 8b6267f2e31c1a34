package kernels_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestArena: matrices of an arena lie side by side in one huge page, and multiply as
// those do that have a mapping of their own.
func TestArena(t *testing.T) {
	const rows, cols = 96, 512
	var arena kernels.Arena
	require.Procs(t, 2)
	pool := kernels.NewPool(2)
	defer pool.Close()
	rng := rand.New(rand.NewPCG(1, 10))
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	v, err := kernels.Lookup("q1_0_g128", "scalar", kernels.Q8Per128)
	for _, w := range kernels.Variants() { // one that packs
		if w.Format == formats.Q1_0_g128 && w.Scheme == kernels.Q8Per128 && w.Layout != kernels.Native && w.Available() == nil {
			v = w
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // an arena that was closed is as good as new
		var begin, end uintptr
		for range 5 {
			tensor := kerneltest.Tensor(t, v.Format, rows, cols, rng)
			m, err := arena.Pack(v, tensor, pool)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := v.Pack(tensor, pool)
			if err != nil {
				t.Fatal(err)
			}
			got, want := make([]float32, rows), make([]float32, rows)
			pool.MatVec(got, v, m, x)
			pool.MatVec(want, v, alone, x)
			if err := kerneltest.Same(got, want); err != nil {
				t.Error(err)
			}
			if err := alone.Close(); err != nil {
				t.Error(err)
			}
			if v.Layout == kernels.Native {
				continue
			}
			at := uintptr(unsafe.Pointer(&m.Data[0]))
			if begin == 0 {
				begin, end = at, at
			}
			huge := begin%mmap.HugePage == 0 || runtime.GOOS == "windows" // where memory begins at any 64 KiB
			if at != end || at%64 != 0 || !huge {
				t.Errorf("a matrix at %#x, the one before ends at %#x, the first begins at %#x", at, end, begin)
			}
			end = at + uintptr(len(m.Data)+63)/64*64
		}
		if err := arena.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArenaRefuses(t *testing.T) {
	var arena kernels.Arena
	defer arena.Close()
	for _, v := range kernels.Variants() {
		other := formats.Q1_0_g128
		if v.Format == other {
			other = formats.I2_S
		}
		tensor := kerneltest.Tensor(t, other, 16, 512, rand.New(rand.NewPCG(1, 11)))
		if m, err := arena.Pack(v, tensor, nil); err == nil {
			t.Errorf("%v packs %s: %d bytes", v, other.Name, len(m.Data))
		}
	}
}

// BenchmarkPages is a product whose weights come from memory, 512 KiB of them, packed
// each by itself (own) and in an arena, in turns.
//
//	go test ./kernels -run '^$' -bench BenchmarkPages
func BenchmarkPages(b *testing.B) {
	const rows, cols, copies = 2048, 2048, 512
	v, err := kernels.Best("q1_0_g128")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 12))
	x, y := make([]float32, cols), make([]float32, rows)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	pool := kernels.NewPool(1)
	defer pool.Close()
	tensor := kerneltest.Tensor(b, v.Format, rows, cols, rng)
	var arena kernels.Arena
	defer arena.Close()
	var own, laid []*kernels.Matrix
	for range copies {
		m, err := v.Pack(tensor, pool)
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		own = append(own, m)
		if m, err = arena.Pack(v, tensor, pool); err != nil {
			b.Fatal(err)
		}
		laid = append(laid, m)
	}
	for _, set := range []struct {
		name     string
		matrices []*kernels.Matrix
	}{{"own", own}, {"arena", laid}} {
		b.Run(set.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				pool.MatVec(y, v, set.matrices[i], x)
				i = (i + 1) % copies
			}
		})
	}
}
