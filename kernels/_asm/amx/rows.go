package amx

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	unitBytes  = 64 // of a row's codes, multiplied with the columns together
	unitCols   = 256
	groupBytes = 16 // of them, expanded together
)

// rows writes the kernel of 2-bit codes with one scale for all, in place. Activations
// are in row order, of which every 64 bytes belong to one of the four shifts of a
// unit's bytes. Until the last unit the results are sums, int32.
func (g *generator) rows() {
	g.Func("rows", "func(dst *float32, dstStride, rows int, data *byte, rowBytes, tiles int, q *int8, qStride, cols, tileCols int, scales *float32, scale float32, room *byte)",
		"rows multiplies up to 64 rows of 2-bit codes, up to 4 tiles of 16 that can be read,",
		"with columns in row order: q is behind the 64 bytes that such a column begins with.",
		"dst is zero, and rowBytes a multiple of 4.",
		"",
		"\tfor c := range cols {",
		"\t\tfor r := range rows {",
		"\t\t\tsum := int32(0)",
		"\t\t\tfor i := range rowBytes {",
		"\t\t\t\tfor j := range 4 {",
		"\t\t\t\t\tsum += (int32(data[r*rowBytes+i]>>(2*j)&3) - 1) * int32(q[c*qStride+i/64*256+j*64+i%64])",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t\tdst[c*dstStride/4+r] = float32(float32(scale*scales[c])*float32(sum)) + 0",
		"\t\t}",
		"\t}",
		"",
		"What is behind a row's columns is zero in q. tileCols is as for codes64.")
	k, d, left := g.begin(), g.loadDigits(2), g.GP64()
	g.MOVQ(g.Argument("rowBytes"), left)

	g.Label("unit")
	k.expandRows(d, left)
	k.multiply(func(to reg.GPVirtual) { g.MOVQ(operand.I32(4), to) }, func(sums, column, count reg.GPVirtual) {
		y, stride := k.behind("dst", "dstStride", column), g.GP64()
		g.MOVQ(g.Argument("dstStride"), stride)
		g.Label("fold")
		for v := range tiles {
			r := k.result(v, y)
			g.VPADDD(asm.At(sums, 64*v), r, r)
			k.store(r, v, y)
		}
		g.ADDQ(operand.I32(sumsRow), sums)
		g.ADDQ(stride, y)
		g.DECQ(count)
		g.JNZ(operand.LabelRef("fold"))
	})
	g.ADDQ(operand.I32(unitCols), k.q)
	g.ADDQ(operand.I32(unitBytes), g.Argument("data"))
	g.SUBQ(operand.I32(unitBytes), left)
	g.JG(operand.LabelRef("unit"))

	k.scaleSums()
	k.end()
}

// expandRows expands a unit of all tiles of rows, of which so many bytes are left. Four
// codes at the same shift make a row of a tile: those of dword i of the unit row i.
func (k *kernel) expandRows(d digits, left reg.GPVirtual) {
	data, to, tile := k.GP64(), k.GP64(), k.GP64()
	stride := k.GP64()
	k.MOVQ(k.Argument("rowBytes"), stride)
	rows := k.Rows(k.Stride(stride), tileRows/4)
	k.MOVQ(k.Argument("data"), data)
	k.LEAQ(asm.At(k.room, codesAt), to)
	k.MOVQ(k.Argument("tiles"), tile)

	k.Label("tile")
	bytes, group, end := k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(data, rows.Fourth[0])
	k.StartRows(rows)
	k.MOVQ(left, bytes)
	k.MOVQ(to, group)
	k.Label("group")
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = k.ZMM()
	}
	k.CMPQ(bytes, operand.I32(groupBytes))
	k.JLT(operand.LabelRef("part"))
	for i := range v {
		k.VMOVDQU32(rows.At(i, 0), v[i].AsX())
		for l := 1; l < 4; l++ {
			k.VINSERTI32X4(operand.U8(l), rows.At(4*l+i, 0), v[i], v[i])
		}
	}
	k.JMP(operand.LabelRef("loaded"))
	k.Label("part")
	k.loadPart(rows, bytes, v)
	k.Label("loaded")
	for i, dword := range k.Transpose(v) {
		d.expand(dword, func(j int) operand.Mem { return asm.At(group, tileBytes*j+64*i) })
	}
	k.Advance(rows, operand.I32(groupBytes))
	k.ADDQ(operand.I32(4*64), group)
	k.SUBQ(operand.I32(groupBytes), bytes)
	k.JLE(operand.LabelRef("expanded"))
	k.LEAQ(asm.At(to, tileBytes), end)
	k.CMPQ(group, end)
	k.JLT(operand.LabelRef("group"))

	k.Label("expanded")
	k.MOVQ(k.Argument("rowBytes"), bytes)
	k.SHLQ(operand.U8(4), bytes) // tileRows
	k.ADDQ(bytes, data)
	k.ADDQ(operand.I32(codesOf), to)
	k.DECQ(tile)
	k.JNZ(operand.LabelRef("tile"))
}

// loadPart loads the last bytes of rows.
func (k *kernel) loadPart(rows asm.Rows, bytes reg.GPVirtual, v [4]reg.VecVirtual) {
	dwords, count, lanes := k.GP64(), k.ZMM(), k.K()
	k.MOVQ(bytes, dwords)
	k.SHRQ(operand.U8(2), dwords)
	k.VPBROADCASTD(dwords.As32(), count)
	k.VPCMPGTD(k.lanes, count, lanes)
	for i := range v {
		k.VMOVDQU32_Z(rows.At(i, 0), lanes, v[i].AsX())
		for l := 1; l < 4; l++ {
			x := k.XMM()
			k.VMOVDQU32_Z(rows.At(4*l+i, 0), lanes, x)
			k.VINSERTI32X4(operand.U8(l), x, v[i], v[i])
		}
	}
}

// scaleSums makes results of the sums of all columns. The generic path adds its only
// term to 0, which makes a -0 of it +0.
func (k *kernel) scaleSums() {
	y, scales, left, stride := k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(k.Argument("dst"), y)
	k.MOVQ(k.Argument("scales"), scales)
	k.MOVQ(k.Argument("cols"), left)
	k.MOVQ(k.Argument("dstStride"), stride)
	weight, zero := k.XMM(), k.ZMM()
	k.VMOVSS(k.Argument("scale"), weight)
	k.Clear(zero)
	k.Label("scale")
	scale := k.ZMM()
	k.VMULSS(asm.At(scales, 0), weight, scale.AsX())
	k.VBROADCASTSS(scale.AsX(), scale)
	for v := range tiles {
		r := k.result(v, y)
		k.VCVTDQ2PS(r, r)
		k.VMULPS(scale, r, r)
		k.VADDPS(zero, r, r)
		k.store(r, v, y)
	}
	k.ADDQ(stride, y)
	k.ADDQ(operand.I32(4), scales)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("scale"))
}
