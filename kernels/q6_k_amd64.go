//go:build !purego

package kernels

func init() {
	q6Rows{AVX512, "64 columns decoded in a register, 8 rows at a time", 8, q6Order, q6RowsAVX512, quantizeAVX2}.register()
	q6Rows{AVX2, "32 columns decoded in a register, 8 rows at a time", 8, q6Order, q6RowsAVX2, quantizeAVX2}.register()
}

// q6Order puts behind every 64 activations what the kernels take off the sums
// of two products with six bits: 32 times the sum of two activations, as
// int16.
//
//	byte  0        64                       128
//	      | 64 q   | 32·(q[2i]+q[2i+1])     | …
var q6Order = &Order{
	Name: "q6",
	Size: func(n, stride int) int { return 2 * n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		for ; len(q) > 0; dst, q = dst[128:], q[64:] {
			copy(dst[:64], q)
			minus := dst[64:128]
			for i := 0; i < 64; i += 2 {
				m := 32 * (int16(q[i]) + int16(q[i+1]))
				minus[i], minus[i+1] = int8(m), int8(m>>8)
			}
		}
	},
}
