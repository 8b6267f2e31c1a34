package heads_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// headBits says which bytes of the formats of heads and embeddings end a float,
// whose exponent must not be all ones: those at + i·every.
var headBits = map[*formats.Type]struct {
	every int
	at    []int
}{
	formats.F32:    {4, []int{3}},
	formats.F16:    {2, []int{1}},
	formats.BF16:   {2, []int{1}},
	formats.Q8_0:   {34, []int{1}},
	formats.Q4_0:   {18, []int{1}},
	formats.Q5_0:   {22, []int{1}},
	formats.IQ4_NL: {18, []int{1}},
	formats.Q6_K:   {210, []int{209}},
	formats.Q4_K:   {144, []int{1, 3}},
}

// randomBits is a tensor of any bytes that are finite: codes that no
// quantizer writes, subnormals, scales of either sign.
func randomBits(tb testing.TB, format *formats.Type, rows, cols int, rng *rand.Rand) *formats.Tensor {
	size, err := format.Bytes(rows, cols)
	if err != nil {
		tb.Fatal(err)
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	f := headBits[format]
	for block := 0; block < size; block += f.every {
		for _, at := range f.at {
			data[block+at] &^= 0x40 // the exponent's highest bit
		}
	}
	return &formats.Tensor{Name: "random bits", Type: format, Shape: []int{rows, cols}, Data: data}
}

// headVariants runs a test on the variants of these formats under all schemes
// or, if codes is set, under the integer ones.
func headVariants(t *testing.T, codes bool, run func(t *testing.T, v *kernels.Variant)) {
	for _, v := range kernels.Variants() {
		if f := kernels.FormatOf(v.Format); f.For(kernels.Projection) || !f.For(kernels.Head) || v.Name == "reference" || v.Name == "scalar" || codes && v.Scheme == kernels.F32 {
			continue
		}
		if _, ok := headBits[v.Format]; !ok {
			t.Fatalf("headBits lacks %s", v.Format.Name)
		}
		t.Run(v.String(), func(t *testing.T) {
			kerneltest.Require(t, v)
			run(t, v)
		})
	}
}

// TestHeadBits takes bytes of every kind, numbers of rows up to two tiles
// and more, columns that fill a register or do not, and batches.
func TestHeadBits(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	headVariants(t, false, func(t *testing.T, v *kernels.Variant) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, rows := range require.Draw(t, 4, require.Numbers(1, 19)) {
			cols := v.Format.BlockLen * (1 + rng.IntN(4))
			if v.Format.BlockLen == 1 {
				cols = 32 * (1 + rng.IntN(5))
				if rows%5 == 0 {
					cols += rng.IntN(32)
				}
			}
			n := 1 + rng.IntN(20)
			x := make([]float32, n*cols)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			kerneltest.Check(t, v, randomBits(t, v.Format, rows, cols, rng), x, n, fmt.Sprintf("%d×%d, %d columns", rows, cols, n))
		}
	})
}

// TestHeadExtremes takes the largest codes of each sign, all with activations
// of ±127: the sums at which 16-bit arithmetic would saturate or wrap.
func TestHeadExtremes(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	const rows, cols = 17, 1024 // a tile of 16 rows, and a row
	headVariants(t, true, func(t *testing.T, v *kernels.Variant) {
		const n = 7
		x := make([]float32, n*cols)
		for _, fill := range []byte{0x00, 0x7f, 0x80, 0x81, 0xff} {
			for _, scales := range []byte{0x7f, 0x80} {
				if scales != 0x80 && v.Format != formats.Q6_K {
					continue // which alone has such scales
				}
				tensor := extreme(t, v.Format, rows, cols, fill, scales)
				for _, sign := range []float32{1, -1} {
					for i := range x {
						x[i] = sign
					}
					kerneltest.Check(t, v, tensor, x, n, fmt.Sprintf("bytes %#x, int8 scales %#x, activations %v", fill, scales, sign))
				}
			}
		}
	})
}

// extreme fills the codes of a tensor with one byte, the int8 scales of q6_k
// with another, and makes all fp16 scales 1.
func extreme(tb testing.TB, format *formats.Type, rows, cols int, fill, scales byte) *formats.Tensor {
	size, err := format.Bytes(rows, cols)
	if err != nil {
		tb.Fatal(err)
	}
	data := make([]byte, size)
	f := headBits[format]
	for i := range data {
		data[i] = fill
		if in := i % f.every; format == formats.Q6_K && in >= 192 && in < 208 {
			data[i] = scales
		}
	}
	const one = 0x3c00
	for block := 0; block < size; block += f.every {
		for _, at := range f.at {
			binary.LittleEndian.PutUint16(data[block+at-1:], one)
		}
	}
	return &formats.Tensor{Name: "extreme", Type: format, Shape: []int{rows, cols}, Data: data}
}

// TestHeadByHand multiplies what a person can: the sum of a row of q6_k and of
// q8_0 whose codes are all one byte, by activations of 1, which q8_32 makes
// 127 with the scale 1/127 rounded to fp16.
func TestHeadByHand(t *testing.T) {
	const cols = 256
	scale := float64(float32(0x1.02p-7)) // 1/127 = 0x1.0204…p-7 to 11 bits
	for _, c := range []struct {
		format *formats.Type
		fill   byte
		code   float64
	}{
		{formats.Q8_0, 0x80, -128},
		{formats.Q8_0, 0x7f, 127},
		{formats.Q6_K, 0x00, -128 * -32}, // int8 scale -128, bits 0
		{formats.Q6_K, 0xff, -128 * 31},
	} {
		for _, v := range kernels.Variants() {
			if v.Format != c.format || v.Scheme != kernels.Q8Per32 || v.Available() != nil {
				continue
			}
			tensor := extreme(t, c.format, 8, cols, c.fill, 0x80)
			m, err := v.Pack(tensor, nil)
			if err != nil {
				t.Fatal(err)
			}
			x, y := make([]float32, cols), make([]float32, 8)
			for i := range x {
				x[i] = 1
			}
			pool := kernels.NewPool(1)
			pool.MatVec(y, v, m, x)
			pool.Close()
			want := c.code * 127 * cols * scale
			for r, got := range y {
				if math.Abs(float64(got)-want) > 1e-6*math.Abs(want) {
					t.Errorf("%v, bytes %#x: row %d is %v, want %v", v, c.fill, r, got, want)
				}
			}
		}
	}
}
