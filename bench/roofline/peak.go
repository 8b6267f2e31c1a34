package roofline

import (
	"context"
	"fmt"

	"onebit/bench/results"
	"onebit/internal/cpu"
)

// A Peak multiplies and adds in registers and touches no memory. With int8
// it is the ceiling of prompts.
type Peak struct {
	Prober
	pool   Pool
	kernel DotKernel
	n      int
	sums   []uint32 // by thread
	task   func(thread int)
}

// dotIterations are what each thread performs in an operation: some hundreds
// of microseconds with SIMD, and no more than floats add up exactly.
const dotIterations = 1 << 16

// NewPeak computes with a kernel on all threads, and probes with what it is given.
func NewPeak(k DotKernel, pool Pool, probe Prober) *Peak {
	p := &Peak{Prober: probe, pool: pool, kernel: k, sums: make([]uint32, pool.Threads())}
	p.task = p.computeShare
	return p
}

// Ops is how many multiply-adds an operation is.
func (p *Peak) Ops() int64 {
	macs, _ := p.kernel.Dot(1)
	return int64(macs) * dotIterations * int64(len(p.sums))
}

// FastestDot is the int8 kernel that has this machine's peak, and a thread's
// multiply-adds per second with it.
func FastestDot() (DotKernel, float64) {
	return best(DotKernels(Int8, cpu.Detected()), func(k DotKernel, n int) int {
		macs, _ := k.Dot(n)
		return macs
	})
}

// FastestPeak is the multiply-adds of a type per second of all threads together.
func FastestPeak(kind string, pool Pool) (perSecond float64) {
	p := NewPeak(DotKernel{}, pool, nil)
	_, perSecond = best(DotKernels(kind, cpu.Detected()), func(k DotKernel, n int) int {
		p.kernel = k
		p.compute(n)
		return n * int(p.Ops())
	})
	return perSecond
}

// Run performs n operations.
func (p *Peak) Run(_ context.Context, n int) error {
	p.compute(n)
	return nil
}

func (p *Peak) compute(n int) {
	p.n = n
	p.pool.ForEach(len(p.sums), p.task)
}

func (p *Peak) computeShare(thread int) {
	for range p.n {
		_, p.sums[thread] = p.kernel.Dot(dotIterations)
	}
}

// Verify proves that every iteration was performed.
func (p *Peak) Verify(context.Context) ([]results.Metric, error) {
	p.compute(1)
	_, one := p.kernel.Dot(1)
	for _, got := range p.sums {
		if want := one * dotIterations; got != want {
			return nil, fmt.Errorf("the sum of %d iterations is %d, want %d", dotIterations, got, want)
		}
	}
	return nil, nil
}

func (p *Peak) Close() error { return nil }
