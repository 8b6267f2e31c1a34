//go:build purego || !amd64

package formats

import "onebit/internal/half"

func absMax(w []float32) float32                                  { return absMaxGeneric(w) }
func decodeF16(dst []float32, src []byte)                         { half.Decode(dst, src) }
func q6Extremes(up, down *[16]uint32, w *[256]float32)            { q6ExtremesGeneric(up, down, w) }
func q6Codes(codes *[256]byte, w *[256]float32, ids *[16]float32) { q6CodesGeneric(codes, w, ids) }
func q6Weights(dst *[256]float32, bits *[192]byte, scales *[16]float32) {
	q6WeightsGeneric(dst, bits, scales)
}

func q6Search(w *[16]float32, id, steps float32, first, last int) int64 {
	return q6SearchGeneric(w, id, steps, first, last)
}
