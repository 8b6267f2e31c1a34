package q1

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/kernels/internal/packtest"
)

// TestPackBitplanesTile compares the packer of this machine with that in Go.
// (That this one equals the layout's drawing is for the test of the layout.)
func TestPackBitplanesTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for blocks := 1; blocks <= 5; blocks++ {
		packtest.Compare(t, rng, fmt.Sprintf("bitplanes, %d blocks", blocks), bitplanesRows*blocks*q1Block, blocks*bitplanesBlock,
			func(dst, src []byte) { packBitplanesTile(dst, src, blocks) },
			func(dst, src []byte) { packBitplanesTileGo(dst, src, blocks, bitplanesRows) })
	}
}
