//go:build !purego

package heads

import (
	"unsafe"

	"onebit/kernels"
)

// nibblesNEONDot multiplies tiles of 8 rows with a column; see nibbles_stubs_amd64.go for several.
//
//	for r := range 8 * tiles {
//		y := float32(0)
//		for g := range groups {
//			act := scales[g>>shift]
//			if inBlocks != 0 {
//				y += term(d[r]*scale[r], act, Σ code[r]·q) - term(dmin[r]*offset[r], act, sums[g])
//			} else {
//				y += term(scale[r], act, Σ (code[r]-8)·q)
//			}
//		}
//		dst[r] = y
//	}
//
//go:noescape
func nibblesNEONDot(dst *float32, w *byte, q *int8, sums *int32, scales *float32, shift, groups, tiles, inBlocks int)

// nibblesNEON is the same.
//
//go:noescape
func nibblesNEON(dst *float32, w *byte, q *int8, sums *int32, scales *float32, shift, groups, tiles, inBlocks int)

func init() {
	for _, n := range []nibbles{nibblesQ4_0, nibblesQ4_K} {
		n.register(kernels.NEON, "SMLAL on 4 codes of 8 rows at a time", 8, nibblesColumn(nibblesNEON).columns)
		n.register(kernels.NEONDot, "SDOT on 4 codes of 8 rows at a time", 8, nibblesColumn(nibblesNEONDot).columns)
	}
}

// A nibblesColumn is a kernel for one column.
type nibblesColumn func(dst *float32, w *byte, q *int8, sums *int32, scales *float32, shift, groups, tiles, inBlocks int)

// columns multiplies them one by one.
func (kernel nibblesColumn) columns(dst *float32, dstStride int, w *byte, q *int8, qStride int, sums *int32, sumStride int, scales *float32, scaleStride, shift, groups, tiles, columns, inBlocks int) {
	for c := range columns {
		kernel(at(dst, c*dstStride), w, at(q, c*qStride), at(sums, c*sumStride), at(scales, c*scaleStride), shift, groups, tiles, inBlocks)
	}
}

// at is the address so many bytes behind p.
func at[T any](p *T, bytes int) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), bytes)) }
