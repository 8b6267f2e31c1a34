//go:build !purego

package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/internal/cpu"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestNEONBatches takes every number of columns up to 20, which fill panels
// of 8, 4 and 2 or don't, with every number of rows up to 9.
func TestNEONBatches(t *testing.T) {
	for _, v := range kernels.Variants() {
		if v.ISA != kernels.NEONI8MM {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Require(t, v)
			rng := rand.New(rand.NewPCG(11, 12))
			for n := 1; n <= 20; n++ {
				rows := 1 + (n+3)%9
				if v.Format.Name == "i2_s_x4" {
					rows = 4 * (1 + n%3)
				}
				cols := 384
				if v.Format.BlockLen == 1 {
					cols += n // bytes that fill no vector
				}
				x := make([]float32, n*cols)
				for i := range x {
					x[i] = float32(rng.NormFloat64()) * float32(1+i/cols) // a scale per column
				}
				tensor := kerneltest.Tensor(t, v.Format, rows, cols, rng)
				kerneltest.Check(t, v, tensor, x, n, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
			}
		})
	}
}

// TestNEONBest says what machines with fewer features run.
func TestNEONBest(t *testing.T) {
	dot := cpu.NEON | cpu.DotProd
	for _, c := range []struct {
		format   string
		act      kernels.Scheme
		features cpu.Set
		want     string
	}{
		{"q1_0_g128", kernels.Q8Per128, 0, "unrolled"},
		{"q1_0_g128", kernels.Q8Per128, cpu.NEON, "neon"},
		{"q1_0_g128", kernels.Q8Per128, dot, "neondot"},
		{"q1_0_g128", kernels.Q8Per128, dot | cpu.I8MM, "neoni8mm"},
		{"q1_0_g128", kernels.Q8Per128, cpu.NEON | cpu.I8MM, "neon"},
		{"q1_0_g128", kernels.Q8Per32, dot | cpu.I8MM, "neondot"},
		{"i2_s", kernels.Q8Row, cpu.NEON, "neon"},
		{"i2_s", kernels.Q8Row, dot, "neondot"},
		{"i2_s", kernels.Q8Row, dot | cpu.I8MM, "neoni8mm"},
		{"tq2_0", kernels.Q8Row, cpu.NEON, "neon"},
		{"tq2_0", kernels.Q8Row, dot | cpu.I8MM, "neondot"},
		{"q2_0", kernels.Q8Per128, dot, "neondot"},
	} {
		v, err := kernels.BestFor(c.format, c.act, cpu.Machine{Features: c.features})
		if err != nil {
			t.Fatal(err)
		}
		if v.Name != c.want {
			t.Errorf("%s/%s with %v: %s, want %s", c.format, c.act, c.features, v.Name, c.want)
		}
	}
}
