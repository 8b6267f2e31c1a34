//go:build !purego

package dense

import "onebit/kernels"

var archVariants = []*Variant{
	{
		ISA:  kernels.AVX2,
		rows: side{4, 4}, columns: side{24, 8},
		tiles: [][]tileFunc{
			{inAssembly(4, 8, tile4x8AVX2), inAssembly(4, 16, tile4x16AVX2), inAssembly(4, 24, tile4x24AVX2)},
		},
		transpose: transposeAVX2, gather: gatherAVX2,
	},
	{
		ISA:  kernels.AVX512,
		rows: side{12, 4}, columns: side{32, 16},
		tiles: [][]tileFunc{
			{inAssembly(4, 16, tile4x16AVX512), inAssembly(4, 32, tile4x32AVX512)},
			{inAssembly(8, 16, tile8x16AVX512), inAssembly(8, 32, tile8x32AVX512)},
			{inAssembly(12, 16, tile12x16AVX512), inAssembly(12, 32, tile12x32AVX512)},
		},
		transpose: transposeAVX2, gather: gatherAVX2,
	},
}

// inAssembly checks what assembly cannot.
func inAssembly(rows, columns int, tile func(c *float32, stride int, a, b *float32, k int, add bool)) tileFunc {
	return func(c []float32, stride int, a, b []float32, k int, add bool) {
		_, _, _ = c[(rows-1)*stride+columns-1], a[rows*k-1], b[columns*k-1]
		tile(&c[0], stride, &a[0], &b[0], k, add)
	}
}

// transposeAVX2 packs four rows at a time. Where there are fewer, the last stands for those that
// are missing.
func transposeAVX2(dst, src []float32, stride, rows, k, width int) {
	row := func(i int) []float32 { return src[min(i, rows-1)*stride:][:k] }
	blocks := k / 8
	for i := 0; i < width; i += 4 {
		r0, r1, r2, r3 := row(i), row(i+1), row(i+2), row(i+3)
		if blocks > 0 {
			_ = dst[(8*blocks-1)*width+i+3]
			transpose4AVX2(&dst[i], width, &r0[0], &r1[0], &r2[0], &r3[0], blocks)
		}
		for l := 8 * blocks; l < k; l++ {
			*(*[4]float32)(dst[l*width+i:]) = [4]float32{r0[l], r1[l], r2[l], r3[l]}
		}
	}
}

var gathers = map[int]func(dst, src *float32, stride, k int){
	4: gather4AVX2, 8: gather8AVX2, 12: gather12AVX2, 16: gather16AVX2, 24: gather24AVX2, 32: gather32AVX2,
}

func gatherAVX2(dst, src []float32, stride, k, width int) {
	_, _ = dst[k*width-1], src[(k-1)*stride+width-1]
	gathers[width](&dst[0], &src[0], stride, k)
}
