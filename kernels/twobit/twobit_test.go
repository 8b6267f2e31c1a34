//go:build !purego

package twobit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// twoBitBlocks is where the blocks of a format have their fp16 scale; the
// tensors of the others have one scale behind all codes.
var twoBitBlocks = map[*formats.Type]struct{ bytes, scaleAt int }{
	formats.TQ1_0: {54, 52}, formats.TQ2_0: {66, 64}, formats.Q2_0: {18, 0}, formats.Q2_0_g128: {34, 0},
	formats.PQ2_0: {34, 0}, formats.PTQ1_0: {28, 26},
}

// twoBitVariants are those of this architecture.
func twoBitVariants() (all []*kernels.Variant) {
	for _, v := range kernels.Variants() {
		if kernels.FormatOf(v.Format).For(kernels.Projection) && v.Format != formats.Q1_0_g128 && v.ISA.Arch != "" {
			all = append(all, v)
		}
	}
	return all
}

// eachTwoBit runs a test on every variant of this architecture.
func eachTwoBit(t *testing.T, test func(t *testing.T, v *kernels.Variant, rng *rand.Rand)) {
	for _, v := range twoBitVariants() {
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Require(t, v)
			test(t, v, rand.New(rand.NewPCG(3, 4)))
		})
	}
}

// TestTwoBitColumns takes every number of columns up to 600 that the format
// allows, and the widths of real models: an eighth of them, and more of those that just
// fill a vector or just do not.
func TestTwoBitColumns(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	eachTwoBit(t, func(t *testing.T, v *kernels.Variant, rng *rand.Rand) {
		var edges, others []int
		for cols := v.Format.BlockLen; cols <= 600; cols += v.Format.BlockLen {
			if v.Format.BlockLen < 32 && (cols+1)%64 < 3 {
				edges = append(edges, cols)
			} else {
				others = append(others, cols)
			}
		}
		for _, cols := range []int{1024, 1536, 2048, 2304, 2560, 6912} {
			if cols%v.Format.BlockLen == 0 {
				others = append(others, cols)
			}
		}
		for _, cols := range slices.Concat(require.Draw(t, 3, edges), require.Draw(t, 8, others)) {
			tensor := kerneltest.Tensor(t, v.Format, 4, cols, rng)
			kerneltest.Check(t, v, tensor, kerneltest.Normal(rng, cols), 1, fmt.Sprintf("4×%d", cols))
		}
	})
}

// TestTwoBitRows takes every number of rows up to 20 and some about tiles of 64,
// filled or not.
func TestTwoBitRows(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	eachTwoBit(t, func(t *testing.T, v *kernels.Variant, rng *rand.Rand) {
		var sizes []int
		for rows := range 131 {
			tiles := rows == 48 || rows > 62 && rows < 66 || rows == 81 || rows == 128 || rows == 130
			if _, err := v.Format.Bytes(rows, 768); err == nil && (tiles || 0 < rows && rows <= 20) {
				sizes = append(sizes, rows)
			}
		}
		for _, rows := range require.Draw(t, 6, sizes) {
			tensor := kerneltest.Tensor(t, v.Format, rows, 768, rng)
			kerneltest.Check(t, v, tensor, kerneltest.Normal(rng, 2*768), 2, fmt.Sprintf("%d×768", rows))
		}
	})
}

// TestTwoBitBatches takes panels of activation columns, filled or not, with
// tiles of rows, filled or not.
func TestTwoBitBatches(t *testing.T) {
	eachTwoBit(t, func(t *testing.T, v *kernels.Variant, rng *rand.Rand) {
		for _, n := range require.Draw(t, 8, require.Numbers(2, 34)) {
			rows, cols := 4*(1+rng.IntN(40)), v.Format.BlockLen
			if cols == 1 {
				cols = 1 + rng.IntN(600)
			}
			tensor := kerneltest.Tensor(t, v.Format, rows, cols, rng)
			kerneltest.Check(t, v, tensor, kerneltest.Normal(rng, n*cols), n, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
		}
	})
}

// TestTwoBitExtremes takes the largest sums that there are, in rows so long
// that 16-bit sums would wrap if they were not folded in time.
func TestTwoBitExtremes(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	check := func(t *testing.T, v *kernels.Variant, rows, cols int, code byte, sign float32) {
		tensor := uniform(t, v.Format, rows, cols, code)
		for _, n := range []int{1, 4} {
			x := slices.Repeat([]float32{sign}, n*cols)
			kerneltest.Check(t, v, tensor, x, n, fmt.Sprintf("%d × %d columns, code %d × %v", n, cols, code, sign))
		}
	}
	eachTwoBit(t, func(t *testing.T, v *kernels.Variant, _ *rand.Rand) {
		for code := range byte(4) {
			check(t, v, 4, 256, code, 1)
			check(t, v, 4, 8192, code, -1)
		}
	})
}

// TestTwoBitLongest takes rows in which 32-bit sums of codes times 64 would wrap if they
// were not folded in time.
func TestTwoBitLongest(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of columns")
	}
	var tensor *formats.Tensor // of one format after the other
	for _, v := range require.Draw(t, 8, twoBitVariants()) {
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Require(t, v)
			rows, cols := 1, 2<<20
			if v.Format == formats.I2_S_X4 {
				rows = 4
			}
			if tensor == nil || tensor.Type != v.Format {
				tensor = uniform(t, v.Format, rows, cols, 3)
			}
			for _, n := range []int{1, 4} {
				x := slices.Repeat([]float32{1}, n*cols)
				kerneltest.Check(t, v, tensor, x, n, fmt.Sprintf("%d × %d columns, code 3", n, cols))
			}
		})
	}
}

// uniform is a tensor whose codes are all the same. Code 3 exists where
// blocks have scales, and not in base 3.
func uniform(tb testing.TB, format *formats.Type, rows, cols int, code byte) *formats.Tensor {
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(min(code, 2)) - 1
	}
	tensor := kerneltest.Quantize(tb, format, rows, cols, w)
	if b := twoBitBlocks[format]; code == 3 && b.bytes > 0 {
		for i := range tensor.Data {
			if in := i % b.bytes; in != b.scaleAt && in != b.scaleAt+1 {
				tensor.Data[i] = 0xff
			}
		}
	}
	return tensor
}

// TestTwoBitBits takes codes and scales that no quantizer would write.
func TestTwoBitBits(t *testing.T) {
	eachTwoBit(t, func(t *testing.T, v *kernels.Variant, rng *rand.Rand) {
		b := twoBitBlocks[v.Format]
		if b.bytes == 0 {
			return // its codes are validated
		}
		for _, i := range require.Draw(t, 8, require.Numbers(0, 19)) {
			cols := 256 * (1 + rng.IntN(9))
			tensor := kerneltest.Tensor(t, v.Format, 9, cols, rng)
			for i := range tensor.Data {
				tensor.Data[i] = byte(rng.Uint32())
				if i%b.bytes == b.scaleAt+1 {
					tensor.Data[i] &^= 0x40 // an exponent of all ones is not finite
				}
			}
			kerneltest.Check(t, v, tensor, kerneltest.Normal(rng, cols), 1, fmt.Sprintf("random bytes %d, %d columns", i, cols))
		}
	})
}
