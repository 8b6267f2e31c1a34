//go:build !purego

package q1

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/internal/packtest"
)

// TestPackRows64 compares the packers, and reads packed bytes back by the
// layout's drawing in doc.go.
func TestPackRows64(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for blocks := 1; blocks <= 3; blocks++ {
		packtest.Compare(t, rng, fmt.Sprintf("rows64, %d blocks", blocks), rows64Rows*blocks*q1Block, blocks*rows64Block,
			func(dst, src []byte) { packRows64Tile(dst, src, blocks) },
			func(dst, src []byte) { packRows64TileGo(dst, src, blocks, rows64Rows) })
	}
	for _, rows := range []int{1, 63, 64, 130} {
		const cols, blocks = 256, 2
		tensor := randomQ1(t, rng, rows, cols)
		m := &kernels.Matrix{Rows: rows, Cols: cols, Format: formats.Q1_0_g128, Layout: rows64, Data: make([]byte, rows64.PackedBytes(rows, cols))}
		if err := rows64.Pack(m, tensor, 0, rows); err != nil {
			t.Fatal(err)
		}
		for r := range rows {
			for b := range blocks {
				src := tensor.Data[(r*blocks+b)*q1Block:][:q1Block]
				dst := m.Data[(r/64*blocks+b)*1152:][:1152]
				p := 8*[8]int{0, 2, 4, 6, 1, 3, 5, 7}[r%64/8] + r%8 // the place of group g in 0 4 1 5 2 6 3 7
				for c := range 16 {
					if dst[64*c+p] != src[2+c] {
						t.Fatalf("%d rows: columns %d… of row %d are not at byte %d of vector %d", rows, 128*b+8*c, r, p, c)
					}
				}
				if s := dst[1024+2*(r%64):]; s[0] != src[0] || s[1] != src[1] {
					t.Fatalf("%d rows: scale of block %d of row %d", rows, b, r)
				}
			}
		}
	}
}

// TestPackRows128 compares the packers, and reads packed bytes back by the layout's drawing.
func TestPackRows128(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for blocks := 1; blocks <= 3; blocks++ {
		packtest.Compare(t, rng, fmt.Sprintf("rows128, %d blocks", blocks), rows128Rows*blocks*q1Block, blocks*rows128Block,
			func(dst, src []byte) { packRows128Tile(dst, src, blocks) },
			func(dst, src []byte) { packRows128TileGo(dst, src, blocks, rows128Rows) })
	}
	for _, rows := range []int{1, 127, 128, 300} {
		const cols, blocks = 256, 2
		tensor := randomQ1(t, rng, rows, cols)
		m := &kernels.Matrix{Rows: rows, Cols: cols, Format: formats.Q1_0_g128, Layout: rows128, Data: make([]byte, rows128.PackedBytes(rows, cols))}
		if err := rows128.Pack(m, tensor, 0, rows); err != nil {
			t.Fatal(err)
		}
		for r := range rows {
			for b := range blocks {
				src := tensor.Data[(r*blocks+b)*q1Block:][:q1Block]
				dst := m.Data[(r/128*blocks+b)*2304:][:2304]
				vector, lane := r%128/32, 2*(r%16)
				if r%32 >= 16 {
					lane++
				}
				for g := range 8 {
					if got := dst[256*g+64*vector+2*lane:][:2]; got[0] != src[2+2*g] || got[1] != src[3+2*g] {
						t.Fatalf("%d rows: columns %d… of row %d are not in int16 %d of vector %d", rows, 128*b+16*g, r, lane, vector)
					}
				}
				if s := dst[2048+2*(r%128):]; s[0] != src[0] || s[1] != src[1] {
					t.Fatalf("%d rows: scale of block %d of row %d", rows, b, r)
				}
			}
		}
	}
}
