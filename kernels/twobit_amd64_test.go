//go:build !purego

package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/guard"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// twoBitBlocks is where the blocks of a 2-bit format have their fp16 scale;
// the tensors of the others have one scale behind all codes.
var twoBitBlocks = map[string]struct{ bytes, scaleAt int }{
	"i2_s": {}, "i2_s_arm": {}, "ternary_u32": {},
	"tq2_0": {66, 64}, "q2_0": {18, 0}, "q2_0_g128": {34, 0},
}

// twoBitVariants returns those of this architecture that run here.
func twoBitVariants(t testing.TB) []*kernels.Variant {
	var out []*kernels.Variant
	for _, v := range kernels.Variants() {
		if _, ok := twoBitBlocks[v.Format.Name]; !ok || v.ISA.Arch == "" {
			continue
		}
		if err := v.Available(); err != nil {
			t.Log("skipped:", err)
			continue
		}
		out = append(out, v)
	}
	return out
}

// uniform is a tensor whose codes are all the same. Code 3 exists where
// blocks have scales.
func uniform(tb testing.TB, format *formats.Type, rows, cols int, code byte) *formats.Tensor {
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(min(code, 2)) - 1
	}
	t := &formats.Tensor{Name: fmt.Sprintf("all-%d", code), Type: format, Shape: []int{rows, cols}}
	size, err := format.Bytes(rows, cols)
	if err != nil {
		tb.Fatal(err)
	}
	t.Data = make([]byte, size)
	if err := format.Quantize(t.Data, w, rows, cols); err != nil {
		tb.Fatal(err)
	}
	if b := twoBitBlocks[format.Name]; code == 3 && b.bytes > 0 {
		for i := range t.Data {
			if in := i % b.bytes; in != b.scaleAt && in != b.scaleAt+1 {
				t.Data[i] = 0xff
			}
		}
	}
	return t
}

// equalScalar multiplies t with x, n columns, on memory between guard pages,
// whole and in two parts, and compares with the generic path.
func equalScalar(t *testing.T, v *kernels.Variant, tensor *formats.Tensor, x []float32, n int) {
	t.Helper()
	rows, cols := tensor.Dims()
	scalar, err := kernels.Lookup(v.Format.Name, "scalar", v.Activation)
	if err != nil {
		t.Fatal(err)
	}
	var plain kernels.Activations
	plain.Prepare(scalar, x, n, cols)
	want := make([]float32, n*rows)
	ms, err := scalar.Pack(tensor, nil)
	if err != nil {
		t.Fatal(err)
	}
	scalar.Rows(want, ms, &plain, 0, rows)

	guarded := *tensor
	guarded.Data = guard.CopyReadOnly(t, tensor.Data)
	m, err := v.Pack(&guarded, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	a := kernels.Activations{Alloc: func(bytes int) []byte { return guard.New(t, bytes).Bytes() }}
	a.Prepare(v, x, n, cols)
	tile := m.Layout.RowTile
	for _, split := range []int{0, rows / 2 / tile * tile} {
		got := guard.As[float32](guard.New(t, 4*n*rows))
		fault := guard.Catch(func() {
			if split > 0 {
				v.Rows(got, m, &a, 0, split)
			}
			v.Rows(got, m, &a, split, rows)
		})
		if fault != nil {
			t.Fatalf("%v, %s, %d×%d, %d columns: %v", v, tensor.Name, rows, cols, n, fault)
		}
		if err := kerneltest.Same(got, want); err != nil {
			t.Fatalf("%v, %s, %d×%d, %d columns, split at %d: %v", v, tensor.Name, rows, cols, n, split, err)
		}
	}
}

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// TestTwoBitColumns takes every number of columns up to 600 that the format
// allows, and some beyond.
func TestTwoBitColumns(t *testing.T) {
	for _, v := range twoBitVariants(t) {
		t.Run(v.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			sizes := []int{1024, 1536, 2048, 2304, 2560, 6912}
			for cols := 1; cols <= 600; cols++ {
				sizes = append(sizes, cols)
			}
			for _, cols := range sizes {
				if cols%v.Format.BlockLen != 0 {
					continue
				}
				rows := 4 + cols%5
				equalScalar(t, v, kerneltest.Tensor(t, v.Format, rows, cols, rng), normal(rng, cols), 1)
			}
		})
	}
}

// TestTwoBitRows takes every number of rows up to 20, tiles filled or not.
func TestTwoBitRows(t *testing.T) {
	for _, v := range twoBitVariants(t) {
		t.Run(v.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for rows := 1; rows <= 20; rows++ {
				for _, n := range []int{1, 3} {
					equalScalar(t, v, kerneltest.Tensor(t, v.Format, rows, 768, rng), normal(rng, n*768), n)
				}
			}
		})
	}
}

// TestTwoBitExtremes takes the largest sums that there are, where narrow sums
// would wrap.
func TestTwoBitExtremes(t *testing.T) {
	for _, v := range twoBitVariants(t) {
		t.Run(v.String(), func(t *testing.T) {
			for _, cols := range []int{256, 8192, 2 << 20} {
				x := make([]float32, cols)
				for _, sign := range []float32{1, -1} {
					for i := range x {
						x[i] = sign
					}
					for code := range byte(4) {
						if cols > 8192 && code%2 == 1 && sign > 0 {
							continue // half a second each
						}
						equalScalar(t, v, uniform(t, v.Format, 2, cols, code), x, 1)
					}
				}
			}
		})
	}
}

// TestTwoBitBits takes codes and scales that no quantizer would write.
func TestTwoBitBits(t *testing.T) {
	for _, v := range twoBitVariants(t) {
		b := twoBitBlocks[v.Format.Name]
		if b.bytes == 0 {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			for range 20 {
				tensor := kerneltest.Tensor(t, v.Format, 9, 256*(1+rng.IntN(9)), rng)
				for i := range tensor.Data {
					tensor.Data[i] = byte(rng.Uint32())
					if i%b.bytes == b.scaleAt+1 {
						tensor.Data[i] &^= 0x40 // an exponent of all ones is not finite
					}
				}
				_, cols := tensor.Dims()
				equalScalar(t, v, tensor, normal(rng, cols), 1)
			}
		})
	}
}

// TestTwoBitNotFinite expects NaN where an activation is not finite.
func TestTwoBitNotFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, v := range twoBitVariants(t) {
		rng := rand.New(rand.NewPCG(9, 10))
		for _, bad := range []float32{inf, -inf, inf - inf} {
			x := normal(rng, 1024)
			x[700] = bad
			equalScalar(t, v, kerneltest.Tensor(t, v.Format, 7, 1024, rng), x, 1)
		}
	}
}
