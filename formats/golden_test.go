package formats

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// A golden is a matrix worked out by hand from the layouts in doc.go.
type golden struct {
	name       string // of the format
	rows, cols int
	weights    []float32
	data       []byte
	decoded    []float32 // nil: the weights themselves
}

// sparse returns n weights of value v but for those listed.
func sparse(n int, v float32, at map[int]float32) []float32 {
	w := slices.Repeat([]float32{v}, n)
	for i, x := range at {
		w[i] = x
	}
	return w
}

func rep(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

var negZero = float32(math.Copysign(0, -1))

var goldens = []golden{
	{
		name: "f32", rows: 1, cols: 3,
		weights: []float32{1, -2.5, negZero},
		data:    []byte{0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0, 0, 0, 0, 0x80},
	},
	{
		name: "f16", rows: 2, cols: 3,
		// 1/3 is nearest to 0x3555 = 1365/4096; 2⁻²⁴ is the least subnormal.
		weights: []float32{1, -2, 65504, 0x1p-24, 1. / 3, negZero},
		data:    []byte{0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x01, 0x00, 0x55, 0x35, 0x00, 0x80},
		decoded: []float32{1, -2, 65504, 0x1p-24, 1365. / 4096, negZero},
	},
	{
		name: "bf16", rows: 1, cols: 4,
		// 1+2⁻⁸ is halfway between 1 and 1+2⁻⁷, 1+3·2⁻⁸ between that and 1+2⁻⁶.
		weights: []float32{1, -2.5, 1 + 0x1p-8, 1 + 3*0x1p-8},
		data:    []byte{0x80, 0x3f, 0x20, 0xc0, 0x80, 0x3f, 0x82, 0x3f},
		decoded: []float32{1, -2.5, 1, 1 + 0x1p-6},
	},
	{
		name: "q1_0_g128", rows: 1, cols: 128,
		weights: sparse(128, -0.5, map[int]float32{0: 0.5, 9: 0.5, 127: 0.5}),
		data:    cat([]byte{0x00, 0x38, 0x01, 0x02}, rep(0, 13), []byte{0x80}),
	},
	{
		// Zeros of both signs are x ≥ 0; mean|x| = (126 + 0 + 0)·0.25 + … = 0.25·126/128.
		name: "q1_0_g128", rows: 1, cols: 128,
		weights: sparse(128, -0.25, map[int]float32{0: 0, 1: negZero}),
		data:    cat([]byte{0xe0, 0x33, 0x03}, rep(0, 15)), // 0.24609375 = 0x33e0
		decoded: sparse(128, -0.24609375, map[int]float32{0: 0.24609375, 1: 0.24609375}),
	},
	{
		name: "i2_s", rows: 1, cols: 128,
		weights: sparse(128, 0, map[int]float32{0: -1.5, 1: 1.5, 32: 1.5, 64: -1.5, 97: 1.5}),
		data:    cat([]byte{0x21, 0x96}, rep(0x55, 30), []byte{0, 0, 0xc0, 0x3f}, rep(0, 28)),
	},
	{
		// 1e-6 as float32 is a little less than 1e-6, so it is zero; what is
		// not zero counts by its sign alone.
		name: "i2_s", rows: 1, cols: 128,
		weights: sparse(128, 0, map[int]float32{0: 1e-6, 32: -1.1e-6, 64: 2, 96: negZero}),
		data:    cat([]byte{0x49}, rep(0x55, 31), []byte{0, 0, 0, 0x40}, rep(0, 28)),
		decoded: sparse(128, 0, map[int]float32{32: -2, 64: 2}),
	},
	{
		name: "i2_s_arm", rows: 1, cols: 64,
		weights: sparse(64, 0, map[int]float32{0: -1.5, 1: 1.5, 16: 1.5, 32: -1.5, 49: 1.5}),
		data:    cat([]byte{0x21, 0x96}, rep(0x55, 14), []byte{0, 0, 0xc0, 0x3f}, rep(0, 28)),
	},
	{
		name: "i2_s_x4", rows: 4, cols: 3,
		weights: []float32{
			-2, 0, 2,
			2, 0, -2,
			0, 2, 2,
			-2, -2, 0,
		},
		data: cat([]byte{0x24, 0x58, 0x89, 0, 0, 0, 0x40}, rep(0, 28)),
	},
	{
		name: "ternary_u32", rows: 2, cols: 17,
		weights: sparse(34, 0, map[int]float32{0: -0.25, 1: 0.25, 15: -0.25, 16: 0.25, 33: -0.25}),
		data: []byte{
			0x58, 0x55, 0x55, 0x15, 0x56, 0x55, 0x55, 0x55,
			0x55, 0x55, 0x55, 0x55, 0x54, 0x55, 0x55, 0x55,
			0x00, 0x00, 0x80, 0x3e,
		},
	},
	{
		// Not {-s, 0, +s}: absmean. mean|w| = 8/4 = 2; |w| = 1 is a tie and goes
		// to even, zero.
		name: "ternary_u32", rows: 1, cols: 4,
		weights: []float32{1, -4, 1.5, -1.5},
		data:    []byte{0x21, 0x55, 0x55, 0x55, 0, 0, 0, 0x40},
		decoded: []float32{0, -2, 2, -2},
	},
	{
		name: "q2_0", rows: 1, cols: 64,
		weights: sparse(64, 0, map[int]float32{0: 0.5, 1: -0.5, 3: 0.5, 63: -0.5}),
		data:    cat([]byte{0x00, 0x38, 0x92}, rep(0x55, 14), []byte{0x15}),
	},
	{
		name: "q2_0_g128", rows: 1, cols: 128,
		weights: sparse(128, 0, map[int]float32{0: 0.5, 1: -0.5, 3: 0.5, 127: -0.5}),
		data:    cat([]byte{0x00, 0x38, 0x92}, rep(0x55, 30), []byte{0x15}),
	},
	{
		// Half of the scale rounds away from zero.
		name: "q2_0", rows: 1, cols: 64,
		weights: sparse(64, 0, map[int]float32{0: 2, 1: -1, 2: 0.99, 3: 1}),
		data:    cat([]byte{0x00, 0x40, 0x92}, rep(0x55, 15)),
		decoded: sparse(64, 0, map[int]float32{0: 2, 1: -2, 3: 2}),
	},
	{
		name: "tq2_0", rows: 1, cols: 256,
		weights: sparse(256, 0, map[int]float32{0: 0.5, 32: -0.5, 96: 0.5, 159: -0.5}),
		data:    cat([]byte{0x92}, rep(0x55, 62), []byte{0x54, 0x00, 0x38}),
	},
	{
		// Digits 1,1,1,1,1 are v = 121, byte ceil(127.5) = 128; four of them and
		// a zero are 120, byte 127. Byte 0 has digits 2,0,1,1,2: v = 176, byte
		// 186; byte 47 has 0,0,0,0,0; byte 51 has 2,1,0,2,0: v = 195, byte 206.
		name: "tq1_0", rows: 1, cols: 256,
		weights: sparse(256, 0, map[int]float32{
			0: 2, 32: -2, 128: 2,
			175: -2, 191: -2, 207: -2, 223: -2, 239: -2,
			243: 2, 251: -2, 255: 2,
		}),
		data: cat([]byte{186}, rep(128, 46), []byte{0}, rep(127, 3), []byte{206, 0x00, 0x40}),
	},
	{
		name: "pq2_0", rows: 1, cols: 128,
		weights: sparse(128, 0, map[int]float32{0: 0.5, 1: -0.5, 3: 0.5, 127: -0.5}),
		data:    cat([]byte{0x00, 0x38, 0x92}, rep(0x55, 30), []byte{0x15}),
	},
	{
		// As in tq1_0. Byte 0 has weights 0, 16, 32, 48, 64 and digits 2,0,1,1,2: v =
		// 176, byte 186. Byte 23 has 87, 95, 103, 111, 119 and 0,0,0,0,0. Byte 24 has
		// 120, 122, 124, 126 and 2,1,0,2, then 0: v = 195, byte 206. Byte 25 has 121 to
		// 127 and 1,1,1,0, then 0: v = 117, byte ceil(123.3) = 124.
		name: "ptq1_0", rows: 1, cols: 128,
		weights: sparse(128, 0, map[int]float32{
			0: 2, 16: -2, 64: 2,
			87: -2, 95: -2, 103: -2, 111: -2, 119: -2,
			120: 2, 124: -2, 126: 2, 127: -2,
		}),
		data: cat([]byte{186}, rep(128, 22), []byte{0, 206, 124, 0x00, 0x40}),
	},
	{
		name: "q8_0", rows: 1, cols: 32,
		weights: sparse(32, 0, map[int]float32{0: 63.5, 1: -63.5, 2: 0.5, 3: -0.25, 4: 0.75}),
		data:    cat([]byte{0x00, 0x38, 0x7f, 0x81, 0x01, 0xff, 0x02}, rep(0, 27)),
		decoded: sparse(32, 0, map[int]float32{0: 63.5, 1: -63.5, 2: 0.5, 3: -0.5, 4: 1}),
	},
	{
		// Blocks whose largest value is negative, and positive, where its opposite has no code.
		name: "q4_0", rows: 1, cols: 64,
		weights: append(sparse(32, 0, map[int]float32{0: -4, 16: 3.5, 31: 1.1}), sparse(32, 0, map[int]float32{0: 4, 16: -4})...),
		data:    cat([]byte{0x00, 0x38, 0xf0}, rep(0x88, 14), []byte{0xa8}, []byte{0x00, 0xb8, 0xf0}, rep(0x88, 15)),
		decoded: append(sparse(32, 0, map[int]float32{0: -4, 16: 3.5, 31: 1}), sparse(32, negZero, map[int]float32{0: 4, 16: -3.5})...),
	},
	{
		// d = -8/-16 = 0.5; codes 0, 31 and ⌊1.1/0.5 + 16.5⌋ = 18, and 16 for zeros.
		name: "q5_0", rows: 1, cols: 32,
		weights: sparse(32, 0, map[int]float32{0: -8, 16: 7.5, 31: 1.1}),
		data:    cat([]byte{0x00, 0x38, 0xfe, 0xff, 0xff, 0xff, 0xf0}, rep(0, 14), []byte{0x20}),
		decoded: sparse(32, 0, map[int]float32{0: -8, 16: 7.5, 31: 1}),
	},
	{
		// d = -63.5/-127 = 0.5; -127 has code 0, 113 has 15, 13 has 9, and nearest to 0 is 1, code 8.
		name: "iq4_nl", rows: 1, cols: 32,
		weights: sparse(32, 0, map[int]float32{0: -63.5, 1: 6.5, 16: 56.5}),
		data:    cat([]byte{0x00, 0x38, 0xf0, 0x89}, rep(0x88, 14)),
		decoded: sparse(32, 0.5, map[int]float32{0: -63.5, 1: 6.5, 16: 56.5}),
	},
	// A scale that fp16 rounds to zero leaves nothing of the block, also where
	// its inverse would overflow float32.
	{
		name: "q8_0", rows: 1, cols: 32,
		weights: sparse(32, 1e-40, map[int]float32{0: -1e-40, 1: 0}),
		data:    rep(0, 34),
		decoded: sparse(32, 0, nil),
	},
	{
		name: "q4_0", rows: 1, cols: 32,
		weights: sparse(32, 1e-40, nil),
		data:    cat([]byte{0, 0}, rep(0x88, 16)),
		decoded: sparse(32, 0, nil),
	},
	{
		name: "tq2_0", rows: 1, cols: 256,
		weights: sparse(256, 0x1p-25, map[int]float32{0: -1e-40, 1: 0}),
		data:    cat(rep(0x55, 64), []byte{0, 0}),
		decoded: sparse(256, 0, nil),
	},
	{
		name: "q1_0_g128", rows: 1, cols: 128,
		weights: sparse(128, 0x1p-26, map[int]float32{0: -0x1p-26}),
		data:    cat([]byte{0, 0, 0xfe}, rep(0xff, 15)),
		decoded: sparse(128, 0, map[int]float32{0: negZero}),
	},
	{
		// Steps of 0.5·63 and, in the group with the numbers' high bits elsewhere,
		// of 0.5·37; offsets of 8 steps.
		name: "q4_k", rows: 1, cols: 256,
		weights: sparse(256, 0, map[int]float32{0: -8 * 31.5, 1: 7 * 31.5, 160: -8 * 18.5, 161: 3 * 18.5}),
		data: cat(
			[]byte{0x00, 0x38, 0x00, 0x44}, // 0.5 and 4
			[]byte{0x3f, 0x80, 0, 0, 0x3f, 0x80, 0, 0, 0, 0x55, 0, 0},
			[]byte{0x80, 0x8f}, rep(0x88, 62), []byte{0x08, 0xb8}, rep(0x88, 62)),
	},
	{
		// d is 2032/(127·32) = 0.5. Every group has a code of -32, which makes
		// its scale the least that holds its weights, and exact: 127 for 0–15,
		// 3 for 32–47, -2 for 240–255, whose largest weights are positive, and
		// 1 for the others.
		name: "q6_k", rows: 1, cols: 256,
		weights: func() []float32 {
			w := sparse(256, -32*0.5, nil)
			copy(w, sparse(16, -32*0.5*127, nil))
			copy(w[32:], sparse(16, -32*0.5*3, nil))
			copy(w[240:], sparse(16, -32*0.5*-2, nil))
			w[0] = (1 - 32) * 0.5 * 127
			w[32] = (0 + 16*1 - 32) * 0.5 * 3
			w[64] = (2 + 16*2 - 32) * 0.5
			w[96] = (15 + 16*3 - 32) * 0.5
			w[255] = (5 + 16*3 - 32) * 0.5 * -2
			return w
		}(),
		data: cat(
			[]byte{0x21}, rep(0, 31), []byte{0xf0}, rep(0, 94), []byte{0x50}, // low bits
			[]byte{0xe4}, rep(0, 62), []byte{0xc0}, // high bits
			[]byte{127, 1, 3}, rep(1, 12), []byte{0xfe}, // scales
			[]byte{0x00, 0x38}),
	},
	{
		// d is the least fp16, 2⁻²⁴, where 2⁻²⁰/(127·32) would round to 0. The
		// weights are 16 and -8 steps of it; zeros are code 32.
		name: "q6_k", rows: 1, cols: 256,
		weights: sparse(256, 0, map[int]float32{0: 0x1p-20, 128: -0x1p-21}),
		data: cat(
			[]byte{0x00}, rep(0, 63), []byte{0x08}, rep(0, 63), // 16 and 24
			[]byte{0xa9}, rep(0xaa, 31), []byte{0xa9}, rep(0xaa, 31),
			[]byte{0xff}, rep(0, 7), []byte{1}, rep(0, 7),
			[]byte{0x01, 0x00}),
		decoded: sparse(256, 0, map[int]float32{0: 0x1p-20, 128: -0x1p-21,
			1: negZero, 2: negZero, 3: negZero, 4: negZero, 5: negZero, 6: negZero, 7: negZero, 8: negZero,
			9: negZero, 10: negZero, 11: negZero, 12: negZero, 13: negZero, 14: negZero, 15: negZero}),
	},
	{
		// Nothing is left of weights whose d is 0 in float32.
		name: "q6_k", rows: 1, cols: 256,
		weights: sparse(256, 1e-45, map[int]float32{1: -1e-45}),
		data:    cat(rep(0, 128), rep(0xaa, 64), rep(0, 18)),
		decoded: sparse(256, 0, nil),
	},
}

func TestGolden(t *testing.T) {
	covered := map[string]bool{}
	for _, g := range goldens {
		covered[g.name] = true
		f := lookup(t, g.name)
		if n, err := f.Bytes(g.rows, g.cols); err != nil || n != len(g.data) {
			t.Errorf("%s: Bytes = %d, %v; want %d", g.name, n, err, len(g.data))
			continue
		}
		written := rep(0xee, len(g.data)) // every byte must be
		if err := f.Matrix(written, g.rows, g.cols).Quantize(g.weights); err != nil {
			t.Errorf("%s: %v", g.name, err)
		} else if !bytes.Equal(written, g.data) {
			t.Errorf("%s: Quantize gives\n% x, want\n% x", g.name, written, g.data)
		}
		want := g.decoded
		if want == nil {
			want = g.weights
		}
		got := make([]float32, len(want))
		if err := f.Matrix(g.data, g.rows, g.cols).Dequantize(got); err != nil {
			t.Errorf("%s: %v", g.name, err)
		} else if i := firstDifference(got, want); i >= 0 {
			t.Errorf("%s: weight %d decodes to %v, want %v", g.name, i, got[i], want[i])
		}
		if err := f.Matrix(g.data, g.rows, g.cols).Validate(); err != nil {
			t.Errorf("%s: %v", g.name, err)
		}
	}
	for _, f := range Types() {
		if !covered[f.Name] {
			t.Errorf("%s has no golden vector", f.Name)
		}
	}
}

// Code 3 of the formats with a meaning for it.
func TestGoldenCode3(t *testing.T) {
	for _, g := range []golden{
		{name: "q2_0", cols: 64, data: cat([]byte{0x00, 0x38, 0x1b}, rep(0x55, 15)),
			decoded: sparse(64, 0, map[int]float32{0: 1, 1: 0.5, 3: -0.5})},
		{name: "q2_0_g128", cols: 128, data: cat([]byte{0x00, 0x38, 0x1b}, rep(0x55, 31)),
			decoded: sparse(128, 0, map[int]float32{0: 1, 1: 0.5, 3: -0.5})},
		{name: "pq2_0", cols: 128, data: cat([]byte{0x00, 0x38, 0x1b}, rep(0x55, 31)),
			decoded: sparse(128, 0, map[int]float32{0: 1, 1: 0.5, 3: -0.5})},
		{name: "tq2_0", cols: 256, data: cat([]byte{0x1b}, rep(0x55, 63), []byte{0x00, 0x38}),
			decoded: sparse(256, 0, map[int]float32{0: 1, 32: 0.5, 96: -0.5})},
	} {
		f := lookup(t, g.name)
		got := make([]float32, g.cols)
		if err := f.Matrix(g.data, 1, g.cols).Dequantize(got); err != nil {
			t.Errorf("%s: %v", g.name, err)
		} else if i := firstDifference(got, g.decoded); i >= 0 {
			t.Errorf("%s: weight %d decodes to %v, want %v", g.name, i, got[i], g.decoded[i])
		}
	}
}

func lookup(t testing.TB, name string) *Type {
	t.Helper()
	f, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// firstDifference compares bits, and returns -1 if a and b have the same.
func firstDifference(a, b []float32) int {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

// Offsets of q4_k that are no multiple of their scales, as ggml writes them.
func TestGoldenQ4K(t *testing.T) {
	data := cat(
		[]byte{0x00, 0x34, 0x00, 0x30}, // 0.25 and 0.125
		[]byte{0xc5, 0, 0, 0x3f, 0x49, 0, 0, 0xc1, 0xd2, 0, 0, 0xf1},
		rep(0xa3, 128)) // codes 3 and 10
	var want []float32
	for _, x := range []float32{0.25*5*3 - 0.125*9, 0, 0, 0.25*63*10 - 0.125*1, 0.25*50*3 - 0.125*29, 0, 0, 0.25*1*10 - 0.125*63} {
		want = append(want, slices.Repeat([]float32{x}, 32)...)
	}
	got := make([]float32, 256)
	if err := Q4_K.Matrix(data, 1, 256).Dequantize(got); err != nil {
		t.Fatal(err)
	}
	if i := firstDifference(got, want); i >= 0 {
		t.Errorf("weight %d decodes to %v, want %v", i, got[i], want[i])
	}
}
