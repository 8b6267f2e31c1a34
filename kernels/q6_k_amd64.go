//go:build !purego

package kernels

func init() {
	q6Rows{AVX512, "64 columns decoded in a register, 8 rows at a time", q6RowsAVX512, quantizeAVX2}.register()
	q6Rows{AVX2, "32 columns decoded in a register, 8 rows at a time", q6RowsAVX2, quantizeAVX2}.register()
}
