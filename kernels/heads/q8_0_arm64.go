//go:build !purego

package heads

import "onebit/kernels"

//go:noescape
func q8RowsNEONDot(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)

//go:noescape
func q8RowsNEON(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)

func init() {
	for _, act := range []kernels.Scheme{kernels.Q8Per32, kernels.Q8Per128, kernels.Q8Row} {
		q8Register(q8Rows{kernels.NEONDot, "SDOT, 8 rows at a time", q8RowsNEONDot}.variant(act))
		q8Register(q8Rows{kernels.NEON, "SMULL and SMLAL, 8 rows at a time", q8RowsNEON}.variant(act))
	}
}
