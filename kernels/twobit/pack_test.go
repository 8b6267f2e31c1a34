package twobit

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// TestUnpackDigits holds those of a block to what the format decodes.
func TestUnpackDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, f := range []struct {
		from, to *formats.Type
		unpack   func(dst, src []byte)
	}{{formats.TQ1_0, formats.TQ2_0, unpackTQ1Blocks}, {formats.PTQ1_0, formats.PQ2_0, unpackPTQ1Blocks}} {
		n := f.from.BlockLen
		size, err := f.from.Bytes(1, n)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := f.to.Bytes(1, n)
		if err != nil {
			t.Fatal(err)
		}
		src, dst, got, want := make([]byte, size), make([]byte, packed), make([]float32, n), make([]float32, n)
		for range 50 {
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			src[size-2], src[size-1] = 0, 0x3c // 1
			f.unpack(dst, src)
			if err := f.to.Matrix(dst, 1, n).Dequantize(got); err != nil {
				t.Fatal(err)
			}
			if err := f.from.Matrix(src, 1, n).Dequantize(want); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %x: %v, the format says %v", f.from.Name, src, got, want)
			}
		}
	}
}
