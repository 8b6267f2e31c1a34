package formats

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/half"
)

// distributions are the weights that round trips are tried on.
var distributions = []struct {
	name string
	draw func(r *rand.Rand, i int) float32
}{
	{"normal", func(r *rand.Rand, _ int) float32 { return float32(r.NormFloat64()) }},
	{"small", func(r *rand.Rand, _ int) float32 { return float32(r.NormFloat64()) * 0.02 }},
	{"ternary", func(r *rand.Rand, _ int) float32 { return float32(r.IntN(3)-1) * 0.7 }},
	{"binary", func(r *rand.Rand, _ int) float32 { return float32(r.IntN(2)*2-1) * 0.03 }},
	{"outliers", func(r *rand.Rand, i int) float32 {
		if i%97 == 0 {
			return float32(r.NormFloat64()) * 1000
		}
		return float32(r.NormFloat64())
	}},
	{"unequal groups", func(r *rand.Rand, i int) float32 {
		return float32(math.Ldexp(r.NormFloat64(), i/16*11%37-26))
	}},
	{"zero", func(*rand.Rand, int) float32 { return 0 }},
	{"negative zero", func(*rand.Rand, int) float32 { return negZero }},
	{"fp16 subnormal", func(r *rand.Rand, _ int) float32 { return float32(r.NormFloat64()) * 0x1p-20 }},
	{"around fp16's least", func(r *rand.Rand, _ int) float32 { return float32(r.NormFloat64()) * 0x1p-25 }},
	{"float32 subnormal", func(r *rand.Rand, _ int) float32 {
		return math.Float32frombits(r.Uint32() & 0x800fffff)
	}},
	{"large", func(r *rand.Rand, _ int) float32 { return (r.Float32()*2 - 1) * 60000 }},
}

func draw(f *Type, d int) (w []float32, rows, cols int) {
	rows, cols = testShape(f)
	r := rand.New(rand.NewPCG(uint64(d), 7))
	w = make([]float32, rows*cols)
	for i := range w {
		w[i] = distributions[d].draw(r, i)
	}
	return w, rows, cols
}

// there writes w in f and reads it back.
func there(t testing.TB, f *Type, w []float32, rows, cols int) (data []byte, back []float32) {
	t.Helper()
	n, err := f.Bytes(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	data, back = make([]byte, n), make([]float32, len(w))
	if err := f.Matrix(data, rows, cols).Quantize(w); err != nil {
		t.Fatal(err)
	}
	if err := f.Matrix(data, rows, cols).Validate(); err != nil {
		t.Fatalf("written matrix is not valid: %v", err)
	}
	if err := f.Matrix(data, rows, cols).Dequantize(back); err != nil {
		t.Fatal(err)
	}
	return data, back
}

func everyType(t *testing.T, test func(t *testing.T, f *Type)) {
	for _, f := range Types() {
		t.Run(f.Name, func(t *testing.T) { test(t, f) })
	}
}

// What a format has once rounded, it keeps.
func TestIdempotent(t *testing.T) {
	everyType(t, func(t *testing.T, f *Type) {
		for d, dist := range distributions {
			w, rows, cols := draw(f, d)
			_, once := there(t, f, w, rows, cols)
			_, twice := there(t, f, once, rows, cols)
			for i := range once {
				if once[i] != twice[i] {
					t.Errorf("%s: weight %d is %v, then %v", dist.name, i, once[i], twice[i])
					break
				}
			}
		}
	})
}

// The error that each format's definition allows.
func TestErrorBounds(t *testing.T) {
	const fp16 = 0x1p-11 // relative rounding error, and half the least step
	const least = 0x1p-25
	bounds := map[string]func(w, back []float32) (i int){
		"f32": each(1, func(x, _ float64) float64 { return 0 }),
		"f16": each(1, func(x, _ float64) float64 { return max(fp16*x, least) }),
		// bfloat16 has float32's exponents: half its least step is 2⁻¹³⁴.
		"bf16": each(1, func(x, _ float64) float64 { return max(0x1p-8*x, 0x1p-134) }),
		// Half a step of d, and 127 times d's own rounding.
		"q8_0": each(32, func(_, m float64) float64 { return m/127*(0.5001) + 127*max(fp16*m/127, least) }),
		// A step of d, where the opposite of the largest has no code, and d's own rounding.
		"q4_0":   each(32, func(_, m float64) float64 { return m/8*1.0001 + 8*max(fp16*m/8, least) }),
		"q5_0":   each(32, func(_, m float64) float64 { return m/16*1.0001 + 16*max(fp16*m/16, least) }),
		"iq4_nl": each(32, func(_, m float64) float64 { return m/127*14.001 + 127*max(fp16*m/127, least) }),
		// Half of d, and d's own rounding.
		"q2_0":      each(64, func(_, m float64) float64 { return m*0.50001 + max(fp16*m, least) }),
		"q2_0_g128": each(128, func(_, m float64) float64 { return m*0.50001 + max(fp16*m, least) }),
		"pq2_0":     each(128, func(_, m float64) float64 { return m*0.50001 + max(fp16*m, least) }),
		"ptq1_0":    each(128, func(_, m float64) float64 { return m*0.50001 + max(fp16*m, least) }),
		"tq1_0":     each(256, func(_, m float64) float64 { return m*0.50001 + max(fp16*m, least) }),
		"tq2_0":     each(256, func(_, m float64) float64 { return m*0.50001 + max(fp16*m, least) }),
	}
	for name, violates := range bounds {
		f := lookup(t, name)
		for d, dist := range distributions {
			w, rows, cols := draw(f, d)
			_, back := there(t, f, w, rows, cols)
			if i := violates(w, back); i >= 0 {
				t.Errorf("%s, %s: weight %v became %v", name, dist.name, w[i], back[i])
			}
		}
	}
}

// each returns a search for a weight x whose error exceeds bound(|x|, max|x| of
// its block of n).
func each(n int, bound func(x, m float64) float64) func(w, back []float32) int {
	return func(w, back []float32) int {
		for i, x := range w {
			m := absMax(w[i/n*n : i/n*n+n])
			if math.Abs(float64(x)-float64(back[i])) > bound(math.Abs(float64(x)), float64(m)) {
				return i
			}
		}
		return -1
	}
}

// No weight of q6_k is further off than half a step of its group, whose scale
// is at most one larger than the largest weight needs with a code of 31, or
// whatever up to 36. A group that needs more than 127, the block's largest or
// nearly so, may cut off a weight of the other sign.
func TestQ6KErrorBounds(t *testing.T) {
	for d, dist := range distributions {
		w, rows, cols := draw(Q6_K, d)
		data, back := there(t, Q6_K, w, rows, cols)
		for i, x := range w {
			group, block := w[i/16*16:][:16], w[i/256*256:][:256]
			m, largest := float64(absMax(group)), absMax(block)
			scale := float64(half.ToFloat32(binary.LittleEndian.Uint16(data[i/256*210+208:])))
			steps := math.Ceil(m/scale/31.5) + 1
			step := scale * max(steps, m/scale/30.6, 36)
			if m == 0 || scale == 0 {
				step = 0x1p-126 // what float32 lost
			}
			bound := 0.501 * step
			if absMax(group) == largest || steps > 127 {
				bound = 1.001 * step
			}
			if err := math.Abs(float64(x) - float64(back[i])); err > bound {
				t.Errorf("%s: weight %d, %v, became %v: off by %g, bound %g", dist.name, i, x, back[i], err, bound)
				break
			}
		}
	}
}

// The error on Gaussian weights. ggml's quantizer, which searches 19 scales for
// the error weighted with the squares of the weights, has an NMSE of 3.15e-4
// (ggml-org/ggml d99724f2, 2 million weights); q8_0 has 2.86e-5.
func TestQ6KError(t *testing.T) {
	const rows, cols = 64, 2560
	r := rand.New(rand.NewPCG(8, 9))
	for _, size := range []float64{1, 0.015, 0.001} {
		w := make([]float32, rows*cols)
		for i := range w {
			w[i] = float32(r.NormFloat64() * size)
		}
		_, back := there(t, Q6_K, w, rows, cols)
		var e, signal float64
		for i, x := range w {
			e += math.Pow(float64(x)-float64(back[i]), 2)
			signal += math.Pow(float64(x), 2)
		}
		if nmse := e / signal; nmse > 3.1e-4 || nmse < 2.9e-4 {
			t.Errorf("weights of size %g: NMSE %.3g, want 3.0e-4", size, nmse)
		}
	}
}

// The error of q4_k on Gaussian weights of any size.
func TestQ4KError(t *testing.T) {
	const rows, cols = 64, 2560
	r := rand.New(rand.NewPCG(8, 9))
	for _, size := range []float64{1, 0.015, 0.001} {
		w := make([]float32, rows*cols)
		for i := range w {
			w[i] = float32(r.NormFloat64() * size)
		}
		_, back := there(t, Q4_K, w, rows, cols)
		var e, signal float64
		for i, x := range w {
			e += math.Pow(float64(x)-float64(back[i]), 2)
			signal += math.Pow(float64(x), 2)
		}
		if nmse := e / signal; nmse > 8.6e-3 || nmse < 8.2e-3 {
			t.Errorf("weights of size %g: NMSE %.3g, want 8.4e-3", size, nmse)
		}
	}
}

// Every machine writes the same bytes, also one that would rather fuse products
// with sums.
func TestQ6KBytes(t *testing.T) {
	const rows, cols = 16, 2560
	r := rand.NewPCG(10, 11)
	w := make([]float32, rows*cols)
	for i := range w {
		a, b := r.Uint64(), r.Uint64() // sums of uniform numbers, which are exact
		w[i] = float32(int32(a)>>8+int32(a>>32)>>8+int32(b)>>8) * 0x1p-26
	}
	data, _ := there(t, Q6_K, w, rows, cols)
	h := fnv.New64a()
	h.Write(data)
	if got, want := h.Sum64(), uint64(0x7f71716097406006); got != want {
		t.Errorf("hash of the bytes %#x, want %#x, as on amd64", got, want)
	}
}

// The formats that keep one magnitude: which, and which signs.
func TestSignFormats(t *testing.T) {
	for d, dist := range distributions {
		w, rows, cols := draw(Q1_0_g128, d)
		_, back := there(t, Q1_0_g128, w, rows, cols)
		for i, x := range w {
			var sum float64
			for _, y := range w[i/128*128:][:128] {
				sum += math.Abs(float64(y))
			}
			want := half.ToFloat32(half.FromFloat32(float32(sum / 128)))
			if x < 0 {
				want = -want
			}
			if back[i] != want {
				t.Errorf("q1_0_g128, %s: weight %v became %v, want %v", dist.name, x, back[i], want)
				break
			}
		}
		for _, f := range []*Type{I2_S, I2_S_ARM, I2_S_X4} {
			w, rows, cols := draw(f, d)
			data, back := there(t, f, w, rows, cols)
			s := absMax(w)
			for i, x := range w {
				want := float32(0)
				if math.Abs(float64(x)) >= 1e-6 {
					want = float32(math.Copysign(float64(s), float64(x)))
				}
				if back[i] != want {
					t.Errorf("%s, %s: weight %v became %v, want %v", f.Name, dist.name, x, back[i], want)
					break
				}
			}
			for i, b := range data[len(data)-28:] {
				if b != 0 {
					t.Errorf("%s: byte %d behind the scale is %#x", f.Name, i, b)
				}
			}
		}
	}
}

// Weights that a format can hold come back to the bit.
func TestExact(t *testing.T) {
	const s = 0.3125 // an fp16
	r := rand.New(rand.NewPCG(3, 4))
	everyType(t, func(t *testing.T, f *Type) {
		rows, cols := testShape(f)
		w := make([]float32, rows*cols)
		for range 20 {
			for i := range w {
				switch f {
				case Q1_0_g128: // has no zero
					w[i] = s * float32(r.IntN(2)*2-1)
				case Q4_0, Q5_0, IQ4_NL: // code 0 makes the scale of a block
					block := zeroMatrix(t, f, 1, 32)
					block[len(block)-16] = byte(r.IntN(256)) &^ 15
					w[i] = s * float32(f.CodeAt(block, r.IntN(2)*16))
					if i%32 == 5 {
						w[i] = s * float32(f.CodeAt(make([]byte, len(block)), 0))
					}
				case Q8_0:
					w[i] = s * float32(r.IntN(255)-127)
					if i%32 == 5 {
						w[i] = s * 127
					}
				case Q6_K: // 127 and -32 make the scale of a block
					scale := i / 16 % 16 * 37 % 127
					w[i] = s * float32((127-scale)*(r.IntN(63)-31))
					if w[i] == 0 || i%16 == 5 {
						w[i] = s * float32((127-scale)*-32)
					}
				case Q4_K: // 63 and -8 make the scale of a block
					scale := i / 32 % 8 * 23 % 63
					w[i] = s * float32((63-scale)*(r.IntN(16)-8))
					if i%32 == 5 {
						w[i] = s * float32((63-scale)*-8)
					}
				default:
					w[i] = s * float32(r.IntN(3)-1)
				}
			}
			_, back := there(t, f, w, rows, cols)
			if i := firstDifference(back, w); i >= 0 {
				t.Fatalf("weight %d: %v became %v", i, w[i], back[i])
			}
		}
	})
}

// DequantizeRows gives what Dequantize gives, for every range of rows, writes
// nothing else, and reads no other row's codes.
func TestDequantizeRows(t *testing.T) {
	for _, f := range Types() {
		rows, cols := testShape(f)
		data := randomMatrix(t, f, rows, cols)
		all := make([]float32, rows*cols)
		if err := f.Matrix(data, rows, cols).Dequantize(all); err != nil {
			t.Fatal(err)
		}
		for from := range rows + 1 {
			for to := from; to <= rows; to++ {
				const guard = -12345
				n := (to - from) * cols
				got := sparse(n+2, guard, nil)
				if err := f.Matrix(data, rows, cols).DequantizeRows(got[1:n+1:n+1], from, to); err != nil {
					t.Fatal(err)
				}
				if i := firstDifference(got[1:n+1], all[from*cols:to*cols]); i >= 0 {
					t.Errorf("%s: rows [%d, %d): weight %d is %v", f.Name, from, to, i, got[1+i])
				}
				if got[0] != guard || got[n+1] != guard {
					t.Errorf("%s: rows [%d, %d): wrote outside dst", f.Name, from, to)
				}
			}
		}
	}
}

// randomMatrix returns bytes that use every code of f and have finite weights.
func randomMatrix(t testing.TB, f *Type, rows, cols int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	data := zeroMatrix(t, f, rows, cols)
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	if err := f.Matrix(data, rows, cols).Quantize(w); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadingDoesNotAllocate(t *testing.T) {
	for _, f := range Types() {
		rows, cols := testShape(f)
		data := randomMatrix(t, f, rows, cols)
		w := make([]float32, 2*cols)
		if n := testing.AllocsPerRun(10, func() {
			if f.Matrix(data, rows, cols).DequantizeRows(w, 1, 3) != nil || f.Matrix(data, rows, cols).Validate() != nil {
				panic(f.Name)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", f.Name, n)
		}
	}
}

// i2_s → ternary_u32 → i2_s is lossless, whatever the scale.
func TestI2SToTernaryU32(t *testing.T) {
	const rows, cols = 4, 128
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range []float32{1, 0.1, 1.2207031e-4, 3e-5, 7.3, math.MaxFloat32, 0} {
		w := make([]float32, rows*cols)
		for i := range w {
			w[i] = s * float32(r.IntN(3)-1)
		}
		first, back := there(t, I2_S, w, rows, cols)
		u32, back2 := there(t, Ternary_u32, back, rows, cols)
		second, _ := there(t, I2_S, back2, rows, cols)
		if got, err := Ternary_u32.Matrix(u32, rows, cols).TensorScale(); err != nil || got != s {
			t.Errorf("scale %v became %v (%v)", s, got, err)
		}
		if string(first) != string(second) {
			t.Errorf("scale %v: i2_s → ternary_u32 → i2_s changed bytes", s)
		}
	}
}
