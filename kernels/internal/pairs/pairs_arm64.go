//go:build !purego

package pairs

import "onebit/kernels"

// A Panels multiplies several columns with SMMLA: panels of 8, 4 or 2
// columns, tiles of 4 rows.
type Panels struct {
	vectors int            // of 16 bytes, in a group of the column order
	sumCols int            // columns whose sum is wanted; 0: of the whole row
	Order   *kernels.Order // the panels
}

// New is for columns in order column, whose vectors of 16 come in
// groups of as many.
//
// Two columns become a pair: for each group of vectors their first 8 bytes,
// column after column, then their last 8. Behind the vectors of sumCols
// columns stands -Σq of both, twice. A panel interleaves one, two or four
// pairs, 16 bytes of each.
func New(column *kernels.Order, vectors, sumCols int) *Panels {
	b := &Panels{vectors: vectors, sumCols: sumCols}
	b.Order = &kernels.Order{
		Name: column.Name + ", panels",
		Size: func(n, stride int) int { return (n+1)&^1*b.ColumnLen(stride) + 2*stride },
		Arrange: func(dst, q []int8, n, stride int) {
			scratch := dst[len(dst)-2*stride:]
			first, second := scratch[:stride], scratch[stride:]
			size := b.ColumnLen(stride)
			for c, cols := 0, 0; c < n; c += cols {
				cols = Cols(n - c)
				panel := dst[c*size:][:cols*size]
				for i := 0; i < cols; i += 2 {
					column.Arrange(first, q[(c+i)*stride:][:stride], 1, stride)
					last := min(c+i+1, n-1)
					column.Arrange(second, q[last*stride:][:stride], 1, stride)
					b.arrangePair(panel[8*i:], first, second, 8*cols)
				}
			}
		},
	}
	return b
}

// Cols is the columns of the next panel if n are left. One is a pair
// with itself.
func Cols(n int) int {
	switch {
	case n >= 8:
		return 8
	case n >= 4:
		return 4
	}
	return 2
}

// ColumnLen is a column's share of a panel.
func (b *Panels) ColumnLen(stride int) int {
	if b.sumCols == 0 {
		return stride + 8
	}
	return stride + stride/b.sumCols*8
}

// arrangePair writes a pair of columns, 16 bytes every step.
func (b *Panels) arrangePair(dst, first, second []int8, step int) {
	run := len(first)
	if b.sumCols > 0 {
		run = b.sumCols
	}
	size := (run/8 + 1) * step
	for i := range len(first) / run {
		arrangePairNEON(&dst[i*size], &first[i*run], &second[i*run], run/(16*b.vectors), b.vectors, step)
	}
}

// arrangePairNEON makes a pair of two columns of groups of vectors of 16
// bytes each, writing 16 bytes every step, and -Σq behind it.
//
//	for g := range groups {
//		for half := range 2 {
//			for v := range vectors {
//				d := dst[((2*g+half)*vectors+v)*step:]
//				copy(d[:8], q0[(g*vectors+v)*16+8*half:])
//				copy(d[8:16], q1[(g*vectors+v)*16+8*half:])
//			}
//		}
//	}
//	int32s(dst[2*groups*vectors*step:])[:4] = -Σq0, -Σq1, -Σq0, -Σq1
//
//go:noescape
func arrangePairNEON(dst, q0, q1 *int8, groups, vectors, step int)
