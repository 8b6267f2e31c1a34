package q8

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	columnsTile = 16 // rows
	columnsMost = 16 // whose results a frame has room for
)

// q8Columns multiplies 16 rows with several columns of activations. The rows lie in
// the lanes: nothing is added across lanes, and 4 activations of a column, broadcast,
// serve all rows. What it takes to bring the codes of 16 rows together, some 100
// instructions for 32 of each, is shared by the columns, which take 16 each.
func (g *generator) q8Columns() {
	g.Func("q8ColumnsAVX512VNNI", "func(dst *float32, dstStride int, w *byte, stride int, q *int8, qStride int, sums *int32, sumStride int, scales *float32, scaleStride, shift, blocks, tiles, columns int)",
		"q8ColumnsAVX512VNNI multiplies tiles of 16 rows, which start stride bytes apart and",
		"have blocks of 34 bytes each, with 1 to 16 columns. All strides are in bytes.",
		"sums[c*sumStride/4+b] is the sum of the 32 q of block b of column c.",
		"",
		"\tfor c := range columns {",
		"\t\tfor r := range 16 * tiles {",
		"\t\t\ty := float32(0)",
		"\t\t\tfor b := range blocks {",
		"\t\t\t\tvar sum int32",
		"\t\t\t\tfor i := range 32 {",
		"\t\t\t\t\tsum += int32(int8(w[r*stride+34*b+2+i])) * int32(q[c*qStride+32*b+i])",
		"\t\t\t\t}",
		"\t\t\t\ty += term(fp16At(w, r*stride+34*b), scales[c*scaleStride/4+b>>shift], sum)",
		"\t\t\t}",
		"\t\t\tdst[c*dstStride/4+r] = y",
		"\t\t}",
		"\t}",
		"",
		"It multiplies codes+128, which are unsigned, and takes 128·sums[b] off.")
	g.Attributes(attr.Attribute(0)) // no NOSPLIT: the frame is large
	// What is wanted once a block lies in the frame: registers are for the columns.
	frame, results, end, ahead, block := g.AllocLocal(64*(columnsMost+1)), g.AllocLocal(8), g.AllocLocal(8), g.AllocLocal(8), g.AllocLocal(8)
	t := g.startColumns(frame, results, end)
	rows := g.Rows(g.Stride(g.Load(g.Param("stride"), g.GP64())), columnsTile/4)
	qStride, sumStride, scaleStride := g.Load(g.Param("qStride"), g.GP64()), g.Load(g.Param("sumStride"), g.GP64()), g.Load(g.Param("scaleStride"), g.GP64())
	bias, zero := g.ZMM(), g.ZMM()
	g.VMOVDQU64(g.constant("q8ColumnsBias", 0x8080808080808080, 8), bias)
	g.VPXORD(zero, zero, zero)

	g.Label("tile")
	g.MOVQ(g.Argument("w"), rows.Fourth[0])
	g.StartRows(rows)
	g.LEAQ(operand.Mem{Base: rows.Fourth[3], Index: rows.One, Scale: 4}, t)
	g.MOVQ(t, ahead)
	g.MOVQ(operand.I32(0), block)
	y := g.GP64()
	g.eachColumn("clear", y, results, end, func() { g.VMOVUPS(zero, asm.At(y, 0)) })

	g.Label("block")
	g.MOVQ(ahead, t)
	g.Prefetch(0, asm.Lines(asm.At(t, 0), columnsTile*q8Block)...)
	g.ADDQ(operand.I32(columnsTile*q8Block), ahead)
	weights := g.columnScales(rows)
	codes := g.columnCodes(rows, bias)
	g.MOVQ(block, t)
	q, sums, scales := g.columnInputs(t)
	g.eachColumn("column", y, results, end, func() {
		sum, surplus, scale := g.ZMM(), g.ZMM(), g.ZMM()
		g.VPXORD(sum, sum, sum)
		for i, v := range codes {
			g.VPDPBUSD_BCST(asm.At(q, 4*i), v, sum)
		}
		g.VPSLLD_BCST(operand.U8(7), asm.At(sums, 0), surplus)
		g.VPSUBD(surplus, sum, sum)
		g.VCVTDQ2PS(sum, sum)
		g.VMULPS_BCST(asm.At(scales, 0), weights, scale)
		g.VMULPS(scale, sum, sum)
		g.VADDPS(asm.At(y, 0), sum, sum)
		g.VMOVUPS(sum, asm.At(y, 0))
		g.ADDQ(qStride, q)
		g.ADDQ(sumStride, sums)
		g.ADDQ(scaleStride, scales)
	})
	g.Advance(rows, operand.I32(q8Block))
	g.MOVQ(block, t)
	g.INCQ(t)
	g.MOVQ(t, block)
	g.CMPQ(t, g.Argument("blocks"))
	g.JNE(operand.LabelRef("block"))

	g.storeColumns(y, t, g.ZMM(), results, end, columnsTile)
	g.MOVQ(rows.One, t)
	g.SHLQ(operand.U8(4), t)
	g.ADDQ(t, g.Argument("w"))
	g.DECQ(g.Argument("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// startColumns writes down where the results of the columns lie in the frame, and behind
// the last. It loads the shift into CX and returns a register for anything.
func (g *generator) startColumns(frame, results, end operand.Mem) (t reg.GPVirtual) {
	t = g.GP64()
	g.LEAQ(frame.Offset(63), t)
	g.ANDQ(operand.I32(-64), t) // no result straddles cache lines
	g.MOVQ(t, results)
	columns := g.Load(g.Param("columns"), g.GP64())
	g.SHLQ(operand.U8(6), columns)
	g.ADDQ(columns, t)
	g.MOVQ(t, end)
	g.Load(g.Param("shift"), reg.RCX)
	return t
}

// columnInputs returns where the first column has its activations of a block of 32, their
// sum and their scale. The block's number is in t, which is overwritten.
func (g *generator) columnInputs(t reg.GPVirtual) (q, sums, scales reg.GPVirtual) {
	q, sums, scales = g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(t, q)
	g.SHLQ(operand.U8(5), q)
	g.ADDQ(g.Argument("q"), q)
	g.MOVQ(g.Argument("sums"), sums)
	g.LEAQ(operand.Mem{Base: sums, Index: t, Scale: 4}, sums)
	g.SHRQ(reg.CL, t)
	g.MOVQ(g.Argument("scales"), scales)
	g.LEAQ(operand.Mem{Base: scales, Index: t, Scale: 4}, scales)
	return q, sums, scales
}

// storeColumns writes the results of some rows to dst, which goes behind them.
func (g *generator) storeColumns(y, t reg.GPVirtual, sum reg.VecVirtual, results, end operand.Mem, rows int) {
	g.MOVQ(g.Argument("dst"), t)
	g.eachColumn("store", y, results, end, func() {
		g.VMOVUPS(asm.At(y, 0), sum)
		g.VMOVUPS(sum, asm.At(t, 0))
		g.ADDQ(g.Argument("dstStride"), t)
	})
	g.ADDQ(operand.I32(4*rows), g.Argument("dst"))
}

// eachColumn runs do for each column, with y where its results are.
func (g *generator) eachColumn(label string, y reg.GPVirtual, results, end operand.Mem, do func()) {
	g.MOVQ(results, y)
	g.Label(label)
	do()
	g.ADDQ(operand.I32(64), y)
	g.CMPQ(y, end)
	g.JNE(operand.LabelRef(label))
}

// columnScales returns the scales of a block of 16 rows.
func (g *generator) columnScales(rows asm.Rows) reg.VecVirtual {
	var half [2]reg.VecVirtual
	for h := range half {
		half[h] = g.YMM()
		x := half[h].AsX()
		g.VPXOR(x, x, x)
		for r := range 8 {
			g.VPINSRW(operand.U8(r), rows.At(8*h+r, 0), x, x)
		}
	}
	g.VINSERTI128(operand.U8(1), half[1].AsX(), half[0], half[0])
	v := g.ZMM()
	g.VCVTPH2PS(half[0], v)
	return v
}

// columnCodes returns a block of 16 rows, 4 codes of each in a register, 128 too large.
func (g *generator) columnCodes(rows asm.Rows, bias reg.VecVirtual) []reg.VecVirtual {
	var codes []reg.VecVirtual
	for half := range 2 {
		var v [4]reg.VecVirtual
		for i := range v {
			v[i] = g.ZMM()
			g.VMOVDQU32(rows.At(i, 2+16*half), v[i].AsX())
			for l := 1; l < 4; l++ {
				g.VINSERTI32X4(operand.U8(l), rows.At(4*l+i, 2+16*half), v[i], v[i])
			}
			g.VPXORD(bias, v[i], v[i])
		}
		dwords := g.Transpose(v)
		codes = append(codes, dwords[:]...)
	}
	return codes
}
