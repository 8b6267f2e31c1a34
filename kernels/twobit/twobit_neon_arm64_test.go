//go:build !purego

package twobit

import (
	"math/rand/v2"
	"testing"

	"onebit/internal/guard"
)

// TestStepOrder holds the order to what the codes' bytes say.
func TestStepOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	for _, format := range twoBitFormats {
		f, name := format.codes, format.Type.Name
		q := guard.As[int8](guard.New(t, 2*768))
		for i := range q {
			q[i] = int8(rng.Uint32())
		}
		o := f.stepOrder()
		dst := guard.As[int8](guard.New(t, o.Size(2, 768)))
		o.Arrange(dst, q, 2, 768)
		for k, v := range q {
			at, shift := f.at(k)
			block := at / f.blockBytes // without its scale
			i := block*f.blockLen/4 + at%f.blockBytes - f.data
			if got := dst[i/16*64+int(shift)/2*16+i%16]; got != v {
				t.Fatalf("%s: activation %d, for byte %d of the codes at shift %d: got %d, want %d", name, k, i, shift, got, v)
			}
		}
	}
}
