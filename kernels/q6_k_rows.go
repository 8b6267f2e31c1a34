//go:build !purego && (amd64 || arm64)

package kernels

import "onebit/formats"

// q6Tile is the rows that the assembly takes at a time.
const q6Tile = 8

// A q6Rows is an assembly product of q6_k under q8_32.
type q6Rows struct {
	isa      *ISA
	summary  string
	rows     func(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)
	quantize func(a *Activations, x []float32, from, to int)
}

func (k q6Rows) register() {
	register(&Variant{
		Name: k.isa.Name, Summary: k.summary, Format: formats.Q6_K, Activation: Q8Per32,
		ISA: k.isa, Layout: Native, Order: q6Order, quantize: k.quantize, matVec: k.matVec,
	})
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

var q6Generic = q6Codec.matVec(q6DotUnrolled)

// matVec does rows that do not fill a tile with those before them again. Fewer
// rows than a tile, which no model has, are left to the generic path.
func (k q6Rows) matVec(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	if r1-r0 < q6Tile {
		q6Generic(dst, m, a, col, r0, r1)
		return
	}
	blocks := m.Cols / 256
	n := blocks * q6Block
	w, y := m.Data[r0*n:r1*n], dst[r0:r1]
	q := a.In(q6Order)[2*col*a.Stride:][:2*a.Stride]
	scales := a.Scales[col*a.Groups:][:8*blocks]
	k.rows(&y[0], &w[0], n, &q[0], &scales[0], blocks, len(y)/q6Tile)
	if len(y)%q6Tile != 0 {
		last := len(y) - q6Tile
		k.rows(&y[last], &w[last*n], n, &q[0], &scales[0], blocks, 1)
	}
}
