//go:build !purego

package heads

import "onebit/kernels"

//go:noescape
func f32RowsNEON(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)

//go:noescape
func f16RowsNEON(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)

//go:noescape
func bf16RowsNEON(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)

func init() {
	floatRows{floatF32, kernels.NEON, "32 lanes in eight registers, 2 rows at a time", 2, f32RowsNEON, nil}.register()
	floatRows{floatF16, kernels.NEON, "FCVTL, 32 lanes in eight registers, 2 rows at a time", 2, f16RowsNEON, nil}.register()
	floatRows{floatBF16, kernels.NEON, "SHLL, 32 lanes in eight registers, 2 rows at a time", 2, bf16RowsNEON, nil}.register()
}
