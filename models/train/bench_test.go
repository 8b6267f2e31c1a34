package train

import (
	"fmt"
	"testing"

	"onebit/kernels"
)

// BenchmarkBitLinear times a layer's passes over as many tokens as int8 kernels are
// used for, and over one fewer.
func BenchmarkBitLinear(b *testing.B) {
	pool := kernels.NewPool(0)
	defer pool.Close()
	const in, out = 512, 512
	for _, form := range []*Form{Float, NanoLogic, B158, OneBit} {
		for _, rows := range []int{packedFrom - 1, packedFrom} {
			l := NewBuilder(pool, 1).BitLinear("l", in, out, Options{Form: form})
			x, grad := randomRows(1, rows*in), randomRows(2, rows*out)
			l.Forward(x)
			b.Run(fmt.Sprintf("form:%s/pass:forward/tokens:%d", form.Name, rows), func(b *testing.B) {
				for b.Loop() {
					l.Forward(x)
				}
			})
			b.Run(fmt.Sprintf("form:%s/pass:backward/tokens:%d", form.Name, rows), func(b *testing.B) {
				for b.Loop() {
					l.Backward(grad)
				}
			})
		}
	}
}
