package kernels_test

import (
	"fmt"
	"testing"

	"onebit/formats"
	"onebit/kernels"
)

// BenchmarkVariant times every variant, one thread on weights in L2, with one column and with 16. The columns
// "× next" of docs/kernels.md are of this, as it lies in testdata/variants.txt:
//
//	go test ./kernels -run '^$' -cpu 1 -bench BenchmarkVariant -benchtime 8ms -count 3 > kernels/testdata/variants.txt
func BenchmarkVariant(b *testing.B) {
	for _, format := range formats.Types() {
		var tensor *formats.Tensor // made once, if a benchmark wants it
		free := func() error { return nil }
		for _, v := range kernels.Variants() {
			if v.Format != format || v.Name == "scalar" || v.Name == "reference" {
				continue
			}
			for _, n := range measuredColumns {
				b.Run(measuredAs(v, n), func(b *testing.B) {
					if err := v.Available(); err != nil {
						b.Skip(err)
					}
					if tensor == nil {
						tensor, free = repeated(b, format, 256<<10, 2048)
					}
					timeBatch(b, v, tensor, n)
				})
			}
		}
		if err := free(); err != nil {
			b.Fatal(err)
		}
	}
}

// measuredColumns are the numbers of columns that BenchmarkVariant times.
var measuredColumns = []int{1, 16}

// measuredAs is the name that BenchmarkVariant has for v and so many columns.
func measuredAs(v *kernels.Variant, columns int) string {
	return fmt.Sprintf("format=%s/act=%s/variant=%s/columns=%d", v.Format.Name, v.Scheme, v.Name, columns)
}
