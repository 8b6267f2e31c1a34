package shaders

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal"
)

// wholeBlocks returns the columns that are whole blocks and no fewer than so many.
func wholeBlocks(t *formats.Type, cols int) int { return groups(cols, t.BlockLen) * t.BlockLen }

var floatTypes = []*formats.Type{formats.F32, formats.F16, formats.BF16, formats.Q4_K}

func floatConstants(t *testing.T, format *formats.Type, columns int) map[int]any {
	c, err := FloatConstants(format, columns)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFloatConstants(t *testing.T) {
	if _, err := FloatConstants(formats.Q8_0, 1); err == nil || err.Error() != "q8_0 has no floats" {
		t.Errorf("error %v for q8_0", err)
	}
}

// Products of floats have the bits of package kernels' scheme f32, but for q4_k, whose
// groups are no terms of their own here.
func TestDense(t *testing.T) {
	for _, format := range floatTypes {
		for _, s := range [][4]int{{1, 4, 1, 1}, {9, 132, 2, 1}, {37, 36, 5, 2}, {33, 68, 7, 4}, {2, 2052, 1, 1}} {
			s[1] = wholeBlocks(format, s[1])
			t.Run(fmt.Sprintf("%s/%dx%d", format.Name, s[0], s[1]), func(t *testing.T) {
				if err := denseProduct(t, Heads, format, s[0], s[1], s[2], s[3]); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// denseProduct multiplies n columns, so many for one reading of weights.
func denseProduct(t *testing.T, source string, format *formats.Type, rows, cols, n, tile int) error {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	tensor, x := tensorOf(t, format, rows, cols, rng), normal(rng, n*cols)
	v, err := kernels.Lookup(format.Name, "scalar", kernels.F32)
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.Pack(tensor, nil)
	if err != nil {
		t.Fatal(err)
	}
	var a kernels.Activations
	v.Prepare(&a, x, n, cols)
	want, y := make([]float32, n*rows), poisoned(n*rows)
	v.Rows(want, m, &a, 0, rows)
	const threads = 64
	err = compile(t, source, floatConstants(t, format, tile)).Dispatch("matvec_dense", [3]int{(2*rows + threads - 1) / threads * threads, (n + tile - 1) / tile, 1}, [3]int{threads, 1, 1},
		softmetal.Buffer(0, tensor.Data), softmetal.Buffer(1, x), softmetal.Buffer(2, y), softmetal.Value(3, Shape{Rows: uint32(rows), Cols: uint32(cols), Columns: uint32(n)}))
	if err != nil {
		return err
	}
	if format != formats.Q4_K {
		return kerneltest.Same(y, want)
	}
	// Package kernels add up each group of 32 first: two sums of cols terms and as many roundings.
	for i, size := range sizes(t, tensor, x, n) {
		if bound := float64(2*cols+8) * 0x1p-24 * float64(size); !(math.Abs(float64(y[i])-float64(want[i])) <= bound) {
			return fmt.Errorf("result %d is %v, want %v within %.3g", i, y[i], want[i], bound)
		}
	}
	return nil
}

func TestEmbedDense(t *testing.T) {
	for _, format := range floatTypes {
		t.Run(format.Name, func(t *testing.T) {
			const rows = 5
			cols := wholeBlocks(format, 36)
			tensor := tensorOf(t, format, rows, cols, rand.New(rand.NewPCG(1, 9)))
			w, _, _ := weights(t, tensor)
			ids, y := []uint32{4, 0, 2}, poisoned(3*cols)
			err := compile(t, Heads, floatConstants(t, format, 1)).Dispatch("embed_dense", [3]int{groups(cols, 32) * 8, len(ids), 1}, [3]int{8, 1, 1},
				softmetal.Buffer(0, tensor.Data), softmetal.Buffer(1, ids), softmetal.Buffer(2, y), softmetal.Value(3, Shape{Rows: rows, Cols: uint32(cols)}))
			if err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				same(t, "embed_dense", y[i*cols:][:cols], w[int(id)*cols:][:cols])
			}
		})
	}
}
