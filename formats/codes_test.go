package formats

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"onebit/internal/half"
)

// ggmlDecoders are the loops of ggml's dequantize_row_q4_0, _q5_0 and _iq4_nl, over a block.
var ggmlDecoders = map[*Type]func(y *[32]float32, d float32, block []byte){
	Q4_0: func(y *[32]float32, d float32, b []byte) {
		for j, q := range b[2:18] {
			y[j], y[j+16] = float32(int(q&0x0f)-8)*d, float32(int(q>>4)-8)*d
		}
	},
	Q5_0: func(y *[32]float32, d float32, b []byte) {
		high := binary.LittleEndian.Uint32(b[2:])
		for j, q := range b[6:22] {
			h0, h1 := byte(high>>j<<4)&0x10, byte(high>>(j+12))&0x10
			y[j], y[j+16] = float32(int(q&0x0f|h0)-16)*d, float32(int(q>>4|h1)-16)*d
		}
	},
	IQ4_NL: func(y *[32]float32, d float32, b []byte) {
		values := [...]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
		for j, q := range b[2:18] {
			y[j], y[j+16] = d*values[q&0x0f], d*values[q>>4]
		}
	},
}

// Any bytes decode to the bit as ggml's loops have them.
func TestDecodesAsGGML(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for f, decode := range ggmlDecoders {
		n, err := f.Bytes(1, 32)
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			block := make([]byte, n)
			for i := range block {
				block[i] = byte(rng.Uint32())
			}
			block[1] &= 0xbf // a scale below 2
			got, want := make([]float32, 32), [32]float32{}
			if err := f.Matrix(block, 1, 32).Dequantize(got); err != nil {
				t.Fatal(err)
			}
			if decode(&want, half.At(block), block); firstDifference(got, want[:]) >= 0 {
				t.Fatalf("%s: % x decodes to %v, want %v", f.Name, block, got, want)
			}
		}
	}
}

// Codes that are bytes become bytes, whatever they are, and mean the same.
func TestRecodeToBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for f := range ggmlDecoders {
		const rows, cols = 3, 96
		src := make([]byte, rows*cols/f.blocks.weights*f.blocks.bytes)
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		for b := 0; b < len(src); b += f.blocks.bytes {
			src[b+1] &= 0xbf // a scale below 2
		}
		there, want, got := zeroMatrix(t, Q8_0, rows, cols), make([]float32, rows*cols), make([]float32, rows*cols)
		if ok, err := Recode(Q8_0.Matrix(there, rows, cols), f.Matrix(src, rows, cols)); !ok || err != nil {
			t.Fatalf("%s: %v, %v", f.Name, ok, err)
		}
		if err := f.Matrix(src, rows, cols).Dequantize(want); err != nil {
			t.Fatal(err)
		}
		if err := Q8_0.Matrix(there, rows, cols).Dequantize(got); err != nil {
			t.Fatal(err)
		}
		if i := firstDifference(got, want); i >= 0 {
			t.Errorf("%s: weight %d is %v, was %v", f.Name, i, got[i], want[i])
		}
	}
}

// Formats that are packed otherwise are unpacked to those of the same weights.
func TestUnpacked(t *testing.T) {
	for from, to := range map[*Type]*Type{TQ1_0: TQ2_0, PTQ1_0: PQ2_0, I2_S_X4: Ternary_u32, I2_S: I2_S, Q5_0: Q8_0, IQ4_NL: Q8_0, Q4_0: Q4_0, Q8_0: Q8_0, Q4_K: Q4_K, F16: F16} {
		if got := from.Unpacked(); got != to {
			t.Errorf("%s is unpacked to %s, want %s", from.Name, got.Name, to.Name)
		}
	}
}
