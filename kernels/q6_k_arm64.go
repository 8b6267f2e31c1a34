//go:build !purego

package kernels

//go:noescape
func q6RowsNEON(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)

//go:noescape
func q6RowsNEONDot(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)

func init() {
	register(q6Rows{NEON, "SMULL on 16 columns decoded in a register", 1, nil, q6RowsNEON, quantizeNEON}.variant())
	register(q6Rows{NEONDot, "SDOT on 16 columns decoded in a register", 1, nil, q6RowsNEONDot, quantizeNEON}.variant())
}
