//go:build !purego && (amd64 || arm64)

package dense

// inAssembly checks what assembly cannot.
func inAssembly(rows, columns int, tile func(c *float32, stride int, a, b *float32, k int, add bool)) tileFunc {
	return func(c []float32, stride int, a, b []float32, k int, add bool) {
		_, _, _ = c[(rows-1)*stride+columns-1], a[rows*k-1], b[columns*k-1]
		tile(&c[0], stride, &a[0], &b[0], k, add)
	}
}
