package roofline

import (
	"fmt"
	"testing"

	"onebit/internal/cpu"
)

// BenchmarkRead shows what every design reaches, one dispatch per read, from
// buffers that fit level 2 and level 3 of a server CPU, or neither.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{1 << 20, 32 << 20, 1 << 30} {
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
						r := NewReader(k, threads)
						defer r.Close()
						b.SetBytes(int64(size))
						for b.Loop() {
							r.Read(a.Bytes())
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
