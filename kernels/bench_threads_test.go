package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// BenchmarkThreads is decoding with more threads than most machines have CPUs. On
// n CPUs more than n threads should take as long as n.
func BenchmarkThreads(b *testing.B) {
	decode := decodeBlock(b)
	for _, threads := range []int{1, 2, 4, 8, 16, 64} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) { decode(b, threads) })
	}
}

// decodeBlock returns a benchmark of the products of a block of BitNet-2B-4T, whose
// weights lie in no core's own cache, with so many threads.
func decodeBlock(b *testing.B) func(b *testing.B, threads int) {
	best, err := kernels.Best("i2_s")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	x := make([]float32, 2560)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	var block [][]*kernels.Matrix // sibling products
	for _, siblings := range [][]int{{2560, 640, 640}, {2560}, {6912, 6912}} {
		var matrices []*kernels.Matrix
		for _, rows := range siblings {
			m, err := best.Pack(kerneltest.Tensor(b, formats.I2_S, rows, 2560, rng), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { m.Close() })
			matrices = append(matrices, m)
		}
		block = append(block, matrices)
	}
	return func(b *testing.B, threads int) {
		pool := kernels.NewPool(threads)
		defer pool.Close()
		var submissions [][]kernels.Product
		for _, matrices := range block {
			var products []kernels.Product
			for _, m := range matrices {
				products = append(products, kernels.Product{Variant: best, Matrix: m, Dst: make([]float32, m.Rows)})
			}
			submissions = append(submissions, products)
		}
		for b.Loop() {
			for _, products := range submissions {
				pool.Do(x, 1, products...)
			}
		}
	}
}
