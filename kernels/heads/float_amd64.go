//go:build !purego

package heads

import "onebit/kernels"

func init() {
	for _, k := range []floatRows{
		{floatF32, kernels.AVX512, "32 lanes in two registers, 4 rows at a time", 4, f32RowsAVX512, []floatColumns{nil, nil, f32Columns4AVX512}},
		{floatF32, kernels.AVX2, "32 lanes in four registers, 2 rows at a time", 2, f32RowsAVX2, []floatColumns{nil, nil, f32Columns4AVX2}},
		{floatF16, kernels.AVX512, "VCVTPH2PS, 32 lanes in two registers, 4 rows at a time", 4, f16RowsAVX512, []floatColumns{f16Columns2AVX512, f16Columns3AVX512, f16Columns4AVX512}},
		{floatF16, kernels.AVX2, "VCVTPH2PS, 32 lanes in four registers, 2 rows at a time", 2, f16RowsAVX2, []floatColumns{f16Columns2AVX2, f16Columns3AVX2, f16Columns4AVX2}},
		{floatBF16, kernels.AVX512, "32 lanes in two registers, 4 rows at a time", 4, bf16RowsAVX512, []floatColumns{bf16Columns2AVX512, bf16Columns3AVX512, bf16Columns4AVX512}},
		{floatBF16, kernels.AVX2, "32 lanes in four registers, 2 rows at a time", 2, bf16RowsAVX2, []floatColumns{bf16Columns2AVX2, bf16Columns3AVX2, bf16Columns4AVX2}},
	} {
		k.register()
	}
}
