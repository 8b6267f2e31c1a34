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

// A dotPeak multiplies and adds in registers and touches no memory. With int8
// it is the ceiling of prompts.
type dotPeak struct {
	pool   *kernels.Pool
	kernel roofline.DotKernel
	n      int
	sums   []uint32 // by thread
	task   func(thread int)
	bench.Prober
}

// dotIterations are what each thread performs in an operation: some hundreds
// of microseconds with SIMD, and no more than floats add up exactly.
const dotIterations = 1 << 16

func newDotPeak(pool *kernels.Pool) *dotPeak {
	d := &dotPeak{pool: pool, sums: make([]uint32, pool.Threads())}
	d.task = d.computeShare
	return d
}

// dotPeakCase is the peak of a kernel on the pool's threads.
func dotPeakCase(name names.DotPeak, k roofline.DotKernel, group string, pool *kernels.Pool, probe bench.Prober) bench.Case {
	macs, _ := k.Dot(1)
	name.ISA, name.Threads = k.Name, pool.Threads()
	return bench.Case{
		Name: name.String(), Group: group, Ops: int64(macs) * dotIterations * int64(pool.Threads()), Ceiling: true,
		Setup: func(context.Context) (bench.Instance, error) {
			d := newDotPeak(pool)
			d.kernel, d.Prober = k, probe
			return d, nil
		},
	}
}

// fastestDot is the int8 kernel that has this machine's peak, and a thread's
// multiply-adds per second with it.
func fastestDot() (roofline.DotKernel, float64) {
	return roofline.Fastest(roofline.DotKernels(roofline.Int8, cpu.Detected()), func(k roofline.DotKernel, n int) int {
		macs, _ := k.Dot(n)
		return macs
	})
}

// fastest is the multiply-adds of a type per second of all threads together.
func (d *dotPeak) fastest(kind string) (perSecond float64) {
	_, perSecond = roofline.Fastest(roofline.DotKernels(kind, cpu.Detected()), func(k roofline.DotKernel, n int) int {
		d.kernel = k
		d.compute(n)
		macs, _ := k.Dot(1)
		return macs * dotIterations * n * len(d.sums)
	})
	return perSecond
}

func (d *dotPeak) Run(_ context.Context, n int) error {
	d.compute(n)
	return nil
}

func (d *dotPeak) compute(n int) {
	d.n = n
	d.pool.ForEach(len(d.sums), d.task)
}

func (d *dotPeak) computeShare(thread int) {
	for range d.n {
		_, d.sums[thread] = d.kernel.Dot(dotIterations)
	}
}

// Verify proves that every iteration was performed.
func (d *dotPeak) Verify(context.Context) ([]results.Metric, error) {
	d.compute(1)
	_, one := d.kernel.Dot(1)
	for _, got := range d.sums {
		if want := one * dotIterations; got != want {
			return nil, fmt.Errorf("the sum of %d iterations is %d, want %d", dotIterations, got, want)
		}
	}
	return nil, nil
}

func (d *dotPeak) Close() error { return nil }
