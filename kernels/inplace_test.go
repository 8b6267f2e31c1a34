package kernels_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// What Validate refuses makes every product with its row infinite or NaN, also
// with zeros, by all variants that say so.
func TestBadWeightsShowInProducts(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	const rows, cols = 35, 512
	for _, v := range kernels.Variants() {
		if !v.ShowsBadWeights() {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Require(t, v)
			rng := rand.New(rand.NewPCG(1, 2))
			for range require.Draw(t, 8, require.Numbers(1, 6)) {
				tensor := kerneltest.Tensor(t, v.Format, rows, cols, rng)
				row := spoil(t, tensor, rng)
				m, err := v.InPlace(tensor)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{1, 3, 17, 41} {
					x := make([]float32, n*cols)
					for i := range x {
						if rng.IntN(4) == 0 { // and most are 0, in the first column all
							x[i] = float32(i/cols) * float32(rng.NormFloat64())
						}
					}
					var a kernels.Activations
					v.Prepare(&a, x, n, cols)
					dst := make([]float32, n*rows)
					v.Rows(dst, m, &a, 0, rows)
					for c := range n {
						if y := float64(dst[c*rows+row]); !math.IsNaN(y) && !math.IsInf(y, 0) {
							t.Fatalf("row %d, of which a weight is not finite, times column %d of %d is %v", row, c, n, y)
						}
					}
				}
			}
		})
	}
}

// spoil puts a number that is not finite somewhere into the tensor, and returns
// its row.
func spoil(t *testing.T, tensor *formats.Tensor, rng *rand.Rand) int {
	t.Helper()
	for {
		at := tensor.Data[2*rng.IntN(len(tensor.Data)/2):][:2]
		before := binary.LittleEndian.Uint16(at)
		// Infinity or NaN in fp16, and in what float32 and bf16 share.
		binary.LittleEndian.PutUint16(at, []uint16{0x7c00, 0xfc00, 0x7e01, 0x7f80, 0xffc0}[rng.IntN(5)])
		var bad *formats.Error
		if err := tensor.Matrix().Validate(); errors.As(err, &bad) {
			return bad.Row
		}
		binary.LittleEndian.PutUint16(at, before)
	}
}

func TestInPlaceRefuses(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	rng := rand.New(rand.NewPCG(1, 2))
	q1 := kerneltest.Tensor(t, formats.Q1_0_g128, 16, 128, rng)
	for _, v := range kernels.Variants() {
		of := kerneltest.Tensor(t, v.Format, 256, 256, rng)
		_, err := v.InPlace(of)
		if want := v.ShowsBadWeights(); (err == nil) != want {
			t.Errorf("%v in place: error %v", v, err)
		}
		if _, err := v.InPlace(q1); err == nil && v.Format != q1.Type {
			t.Errorf("%v took a matrix of %s", v, q1.Type.Name)
		}
		of.Data = of.Data[1:]
		if _, err := v.InPlace(of); err == nil {
			t.Errorf("%v took %s", v, fmt.Sprint(len(of.Data), " bytes, one too few"))
		}
	}
}
