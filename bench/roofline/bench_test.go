package roofline

import (
	"fmt"
	"sync"
	"testing"

	"onebit/internal/cpu"
)

// BenchmarkRead shows what every design reaches from buffers that fit level 2
// and level 3 of a server CPU, or neither. An operation reads a GiB, so that
// starting the threads costs nothing beside it.
func BenchmarkRead(b *testing.B) {
	const whole = 1 << 30
	for _, size := range []int{1 << 20, 32 << 20, whole} {
		a, err := NewBuffer(size)
		if err != nil {
			b.Fatal(err)
		}
		for _, pages := range []string{"huge", "small"} {
			if pages == "small" && !useSmallPages(a.Bytes()) {
				continue
			}
			for _, threads := range []int{1, 2} {
				for _, k := range ReadKernels(cpu.Detected()) {
					b.Run(fmt.Sprintf("kernel=%s/MiB=%d/pages=%s/threads=%d", k.Name, size>>20, pages, threads), func(b *testing.B) {
						b.SetBytes(whole)
						for b.Loop() {
							var done sync.WaitGroup
							for i := range threads {
								done.Go(func() {
									for range whole / size {
										k.Sum(Part(a.Bytes(), i, threads))
									}
								})
							}
							done.Wait()
						}
					})
				}
			}
		}
		if err := a.Free(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDot shows the int8 operations per second of one thread.
func BenchmarkDot(b *testing.B) {
	x, y := operands()
	const iterations = 1000
	for _, k := range DotKernels(cpu.Detected()) {
		b.Run("kernel="+k.Name, func(b *testing.B) {
			for b.Loop() {
				k.run(&x, &y, iterations)
			}
			ops := 2 * float64(iterations*k.chains*k.macs) * float64(b.N)
			b.ReportMetric(ops/b.Elapsed().Seconds(), "op/s")
		})
	}
}
