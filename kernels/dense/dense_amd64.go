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

func transposeAVX2(dst, src []float32, stride, rows, k, width int) {
	fourRows(dst, src, stride, rows, k, width, func(dst []float32, r *[4][]float32) (done int) {
		blocks := k / 8
		if blocks > 0 {
			_ = dst[(8*blocks-1)*width+3]
			transpose4AVX2(&dst[0], width, &r[0][0], &r[1][0], &r[2][0], &r[3][0], blocks)
		}
		return 8 * blocks
	})
}

var gathers = map[int]func(dst, src *float32, stride, k int){
	4: gather4AVX2, 8: gather8AVX2, 12: gather12AVX2, 16: gather16AVX2, 24: gather24AVX2, 32: gather32AVX2,
}

func gatherAVX2(dst, src []float32, stride, k, width int) {
	_, _ = dst[k*width-1], src[(k-1)*stride+width-1]
	gathers[width](&dst[0], &src[0], stride, k)
}
