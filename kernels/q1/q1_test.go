//go:build !purego

package q1_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// variants are those in assembly that run here.
func variants() []*kernels.Variant {
	var out []*kernels.Variant
	for _, v := range kernels.Variants() {
		if v.Format == formats.Q1_0_g128 && v.ISA != kernels.Go && v.Available() == nil {
			out = append(out, v)
		}
	}
	return out
}

// compare holds v to the generic path for rows [r0, r1), and to leaving the others alone.
func compare(t *testing.T, v *kernels.Variant, tensor *formats.Tensor, x []float32, n, r0, r1 int, what string) {
	t.Helper()
	if err := kerneltest.Same(kerneltest.Rows(t, v, tensor, x, n, r0, r1), kerneltest.Rows(t, kerneltest.Scalar(t, v), tensor, x, n, r0, r1)); err != nil {
		t.Fatalf("%v: %s: %v", v, what, err)
	}
}

const block = 18 // bytes of one

// anyBits returns a matrix of random bits, with scales of both signs from subnormal to large.
func anyBits(t *testing.T, rng *rand.Rand, rows, cols int) *formats.Tensor {
	t.Helper()
	tensor := kerneltest.Tensor(t, formats.Q1_0_g128, rows, cols, rng)
	for i := range tensor.Data {
		tensor.Data[i] = byte(rng.Uint32())
		if i%block == 1 {
			tensor.Data[i] &^= 0x40 // an exponent of all ones is not finite
		}
	}
	return tensor
}

// TestShapes takes numbers of rows around the tiles, with scales of
// both signs, some subnormal.
func TestShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var numbers []int
	for rows := 1; rows <= 40; rows++ {
		numbers = append(numbers, rows)
	}
	for _, v := range variants() {
		for _, rows := range require.Draw(t, 8, numbers) {
			cols := 128 * (1 + rows%8)
			for _, n := range []int{1, 5, 6, 7} {
				x := kerneltest.Normal(rng, n*cols)
				compare(t, v, anyBits(t, rng, rows, cols), x, n, 0, rows, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
			}
		}
	}
}

// TestRanges checks that a range of rows is computed and nothing else.
func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const rows, cols = 100, 384
	tensor := anyBits(t, rng, rows, cols)
	for _, n := range require.Draw(t, 3, []int{1, 5, 6, 7, 9, 43}) {
		ranges := min(20, 180/n)
		x := kerneltest.Normal(rng, n*cols)
		for _, v := range variants() {
			for range ranges {
				r0 := rng.IntN(rows) / v.Layout.RowTile * v.Layout.RowTile
				r1 := min(rows, r0+v.Layout.RowTile*(1+rng.IntN(50)))
				compare(t, v, tensor, x, n, r0, r1, fmt.Sprintf("%d columns, rows %d to %d", n, r0, r1))
			}
		}
	}
}

// TestStrips takes batches of native rows, which panels or one of the look-ups
// multiply. Rows fill no tile, or strips of panels.
func TestStrips(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for _, v := range variants() {
		if v.Layout != kernels.Native {
			continue
		}
		for _, n := range require.Draw(t, 3, []int{7, 8, 9, 13, 19, 43}) {
			for _, shape := range [][2]int{{1, 384}, {127, 256}, {131, 1280}, {600, 128}} {
				rows, cols := shape[0], shape[1]
				x := kerneltest.Normal(rng, n*cols)
				compare(t, v, anyBits(t, rng, rows, cols), x, n, 0, rows, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
			}
		}
	}
}

// TestExtremes has every sum as large as it gets: all bits alike, every q
// 127 or −127, in one block and in a very long row.
func TestExtremes(t *testing.T) {
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
			tensor := anyBits(t, rng, rows, cols)
			for i := range tensor.Data {
				if i%block >= 2 {
					tensor.Data[i] = bits
				}
			}
			for _, v := range variants() {
				columns := n
				if cols > 384 {
					columns = 1 // the generic path takes its time
				}
				compare(t, v, tensor, x[:columns*cols], columns, 0, rows, fmt.Sprintf("%d columns of weights, bits %#x", cols, bits))
			}
		}
	}
}
