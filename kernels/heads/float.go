package heads

import (
	"encoding/binary"
	"math"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/kernels"
)

// A floatFormat is a format whose weights are floats, without scales. It is
// multiplied with float32 activations, in the order of doc.go of kernels.
type floatFormat struct {
	format *formats.Type
	width  int // bytes per weight
	at     func(w []byte) float32
	// decode is at for 8 weights.
	decode func(w []byte) [8]float32
}

// The formats of embeddings, heads and norms.
var (
	floatF32  = &floatFormat{formats.F32, 4, f32At, decodeF32}
	floatF16  = &floatFormat{formats.F16, 2, half.At, decodeF16}
	floatBF16 = &floatFormat{formats.BF16, 2, bf16At, decodeBF16}
)

func init() {
	for _, f := range []*floatFormat{floatF32, floatF16, floatBF16} {
		kernels.RegisterFormat(kernels.Format{Type: f.format, Scheme: kernels.F32, Roles: kernels.Head | kernels.Norm})
		kernels.Register(&kernels.Variant{
			Name: "scalar", Summary: "one weight at a time, pure Go: the specification", Format: f.format, Scheme: kernels.F32,
			ISA: kernels.Go, Layout: kernels.Native, Kernels: []kernels.Kernel{kernels.ByColumn(nil, f.matVec)},
		})
		kernels.Register(&kernels.Variant{
			Name: "unrolled", Summary: "branchless, unrolled, pure Go", Format: f.format, Scheme: kernels.F32,
			ISA: kernels.Go, Layout: kernels.Native, Preference: 1, Kernels: []kernels.Kernel{kernels.ByColumn(nil, f.matVecUnrolled)},
			AssumesFinite: f == floatF16, // decodeF16
		})
	}
}

func f32At(w []byte) float32  { return math.Float32frombits(binary.LittleEndian.Uint32(w)) }
func bf16At(w []byte) float32 { return half.BToFloat32(binary.LittleEndian.Uint16(w)) }

func decodeF32(w []byte) (out [8]float32) {
	w = w[:32]
	for i := range out {
		out[i] = f32At(w[4*i:])
	}
	return out
}

// decodeF16 has no branches: with its exponent moved to float32's, a finite
// fp16, even a subnormal one, is 2⁻¹¹² times what it should be. Packing has
// refused those that are not finite.
func decodeF16(w []byte) (out [8]float32) {
	w = w[:16]
	for i := range out {
		h := uint32(binary.LittleEndian.Uint16(w[2*i:]))
		magnitude := math.Float32frombits(h&0x7fff<<13) * 0x1p112
		out[i] = math.Float32frombits(math.Float32bits(magnitude) | h&0x8000<<16)
	}
	return out
}

func decodeBF16(w []byte) (out [8]float32) {
	w = w[:16]
	for i := range out {
		out[i] = bf16At(w[2*i:])
	}
	return out
}

// matVec is y[r] = fold of lanes[k mod 32] += w[r,k]·x[k].
func (f *floatFormat) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	x := a.X[col*a.Cols:][:a.Cols]
	for r := r0; r < r1; r++ {
		row := m.Row(r, m.Cols*f.width)
		var lanes [kernels.Lanes]float32
		for k, v := range x {
			lanes[k%kernels.Lanes] += float32(f.at(row[k*f.width:]) * v)
		}
		dst[r] = kernels.FoldLanes(&lanes)
	}
}

func (f *floatFormat) matVecUnrolled(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	for r := r0; r < r1; r++ {
		row := m.Row(r, m.Cols*f.width)
		var lanes [kernels.Lanes]float32
		x := a.X[col*a.Cols:][:a.Cols]
		for ; len(x) >= kernels.Lanes; x = x[kernels.Lanes:] {
			for i := 0; i < kernels.Lanes; i += 8 {
				w, v, l := f.decode(row), x[i:][:8], lanes[i:][:8]
				l[0] += float32(w[0] * v[0])
				l[1] += float32(w[1] * v[1])
				l[2] += float32(w[2] * v[2])
				l[3] += float32(w[3] * v[3])
				l[4] += float32(w[4] * v[4])
				l[5] += float32(w[5] * v[5])
				l[6] += float32(w[6] * v[6])
				l[7] += float32(w[7] * v[7])
				row = row[8*f.width:]
			}
		}
		for k, v := range x {
			lanes[k] += float32(f.at(row[k*f.width:]) * v)
		}
		dst[r] = kernels.FoldLanes(&lanes)
	}
}
