package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// biasBytes follow the activations of a unit in block order.
const biasBytes = 64

// A span says where a format has the four columns of a byte: lanes apart, the
// first at the high bits or at the low ones.
type span struct {
	name  string
	lanes int
	high  bool
}

// arrange writes the functions that put activations in the order of a format.
func (g *generator) arrange(s span, blocks bool) {
	name, order := "arrangeRows"+s.name, "row"
	if blocks {
		name, order = "arrangeBlocks"+s.name, "block"
	}
	part := "j"
	if s.high {
		part = "(3-j)"
	}
	column := fmt.Sprintf("i/%d*%d + %s*%d + i%%%d", s.lanes, 4*s.lanes, part, s.lanes, s.lanes)
	if s.lanes == 1 {
		column = "4*i + j"
	}
	doc := []string{
		fmt.Sprintf("%sAVX2 arranges units of 256 activations in %s order.", name, order), "",
		"\tfor u := range units {",
		"\t\tfor j := range 4 {",
		"\t\t\tfor i := range 64 {",
	}
	if blocks {
		doc = append(doc,
			fmt.Sprintf("\t\t\t\tdst[320*u+64*j+i] = q[256*u + %s]", column),
			"\t\t\t\tint32s(dst[320*u+256:])[i/4] -= int32(dst[320*u+64*j+i])", "\t\t\t}", "\t\t}", "\t}")
	} else {
		doc = append(doc,
			fmt.Sprintf("\t\t\t\tdst[64+256*u+64*j+i] = q[256*u + %s]", column), "\t\t\t}", "\t\t}", "\t}",
			"\tint32s(dst)[0], int32s(dst)[1:16] = -Σq, 0")
	}
	g.Func(name+"AVX2", "func(dst, q *int8, units int)", doc...)
	dst := g.Load(g.Param("dst"), g.GP64())
	q := g.Load(g.Param("q"), g.GP64())
	n := g.Load(g.Param("units"), g.GP64())
	byteOnes, minus := g.YMM(), g.YMM()
	g.VMOVDQU(g.byteOnes, byteOnes)
	g.VPCMPEQD(minus, minus, minus)
	var sum reg.VecVirtual
	header, step := 0, unitQ+biasBytes
	if !blocks {
		header, step, sum = 64, unitQ, g.YMM()
		g.clear(sum)
	}
	parts := s.deinterleave(g)

	g.Label("unit")
	for half := range 2 {
		// Words of 2·4 bytes: at most 1016.
		var words reg.VecVirtual
		for j, v := range parts(q, 128*half) {
			g.VMOVDQU(v, at(dst, header+64*j+32*half))
			t := g.YMM()
			g.VPMADDUBSW(v, byteOnes, t)
			if words == nil {
				words = t
			} else {
				g.VPADDW(t, words, words)
			}
		}
		g.VPMADDWD(minus, words, words)
		if blocks {
			g.VMOVDQU(words, at(dst, unitQ+32*half))
		} else {
			g.VPADDD(words, sum, sum)
		}
	}
	g.ADDQ(operand.I32(unitQ), q)
	g.ADDQ(operand.I32(step), dst)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("unit"))
	if !blocks {
		g.storeTotal(sum)
	}
	g.VZEROUPPER()
	g.RET()
}

// storeTotal writes the sum of all lanes, and zeros behind it, to dst.
func (g *generator) storeTotal(sum reg.VecVirtual) {
	dst := g.Load(g.Param("dst"), g.GP64())
	x, t, zero := g.foldLanes(sum), g.XMM(), g.YMM()
	for _, from := range []uint8{0xee, 0x55} {
		g.VPSHUFD(operand.U8(from), x, t)
		g.VPADDD(t, x, x)
	}
	g.clear(zero)
	g.VMOVDQU(zero, at(dst, 0))
	g.VMOVDQU(zero, at(dst, 32))
	g.VMOVD(x, at(dst, 0))
}

// deinterleave returns code that gives the four vectors of half a unit, whose
// 128 activations are disp bytes behind q.
func (s span) deinterleave(g *generator) func(q reg.Register, disp int) [4]reg.VecVirtual {
	if s.lanes == 1 {
		return g.deinterleave4()
	}
	return func(q reg.Register, disp int) (parts [4]reg.VecVirtual) {
		for j := range parts {
			from := disp + j*s.lanes
			if s.high {
				from = disp + (3-j)*s.lanes
			}
			parts[j] = g.YMM()
			if s.lanes == 32 {
				g.VMOVDQU(at(q, from), parts[j])
				continue
			}
			g.VMOVDQU(at(q, from), parts[j].AsX())
			g.VINSERTI128(operand.U8(1), at(q, from+64), parts[j], parts[j])
		}
		return parts
	}
}

// deinterleave4 gives vector j every fourth activation, from j on.
func (g *generator) deinterleave4() func(q reg.Register, disp int) [4]reg.VecVirtual {
	quads, lanes := g.YMM(), g.YMM()
	g.VMOVDQU(g.byteQuads, quads)
	g.VMOVDQU(g.dwordLanes, lanes)
	return func(q reg.Register, disp int) (parts [4]reg.VecVirtual) {
		// Each 128-bit lane of v[i] becomes its quads 0 to 3; a transposition
		// of the dwords puts equal quads together.
		var v, pairs [4]reg.VecVirtual
		for i := range v {
			v[i], pairs[i], parts[i] = g.YMM(), g.YMM(), g.YMM()
			g.VMOVDQU(at(q, disp+32*i), v[i])
			g.VPSHUFB(quads, v[i], v[i])
		}
		g.VPUNPCKLDQ(v[1], v[0], pairs[0])
		g.VPUNPCKLDQ(v[3], v[2], pairs[1])
		g.VPUNPCKHDQ(v[1], v[0], pairs[2])
		g.VPUNPCKHDQ(v[3], v[2], pairs[3])
		g.VPUNPCKLQDQ(pairs[1], pairs[0], parts[0])
		g.VPUNPCKHQDQ(pairs[1], pairs[0], parts[1])
		g.VPUNPCKLQDQ(pairs[3], pairs[2], parts[2])
		g.VPUNPCKHQDQ(pairs[3], pairs[2], parts[3])
		for _, p := range parts {
			g.VPERMD(p, lanes, p)
		}
		return parts
	}
}
