package formats

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"onebit/internal/half"
)

// Formats with the same blocks exchange codes and scales without loss, also scales
// of blocks of zeros and negative ones, which no quantizer would find again.
func TestRecode(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	for _, pair := range [][2]*Type{{PQ2_0, PTQ1_0}, {Q2_0_g128, PTQ1_0}, {Q2_0_g128, PQ2_0}, {TQ2_0, TQ1_0}} {
		from, to := pair[0], pair[1]
		const rows = 3
		cols := 5 * from.BlockLen
		src := zeroMatrix(t, from, rows, cols)
		l := from.blocks
		codes := make([]float32, l.weights)
		for b := range len(src) / l.bytes {
			block := src[b*l.bytes:][:l.bytes]
			for i := range codes {
				codes[i] = float32(r.IntN(3) - 1)
				if b%4 == 1 {
					codes[i] = 0
				}
			}
			l.encode(block, codes, 1)
			h := half.FromFloat32(float32(r.NormFloat64()))
			block[l.scaleAt], block[l.scaleAt+1] = byte(h), byte(h>>8)
		}
		there, back := zeroMatrix(t, to, rows, cols), zeroMatrix(t, from, rows, cols)
		for _, step := range []struct {
			dst, src []byte
			to, from *Type
		}{{there, src, to, from}, {back, there, from, to}} {
			if ok, err := Recode(step.to.Matrix(step.dst, rows, cols), step.from.Matrix(step.src, rows, cols)); !ok || err != nil {
				t.Errorf("%s as %s: %v, %v", step.from.Name, step.to.Name, ok, err)
			}
		}
		if !bytes.Equal(src, back) {
			t.Errorf("%s → %s → %s changed bytes", from.Name, to.Name, from.Name)
		}
		want, got := make([]float32, rows*cols), make([]float32, rows*cols)
		if err := from.Matrix(src, rows, cols).Dequantize(want); err != nil {
			t.Fatal(err)
		}
		if err := to.Matrix(there, rows, cols).Dequantize(got); err != nil {
			t.Fatal(err)
		}
		if i := firstDifference(got, want); i >= 0 {
			t.Errorf("%s as %s: weight %d is %v, was %v", from.Name, to.Name, i, got[i], want[i])
		}
	}
}

// Code 3 has two bits, and no digit.
func TestRecodeCode3(t *testing.T) {
	src := cat([]byte{0x00, 0x38, 0x1b}, rep(0x55, 31))
	if ok, err := Recode(PTQ1_0.Matrix(make([]byte, 28), 1, 128), PQ2_0.Matrix(src, 1, 128)); ok || err != nil {
		t.Errorf("code 3 became a digit: %v, %v", ok, err)
	}
	dst := make([]byte, 34)
	if ok, err := Recode(Q2_0_g128.Matrix(dst, 1, 128), PQ2_0.Matrix(src, 1, 128)); !ok || err != nil || !bytes.Equal(dst, src) {
		t.Errorf("pq2_0 as q2_0_g128: %v, %v, % x", ok, err, dst)
	}
}

func TestRecodeRefuses(t *testing.T) {
	for _, pair := range [][2]*Type{{PTQ1_0, TQ1_0}, {PTQ1_0, I2_S}, {I2_S, PTQ1_0}, {F16, PTQ1_0}, {Q1_0_g128, PTQ1_0}, {PTQ1_0, Q1_0_g128}} {
		if ok, err := Recode(pair[0].Matrix(nil, 1, 256), pair[1].Matrix(nil, 1, 256)); ok || err != nil {
			t.Errorf("%s as %s: %v, %v", pair[1].Name, pair[0].Name, ok, err)
		}
	}
	_, err := Recode(PTQ1_0.Matrix(make([]byte, 27), 1, 128), PQ2_0.Matrix(make([]byte, 34), 1, 128))
	wantError(t, PTQ1_0, err, "27 bytes given")
	_, err = Recode(PTQ1_0.Matrix(make([]byte, 28), 1, 128), PQ2_0.Matrix(make([]byte, 35), 1, 128))
	wantError(t, PQ2_0, err, "35 bytes given")
	_, err = Recode(PTQ1_0.Matrix(make([]byte, 28), 1, 128), PQ2_0.Matrix(cat([]byte{0, 0x7c}, rep(0x55, 32)), 1, 128))
	wantError(t, PQ2_0, err, "block scale +Inf is not finite")
}
