package kernels

import (
	"onebit/internal/half"
	"onebit/kernels/quantize"
)

// A Codec is what the generic variants know of a weight format: a weight is
// scale × code, the scale shared by a group of columns, the code a small
// integer; or, where there is Step, that less an offset. Rows are addressed in the native layout. From it follow the
// variants scalar and unrolled: pure Go on the file's own bytes, for any
// machine. scalar is the generic integer path, the specification that every
// other variant equals bit for bit.
type Codec struct {
	Format
	GroupLen int // columns per weight scale; 0: one scale for the tensor
	// BlockBytes is the bytes of a group, ScaleAt where among them its fp16
	// scale is.
	BlockBytes, ScaleAt int
	// Step returns the scale and the offset of the group of 32 columns from column k on, where
	// groups have both. Nil: the scale is the fp16.
	Step func(row []byte, k int) (scale, offset float32)
	// SmallCodes says that codes are 3 at most without their sign: the sum of 32 products
	// has 16 bits then, and under q8_32 groups are added up as integers; see quantize.Span.
	SmallCodes bool
	// Code returns that of column k of a row.
	Code func(row []byte, k int) int32
	// Dot returns Σ code·q over columns [from, from+len(q)), from a multiple
	// of 32: the naive loop that the variant called scalar is.
	Dot DotFunc
	// DotUnrolled is Dot, branchless and unrolled.
	DotUnrolled DotFunc
}

// A DotFunc returns Σ code·q over columns [from, from+len(q)) of a row.
type DotFunc func(row []byte, from int, q []int8) int32

// Register registers c's format, and scalar and unrolled for it under every scheme.
func (c *Codec) Register() {
	RegisterFormat(c.Format)
	for _, scheme := range Schemes() {
		scalar := &Variant{
			Name: "scalar", Summary: "one weight at a time, pure Go: the specification",
			Format: c.Type, Scheme: scheme, ISA: Go, Layout: Native, Kernels: []Kernel{ByColumn(nil, c.MatVec(c.Dot))},
		}
		if scheme == F32 { // which has nothing to unroll but the codes
			scalar.Kernels = []Kernel{ByColumn(nil, c.matVecF32)}
			Register(scalar)
			continue
		}
		Register(scalar)
		Register(&Variant{
			Name: "unrolled", Summary: "branchless, unrolled, pure Go",
			Format: c.Type, Scheme: scheme, ISA: Go, Layout: Native, Preference: 1,
			Kernels: []Kernel{ByColumn(nil, c.MatVec(c.DotUnrolled))},
		})
	}
}

// rowBytes is the length of one native row.
func (c *Codec) rowBytes(cols int) int {
	one, _ := c.Type.Bytes(1, cols)
	two, _ := c.Type.Bytes(2, cols)
	return two - one // what stands once per tensor cancels
}

// Scale returns that of group g of a row.
func (c *Codec) scale(m *Matrix, row []byte, g int) float32 {
	if c.GroupLen == 0 {
		return m.Scale
	}
	return half.At(row[g*c.BlockBytes+c.ScaleAt:])
}

// MatVec is
//
//	y[r] = Σ_g (weightScale[r,g] · activationScale[g]) · float32(Σ_{k in g} code[r,k]·q[k])
//
// where a group g ends wherever a weight's or an activation's scale does. The
// inner sum is exact. Each product is rounded to float32, and the terms are
// added in the order of g, without fused multiply-add: that order, which
// kernels with rows in their lanes have for free, makes results equal to the
// bit on every ISA.
//
// An offset takes away from a group's term, before it is added, that of Σq with the offset for a
// scale.
//
// Under q8_32 a group of weights with SmallCodes is as many of 128 columns as have
// one weight scale, and its term is Activations.SpanTerm.
func (c *Codec) MatVec(dot DotFunc) MatVecFunc {
	return func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
		weightLen, actLen := c.GroupLen, a.Scheme.GroupLen(a.Cols)
		if weightLen == 0 {
			weightLen = a.Cols
		}
		spans := a.Scheme == Q8Per32 && c.SmallCodes
		if spans {
			actLen = quantize.SpanLen
		}
		g, n := min(weightLen, actLen), c.rowBytes(m.Cols)
		q := a.Q[col*a.Stride:][:a.Cols]
		for r := r0; r < r1; r++ {
			row := m.Row(r, n)
			var y float32
			for from := 0; from < len(q); from += g {
				if c.Step != nil {
					scale, offset := c.Step(row, from)
					act := a.Scale(col, from/actLen)
					y += Term(scale, act, dot(row, from, q[from:from+g])) - Term(offset, act, a.Sums[(col*a.Stride+from)/32])
					continue
				}
				scale, to := c.scale(m, row, from/weightLen), min(from+g, len(q))
				if spans {
					y += a.SpanTerm(scale, col, from, to, func(from, to int) int32 { return dot(row, from, q[from:to]) })
					continue
				}
				y += Term(scale, a.Scale(col, from/actLen), dot(row, from, q[from:to]))
			}
			dst[r] = y
		}
	}
}

// Term is one group's contribution to a result. The conversions forbid the
// compiler to fuse the multiplication with the addition that follows.
func Term(weight, activation float32, sum int32) float32 {
	return float32(float32(weight*activation) * float32(sum))
}

// SpanTerm is what the columns [from, to) of a span contribute under q8_32, all of
// one weight scale: that, times the unit and
//
//	Σ_g share[g] · Σ_{k in g} code[k]·q[k]
//
// whose inner sums dot returns. All of it is exact: below 4·32752·32·3·127 < 2³¹.
// The unit is a power of two, so Term of it is the same, where scales of fp16 keep
// their product with it from underflow; those of float32 may be too small for that.
func (a *Activations) SpanTerm(weight float32, col, from, to int, dot func(from, to int) int32) float32 {
	span := &a.SpansOf(col, 1)[from/quantize.SpanLen]
	var sum int32
	for ; from < to; from += 32 {
		sum += span.Shares[from/32%4] * dot(from, min(from+32, to))
	}
	return float32(weight * float32(span.Unit*float32(sum)))
}

// matVecF32 is y[r] = Σ_g weightScale[r,g] · laneDot(code[r,g], x[g]), or in place of the codes what
// they are with scale and offset.
func (c *Codec) matVecF32(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	g, n := c.GroupLen, c.rowBytes(m.Cols)
	if g == 0 {
		g = a.Cols
	}
	x := a.X[col*a.Cols:][:a.Cols]
	for r := r0; r < r1; r++ {
		row := m.Row(r, n)
		var y float32
		for from := 0; from < len(x); from += g {
			var lanes [Lanes]float32
			if c.Step != nil {
				scale, offset := c.Step(row, from)
				for k := from; k < from+g; k++ {
					lanes[k-from] = float32((float32(scale*float32(c.Code(row, k))) - offset) * x[k])
				}
				y += FoldLanes(&lanes)
				continue
			}
			for k := from; k < min(from+g, len(x)); k++ {
				lanes[(k-from)%len(lanes)] += float32(float32(c.Code(row, k)) * x[k])
			}
			y += float32(c.scale(m, row, from/g) * FoldLanes(&lanes))
		}
		dst[r] = y
	}
}

// Lanes is the number of partial sums of a float32 dot product: column k
// of a group goes to lane k mod 32, each product rounded before it is added.
// Two AVX-512 registers, four AVX2 or eight NEON ones hold them.
const Lanes = 32

// FoldLanes adds the upper half of the lanes to the lower, five times.
func FoldLanes(l *[Lanes]float32) float32 {
	for n := Lanes / 2; n > 0; n /= 2 {
		for i := range n {
			l[i] += l[i+n]
		}
	}
	return l[0]
}
