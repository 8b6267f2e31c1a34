package q1

import (
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels"
)

// TestInterleaveBits checks every single bit against the definition.
func TestInterleaveBits(t *testing.T) {
	for half := range 2 {
		for j := range 8 {
			for col := range 4 {
				got := interleaveBits(1 << (32*half + 4*j + col))
				if want := uint64(1) << (32*half + 8*col + j); got != want {
					t.Errorf("half %d, bit 4·%d+%d: got %#x, want %#x", half, j, col, got, want)
				}
			}
		}
	}
}

// TestPackBitplanes reads packed bits back by the layout's drawing in doc.go.
func TestPackBitplanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shape := range [][2]int{{1, 128}, {16, 256}, {35, 384}} {
		rows, cols := shape[0], shape[1]
		tensor := randomQ1(t, rng, rows, cols)
		m := &kernels.Matrix{Rows: rows, Cols: cols, Format: formats.Q1_0_g128, Layout: bitplanes}
		m.Data = make([]byte, bitplanes.PackedBytes(rows, cols))
		for i := range m.Data {
			m.Data[i] = 0xff // padding has to be written too
		}
		if err := bitplanes.Pack(m, tensor, 0, rows); err != nil {
			t.Fatal(err)
		}
		blocks := cols / 128
		for r := range (rows + 15) &^ 15 {
			for k := range cols {
				block := m.Data[(r/16*blocks+k/128)*288:][:288]
				v, j, col := k%128/32, k%32/4, k%4
				got := block[64*v+4*(r%16)+col] >> j & 1
				scale := [2]byte(block[256+2*(r%16):])
				var want byte
				var wantScale [2]byte
				if r < rows {
					src := tensor.Data[(r*blocks+k/128)*18:]
					want, wantScale = src[2+k%128/8]>>(k%8)&1, [2]byte(src)
				}
				if got != want || scale != wantScale {
					t.Fatalf("%d×%d, row %d, column %d: bit %d, scale %v; want %d, %v", rows, cols, r, k, got, scale, want, wantScale)
				}
			}
		}
	}
}

// randomQ1 returns a matrix of random bits, with scales of both signs from
// subnormal to large.
func randomQ1(t testing.TB, rng *rand.Rand, rows, cols int) *formats.Tensor {
	t.Helper()
	size, err := formats.Q1_0_g128.Bytes(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	for at := 0; at < size; at += q1Block {
		if data[at+1]&0x7c == 0x7c { // infinity or NaN
			data[at+1] &^= 0x40
		}
	}
	return &formats.Tensor{Name: "q1", Type: formats.Q1_0_g128, Shape: []int{rows, cols}, Data: data}
}
