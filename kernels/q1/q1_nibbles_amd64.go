//go:build !purego

package q1

import (
	"onebit/internal/aligned"
	"onebit/kernels"
)

// q1NibbleRows is a strip of rows that q1LookupColumns128AVX2 looks up: two tiles.
const q1NibbleRows = 2 * rows64Rows

// q1NibbleScratch is what q1LookupColumns128AVX2, and the same for q8_32, work in.
type q1NibbleScratch struct {
	room [5632]byte // 4864 if not under q8_32
	y    [q1LookupColumns * q1NibbleRows]float32
}

var q1NibbleScratches kernels.Scratch[aligned.Room[q1NibbleScratch]]

// q1NibbleTaskRows is how many rows of m a task looks up: strips of about chunkBytes,
// fewer if threads would go without.
func q1NibbleTaskRows(m *kernels.Matrix, threads int) int {
	rows := min(kernels.ChunkBytes/(m.Cols/128*rows64Block/rows64Rows), m.Rows/(4*threads))
	return max(1, rows/q1NibbleRows) * q1NibbleRows
}

// q1NibblesTogether computes rows [r0, r1) of the columns [from, to), which are at most
// q1LookupColumns.
func q1NibblesTogether(dst []float32, m *kernels.Matrix, a *kernels.Activations, from, to, r0, r1, scaleStep int) {
	blocks, columns, tableStride := m.Cols/128, to-from, q1TableBytes*a.Stride
	tables, _, _ := a.Columns(q1Tables, from, columns)
	scales, scaleStride := q1Scales(a, from, columns), q1ScaleStride(a)
	kernel, scratch := q1LookupColumns128AVX2, q1NibbleScratches.Of(a).T()
	if a.Scheme == kernels.Q8Per32 {
		kernel = q1LookupColumns32AVX2
	}
	rows64Tiles.strips(dst, m, from, columns, r0, r1, scratch.y[:], func(y *float32, data *byte, next int) {
		kernel(y, data, next, &tables[0], tableStride, scales, scaleStride, scaleStep, blocks, columns, &scratch.room[0])
	})
}
