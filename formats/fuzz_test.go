package formats

import (
	"encoding/binary"
	"math"
	"testing"
)

// fuzzShape makes a shape that f accepts, of moderate size.
func fuzzShape(f *Type, rows, cols byte) (int, int) {
	r, c := int(rows%9)+1, int(cols%67)+1
	if f.BlockLen > 1 {
		c = (c%3 + 1) * f.BlockLen
	}
	if f == I2_S_X4 {
		r *= 4
	}
	return r, c
}

// FuzzDequantize reads any bytes in every format, the first argument choosing
// it. Decoding and Validate must agree, and rows must be slices of the whole.
func FuzzDequantize(f *testing.F) {
	types := Types()
	for i := range types {
		f.Add(byte(i), byte(0), byte(0), []byte{0x55})
		f.Add(byte(i), byte(1), byte(16), []byte{0x00, 0x3c, 0x92, 0x55, 0x21})
		f.Add(byte(i), byte(3), byte(36), []byte{0xff})
		f.Add(byte(i), byte(8), byte(2), []byte{0x7c, 0, 0x80, 0x3f})
	}
	for _, g := range goldens {
		for i, t := range types {
			if t.Name == g.name {
				f.Add(byte(i), byte(g.rows-1), byte(g.cols-1), g.data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which, r, c byte, seed []byte) {
		ty := types[int(which)%len(types)]
		rows, cols := fuzzShape(ty, r, c)
		data := zeroMatrix(t, ty, rows, cols)
		w := make([]float32, rows*cols)
		if len(seed) != len(data) {
			wantError(t, ty, ty.Matrix(seed, rows, cols).Dequantize(w), "bytes given")
			wantError(t, ty, ty.Matrix(seed, rows, cols).Validate(), "bytes given")
		}
		for i := range data {
			if len(seed) > 0 {
				data[i] = seed[i%len(seed)]
			}
		}

		err, verr := ty.Matrix(data, rows, cols).Dequantize(w), ty.Matrix(data, rows, cols).Validate()
		if err != nil {
			wantError(t, ty, err, "code 3")
			if verr == nil {
				t.Errorf("%s: Validate passed what Dequantize refuses: %v", ty.Name, err)
			}
			return
		}
		if verr != nil {
			wantError(t, ty, verr, "")
		} else if i := indexNonFinite(w); i >= 0 {
			t.Errorf("%s: Validate passed weight %v", ty.Name, w[i])
		}
		one := make([]float32, cols)
		for row := range rows {
			if err := ty.Matrix(data, rows, cols).DequantizeRows(one, row, row+1); err != nil {
				t.Fatal(err)
			}
			if i := firstDifference(one, w[row*cols:][:cols]); i >= 0 {
				t.Errorf("%s: row %d alone differs at column %d", ty.Name, row, i)
			}
		}
	})
}

// FuzzQuantize writes any floats in every format: an *Error, or a valid matrix
// that a second round trip does not change.
func FuzzQuantize(f *testing.F) {
	types := Types()
	for i := range types {
		f.Add(byte(i), byte(0), byte(0), []byte{0, 0, 0x80, 0x3f})
		f.Add(byte(i), byte(2), byte(5), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
		f.Add(byte(i), byte(1), byte(1), []byte{0xff, 0xff, 0x7f, 0x7f})
		f.Add(byte(i), byte(1), byte(1), []byte{0, 0, 0xc0, 0xff})
	}
	f.Fuzz(func(t *testing.T, which, r, c byte, seed []byte) {
		ty := types[int(which)%len(types)]
		rows, cols := fuzzShape(ty, r, c)
		w := make([]float32, rows*cols)
		if len(seed) >= 4 {
			for i := range w {
				w[i] = math.Float32frombits(binary.LittleEndian.Uint32(seed[i%(len(seed)-3):]))
			}
		}
		n, err := ty.Bytes(rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		if err := ty.Matrix(make([]byte, n), rows, cols).Quantize(w); err != nil {
			wantError(t, ty, err, "")
			return
		}
		_, once := there(t, ty, w, rows, cols)
		_, twice := there(t, ty, once, rows, cols)
		for i := range once {
			if once[i] != twice[i] {
				t.Fatalf("%s: weight %d is %v, then %v", ty.Name, i, once[i], twice[i])
			}
		}
	})
}

// FuzzRecode recodes any blocks of ternary formats. What is recoded decodes to the
// same weights, and is recoded back to what does.
func FuzzRecode(f *testing.F) {
	pairs := [][2]*Type{{PQ2_0, PTQ1_0}, {PTQ1_0, PQ2_0}, {Q2_0_g128, PQ2_0}, {TQ1_0, TQ2_0}, {TQ2_0, TQ1_0}}
	for i := range pairs {
		f.Add(byte(i), []byte{0x00, 0x38, 0x92})
		f.Add(byte(i), []byte{0x55})
		f.Add(byte(i), []byte{0xff, 0x12, 0x80, 0xba, 0x00})
	}
	f.Fuzz(func(t *testing.T, which byte, seed []byte) {
		pair := pairs[int(which)%len(pairs)]
		from, to := pair[0], pair[1]
		rows, cols := 2, from.BlockLen
		src, dst, back := zeroMatrix(t, from, rows, cols), zeroMatrix(t, to, rows, cols), zeroMatrix(t, from, rows, cols)
		for i := range src {
			if len(seed) > 0 {
				src[i] = seed[i%len(seed)]
			}
		}
		if ok, err := Recode(to.Matrix(dst, rows, cols), from.Matrix(src, rows, cols)); err != nil {
			wantError(t, from, err, "is not finite")
			return
		} else if !ok {
			if to != PTQ1_0 && to != TQ1_0 {
				t.Errorf("%s has no code that %s has", to.Name, from.Name)
			}
			return
		}
		if ok, err := Recode(from.Matrix(back, rows, cols), to.Matrix(dst, rows, cols)); !ok || err != nil {
			t.Fatalf("%s → %s cannot be undone: %v", from.Name, to.Name, err)
		}
		want, got := make([]float32, rows*cols), make([]float32, rows*cols)
		if err := from.Matrix(src, rows, cols).Dequantize(want); err != nil {
			t.Fatal(err)
		}
		for _, m := range []struct {
			f    *Type
			data []byte
		}{{to, dst}, {from, back}} {
			if err := m.f.Matrix(m.data, rows, cols).Dequantize(got); err != nil {
				t.Fatal(err)
			}
			if i := firstDifference(got, want); i >= 0 {
				t.Errorf("%s → %s: weight %d is %v in %s, was %v", from.Name, to.Name, i, got[i], m.f.Name, want[i])
			}
		}
	})
}
