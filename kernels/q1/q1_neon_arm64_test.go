//go:build !purego

package q1

import (
	"math/rand/v2"
	"testing"

	"onebit/internal/guard"
	"onebit/kernels/internal/pairs"
)

// TestQ1RowOrder holds the order to its definition.
func TestQ1RowOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	q := guard.As[int8](guard.New(t, 3*512))
	for i := range q {
		q[i] = int8(rng.Uint32())
	}
	dst := guard.As[int8](guard.New(t, q1RowOrder.Size(3, 512)))
	q1RowOrder.Arrange(dst, q, 3, 512)
	for k, v := range q {
		if b, i, j := k/128, k%128/8, k%8; dst[128*b+16*j+i] != v {
			t.Fatalf("activation %d is not at bit %d of byte %d of block %d", k, j, i, b)
		}
	}
}

// TestPairs holds the panels of a batch to the order's definition.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	const stride = 512
	for _, n := range []int{1, 2, 3, 4, 5, 8, 11, 16} {
		q := guard.As[int8](guard.New(t, n*stride))
		for i := range q {
			q[i] = int8(rng.Uint32())
		}
		b := pairs.New(q1PairOrder, 8, 128)
		dst := guard.As[int8](guard.New(t, b.Order.Size(n, stride)))
		b.Order.Arrange(dst, q, n, stride)
		const blockLen = 128 + 8 // bytes of a column: activations, sums
		for first, cols := 0, 0; first < n; first += cols {
			cols = pairs.Cols(n - first)
			for c := first; c < min(first+cols, n); c++ {
				pair, side := (c-first)/2, (c-first)%2
				for block := range stride / 128 {
					panel := dst[first*stride/128*blockLen+block*cols*blockLen:]
					var sum int32
					for k, v := range q[c*stride+128*block:][:128] {
						vector, j, col := k/32, k%32/4, k%4
						at := ((vector/2*8+j)*cols/2+pair)*16 + 8*side + vector%2*4 + col
						if panel[at] != v {
							t.Fatalf("%d columns: activation %d of column %d: got %d, want %d", n, 128*block+k, c, panel[at], v)
						}
						sum -= int32(v)
					}
					for twice := range 2 {
						at := cols*128 + 16*pair + 4*side + 8*twice
						b := panel[at:][:4]
						got := int32(uint32(uint8(b[0])) | uint32(uint8(b[1]))<<8 | uint32(uint8(b[2]))<<16 | uint32(uint8(b[3]))<<24)
						if got != sum {
							t.Fatalf("%d columns: sum of block %d of column %d: got %d, want %d", n, block, c, got, sum)
						}
					}
				}
			}
		}
	}
}
