//go:build !purego

package dense

import "onebit/kernels"

var archVariants = []*Variant{{
	ISA:  kernels.NEON,
	rows: side{8, 8}, columns: side{12, 4},
	tiles: [][]tileFunc{
		{inAssembly(8, 4, tile8x4NEON), inAssembly(8, 8, tile8x8NEON), inAssembly(8, 12, tile8x12NEON)},
	},
	transpose: transposeGo, gather: gatherGo,
}}

//go:noescape
func tile8x4NEON(c *float32, stride int, a, b *float32, k int, add bool)

//go:noescape
func tile8x8NEON(c *float32, stride int, a, b *float32, k int, add bool)

//go:noescape
func tile8x12NEON(c *float32, stride int, a, b *float32, k int, add bool)
