package kernels_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
	"unsafe"

	"onebit/formats"
	"onebit/kernels"
)

// BenchmarkHead times the formats of heads and embeddings as timeAgainstRead does.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkHead/format=f16/'
func BenchmarkHead(b *testing.B) { benchmarkAgainstRead(b, formatsThat(headsOnly), 1) }

// BenchmarkTwoBitRead times 2-bit formats so, with one column and a prompt's 128.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkTwoBitRead/format=tq2_0/'
func BenchmarkTwoBitRead(b *testing.B) { benchmarkAgainstRead(b, twoBitFormats, 1, 128) }

// benchmarkAgainstRead times products with weights in each level of memory by
// timeAgainstRead. L2 is half of what cores with 1 MiB of it have.
func benchmarkAgainstRead(b *testing.B, names []string, columns ...int) {
	for _, format := range names {
		for _, mem := range []struct {
			name  string
			bytes int
		}{{"L2", 512 << 10}, {"L3", 32 << 20}, {"DRAM", 256 << 20}} {
			var tensor *formats.Tensor // made once, if a benchmark wants it
			for _, v := range kernels.Variants() {
				if v.Format.Name != format || !timed(v) {
					continue
				}
				for _, n := range columns {
					for _, threads := range []int{1, 2} {
						b.Run(fmt.Sprintf("format=%s/mem=%s/variant=%s/act=%s/columns=%d/threads=%d", format, mem.name, v.Name, v.Scheme, n, threads), func(b *testing.B) {
							if err := v.Available(); err != nil {
								b.Skip(err)
							}
							if tensor == nil {
								var free func() error
								tensor, free = repeated(b, v.Format, mem.bytes, 2560)
								b.Cleanup(func() { tensor = nil; free() })
							}
							timeAgainstRead(b, v, tensor, n, threads)
						})
					}
				}
			}
		}
	}
}

// timeAgainstRead times products with n columns, quantization included. Every one alternates with a
// loop that reads as many bytes on the same threads, one word of every cache line in four
// streams: the metric read-% is the product's share of that speed.
func timeAgainstRead(b *testing.B, v *kernels.Variant, tensor *formats.Tensor, n, threads int) {
	pool := kernels.NewPool(threads)
	defer pool.Close()
	parts := split(b, v, tensor, pool)
	x, y := make([]float32, n*parts[0].Cols), make([]float32, n*parts[0].Rows)
	for i := range x {
		x[i] = float32(i%17) - 8
	}
	var products, reads []time.Duration
	b.ResetTimer()
	for i := range b.N {
		m, far := parts[i%len(parts)], parts[(i+len(parts)/2)%len(parts)]
		t0 := time.Now()
		pool.MatMul(y, v, m, x, n)
		t1 := time.Now()
		pool.ForEach(len(far.Data)/readChunk, func(i int) { readLines(far.Data[i*readChunk:][:readChunk]) })
		products, reads = append(products, t1.Sub(t0)), append(reads, time.Since(t1))
	}
	product, read := median(products), median(reads)
	bytes := float64(len(parts[0].Data))
	b.ReportMetric(bytes/product.Seconds()/1e9, "weight-GB/s")
	b.ReportMetric(bytes/read.Seconds()/1e9, "read-GB/s")
	b.ReportMetric(100*read.Seconds()/product.Seconds(), "read-%")
	b.ReportMetric(2*float64(parts[0].Rows*parts[0].Cols*n)/product.Seconds()/1e9, "Gop/s")
	b.ReportMetric(0, "ns/op")
}

// split cuts a tensor in matrices of equal size, 8 MiB or what there is: short
// enough that most are timed without an interruption, whose median is reported.
func split(b *testing.B, v *kernels.Variant, t *formats.Tensor, pool *kernels.Pool) []*kernels.Matrix {
	rows, cols := t.Dims()
	row := len(t.Data) / rows
	per := min(rows, 8<<20/row)
	var out []*kernels.Matrix
	for r := 0; r+per <= rows; r += per {
		part := &formats.Tensor{Name: t.Name, Type: t.Type, Shape: []int{per, cols}, Data: t.Data[r*row : (r+per)*row]}
		m, err := v.Pack(part, pool)
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkHeadBatch times several columns at once on a head of 32064 × 2560
// weights, alternating with the columns one by one: the metric x-columns says
// how many times as fast the batch is.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkHeadBatch/format=q8_0/'
func BenchmarkHeadBatch(b *testing.B) {
	for _, format := range formatsThat(headsOnly) {
		var tensor *formats.Tensor // made once, if a benchmark wants it
		for _, v := range kernels.Variants() {
			if v.Format.Name != format || v.Scheme != kernels.FormatOf(v.Format).Scheme || v.ISA == kernels.Go {
				continue
			}
			for _, threads := range []int{1, 2} {
				for _, n := range []int{1, 2, 3, 4, 8, 16} {
					b.Run(fmt.Sprintf("format=%s/variant=%s/columns=%d/threads=%d", format, v.Name, n, threads), func(b *testing.B) {
						if err := v.Available(); err != nil {
							b.Skip(err)
						}
						if tensor == nil {
							const rows, cols = 32064, 2560
							size, err := v.Format.Bytes(rows, cols)
							if err != nil {
								b.Fatal(err)
							}
							var free func() error
							tensor, free = repeated(b, v.Format, size, cols)
							b.Cleanup(func() { tensor = nil; free() })
						}
						timeHeadBatch(b, v, tensor, n, threads)
					})
				}
			}
		}
	}
}

func timeHeadBatch(b *testing.B, v *kernels.Variant, tensor *formats.Tensor, n, threads int) {
	pool := kernels.NewPool(threads)
	defer pool.Close()
	m, err := v.Pack(tensor, pool)
	if err != nil {
		b.Fatal(err)
	}
	x, y := make([]float32, n*m.Cols), make([]float32, n*m.Rows)
	for i := range x {
		x[i] = float32(i%17) - 8
	}
	var batches, columns []time.Duration
	b.ResetTimer()
	for range b.N {
		t0 := time.Now()
		pool.MatMul(y, v, m, x, n)
		t1 := time.Now()
		for c := range n {
			pool.MatVec(y[c*m.Rows:(c+1)*m.Rows], v, m, x[c*m.Cols:(c+1)*m.Cols])
		}
		batches, columns = append(batches, t1.Sub(t0)), append(columns, time.Since(t1))
	}
	batch := median(batches)
	b.ReportMetric(1e3*batch.Seconds(), "ms")
	b.ReportMetric(float64(len(m.Data))/batch.Seconds()/1e9, "weight-GB/s")
	b.ReportMetric(float64(m.Rows*m.Cols*n)/batch.Seconds()/1e9, "GMAC/s")
	b.ReportMetric(median(columns).Seconds()/batch.Seconds(), "x-columns")
	b.ReportMetric(0, "ns/op")
}

const readChunk = 128 << 10

// readSink keeps the compiler from leaving the loop out.
var readSink uint64

// readLines reads a word of every cache line of b, its quarters side by side.
func readLines(b []byte) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
	n := len(words) / 4
	p0, p1, p2, p3 := words[:n], words[n:2*n], words[2*n:3*n], words[3*n:4*n]
	var sum uint64
	for i := 0; i < n; i += 8 {
		sum += p0[i] + p1[i] + p2[i] + p3[i]
	}
	if sum == 1 {
		readSink = sum
	}
}
