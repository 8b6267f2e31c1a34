//go:build purego || !amd64

package models

func add(x, y []float32)                              { addGeneric(x, y) }
func squares(sum *lanes, x []float32)                 { squaresGeneric(sum, x) }
func scale(dst, x, gain []float32, by float32)        { scaleGeneric(dst, x, gain, by) }
func silu(gate, up []float32)                         { siluGeneric(gate, up) }
func relu2(gate, up []float32)                        { relu2Generic(gate, up) }
func exp(sum *lanes, x []float32, top, by float32)    { expGeneric(sum, x, top, by) }
func encodeF16(dst []byte, src []float32)             { encodeF16Generic(dst, src) }
func weightedF16(dst, weights []float32, rows []byte) { weightedF16Generic(dst, weights, rows, 0) }
