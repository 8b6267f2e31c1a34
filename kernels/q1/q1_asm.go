//go:build !purego && (amd64 || arm64)

package q1

import (
	"onebit/kernels"
	"onebit/kernels/quantize"
	"unsafe"
)

// A bitplanesFunc multiplies rows of the layout bitplanes with one column.
type bitplanesFunc func(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

// q1ScaleStep is the bytes by which a kernel advances in the scales at each block.
func q1ScaleStep(act kernels.Scheme) int {
	switch act {
	case kernels.Q8Row:
		return 0
	case kernels.Q8Per32:
		return spanBytes
	}
	return 4
}

// spanBytes is that of a quantize.Span.
const spanBytes = int(unsafe.Sizeof(quantize.Span{}))

// q1Scales returns the first of the scales of n columns from col on, or of their
// spans, which kernels for q8_32 read in their place.
func q1Scales(a *kernels.Activations, col, n int) *float32 {
	if a.Scheme == kernels.Q8Per32 {
		return (*float32)(unsafe.Pointer(&a.SpansOf(col, n)[0]))
	}
	return &a.Scales[col*a.Groups : (col+n)*a.Groups][0]
}

// bitplanesMatVec is matVec by the kernel of the scheme.
func bitplanesMatVec(act kernels.Scheme, per128, per32 bitplanesFunc) kernels.MatVecFunc {
	kernel, scaleStep := per128, q1ScaleStep(act)
	if act == kernels.Q8Per32 {
		kernel = per32
	}
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks := m.Cols / 128
		tiles := (r1 - r0 + bitplanesRows - 1) / bitplanesRows
		// The slices hold the kernel to its buffers.
		out := dst[r0:r1]
		data := m.Data[r0/bitplanesRows*blocks*bitplanesBlock:][:tiles*blocks*bitplanesBlock]
		q, _, sums := a.Columns(nil, col, 1)
		kernel(&out[0], &data[0], &q[0], q1Scales(a, col, 1), scaleStep, &sums[0], blocks, len(out))
	}
}
