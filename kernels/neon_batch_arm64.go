//go:build !purego

package kernels

// A batchNEON multiplies several columns with SMMLA: panels of 8, 4 or 2
// columns, tiles of 4 rows.
type batchNEON struct {
	vectors int    // of 16 bytes, in a group of the column order
	sumCols int    // columns whose sum is wanted; 0: of the whole row
	order   *Order // the panels
}

// newBatchNEON is for columns in order column, whose vectors of 16 come in
// groups of as many.
//
// Two columns become a pair: for each group of vectors their first 8 bytes,
// column after column, then their last 8. Behind the vectors of sumCols
// columns stands -Σq of both, twice. A panel interleaves one, two or four
// pairs, 16 bytes of each.
func newBatchNEON(column *Order, vectors, sumCols int) *batchNEON {
	b := &batchNEON{vectors: vectors, sumCols: sumCols}
	b.order = &Order{
		Name: column.Name + ", panels",
		Size: func(n, stride int) int { return (n+1)&^1*b.columnLen(stride) + 2*stride },
		Arrange: func(dst, q []int8, n, stride int) {
			scratch := dst[len(dst)-2*stride:]
			first, second := scratch[:stride], scratch[stride:]
			size := b.columnLen(stride)
			for c, cols := 0, 0; c < n; c += cols {
				cols = panelCols(n - c)
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

// q1PairOrder puts what belongs to bit j of a block's four vectors into 16
// bytes: dst[128b+16j+4v+t] = q[128b+32v+4j+t].
var q1PairOrder = &Order{
	Name: "q1 pairs",
	Size: func(n, stride int) int { return n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		q = q[:n*stride]
		arrangeDwordsNEON(&dst[:len(q)][0], &q[0], len(q)/128)
	},
}

// panelCols is the columns of the next panel if n are left. One is a pair
// with itself.
func panelCols(n int) int {
	switch {
	case n >= 8:
		return 8
	case n >= 4:
		return 4
	}
	return 2
}

// columnLen is a column's share of a panel.
func (b *batchNEON) columnLen(stride int) int {
	if b.sumCols == 0 {
		return stride + 8
	}
	return stride + stride/b.sumCols*8
}

// arrangePair writes a pair of columns, 16 bytes every step.
func (b *batchNEON) arrangePair(dst, first, second []int8, step int) {
	run := len(first)
	if b.sumCols > 0 {
		run = b.sumCols
	}
	size := (run/8 + 1) * step
	for i := range len(first) / run {
		arrangePairNEON(&dst[i*size], &first[i*run], &second[i*run], run/(16*b.vectors), b.vectors, step)
	}
}

// q1MatMul is for q1_0_g128 in the layout bitplanes.
func (b *batchNEON) q1MatMul(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	blocks := m.Cols / 128
	size, tileBytes := b.columnLen(a.Stride), blocks*bitplanesBlock
	blockStep := 4
	if a.Scheme == Q8Row {
		blockStep = 0
	}
	var out [8][4]float32
	for c, cols := 0, 0; c < a.N; c += cols {
		cols = panelCols(a.N - c)
		q := a.In(b.order)[c*size:][:cols*size]
		scales, columnStep := a.Scales[c*a.Groups:], 4*a.Groups
		if c+1 == a.N {
			columnStep = 0
		}
		for r := r0; r < r1; r += 4 {
			tile, quarter := m.Data[r/bitplanesRows*tileBytes:][:tileBytes], r%bitplanesRows/4
			data, weightScales := tile[16*quarter:], tile[bitplanesBits+8*quarter:]
			switch cols {
			case 8:
				q1Batch8NEONI8MM(&out, &data[0], &weightScales[0], blocks, &q[0], &scales[0], columnStep, blockStep)
			case 4:
				q1Batch4NEONI8MM(&out, &data[0], &weightScales[0], blocks, &q[0], &scales[0], columnStep, blockStep)
			default:
				q1Batch2NEONI8MM(&out, &data[0], &weightScales[0], blocks, &q[0], &scales[0], columnStep, blockStep)
			}
			storeTile(dst, m.Rows, a.N, out[:], c, cols, r, 0, min(4, r1-r))
		}
	}
}

// ternaryMatMul is for 2-bit codes with one scale per tensor.
func (b *batchNEON) ternaryMatMul(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	rowBytes := wordRowBytes(m.Cols)
	size := b.columnLen(a.Stride)
	var out [8][4]float32
	var scales [8]float32
	var padded [4][16]byte
	for c, cols := 0, 0; c < a.N; c += cols {
		cols = panelCols(a.N - c)
		q := a.In(b.order)[c*size:][:cols*size]
		sums := q[cols*a.Stride:]
		for i := range scales[:cols] {
			scales[i] = m.Scale * a.scale(min(c+i, a.N-1), 0)
		}
		for r, n := r0, 0; r < r1; r += n {
			var from, stride int
			from, n, stride = tile4(r, r1, rowBytes)
			w := m.Data[from*rowBytes:][:3*stride+rowBytes]
			var tail *byte
			if whole := rowBytes &^ 15; whole < rowBytes {
				for i := range padded {
					copy(padded[i][:], w[i*stride+whole:][:rowBytes-whole])
				}
				tail = &padded[0][0]
			}
			switch cols {
			case 8:
				ternaryBatch8NEONI8MM(&out, &w[0], stride, rowBytes/16, tail, &q[0], &scales[0], &sums[0])
			case 4:
				ternaryBatch4NEONI8MM(&out, &w[0], stride, rowBytes/16, tail, &q[0], &scales[0], &sums[0])
			default:
				ternaryBatch2NEONI8MM(&out, &w[0], stride, rowBytes/16, tail, &q[0], &scales[0], &sums[0])
			}
			storeTile(dst, m.Rows, a.N, out[:], c, cols, r, r-from, n)
		}
	}
}

// tile4 returns the tile whose n last rows are those from row r: 4 rows
// from a row on, stride bytes apart. If the matrix up to r1 has fewer, it is
// row r four times.
func tile4(r, r1, rowBytes int) (from, n, stride int) {
	switch {
	case r+4 <= r1:
		return r, 4, rowBytes
	case r1 >= 4:
		return r1 - 4, r1 - r, rowBytes
	}
	return r, 1, 0
}

// storeTile writes n rows of a tile, from row skip of it on, to row r of the
// columns that there are.
func storeTile(dst []float32, rows, columns int, out [][4]float32, c, cols, r, skip, n int) {
	for i := range min(cols, columns-c) {
		copy(dst[(c+i)*rows+r:][:n], out[i][skip:])
	}
}

// q1Batch8NEONI8MM multiplies 4 rows of a tile of the layout bitplanes with a
// panel of 8 columns of q1PairOrder and a sum every 128 columns. data and
// weightScales are what the rows have in the tile's first block. Scales are
// columnStep bytes apart from column to column, blockStep from block to block.
//
//	for c := range 8 {
//		for i := range 4 {
//			dst[c][i] = 0
//			for b := range blocks {
//				S := int32(0)
//				for k := range 128 {
//					S += (2*bit(i, 128*b+k) - 1) * q[c][128*b+k]
//				}
//				dst[c][i] += float32(float32(scale(i, b)*scales[c*columnStep/4+b*blockStep/4]) * float32(S))
//			}
//		}
//	}
//
//go:noescape
func q1Batch8NEONI8MM(dst *[8][4]float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)

// q1Batch4NEONI8MM is q1Batch8NEONI8MM for 4 columns.
//
//go:noescape
func q1Batch4NEONI8MM(dst *[8][4]float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)

// q1Batch2NEONI8MM is q1Batch8NEONI8MM for 2 columns.
//
//go:noescape
func q1Batch2NEONI8MM(dst *[8][4]float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)

// ternaryBatch8NEONI8MM multiplies 4 rows of 2-bit codes, stride bytes apart,
// with a panel of 8 columns in step order. Each row has steps times 16 bytes
// and, if tail is not nil, 16 more, padded, at tail. sums is the panel's end.
//
//	for c := range 8 {
//		for i := range 4 {
//			sum := -Σ q[c]
//			for k := range columns {
//				sum += code(i, k) * q[c][k]
//			}
//			dst[c][i] = float32(scales[c]*float32(sum)) + 0
//		}
//	}
//
//go:noescape
func ternaryBatch8NEONI8MM(dst *[8][4]float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)

// ternaryBatch4NEONI8MM is ternaryBatch8NEONI8MM for 4 columns.
//
//go:noescape
func ternaryBatch4NEONI8MM(dst *[8][4]float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)

// ternaryBatch2NEONI8MM is ternaryBatch8NEONI8MM for 2 columns.
//
//go:noescape
func ternaryBatch2NEONI8MM(dst *[8][4]float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)

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

// arrangeDwordsNEON arranges blocks of 128 activations in q1PairOrder.
//
//	for b := range blocks {
//		for j := range 8 {
//			for v := range 4 {
//				copy(dst[128*b+16*j+4*v:][:4], q[128*b+32*v+4*j:])
//			}
//		}
//	}
//
//go:noescape
func arrangeDwordsNEON(dst, q *int8, blocks int)
