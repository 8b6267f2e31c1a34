package heads

import (
	"onebit/formats"
	"onebit/internal/half"
	"onebit/kernels"
)

// The parts of a Q4_K block of 256 weights: two fp16 scales, 12 bytes of 6-bit
// numbers, 128 of codes. The drawing is in formats.
const (
	q4Block  = 144
	q4Offset = 2
	q4Groups = 4
	q4Codes  = 16
)

// Q4_K is for embeddings, which are heads too where a model has no other. A weight
// is no code with a scale, because of the offset: it is decoded, and multiplied
// with float32 activations as a weight of a float format is.
func init() {
	kernels.RegisterFormat(kernels.Format{Type: formats.Q4_K, Scheme: kernels.F32, Roles: kernels.Head})
	kernels.Register(&kernels.Variant{
		Name: "scalar", Summary: "one weight at a time, pure Go: the specification", Format: formats.Q4_K, Scheme: kernels.F32,
		ISA: kernels.Go, Layout: kernels.Native, MatVec: q4MatVec,
	})
	kernels.Register(&kernels.Variant{
		Name: "unrolled", Summary: "branchless, unrolled, pure Go", Format: formats.Q4_K, Scheme: kernels.F32,
		ISA: kernels.Go, Layout: kernels.Native, Preference: 1, MatVec: q4MatVecUnrolled,
	})
}

// q4At is weight k of a row.
func q4At(row []byte, k int) float32 {
	block, e := row[k/256*q4Block:][:q4Block], k%256
	step, offset := q4Group(block, e/32)
	code := block[q4Codes+e/64*32+e%32] >> (e / 32 % 2 * 4) & 15
	return float32(step*float32(code)) - offset
}

// q4Group is the step and the offset of group g of a block.
func q4Group(block []byte, g int) (step, offset float32) {
	b := block[q4Groups:q4Codes]
	s, o := b[g%4]&63, b[4+g%4]&63
	if g >= 4 {
		s, o = b[4+g]&15|b[g-4]>>6<<4, b[4+g]>>4|b[g]>>6<<4
	}
	return half.At(block) * float32(s), half.At(block[q4Offset:]) * float32(o)
}

func q4MatVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	x := a.X[col*a.Cols:][:a.Cols]
	for r := r0; r < r1; r++ {
		row := m.Row(r, m.Cols/256*q4Block)
		var lanes [kernels.Lanes]float32
		for k, v := range x {
			lanes[k%kernels.Lanes] += float32(q4At(row, k) * v)
		}
		dst[r] = kernels.FoldLanes(&lanes)
	}
}

// q4MatVecUnrolled takes a group at a time, which has as many columns as there are
// lanes.
func q4MatVecUnrolled(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	for r := r0; r < r1; r++ {
		row := m.Row(r, m.Cols/256*q4Block)
		var lanes [kernels.Lanes]float32
		x := a.X[col*a.Cols:][:a.Cols]
		for ; len(row) > 0; row = row[q4Block:] {
			for g := range 8 {
				step, offset := q4Group(row, g)
				codes, v, shift := row[q4Codes+g/2*32:][:32], x[32*g:][:32], g%2*4
				for i := 0; i < kernels.Lanes; i += 4 {
					c, v, l := codes[i:][:4], v[i:][:4], lanes[i:][:4]
					l[0] += float32((float32(step*float32(c[0]>>(shift&7)&15)) - offset) * v[0])
					l[1] += float32((float32(step*float32(c[1]>>(shift&7)&15)) - offset) * v[1])
					l[2] += float32((float32(step*float32(c[2]>>(shift&7)&15)) - offset) * v[2])
					l[3] += float32((float32(step*float32(c[3]>>(shift&7)&15)) - offset) * v[3])
				}
			}
			x = x[256:]
		}
		dst[r] = kernels.FoldLanes(&lanes)
	}
}
