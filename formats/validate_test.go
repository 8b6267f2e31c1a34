package formats

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

var nonFiniteF32 = []uint32{0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffffffff}

// Every code of every 2-bit tensor format is set to 3 in turn. Which weight that
// is, is found by setting the same bits to +s and looking.
func TestCode3(t *testing.T) {
	for _, c := range []struct {
		f          *Type
		rows, cols int
	}{{I2_S, 2, 256}, {I2_S_ARM, 3, 64}, {I2_S_X4, 8, 5}, {I2_S_X4, 4, 41}, {Ternary_u32, 3, 37}, {Ternary_u32, 2, 16}} {
		f, rows, cols := c.f, c.rows, c.cols
		data := zeroMatrix(t, f, rows, cols)
		f.Matrix(data, rows, cols).setScale(1)
		w := make([]float32, rows*cols)
		seen := map[int]bool{}
		for at := range f.scaleAt(rows, cols) {
			for shift := 0; shift < 8; shift += 2 {
				old := data[at]
				data[at] = old&^(3<<shift) | 2<<shift
				if err := f.Matrix(data, rows, cols).Dequantize(w); err != nil {
					t.Fatal(err)
				}
				place := -1
				for i, x := range w {
					if x == 1 {
						place = i
					}
				}
				data[at] = old | 3<<shift
				err := f.Matrix(data, rows, cols).Dequantize(w)
				verr := f.Matrix(data, rows, cols).Validate()
				if place < 0 { // padding: not decoded, but not valid either
					if err != nil {
						t.Errorf("%s: byte %d bit %d: padding was decoded: %v", f.Name, at, shift, err)
					}
					wantError(t, f, verr, "")
				} else {
					seen[place] = true
					row, col := place/cols, place%cols
					wantPlace(t, f, err, row, col, at)
					wantPlace(t, f, verr, row, col, at)
					// Other rows are not to blame.
					for r := range rows {
						err := f.Matrix(data, rows, cols).DequantizeRows(w[:cols], r, r+1)
						if (err != nil) != (r == row) {
							t.Errorf("%s: byte %d bit %d: row %d gives %v", f.Name, at, shift, r, err)
						}
					}
				}
				data[at] = old
			}
		}
		if len(seen) != rows*cols {
			t.Errorf("%s: %d of %d weights have a code", f.Name, len(seen), rows*cols)
		}
	}
}

// A first bad place is reported even if there are others, also behind the
// stretch that is looked at in words.
func TestCode3First(t *testing.T) {
	data := zeroMatrix(t, I2_S, 1, 1280)
	data[319] = 0xff
	wantPlace(t, I2_S, I2_S.Matrix(data, 1, 1280).Validate(), 0, 1152+31, 319)
	data[100] |= 3 // block 3, byte 4, last quarter
	wantPlace(t, I2_S, I2_S.Matrix(data, 1, 1280).Validate(), 0, 3*128+96+4, 100)
}

func TestTernaryU32Padding(t *testing.T) {
	for cols := 1; cols <= 33; cols++ {
		const rows = 3
		data := zeroMatrix(t, Ternary_u32, rows, cols)
		w := make([]float32, rows*cols)
		words := (cols + 15) / 16
		for row := range rows {
			last := 4 * ((row+1)*words - 1)
			for code := (cols-1)%16 + 1; code < 16; code++ {
				for _, bad := range []byte{0, 2} {
					at, shift := last+code/4, code%4*2
					old := data[at]
					data[at] = old&^(3<<shift) | bad<<shift
					wantPlace(t, Ternary_u32, Ternary_u32.Matrix(data, rows, cols).Validate(), row, cols, last)
					if err := Ternary_u32.Matrix(data, rows, cols).Dequantize(w); err != nil || absMax(w) != 0 {
						t.Errorf("%d columns: padding was decoded (%v)", cols, err)
					}
					data[at] = old
				}
			}
		}
		if err := Ternary_u32.Matrix(data, rows, cols).Validate(); err != nil {
			t.Errorf("%d columns: %v", cols, err)
		}
	}
}

func TestValidateTensorScale(t *testing.T) {
	for _, f := range []*Type{I2_S, I2_S_ARM, I2_S_X4, Ternary_u32} {
		rows, cols := testShape(f)
		data := zeroMatrix(t, f, rows, cols)
		at := f.scaleAt(rows, cols)
		for _, bits := range nonFiniteF32 {
			binary.LittleEndian.PutUint32(data[at:], bits)
			wantPlace(t, f, f.Matrix(data, rows, cols).Validate(), -1, -1, at)
		}
		for _, ok := range []float32{-1, negZero, math.MaxFloat32, math.SmallestNonzeroFloat32} {
			f.Matrix(data, rows, cols).setScale(ok)
			if err := f.Matrix(data, rows, cols).Validate(); err != nil {
				t.Errorf("%s: scale %v: %v", f.Name, ok, err)
			}
		}
	}
	// The 28 bytes behind the scale mean nothing.
	data := zeroMatrix(t, I2_S, 1, 128)
	for i := range data[36:] {
		data[36+i] = 0xff
	}
	if err := I2_S.Matrix(data, 1, 128).Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateBlockScales(t *testing.T) {
	scaleAt := map[*Type]int{Q1_0_g128: 0, Q2_0: 0, Q2_0_g128: 0, Q8_0: 0, Q4_0: 0, Q5_0: 0, IQ4_NL: 0, Q4_K: 0, Q6_K: 208, TQ1_0: 52, TQ2_0: 64}
	for f, first := range scaleAt {
		rows, cols := testShape(f)
		data := randomMatrix(t, f, rows, cols)
		blocks := rows * cols / f.BlockLen
		for b := range blocks {
			at := len(data)/blocks*b + first
			old := binary.LittleEndian.Uint16(data[at:])
			for _, h := range []uint16{0x7c00, 0xfc00, 0x7c01, 0xffff} {
				binary.LittleEndian.PutUint16(data[at:], h)
				i := b * f.BlockLen
				wantPlace(t, f, f.Matrix(data, rows, cols).Validate(), i/cols, i%cols, at)
			}
			binary.LittleEndian.PutUint16(data[at:], old|0x8000)
			if err := f.Matrix(data, rows, cols).Validate(); err != nil {
				t.Errorf("%s: a negative scale: %v", f.Name, err)
			}
			binary.LittleEndian.PutUint16(data[at:], old)
		}
	}
}

// The second scale of q4_k counts too.
func TestValidateOffsets(t *testing.T) {
	rows, cols := testShape(Q4_K)
	data := randomMatrix(t, Q4_K, rows, cols)
	at := len(data) - 144 + 2
	binary.LittleEndian.PutUint16(data[at:], 0x7c00)
	wantPlace(t, Q4_K, Q4_K.Matrix(data, rows, cols).Validate(), rows-1, cols-256, at)
}

// Every place of a float matrix, with lengths that do and do not fill the words
// that are looked at.
func TestValidateFloats(t *testing.T) {
	for _, c := range []struct {
		f      *Type
		width  int
		bad    []uint32
		finite []uint32
	}{
		{F32, 4, nonFiniteF32, []uint32{0x7f7fffff, 0xff7fffff, 0x80000000, 1, 0x807fffff}},
		{F16, 2, []uint32{0x7c00, 0xfc00, 0x7c01, 0xffff}, []uint32{0x7bff, 0xfbff, 0x8000, 1, 0x83ff}},
		{BF16, 2, []uint32{0x7f80, 0xff80, 0x7f81, 0xffff}, []uint32{0x7f7f, 0xff7f, 0x8000, 1, 0x807f}},
	} {
		for cols := 1; cols <= 9; cols++ {
			const rows = 2
			data := make([]byte, rows*cols*c.width)
			put := func(i int, bits uint32) {
				var b [4]byte
				binary.LittleEndian.PutUint32(b[:], bits)
				copy(data[i*c.width:], b[:c.width])
			}
			for i := range rows * cols {
				for _, bits := range c.bad {
					put(i, bits)
					wantPlace(t, c.f, c.f.Matrix(data, rows, cols).Validate(), i/cols, i%cols, i*c.width)
				}
				put(i, c.finite[i%len(c.finite)])
			}
			if err := c.f.Matrix(data, rows, cols).Validate(); err != nil {
				t.Error(err)
			}
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	const rows, cols = 1024, 2560
	for _, f := range Types() {
		b.Run("format="+f.Name, func(b *testing.B) {
			data := zeroMatrix(b, f, rows, cols)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := f.Matrix(data, rows, cols).Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDequantizeRows(b *testing.B) {
	const rows, cols = 64, 2560
	for _, f := range Types() {
		b.Run("format="+f.Name, func(b *testing.B) {
			data := randomMatrix(b, f, rows, cols)
			w := make([]float32, 8*cols)
			for b.Loop() {
				if err := f.Matrix(data, rows, cols).DequantizeRows(w, 8, 16); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*8*cols), "ns/weight")
		})
	}
}

func BenchmarkQuantize(b *testing.B) {
	const rows, cols = 8, 2560
	r := rand.New(rand.NewPCG(1, 2))
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(r.NormFloat64()) * 0.02
	}
	for _, f := range Types() {
		b.Run("format="+f.Name, func(b *testing.B) {
			data := zeroMatrix(b, f, rows, cols)
			for b.Loop() {
				if err := f.Matrix(data, rows, cols).Quantize(w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*cols), "ns/weight")
		})
	}
}

// BadIsNotFinite: bytes that Validate refuses decode, to something not finite.
func TestBadIsNotFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range Types() {
		const rows, cols = 3, 512
		size, err := f.Bytes(rows, cols)
		if err != nil {
			continue // i2_s_x4 wants four rows
		}
		refused := 0
		data, w := make([]byte, size), make([]float32, rows*cols)
		for range 200 {
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			if f.Matrix(data, rows, cols).Validate() == nil {
				continue
			}
			refused++
			if f.BadIsNotFinite() && (f.Matrix(data, rows, cols).Dequantize(w) != nil || indexNonFinite(w) < 0) {
				t.Fatalf("%s: what Validate refused is finite", f.Name)
			}
		}
		if refused == 0 {
			t.Errorf("%s: random bytes were never refused: this tests nothing", f.Name)
		}
	}
}
