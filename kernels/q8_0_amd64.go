//go:build !purego

package kernels

func init() {
	for _, act := range []Activation{Q8Per32, Q8Per128, Q8Row} {
		for _, k := range []q8Rows{
			{AVX512VNNI, "VPDPBUSD on codes made unsigned, 8 rows at a time", q8RowsAVX512VNNI, quantizeAVX2},
			{AVXVNNI, "VPDPBUSD on codes made unsigned, 8 rows at a time", q8RowsAVXVNNI, quantizeAVX2},
			{AVX2, "VPMADDUBSW on magnitudes, 8 rows at a time", q8RowsAVX2, quantizeAVX2},
		} {
			k.register(act)
		}
	}
}
