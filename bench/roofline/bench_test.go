package roofline

import (
	"fmt"
	"sync"
	"testing"

	"onebit/internal/cpu"
)

// BenchmarkMove shows what every design of reading, writing and copying reaches
// from buffers that fit level 1, 2 and 3 of a server CPU, or none. An operation
// moves a GiB, so that starting the threads costs nothing beside it. A copy
// counts what it reads and what it writes.
func BenchmarkMove(b *testing.B) {
	for _, size := range []int{24 << 10, 768 << 10, 16 << 20, 512 << 20} {
		for _, pages := range []Pages{Huge, Small} {
			a, err := NewBuffer(size, pages)
			if err != nil {
				b.Fatal(err)
			}
			for _, threads := range []int{1, 2} {
				move := func(access, kernel string, move func(part []byte)) {
					benchmarkMove(b, fmt.Sprintf("access=%s/KiB=%d/pages=%s/threads=%d/kernel=%s", access, size>>10, pages, threads, kernel), a.Bytes(), threads, move)
				}
				for _, k := range running(archReadKernels, cpu.Detected()) {
					move("read", k.Name, func(part []byte) { sum(k, part) })
				}
				for _, k := range running(archWriteKernels, cpu.Detected()) {
					move("write", k.Name, func(part []byte) { fill(k, part, 1) })
				}
				for _, k := range running(archCopyKernels, cpu.Detected()) {
					move("copy", k.Name, func(part []byte) { copyTo(k, part[:len(part)/2], part[len(part)/2:]) })
				}
			}
			if err := a.Free(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchmarkMove(b *testing.B, name string, buf []byte, threads int, move func(part []byte)) {
	const whole = 1 << 30
	b.Run(name, func(b *testing.B) {
		b.SetBytes(whole)
		for b.Loop() {
			var done sync.WaitGroup
			for i := range threads {
				done.Go(func() {
					part := part(buf, i, threads)
					for range whole / len(buf) {
						move(part)
					}
				})
			}
			done.Wait()
		}
	})
}

// BenchmarkDot shows the multiply-adds per second of one thread, and those of a
// cycle of the clock.
func BenchmarkDot(b *testing.B) {
	const iterations = 1 << 14
	for _, k := range everyDotKernel(cpu.Detected()) {
		b.Run("type="+k.Type+"/kernel="+k.Name, func(b *testing.B) {
			macs := 0
			for b.Loop() {
				macs, _ = k.Dot(iterations)
			}
			b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds(), "mac/s")
		})
	}
}

// BenchmarkCycles shows the frequency of the clock.
func BenchmarkCycles(b *testing.B) {
	const iterations = 1 << 14
	for b.Loop() {
		Cycles(iterations)
	}
	b.ReportMetric(float64(iterations*CyclesInLoop)*float64(b.N)/b.Elapsed().Seconds(), "cycle/s")
}
