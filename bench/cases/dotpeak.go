package cases

import (
	"context"
	"fmt"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// A dotKernel is one of package roofline's: its sum is in proportion to its
// iterations, of int32 modulo 2³².
type dotKernel[T int32 | float64] interface {
	Dot(iterations int) (macs int, sum T)
}

// A dotPeak multiplies and adds in registers and touches no memory. With int8
// it is the ceiling of prompts.
type dotPeak[T int32 | float64] struct {
	pool   *kernels.Pool
	kernel dotKernel[T]
	n      int
	sums   []T // by thread
	task   func(thread int)
	bench.Prober
}

// dotIterations are what each thread performs in an operation: some hundreds
// of microseconds with SIMD, and no more than floats add up exactly.
const dotIterations = 1 << 16

// dotPeakCase is the peak of a kernel on the pool's threads.
func dotPeakCase[T int32 | float64](name names.DotPeak, k dotKernel[T], group string, pool *kernels.Pool, probe bench.Prober) bench.Case {
	macs, _ := k.Dot(1)
	name.Threads = pool.Threads()
	return bench.Case{
		Name: name.String(), Group: group,
		Ops: int64(macs) * dotIterations * int64(pool.Threads()), Ceiling: true,
		Setup: func(context.Context) (bench.Instance, error) {
			d := &dotPeak[T]{pool: pool, kernel: k, sums: make([]T, pool.Threads()), Prober: probe}
			d.task = d.computeShare
			return d, nil
		},
	}
}

// fastestDot is the kernel that has this machine's peak, and a thread's
// multiply-adds per second with it.
func fastestDot(have cpu.Set) (roofline.DotKernel, float64) {
	return roofline.Fastest(roofline.DotKernels(have), func(k roofline.DotKernel, n int) int {
		macs, _ := k.Dot(n)
		return macs
	})
}

func (d *dotPeak[T]) Run(_ context.Context, n int) error {
	d.n = n
	d.pool.ForEach(len(d.sums), d.task)
	return nil
}

func (d *dotPeak[T]) computeShare(thread int) {
	for range d.n {
		_, d.sums[thread] = d.kernel.Dot(dotIterations)
	}
}

// Verify proves that every iteration was performed.
func (d *dotPeak[T]) Verify(ctx context.Context) ([]results.Metric, error) {
	if err := d.Run(ctx, 1); err != nil {
		return nil, err
	}
	_, one := d.kernel.Dot(1)
	for _, got := range d.sums {
		if want := one * dotIterations; got != want {
			return nil, fmt.Errorf("the sum of %d iterations is %v, want %v", dotIterations, got, want)
		}
	}
	return nil, nil
}

func (d *dotPeak[T]) Close() error { return nil }
