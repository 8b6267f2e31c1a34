package kernels_test

import (
	"fmt"
	"testing"

	"onebit/formats"
	"onebit/kernels"
)

// BenchmarkQ1 times one thread on weights in each level of memory, by the
// variant. The activations are prepared beforehand.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkQ1/act=q8_128/'
func BenchmarkQ1(b *testing.B) {
	for _, act := range []kernels.Activation{kernels.Q8Per128, kernels.Q8Row, kernels.Q8Per32} {
		for _, mem := range []struct {
			name  string
			bytes int
		}{{"L2", 1 << 20}, {"L3", 32 << 20}, {"DRAM", 512 << 20}} {
			b.Run(fmt.Sprintf("act=%s/mem=%s", act, mem.name), func(b *testing.B) { benchmarkQ1(b, act, mem.bytes) })
		}
	}
}

func benchmarkQ1(b *testing.B, act kernels.Activation, bytes int) {
	var tensor *formats.Tensor // made once, if a benchmark wants it
	for _, v := range kernels.Variants() {
		if v.Format != formats.Q1_0_g128 || v.Activation != act || v.Name == "scalar" || v.Name == "reference" {
			continue
		}
		b.Run("variant="+v.Name, func(sub *testing.B) {
			if err := v.Available(); err != nil {
				sub.Skip(err)
			}
			if tensor == nil {
				var free func() error
				tensor, free = repeated(sub, v.Format, bytes, 2048)
				b.Cleanup(func() { free() })
			}
			timeRows(sub, v, tensor)
		})
	}
}
