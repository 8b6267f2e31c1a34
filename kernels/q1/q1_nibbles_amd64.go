//go:build !purego

package q1

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
	"unsafe"
)

// q1NibbleRows is a strip of rows that q1LookupColumns128AVX2 looks up: two tiles.
const q1NibbleRows = 2 * rows64Rows

// q1NibbleScratch is what a call of q1LookupColumns128AVX2, or the same for q8_32, works in.
type q1NibbleScratch struct {
	room [5632]byte // 4864 if not under q8_32
	y    [q1LookupColumns * q1NibbleRows]float32
}

// q1NibbleRoom has a q1NibbleScratch at the first cache line, on the stack.
type q1NibbleRoom struct {
	_ q1NibbleScratch
	_ [64]byte
}

// q1NibbleTaskRows is how many rows of m a task looks up: strips of about chunkBytes,
// fewer if threads would go without.
func q1NibbleTaskRows(m *kernels.Matrix, threads int) int {
	rows := min(kernels.ChunkBytes/(m.Cols/128*rows64Block/rows64Rows), m.Rows/(4*threads))
	return max(1, rows/q1NibbleRows) * q1NibbleRows
}

// q1NibblesTogether computes rows [r0, r1) of the columns [from, to), which are at most
// q1LookupColumns.
func q1NibblesTogether(dst []float32, m *kernels.Matrix, a *kernels.Activations, from, to, r0, r1, scaleStep int) {
	blocks, columns := m.Cols/128, to-from
	tileBytes, tableStride := blocks*rows64Block, q1TableBytes*a.Stride
	tables, _, _ := a.Columns(q1Tables, from, columns)
	scales, scaleStride := q1Scales(a, from, columns), q1ScaleStride(a)

	var room q1NibbleRoom
	scratch := (*q1NibbleScratch)(unsafe.Add(unsafe.Pointer(&room), -uintptr(unsafe.Pointer(&room))&63))
	for r := r0; r < r1; r += q1NibbleRows {
		n := min(2, (r1-r+rows64Rows-1)/rows64Rows)
		data := m.Data[r/rows64Rows*tileBytes:][:n*tileBytes]
		next := (n - 1) * tileBytes // 0: the last tile twice
		y := scratch.y[:columns*q1NibbleRows]
		clear(y)
		if a.Scheme == kernels.Q8Per32 {
			q1LookupColumns32AVX2(&y[0], &data[0], next, &tables[0], tableStride, scales, scaleStride, scaleStep, blocks, columns, &scratch.room[0])
		} else {
			q1LookupColumns128AVX2(&y[0], &data[0], next, &tables[0], tableStride, scales, scaleStride, scaleStep, blocks, columns, &scratch.room[0])
		}
		tiles.Store(dst, m.Rows, from, columns, r, min(q1NibbleRows, r1-r), y, q1NibbleRows, 0)
	}
}
