package kernels

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/internal/half"
)

// A codec is what the generic variants know of a weight format: a weight is
// scale × code, the scale shared by a group of columns, the code a small
// integer. Rows are addressed in the native layout.
type codec struct {
	format   *formats.Type
	groupLen int // columns per weight scale; 0: one scale for the tensor
	// scale returns that of group g of a row.
	scale func(m *Matrix, row []byte, g int) float32
	// code returns that of column k of a row.
	code func(row []byte, k int) int32
	// dot returns Σ code·q over columns [from, from+len(q)), from a multiple
	// of 32: the naive loop that the variant called scalar is.
	dot func(row []byte, from int, q []int8) int32
	// dotUnrolled is dot, branchless and unrolled.
	dotUnrolled func(row []byte, from int, q []int8) int32
}

// row returns the bytes of row r in the native layout, where all rows are as
// long and the tensor's scale, if any, lies behind the last one.
func (m *Matrix) row(r, rowBytes int) []byte {
	return m.Data[r*rowBytes : (r+1)*rowBytes : (r+1)*rowBytes]
}

func tensorScale(m *Matrix, row []byte, g int) float32 { return m.Scale }

func fp16At(row []byte, at int) float32 {
	return half.ToFloat32(binary.LittleEndian.Uint16(row[at:]))
}
