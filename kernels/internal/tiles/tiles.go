// Package tiles is the rule for rows that fill no tile of a kernel, and what
// follows from it.
package tiles

// Multiply computes len(y) rows of n bytes with a kernel of tiles of rows
// that start stride bytes apart. Rows that do not fill a tile are done with
// those before them again; if there are too few, each fills a tile alone.
func Multiply(rows int, y []float32, w []byte, n int, kernel func(y *float32, w *byte, stride, tiles int)) {
	if len(y) < rows {
		for r := range y {
			kernel(&y[r], &w[r*n], 0, 1)
		}
		return
	}
	tiles := len(y) / rows
	kernel(&y[0], &w[0], n, tiles)
	if len(y) > tiles*rows {
		last := len(y) - rows
		kernel(&y[last], &w[last*n], n, 1)
	}
}
