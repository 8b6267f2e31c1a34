package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// A span says where a format has the four columns of a byte: lanes apart, the
// first at the high bits or at the low ones.
type span struct {
	name  string
	lanes int
	high  bool
}

// arrangeRows writes the function that puts activations in row order.
func (g *generator) arrangeRows(s span) {
	g.arrange("arrangeRows"+s.name, s, 0)
}

// arrangeBlocks writes the function for block order and vectors of width
// bytes of codes: each has four vectors of activations, and then its bias.
func (g *generator) arrangeBlocks(s span, width int) {
	g.arrange(fmt.Sprintf("arrangeBlocks%s%d", s.name, width), s, width)
}

func (g *generator) arrange(name string, s span, width int) {
	part := "j"
	if s.high {
		part = "(3-j)"
	}
	column := fmt.Sprintf("i/%d*%d + %s*%d + i%%%d", s.lanes, 4*s.lanes, part, s.lanes, s.lanes)
	if s.lanes == 1 {
		column = "4*i + j"
	}
	var doc []string
	if width > 0 {
		doc = []string{
			fmt.Sprintf("%sAVX2 arranges units of 256 activations in block order,", name),
			fmt.Sprintf("for vectors of %d bytes of codes.", width), "",
			fmt.Sprintf("\tfor v := range %d * units {", 64/width),
			fmt.Sprintf("\t\tto := dst[%d*v:][:%d]", 5*width, 5*width),
			"\t\tfor j := range 4 {",
			fmt.Sprintf("\t\t\tfor i := range %d {", width),
			fmt.Sprintf("\t\t\t\tto[%d*j+i] = q[%d*v + %s]", width, 4*width, column),
			fmt.Sprintf("\t\t\t\tint32s(to[%d:])[i/4] -= 64 * int32(to[%d*j+i])", 4*width, width),
			"\t\t\t}", "\t\t}", "\t}",
		}
	} else {
		doc = []string{
			fmt.Sprintf("%sAVX2 arranges units of 256 activations in row order.", name), "",
			"\tfor u := range units {",
			"\t\tfor j := range 4 {",
			"\t\t\tfor i := range 64 {",
			fmt.Sprintf("\t\t\t\tdst[64+256*u+64*j+i] = q[256*u + %s]", column),
			"\t\t\t}", "\t\t}", "\t}",
			"\tint32s(dst)[0], int32s(dst)[1:16] = -Σq, 0",
		}
	}
	g.Func(name+"AVX2", "func(dst, q *int8, units int)", doc...)
	dst := g.Load(g.Param("dst"), g.GP64())
	q := g.Load(g.Param("q"), g.GP64())
	n := g.Load(g.Param("units"), g.GP64())
	byteOnes, minus := g.YMM(), g.YMM()
	g.VMOVDQU(g.byteOnes, byteOnes)
	g.VPCMPEQD(minus, minus, minus)
	var sum reg.VecVirtual
	header, step := 0, 5*unitBytes
	if width == 0 {
		header, step, sum = 64, unitQ, g.YMM()
		g.Clear(sum)
	} else {
		g.VPSLLW(operand.U8(6), minus, minus)
	}
	parts := s.deinterleave(g)

	g.Label("unit")
	for half := range 2 {
		to := func(j int) operand.Mem { // vector j of this half, vector 4 being the bias
			if width == 32 {
				return asm.At(dst, 160*half+32*j)
			}
			return asm.At(dst, header+64*j+32*half)
		}
		var words reg.VecVirtual // sums of 8 activations: at most 1016
		for j, v := range parts(q, 128*half) {
			g.VMOVDQU(v, to(j))
			t := g.YMM()
			g.VPMADDUBSW(v, byteOnes, t)
			if words == nil {
				words = t
			} else {
				g.VPADDW(t, words, words)
			}
		}
		g.VPMADDWD(minus, words, words)
		if width > 0 {
			g.VMOVDQU(words, to(4))
		} else {
			g.VPADDD(words, sum, sum)
		}
	}
	g.ADDQ(operand.I32(unitQ), q)
	g.ADDQ(operand.I32(step), dst)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("unit"))
	if width == 0 {
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
	g.Clear(zero)
	g.VMOVDQU(zero, asm.At(dst, 0))
	g.VMOVDQU(zero, asm.At(dst, 32))
	g.VMOVD(x, asm.At(dst, 0))
}

// deinterleave returns code that gives the four vectors of half a unit, whose
// 128 activations are disp bytes behind q.
func (s span) deinterleave(g *generator) func(q reg.Register, disp int) [4]reg.VecVirtual {
	if s.lanes <= 4 {
		return g.deinterleave4(s.lanes)
	}
	return func(q reg.Register, disp int) (parts [4]reg.VecVirtual) {
		for j := range parts {
			from := disp + j*s.lanes
			if s.high {
				from = disp + (3-j)*s.lanes
			}
			parts[j] = g.YMM()
			if s.lanes == 32 {
				g.VMOVDQU(asm.At(q, from), parts[j])
				continue
			}
			g.VMOVDQU(asm.At(q, from), parts[j].AsX())
			g.VINSERTI128(operand.U8(1), asm.At(q, from+64), parts[j], parts[j])
		}
		return parts
	}
}

// deinterleave4 gives vector j every fourth activation, or every fourth dword of
// them, from j on.
func (g *generator) deinterleave4(bytes int) func(q reg.Register, disp int) [4]reg.VecVirtual {
	quads, lanes := g.YMM(), g.YMM()
	if bytes == 1 {
		g.VMOVDQU(g.byteQuads, quads)
	}
	g.VMOVDQU(g.dwordLanes, lanes)
	return func(q reg.Register, disp int) (parts [4]reg.VecVirtual) {
		// Each 128-bit lane of v[i] becomes its quads 0 to 3; a transposition
		// of the dwords puts equal quads together.
		var v [4]reg.VecVirtual
		for i := range v {
			v[i] = g.YMM()
			g.VMOVDQU(asm.At(q, disp+32*i), v[i])
			if bytes == 1 {
				g.VPSHUFB(quads, v[i], v[i])
			}
		}
		parts = g.Transpose(v)
		for _, p := range parts {
			g.VPERMD(p, lanes, p)
		}
		return parts
	}
}
