package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/guard"
)

// TestPackers compares the packers of this machine with those in Go on random
// bytes, everything between guard pages. (That those in Go equal the layouts'
// drawings is for the tests of each layout.)
func TestPackers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for blocks := 1; blocks <= 5; blocks++ {
		comparePackers(t, rng, fmt.Sprintf("bitplanes, %d blocks", blocks), bitplanesRows*blocks*q1Block, blocks*bitplanesBlock,
			func(dst, src []byte) { packBitplanesTile(dst, src, blocks) },
			func(dst, src []byte) { packBitplanesTileGo(dst, src, blocks, bitplanesRows) })
		comparePackers(t, rng, fmt.Sprintf("tq1_0, %d blocks", blocks), blocks*tq1Block, blocks*tq2Block, unpackTQ1Blocks, unpackTQ1BlocksGo)
	}
	for _, cols := range []int{1, 16, 127, 128, 129, 200, 256, 384, 1000} {
		n := wordRowBytes(cols)
		comparePackers(t, rng, fmt.Sprintf("words, %d columns", cols), cols, 4*n, packWordGroup, func(dst, src []byte) {
			for r := range 4 {
				packWordRow(dst[r*n:][:n], src, uint(6-2*r))
			}
		})
	}
}

// comparePackers runs both on as many random bytes.
func comparePackers(t *testing.T, rng *rand.Rand, what string, bytesIn, bytesOut int, pack, inGo func(dst, src []byte)) {
	t.Helper()
	src := make([]byte, bytesIn)
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	got, want := guard.New(t, bytesOut).Bytes(), make([]byte, bytesOut)
	src = guard.CopyReadOnly(t, src)
	if err := guard.Catch(func() { pack(got, src) }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	inGo(want, src)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: not what the packer in Go gives", what)
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
