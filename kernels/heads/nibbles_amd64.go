//go:build !purego

package heads

import "onebit/kernels"

func init() {
	for _, n := range []nibbles{nibblesQ4_0, nibblesQ4_K} {
		n.register(kernels.AVX2, "VPMADDUBSW on 4 codes of 8 rows at a time", 8, nibblesAVX2)
		n.register(kernels.AVX512VNNI, "VPDPBUSD on 4 codes of 16 rows at a time", 16, nibblesAVX512VNNI)
	}
}
