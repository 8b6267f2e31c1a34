package kernels_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// FuzzVariants runs every variant that this machine has on the same weights
// and activations, and names those that disagree with the generic path.
func FuzzVariants(f *testing.F) {
	require.Unraced(f, "one thread computes it")
	for i := range kernels.Variants() {
		f.Add(uint8(i), uint8(16), uint8(2), uint8(1), []byte("\x00\x00\x80\x3f\x00\x00\x80\xbf"), []byte{1, 2, 3})
	}
	f.Add(uint8(0), uint8(3), uint8(1), uint8(5), []byte("\x00\x00\xc0\x7f\x01\x00\x00\x00\xff\xff\x7f\x7f"), []byte{0xff})
	f.Fuzz(func(t *testing.T, which, rows, blocks, n uint8, activations, weights []byte) {
		format := kernels.Variants()[int(which)%len(kernels.Variants())].Format
		tensor := fuzzTensor(t, format, 4*(1+int(rows)%9), (1+int(blocks)%5)*max(format.BlockLen, 37), weights)
		if tensor == nil {
			t.Skip("the format cannot hold this shape or these weights")
		}
		count := 1 + int(n)%9
		height, cols := tensor.Dims()
		x := fuzzActivations(activations, count*cols)
		var wrong []string
		want := map[kernels.Scheme][]float32{}
		for _, v := range kernels.Variants() {
			if v.Format != format || v.Name == "reference" || v.Name == "scalar" || v.Available() != nil {
				continue
			}
			if want[v.Scheme] == nil {
				want[v.Scheme] = kerneltest.Rows(t, kerneltest.Scalar(t, v), tensor, x, count, 0, height)
			}
			if err := kerneltest.Same(kerneltest.Rows(t, v, tensor, x, count, 0, height), want[v.Scheme]); err != nil {
				wrong = append(wrong, v.String()+": "+err.Error())
			}
		}
		if len(wrong) > 0 {
			t.Errorf("%d variants disagree with scalar:\n%s", len(wrong), strings.Join(wrong, "\n"))
		}
	})
}

// fuzzTensor repeats the bytes as small signed weights; nil if the format
// can't hold the shape.
func fuzzTensor(t *testing.T, format *formats.Type, rows, cols int, weights []byte) *formats.Tensor {
	t.Helper()
	if _, err := format.Bytes(rows, cols); err != nil || len(weights) == 0 {
		return nil
	}
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(int8(weights[i%len(weights)]+byte(i/len(weights)))) / 64
	}
	return kerneltest.Quantize(t, format, rows, cols, w)
}

// fuzzActivations repeats the bytes as float32 bits, NaNs and all.
func fuzzActivations(b []byte, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		var bits [4]byte
		for j := range bits {
			if len(b) > 0 {
				bits[j] = b[(4*i+j)%len(b)]
			}
		}
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(bits[:]))
	}
	return x
}
