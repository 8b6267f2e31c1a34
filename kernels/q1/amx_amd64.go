//go:build !purego

package q1

import (
	"onebit/kernels"
	"onebit/kernels/internal/amx"
)

// amxFrom is the fewest columns that fill a panel on AVX-512 VNNI: fewer are multiplied
// as there.
const amxFrom = q1PanelColumns

// amxBitplanes is v, which multiplies bit planes on AVX-512 VNNI, with batches on tiles.
func amxBitplanes(v *kernels.Variant) *kernels.Variant {
	w := amx.Variant(v, nil, amx.Bitplanes(bitplanesBlock, q1ScaleStep(v.Scheme)))
	w.BatchFrom, w.MatFew = amxFrom, v.MatMul
	return w
}
