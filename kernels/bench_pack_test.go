package kernels_test

import (
	"fmt"
	"testing"
	"time"

	"onebit/kernels"
)

// BenchmarkPack times the packing of 256 MiB into every layout: into memory that
// is there (weight-GB/s) and with pages that the operating system has yet to give
// (fresh-GB/s). It alternates with a plain copy: copy-% is the speed of packing
// in percent of that.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkPack/format=q1_0_g128/'
func BenchmarkPack(b *testing.B) {
	seen := map[*kernels.Layout]bool{kernels.Native: true}
	for _, v := range kernels.Variants() {
		if seen[v.Layout] {
			continue
		}
		seen[v.Layout] = true
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("format=%s/layout=%s/threads=%d", v.Format.Name, v.Layout.Name, threads), func(b *testing.B) {
				timePacking(b, v, threads)
			})
		}
	}
}

func timePacking(b *testing.B, v *kernels.Variant, threads int) {
	pool := kernels.NewPool(threads)
	defer pool.Close()
	tensor, free := repeated(b, v.Format, 256<<20, 2048)
	defer free()
	m, err := v.Pack(tensor, pool)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var packs, fresh, copies []time.Duration
	b.ResetTimer()
	for range b.N {
		t0 := time.Now()
		if _, err := v.PackInto(m.Data, tensor, pool); err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		pool.ForEach(len(tensor.Data)/readChunk, func(i int) {
			if i < len(m.Data)/readChunk {
				copy(m.Data[i*readChunk:][:readChunk], tensor.Data[i*readChunk:])
			}
		})
		t2 := time.Now()
		n, err := v.Pack(tensor, pool)
		if err != nil {
			b.Fatal(err)
		}
		fresh = append(fresh, time.Since(t2))
		n.Close()
		packs, copies = append(packs, t1.Sub(t0)), append(copies, t2.Sub(t1))
	}
	bytes := float64(len(tensor.Data))
	b.ReportMetric(bytes/median(packs).Seconds()/1e9, "weight-GB/s")
	b.ReportMetric(bytes/median(fresh).Seconds()/1e9, "fresh-GB/s")
	b.ReportMetric(100*median(copies).Seconds()/median(packs).Seconds(), "copy-%")
	b.ReportMetric(0, "ns/op")
}
