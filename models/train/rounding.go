package train

import (
	"sync"

	"onebit/internal/cpu"
	"onebit/kernels"
	_ "onebit/kernels/all" // what packed weights are multiplied with
)

// A Rounding is what becomes of activations before they are multiplied.
type Rounding struct {
	Name string
	// round writes what x, rows of cols, becomes. Nil: it stays as it is.
	round func(dst, x []float32, cols int)
	// scheme is that of the kernels which round in the same way; "" if none does.
	scheme kernels.Scheme
}

// NoRounding leaves activations as they are.
var NoRounding = &Rounding{Name: "f32"}

// nearest, added and taken away again, leaves the nearest integer of a float32 up
// to 2²², ties to even.
const nearest float32 = 0x1.8p23

// NanoLogicRows is NanoLogic's int8 per row: s = 127/(max|x| + 1e-5),
// clamp(round(x·s), -128, 127)/s, halves to even.
var NanoLogicRows = &Rounding{Name: "nanologic", round: func(dst, x []float32, cols int) {
	for ; len(x) > 0; dst, x = dst[cols:], x[cols:] {
		var most float32
		for _, v := range x[:cols] {
			most = max(most, v, -v) // NaN stays NaN
		}
		scale := 127 / (most + epsilon)
		for i, v := range x[:cols] {
			q := float32(v*scale) + nearest - nearest
			dst[i] = min(max(q, -128), 127) / scale
		}
	}
}}

// The activation schemes of package kernels: Q8Row is BitNet b1.58's.
var (
	Q8Row    = schemeRounding(kernels.Q8Row)
	Q8Per128 = schemeRounding(kernels.Q8Per128)
	Q8Per32  = schemeRounding(kernels.Q8Per32)
)

// Roundings returns every rounding of activations.
func Roundings() []*Rounding { return []*Rounding{NoRounding, NanoLogicRows, Q8Row, Q8Per128, Q8Per32} }

// schemeRounding quantizes as the kernels do, to the bit, and multiplies by the
// scales again.
func schemeRounding(scheme kernels.Scheme) *Rounding {
	isa := kernels.Fastest(kernels.ISAs(), cpu.Detected())
	buffers := sync.Pool{New: func() any { return new(kernels.Activations) }}
	return &Rounding{Name: string(scheme), scheme: scheme, round: func(dst, x []float32, cols int) {
		a := buffers.Get().(*kernels.Activations)
		defer buffers.Put(a)
		rows, group := len(x)/cols, scheme.GroupLen(cols)
		a.Quantize(isa, scheme, x, rows, cols)
		for r := range rows {
			out, q := dst[r*cols:(r+1)*cols], a.Q[r*a.Stride:]
			for g := range a.Groups {
				scale := a.Scale(r, g)
				for i := g * group; i < min((g+1)*group, cols); i++ {
					out[i] = float32(q[i]) * scale
				}
			}
		}
	}}
}
