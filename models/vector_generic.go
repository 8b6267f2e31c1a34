//go:build purego || !(amd64 || arm64)

package models

func add(x, y []float32)                              { addGeneric(x, y) }
func squares(sum *lanes, x []float32)                 { squaresGeneric(sum, x) }
func scale(dst, x, gain []float32, by float32)        { scaleGeneric(dst, x, gain, by) }
func silu(gate, up []float32)                         { siluGeneric(gate, up) }
func relu2(gate, up []float32)                        { relu2Generic(gate, up) }
func exp(sum *lanes, x []float32, top, by float32)    { expGeneric(sum, x, top, by) }
func encodeF16(dst []byte, src []float32)             { encodeF16Generic(dst, src) }
func decodeF16(dst, src []byte)                       { decodeF16Generic(dst, src) }
func decodeQ8(dst, src []byte)                        { decodeQ8Generic(dst, src) }
func maximum(x []float32) float32                     { return maximumGeneric(x) }
func turn(a, b, cos, sin []float32)                   { turnGeneric(a, b, cos, sin) }
func scores(dst, q []float32, rows, _ []byte)         { scoresGeneric(dst, q, rows) }
func weighted(dst, weights []float32, rows, _ []byte) { weightedGeneric(dst, weights, rows, 0) }
