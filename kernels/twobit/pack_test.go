package twobit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels/internal/packtest"
)

// TestPackers compares the packers of this machine with those in Go on random
// bytes.
func TestPackers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for blocks := 1; blocks <= 5; blocks++ {
		packtest.Compare(t, rng, fmt.Sprintf("tq1_0, %d blocks", blocks), blocks*tq1Block, blocks*tq2Block, unpackTQ1Blocks, unpackTQ1BlocksGo)
	}
	for _, cols := range []int{1, 16, 127, 128, 129, 200, 256, 384, 1000} {
		n := wordRowBytes(cols)
		packtest.Compare(t, rng, fmt.Sprintf("words, %d columns", cols), cols, 4*n, packWordGroup, func(dst, src []byte) {
			for r := range 4 {
				packWordRow(dst[r*n:][:n], src, uint(6-2*r))
			}
		})
	}
}

// TestUnpackTQ1 holds the digits of a block to what the format decodes.
func TestUnpackTQ1(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	src, dst := make([]byte, tq1Block), make([]byte, tq2Block)
	for range 50 {
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		src[52], src[53] = 0, 0x3c // 1
		unpackTQ1Blocks(dst, src)
		var got, want [256]float32
		if err := formats.TQ2_0.Dequantize(got[:], dst, 1, 256); err != nil {
			t.Fatal(err)
		}
		if err := formats.TQ1_0.Dequantize(want[:], src, 1, 256); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("%x: %v, the format says %v", src, got, want)
		}
	}
}
