package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	panelCols  = 16            // activation columns of a panel
	panelRow   = 4 * panelCols // bytes: 4 activations of each column
	groupBytes = 16            // of a row's codes, expanded together
	batchRows  = 16            // weight rows of a tile
)

// transpose16 writes the function that makes panels of columns in row order.
func (g *generator) transpose16() {
	g.Func("panelAVX512", "func(dst, columns *int8, stride, cols, units int)",
		"panelAVX512 makes a panel of up to 16 columns in row order, stride bytes apart:",
		"64 bytes of -Σq and then 64 for each 4 activations, in the order in which",
		"tiles of weights have their codes: 16 bytes, within them 4, and of these the",
		"4 shifts. Columns that are not there repeat the last.",
		"",
		"\tfor c := range 16 {",
		"\t\tfrom := columns[min(c, cols-1)*stride:]",
		"\t\tint32s(dst)[c] = int32s(from)[0]",
		"\t\tfor u := range units {",
		"\t\t\tfor i := range 16 {",
		"\t\t\t\tfor j := range 4 {",
		"\t\t\t\t\tint32s(dst)[16*(1+64*u+4*i+j)+c] = int32s(from)[16+64*u+16*j+i]",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	units := g.Load(g.Param("units"), g.GP64())
	// Offsets of the columns, in the frame.
	offsets := g.AllocLocal(8 * panelCols)
	column, last, stride, at0 := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Load(g.Param("columns"), at0)
	g.Load(g.Param("stride"), stride)
	g.Load(g.Param("cols"), last)
	g.MOVQ(at0, column)
	value, next := g.GP64(), g.GP64()
	for c := range panelCols {
		g.MOVQ(column, offsets.Offset(8*c))
		g.MOVL(at(column, 0), value.As32())
		g.MOVL(value.As32(), at(dst, 4*c))
		g.MOVQ(column, next)
		g.ADDQ(stride, next)
		g.CMPQ(last, operand.I32(c+1))
		g.CMOVQGT(next, column)
	}
	g.ADDQ(operand.I32(panelRow), dst)
	position := g.GP64()
	g.MOVQ(operand.I32(64), position)

	g.Label("unit")
	for j := range 4 {
		var v [16]reg.VecVirtual
		for c := range v {
			p := g.GP64()
			g.MOVQ(offsets.Offset(8*c), p)
			v[c] = g.ZMM()
			g.VMOVDQU64(operand.Mem{Base: p, Index: position, Scale: 1, Disp: 64 * j}, v[c])
		}
		for i, row := range g.transposeDwords(v) {
			g.VMOVDQU64(row, at(dst, panelRow*(4*i+j)))
		}
	}
	g.ADDQ(operand.I32(unitQ), position)
	g.ADDQ(operand.I32(16*unitQ), dst)
	g.DECQ(units)
	g.JNZ(operand.LabelRef("unit"))
	g.VZEROUPPER()
	g.RET()
}

// transposeDwords returns the columns of the matrix whose rows v are.
func (g *generator) transposeDwords(v [16]reg.VecVirtual) (out [16]reg.VecVirtual) {
	// Within 128-bit lanes: q[r][d] has dword d of each lane of rows 4r to 4r+3.
	var q [4][4]reg.VecVirtual
	for r := range q {
		q[r] = g.transposeQuads([4]reg.VecVirtual(v[4*r : 4*r+4]))
	}
	// Among lanes: dword d of lane l is column 4l+d.
	for d := range 4 {
		a, b, c, e := g.ZMM(), g.ZMM(), g.ZMM(), g.ZMM()
		g.VSHUFI32X4(operand.U8(0x44), q[1][d], q[0][d], a) // lanes 0, 1 of rows 0-3 and 4-7
		g.VSHUFI32X4(operand.U8(0xee), q[1][d], q[0][d], b) // 2, 3
		g.VSHUFI32X4(operand.U8(0x44), q[3][d], q[2][d], c)
		g.VSHUFI32X4(operand.U8(0xee), q[3][d], q[2][d], e)
		for l, pair := range [4][2]reg.VecVirtual{{a, c}, {a, c}, {b, e}, {b, e}} {
			out[4*l+d] = g.ZMM()
			g.VSHUFI32X4(operand.U8([]int{0x88, 0xdd}[l%2]), pair[1], pair[0], out[4*l+d])
		}
	}
	return out
}

// transposeQuads transposes the 4 × 4 dwords that the same 128-bit lane of
// four vectors makes.
func (g *generator) transposeQuads(v [4]reg.VecVirtual) (out [4]reg.VecVirtual) {
	var half [4]reg.VecVirtual
	for i := range half {
		half[i], out[i] = g.ZMM(), g.ZMM()
	}
	g.VPUNPCKLDQ(v[1], v[0], half[0])
	g.VPUNPCKLDQ(v[3], v[2], half[1])
	g.VPUNPCKHDQ(v[1], v[0], half[2])
	g.VPUNPCKHDQ(v[3], v[2], half[3])
	g.VPUNPCKLQDQ(half[1], half[0], out[0])
	g.VPUNPCKHQDQ(half[1], half[0], out[1])
	g.VPUNPCKLQDQ(half[3], half[2], out[2])
	g.VPUNPCKHQDQ(half[3], half[2], out[3])
	return out
}

// batch writes the kernel for panels of cols columns.
//
// 16 rows lie in the lanes of a register, 4 codes of each; an activation dword
// is broadcast from memory. So there are no horizontal sums, and what it costs
// to bring 16 rows together and to expand their codes, 48 instructions per 16
// bytes of each, is shared by 16 VPDPBUSD per column.
func (g *generator) batch(cols int) {
	name := fmt.Sprintf("ternaryBatch%dAVX512VNNI", cols)
	g.Func(name, "func(dst *float32, dstStride int, w *byte, stride, rowBytes int, panel *int8, scales *float32, scale float32, cols, tiles int)",
		fmt.Sprintf("%s multiplies tiles of 16 rows of rowBytes bytes, a multiple", name),
		fmt.Sprintf("of 4, with the first cols of a panel's columns, up to %d. Rows start stride", cols),
		"bytes apart; if stride is 0 they are one row, and one result is stored. Columns",
		"of dst are dstStride bytes apart.",
		"",
		"\tfor c := range cols {",
		"\t\tfor r := range 16 * tiles {",
		"\t\t\tsum := -Σq[c] + Σ code[r]·q[c]",
		"\t\t\tdst[c*dstStride/4+r] = float32(float32(scale*scales[c])*float32(sum)) + 0",
		"\t\t}",
		"\t}")
	stride := g.Load(g.Param("stride"), g.GP64())
	stride3, q, groups, ahead := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	var quarter [4]reg.GPVirtual // the first of every 4 rows
	for i := range quarter {
		quarter[i] = g.GP64()
	}
	g.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	mask := g.ZMM()
	g.VMOVDQU64(g.masks[0], mask)
	tail := g.K()
	g.MOVQ(g.param("rowBytes"), q)
	g.SHRQ(operand.U8(2), q)
	g.ANDQ(operand.I32(3), q)
	g.prefixMask(q, 0, tail)

	// Few columns get several sums each, to hide VPDPBUSD's latency.
	acc := make([]reg.VecVirtual, panelCols)
	for i := range acc {
		acc[i] = g.ZMM()
	}
	row := func(r int) operand.Mem { // row r%4 of the 4 rows r/4
		m := operand.Mem{Base: quarter[r/4]}
		switch r % 4 {
		case 1, 2:
			m.Index, m.Scale = stride, uint8(r%4)
		case 3:
			m.Index, m.Scale = stride3, 1
		}
		return m
	}
	multiply := func(v [4]reg.VecVirtual) {
		for d, codes := range g.transposeQuads(v) {
			for j := range 4 {
				t := g.ZMM()
				if j == 0 {
					g.VPANDD(mask, codes, t)
				} else {
					g.VPSRLD(operand.U8(2*j), codes, t)
					g.VPANDD(mask, t, t)
				}
				for c := range cols {
					g.VPDPBUSD_BCST(at(q, panelRow*(4*d+j)+4*c), t, acc[(d*cols+c)%len(acc)])
				}
			}
		}
	}

	g.Label("tile")
	g.MOVQ(g.param("panel"), q)
	for i, v := range acc {
		if i < cols {
			g.VPBROADCASTD(at(q, 4*i), v)
		} else {
			g.clear(v)
		}
	}
	g.ADDQ(operand.I32(panelRow), q)
	g.MOVQ(g.param("w"), quarter[0])
	for i := range 3 {
		g.LEAQ(operand.Mem{Base: quarter[i], Index: stride, Scale: 4}, quarter[i+1])
	}
	g.LEAQ(operand.Mem{Base: quarter[3], Index: stride, Scale: 4}, ahead)
	g.MOVQ(g.param("rowBytes"), groups)
	g.SHRQ(operand.U8(4), groups)
	g.JZ(operand.LabelRef("tail"))

	g.Label("group")
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = g.ZMM()
		g.VMOVDQU32(row(i), v[i].AsX())
		g.VINSERTI32X4(operand.U8(1), row(4+i), v[i].AsY(), v[i].AsY())
		g.VINSERTI32X4(operand.U8(2), row(8+i), v[i], v[i])
		g.VINSERTI32X4(operand.U8(3), row(12+i), v[i], v[i])
		g.PREFETCHT0(at(ahead, 64*i))
	}
	multiply(v)
	g.ADDQ(operand.I32(groupBytes*panelRow), q)
	for _, p := range quarter {
		g.ADDQ(operand.I32(groupBytes), p)
	}
	g.ADDQ(operand.I32(batchRows*groupBytes), ahead)
	g.DECQ(groups)
	g.JNZ(operand.LabelRef("group"))

	g.Label("tail")
	g.KTESTW(tail, tail)
	g.JZ(operand.LabelRef("finish"))
	for i := range v {
		v[i] = g.ZMM()
		x := g.XMM()
		g.VMOVDQU32_Z(row(i), tail, v[i].AsX())
		g.VMOVDQU32_Z(row(4+i), tail, x)
		g.VINSERTI32X4(operand.U8(1), x, v[i].AsY(), v[i].AsY())
		g.VMOVDQU32_Z(row(8+i), tail, x)
		g.VINSERTI32X4(operand.U8(2), x, v[i], v[i])
		g.VMOVDQU32_Z(row(12+i), tail, x)
		g.VINSERTI32X4(operand.U8(3), x, v[i], v[i])
	}
	multiply(v)

	g.Label("finish")
	for i := cols; i < len(acc); i++ {
		g.VPADDD(acc[i], acc[i%cols], acc[i%cols])
	}
	g.finishBatch(acc[:cols], stride)
	g.MOVQ(stride, q)
	g.SHLQ(operand.U8(4), q)
	g.ADDQ(q, g.param("w"))
	g.ADDQ(operand.I32(4*batchRows), g.param("dst"))
	g.DECQ(g.param("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// finishBatch stores the columns that there are.
func (g *generator) finishBatch(acc []reg.VecVirtual, stride reg.Register) {
	dst, dstStride, scales, cols := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(g.param("dst"), dst)
	g.MOVQ(g.param("dstStride"), dstStride)
	g.MOVQ(g.param("scales"), scales)
	g.MOVQ(g.param("cols"), cols)
	lanes, one, all := g.K(), g.GP64(), g.GP64()
	g.MOVQ(operand.I32(1), one)
	g.MOVQ(operand.I32(1<<batchRows-1), all)
	g.TESTQ(stride, stride)
	g.CMOVQNE(all, one)
	g.KMOVW(one.As32(), lanes)
	weight, scale, zero := g.XMM(), g.ZMM(), g.ZMM()
	g.VMOVSS(g.param("scale"), weight)
	g.clear(zero)
	for c, sum := range acc {
		if c > 0 {
			g.CMPQ(cols, operand.I32(c))
			g.JLE(operand.LabelRef("stored"))
			g.ADDQ(dstStride, dst)
		}
		g.VMULSS(at(scales, 4*c), weight, scale.AsX())
		g.VBROADCASTSS(scale.AsX(), scale)
		g.VCVTDQ2PS(sum, sum)
		g.VMULPS(scale, sum, sum)
		g.VADDPS(zero, sum, sum)
		g.VMOVUPS(sum, lanes, at(dst, 0))
	}
	g.Label("stored")
}
