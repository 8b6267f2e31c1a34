//go:build purego || !(amd64 || arm64)

package kernels

// quantizeSIMD is quantizeGeneric where there is no SIMD.
func quantizeSIMD(a *Activations, x []float32, from, to int) { quantizeGeneric(a, x, from, to) }
