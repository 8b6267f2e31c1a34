//go:build purego || !(amd64 || arm64)

package quantize

// quantizeSIMD is quantizeGeneric where there is no SIMD.
func (a *Quantized) quantizeSIMD(x []float32, c int) { a.quantizeGeneric(x, c) }
