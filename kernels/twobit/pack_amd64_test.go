//go:build !purego

package twobit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/kernels/internal/packtest"
)

// TestPackTiles compares the packers of codes64 and digits64 with those in Go on random
// bytes.
func TestPackTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, f := range map[string]*twoBit{"tq2_0": tq2, "q2_0": q2, "q2_0_g128": q2G128} {
		for blocks := 1; blocks <= 3; blocks++ {
			packtest.Compare(t, rng, fmt.Sprintf("%s, %d blocks", name, blocks), tileRows*blocks*f.blockBytes, f.tileBytes(blocks*f.blockLen),
				f.packTile, func(dst, src []byte) { f.packTileGo(dst, src, tileRows) })
		}
	}
	for blocks := 1; blocks <= 3; blocks++ {
		packtest.Compare(t, rng, fmt.Sprintf("ptq1_0, %d blocks", blocks), tileRows*blocks*ptq1Block, blocks*digitBlock,
			packDigitTile, func(dst, src []byte) { packDigitTileGo(dst, src, tileRows) })
	}
}
