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
			if err := f.Dequantize(got, block, 1, 32); err != nil {
				t.Fatal(err)
			}
			if decode(&want, half.At(block), block); firstDifference(got, want[:]) >= 0 {
				t.Fatalf("%s: % x decodes to %v, want %v", f.Name, block, got, want)
			}
		}
	}
}

// Formats that are packed otherwise are unpacked to those of the same weights.
func TestUnpacked(t *testing.T) {
	for from, to := range map[*Type]*Type{TQ1_0: TQ2_0, PTQ1_0: PQ2_0, I2_S_X4: Ternary_u32, I2_S: I2_S, Q8_0: Q8_0, F16: F16} {
		if got := from.Unpacked(); got != to {
			t.Errorf("%s is unpacked to %s, want %s", from.Name, got.Name, to.Name)
		}
	}
}
