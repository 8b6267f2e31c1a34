//go:build !purego

package heads

import "onebit/kernels"

//go:noescape
func q6RowsNEON(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)

//go:noescape
func q6RowsNEONDot(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)

func init() {
	kernels.Register(q6Rows{kernels.NEON, "SMULL on 16 columns decoded in a register", 1, nil, q6RowsNEON}.variant())
	kernels.Register(q6Rows{kernels.NEONDot, "SDOT on 16 columns decoded in a register", 1, nil, q6RowsNEONDot}.variant())
}
