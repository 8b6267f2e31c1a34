//go:build !purego

package kernels

//go:noescape
func q8RowsNEONDot(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)

//go:noescape
func q8RowsNEON(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)

func init() {
	for _, act := range []Scheme{Q8Per32, Q8Per128, Q8Row} {
		register(q8Rows{NEONDot, "SDOT, 8 rows at a time", q8RowsNEONDot, quantizeNEON}.variant(act))
		register(q8Rows{NEON, "SMULL and SMLAL, 8 rows at a time", q8RowsNEON, quantizeNEON}.variant(act))
	}
}
