package q1

import (
	"math/bits"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The native layout: a block of a row is an fp16 scale and 16 bytes of signs.
const (
	rowBlockBytes = 18
	rowScaleBytes = 2
)

// native writes the kernel on the file's own rows. It takes as many rows as a
// register has dword lanes, 16 bytes of signs from each, and transposes the
// dwords in registers: vector v then holds columns 32v … 32v+31 of a row in
// each lane, as a vector of bitplanes does but for the order of the columns,
// which the activations are put into instead.
func native(p *asm.Program, t target) {
	name := "q1Native" + t.name()
	p.Func(name, "func(dst *float32, data *byte, stride int, q *int8, scales *float32, scaleStep int, sums *int32, blocks, tiles, skip int)",
		name+" multiplies tiles of rows with one column, whose scale is that of 128",
		"columns or, if scaleStep is 0 and not 4, of the row. A tile is as many rows as a",
		"register has lanes; a row is stride bytes:",
		"",
		"\tfor i := range lanes * tiles {",
		"\t\ty := float32(0)",
		"\t\tfor b := range blocks {",
		"\t\t\tS := int32(0)",
		"\t\t\tfor k := range 128 {",
		"\t\t\t\tS += (2*bit(i, 128*b+k) - 1) * q[128*b+k]",
		"\t\t\t}",
		"\t\t\ty += float32(float32(scale(i, b)*scales[b*scaleStep/4]) * float32(S))",
		"\t\t}",
		"\t\tif i%lanes >= skip {",
		"\t\t\tdst[i] = y",
		"\t\t}",
		"\t}",
		"",
		"q is in the order q1ByteOrder; sums holds the sum of every 32.")
	minusSum, halves := p.AllocLocal(8), p.AllocLocal(2*t.lanes())
	dst := p.Load(p.Param("dst"), p.GP64())
	stride := p.Load(p.Param("stride"), p.GP64())
	rows := rowAddresses(p, stride, t.lanes()/4)
	p.Comment("The next tile is fetched while this one is computed, as many bytes a block as a block takes.")
	ahead := p.GP64()
	p.MOVQ(stride, ahead)
	p.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(t.lanes())))), ahead)
	p.ADDQ(rows.Fourth[0], ahead)
	c := t.constants()
	q, scales, sums, left := p.GP64(), p.GP64(), p.GP64(), p.GP64()
	acc := t.vector()

	p.Label("tile")
	p.Clear(acc)
	p.Load(p.Param("q"), q)
	p.Load(p.Param("scales"), scales)
	p.Load(p.Param("sums"), sums)
	p.Load(p.Param("blocks"), left)

	p.Label("block")
	storeMinusSum(p, sums, 0, 4, minusSum)
	gatherScales(p, rows, t.lanes(), halves)
	p.Prefetch(prefetchFurther, asm.Lines(operand.Mem{Base: ahead}, t.lanes()*rowBlockBytes)...)
	p.ADDQ(operand.U32(t.lanes()*rowBlockBytes), ahead)
	vectors := transposedRows(p, t, rows.At)
	sum := t.groupSum(c, func(v int) reg.VecVirtual { return vectors[v] }, operand.Mem{Base: q}, 0, 4, minusSum)
	w := t.vector()
	p.VCVTPH2PS(halves, w)
	addTerm(p, t, acc, w, operand.Mem{Base: scales}, sum)

	p.Advance(rows, operand.Imm(rowBlockBytes))
	step := p.Load(p.Param("scaleStep"), p.GP64())
	p.ADDQ(step, scales)
	p.ADDQ(operand.U32(128), q)
	p.ADDQ(operand.Imm(16), sums)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("block"))

	skip := p.Load(p.Param("skip"), p.GP64())
	t.storeLast(skip, acc, operand.Mem{Base: dst})
	p.ADDQ(operand.Imm(uint64(4*t.lanes())), dst)
	nextTile(p, rows, t.lanes(), stride)
}

// nextTile ends a kernel for tiles of native rows.
func nextTile(p *asm.Program, rows asm.Rows, lanes int, stride reg.Register) {
	p.Comment("The rows are at their ends: the next tile is lanes − 1 rows further.")
	further := p.GP64()
	p.IMUL3Q(operand.Imm(uint64(lanes-1)), stride, further)
	p.Advance(rows, further)
	p.DECQ(p.Argument("tiles"))
	p.JNZ(operand.LabelRef("tile"))
	p.VZEROUPPER()
	p.RET()
}

// gatherScales stores the scales of a block of the rows side by side.
func gatherScales(p *asm.Program, rows asm.Rows, lanes int, halves operand.Mem) {
	for i := range lanes {
		r := p.GP32()
		p.MOVWLZX(rows.At(i, 0), r)
		p.MOVW(r.As16(), at(halves, 2*i))
	}
}

// transposedRows loads the signs of a block of every row and returns four
// vectors, each with a dword of every row, rows in lanes.
func transposedRows(p *asm.Program, t target, row func(i, disp int) operand.Mem) [4]reg.VecVirtual {
	var a [4]reg.VecVirtual // 128-bit lane c: row 4c + i
	for i := range a {
		var m []operand.Mem
		for c := range t.lanes() / 4 {
			m = append(m, row(4*c+i, rowScaleBytes))
		}
		a[i] = t.loadRows(m)
	}
	var v [4]reg.VecVirtual
	lo01, lo23 := t.vector(), t.vector()
	p.VPUNPCKLDQ(a[1], a[0], lo01)
	p.VPUNPCKHDQ(a[1], a[0], a[0])
	p.VPUNPCKLDQ(a[3], a[2], lo23)
	p.VPUNPCKHDQ(a[3], a[2], a[2])
	v[0], v[1], v[2], v[3] = a[1], lo01, a[3], a[0]
	p.VPUNPCKLQDQ(lo23, lo01, v[0])
	p.VPUNPCKHQDQ(lo23, lo01, v[1])
	p.VPUNPCKLQDQ(a[2], a[0], v[2])
	p.VPUNPCKHQDQ(a[2], a[0], v[3])
	return v
}
