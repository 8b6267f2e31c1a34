//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/amx"
)

// amxRows is v, which multiplies rows in place on AVX-512 VNNI, with batches on tiles.
func amxRows(v *kernels.Variant, arrange func(dst, q *int8, units int)) *kernels.Variant {
	order := rowOrder(arrange)
	order.Panel = 1
	return amx.Variant(v, order, amx.Rows(order, wordRowBytes))
}

// amxCodes64 is v, which multiplies the layout codes64 there, likewise.
func amxCodes64(v *kernels.Variant, codes *twoBit, row twoBitRow) *kernels.Variant {
	return amx.Variant(v, nil, amx.Codes64(row.blockCols, row.scaleStep, codes.tileBytes))
}
