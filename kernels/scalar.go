package kernels

import (
	"onebit/formats"
)

// The variants scalar and unrolled: pure Go on the file's own bytes, for any
// machine. scalar is the generic integer path, the specification that every
// other variant equals bit for bit.

// addGo registers both for format c under every scheme.
func addGo(c *codec) {
	for _, act := range Schemes() {
		for _, u := range []struct {
			name, summary string
			pref          int
			dot           func(row []byte, from int, q []int8) int32
		}{
			{"scalar", "one weight at a time, pure Go: the specification", 0, c.dot},
			{"unrolled", "branchless, unrolled, pure Go", 1, c.dotUnrolled},
		} {
			v := &Variant{Name: u.name, Summary: u.summary, Format: c.format, Scheme: act, ISA: Go, Layout: Native, preference: u.pref}
			v.matVec = c.matVec(u.dot)
			if act == F32 {
				if u.name == "unrolled" {
					continue // the float path has nothing to unroll but the codes
				}
				v.matVec = c.matVecF32
			}
			register(v)
		}
	}
}

// rowBytes is the length of one native row.
func (c *codec) rowBytes(cols int) int { return rowBytes(c.format, cols) }

func rowBytes(t *formats.Type, cols int) int {
	one, _ := t.Bytes(1, cols)
	two, _ := t.Bytes(2, cols)
	return two - one // what stands once per tensor cancels
}

// matVec is
//
//	y[r] = Σ_g (weightScale[r,g] · activationScale[g]) · float32(Σ_{k in g} code[r,k]·q[k])
//
// where a group g ends wherever a weight's or an activation's scale does. The
// inner sum is exact. Each product is rounded to float32, and the terms are
// added in the order of g, without fused multiply-add: that order, which
// kernels with rows in their lanes have for free, makes results equal to the
// bit on every ISA.
func (c *codec) matVec(dot func(row []byte, from int, q []int8) int32) func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	return func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
		weightLen, actLen := c.groupLen, a.Scheme.groupLen(a.Cols)
		if weightLen == 0 {
			weightLen = a.Cols
		}
		g, n := min(weightLen, actLen), c.rowBytes(m.Cols)
		q := a.Q[col*a.Stride:][:a.Cols]
		for r := r0; r < r1; r++ {
			row := m.row(r, n)
			var y float32
			for from := 0; from < len(q); from += g {
				sum := dot(row, from, q[from:min(from+g, len(q))])
				y += term(c.scale(m, row, from/weightLen), a.scale(col, from/actLen), sum)
			}
			dst[r] = y
		}
	}
}

// term is one group's contribution. The conversions forbid the compiler to
// fuse the multiplication with the addition that follows.
func term(weight, activation float32, sum int32) float32 {
	return float32(float32(weight*activation) * float32(sum))
}

// matVecF32 is y[r] = Σ_g weightScale[r,g] · laneDot(code[r,g], x[g]).
func (c *codec) matVecF32(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	g, n := c.groupLen, c.rowBytes(m.Cols)
	if g == 0 {
		g = a.Cols
	}
	x := a.X[col*a.Cols:][:a.Cols]
	for r := r0; r < r1; r++ {
		row := m.row(r, n)
		var y float32
		for from := 0; from < len(x); from += g {
			var lanes [lanesF32]float32
			for k := from; k < min(from+g, len(x)); k++ {
				lanes[(k-from)%len(lanes)] += float32(float32(c.code(row, k)) * x[k])
			}
			y += float32(c.scale(m, row, from/g) * foldLanes(&lanes))
		}
		dst[r] = y
	}
}

// lanesF32 is the number of partial sums of a float32 dot product: column k
// of a group goes to lane k mod 32, each product rounded before it is added.
// Two AVX-512 registers, four AVX2 or eight NEON ones hold them.
const lanesF32 = 32

// foldLanes adds the upper half of the lanes to the lower, five times.
func foldLanes(l *[lanesF32]float32) float32 {
	for n := lanesF32 / 2; n > 0; n /= 2 {
		for i := range n {
			l[i] += l[i+n]
		}
	}
	return l[0]
}
