package cases

import (
	"context"
	"fmt"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/roofline"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// A dotPeak is the ceiling of prompts: it multiplies and adds int8 in registers
// and touches no memory.
type dotPeak struct {
	pool   *kernels.Pool
	kernel roofline.DotKernel
	n      int
	sums   []int32 // by thread
	task   func(thread int)
	*roundTrip
}

// dotIterations are what each thread performs in an operation: some hundreds
// of microseconds with SIMD.
const dotIterations = 1 << 16

// dotPeakCase is the peak of the kernel k. The model is in the name because a
// name occurs once.
func dotPeakCase(k roofline.DotKernel, model, group string, pool *kernels.Pool, check func([]bench.Metric) error) bench.Case {
	macs, _ := k.Dot(1)
	return bench.Case{
		Name: names.DotPeak{Model: model, ISA: k.Name, Threads: pool.Threads()}.String(), Group: group,
		Ops: int64(macs) * dotIterations * int64(pool.Threads()), Ceiling: true, Check: check,
		Setup: func(context.Context) (bench.Instance, error) {
			d := &dotPeak{pool: pool, kernel: k, sums: make([]int32, pool.Threads()), roundTrip: newRoundTrip(pool)}
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

func (d *dotPeak) Run(_ context.Context, n int) error {
	d.n = n
	d.pool.ForEach(len(d.sums), d.task)
	return nil
}

func (d *dotPeak) computeShare(thread int) {
	for range d.n {
		_, d.sums[thread] = d.kernel.Dot(dotIterations)
	}
}

// Verify proves that every iteration was performed.
func (d *dotPeak) Verify(ctx context.Context) ([]bench.Metric, error) {
	if err := d.Run(ctx, 1); err != nil {
		return nil, err
	}
	_, one := d.kernel.Dot(1)
	for _, got := range d.sums {
		if want := one * dotIterations; got != want {
			return nil, fmt.Errorf("the sum of %d iterations of %s is %d, want %d", dotIterations, d.kernel.Name, got, want)
		}
	}
	return nil, nil
}

func (d *dotPeak) Close() error { return nil }
