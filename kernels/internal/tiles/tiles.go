// Package tiles is the rule for rows that fill no tile of a kernel, and how
// results come from where a kernel leaves them to where they belong.
package tiles

// Cover calls multiply for the rows [r0, r1) in tiles: for all whole ones from row
// r on and, if rows are left, for the tile that ends with the last row, of which
// the first skip rows are done again. r1 is at least tile; and r1−r0 too, for a
// kernel that stores the rows to skip.
func Cover(tile, r0, r1 int, multiply func(r, tiles, skip int)) {
	tiles, rest := (r1-r0)/tile, (r1-r0)%tile
	if tiles > 0 {
		multiply(r0, tiles, 0)
	}
	if rest > 0 {
		multiply(r1-tile, 1, tile-rest)
	}
}

// Multiply computes len(y) rows of n bytes with a kernel of tiles of rows
// that start stride bytes apart. If there are too few for a tile, each fills one
// alone, with a stride of 0.
func Multiply(rows int, y []float32, w []byte, n int, kernel func(y *float32, w *byte, stride, tiles int)) {
	if len(y) < rows {
		for r := range y {
			kernel(&y[r], &w[r*n], 0, 1)
		}
		return
	}
	Cover(rows, 0, len(y), func(r, tiles, _ int) { kernel(&y[r], &w[r*n], n, tiles) })
}

// Store writes n rows of a block of results, from its row skip on, to row r of
// columns [c, c+cols) of dst, which has so many rows. Columns of the block are lead
// floats apart.
func Store(dst []float32, rows, c, cols, r, n int, block []float32, lead, skip int) {
	for i := range cols {
		copy(dst[(c+i)*rows+r:][:n], block[i*lead+skip:])
	}
}
