package q1

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// nativeColumns writes the kernel for 2, 3 or 4 columns at once on the file's own
// rows: a tile is transposed once and multiplied with each, as columns does.
func nativeColumns(p *asm.Program, n int) {
	t := avx512vnni{p}
	name := fmt.Sprintf("q1NativeColumns%d%s", n, t.name())
	p.Func(name, "func(dst *float32, dstStride int, data *byte, stride int, q *int8, qStride int, scales *float32, scaleStride, scaleStep int, sums *int32, blocks, tiles, skip int)",
		fmt.Sprintf("%s is q1Native%s for each of %d columns, whose results, activations and", name, t.name(), n),
		"scales are dstStride, qStride and scaleStride bytes apart, and whose sums qStride/8.")
	minusSum, halves, left := p.AllocLocal(4*(n+n%2)), p.AllocLocal(2*t.lanes()), p.AllocLocal(8)
	stride := p.Load(p.Param("stride"), p.GP64())
	rows := rowAddresses(p, stride, t.lanes()/4)
	ahead := p.GP64()
	p.MOVQ(stride, ahead)
	p.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(t.lanes())))), ahead)
	p.ADDQ(rows.Fourth[0], ahead)
	c := t.constants().([4]reg.VecVirtual)
	q, scales, sums := newColumnSet(p, "qStride", 0), p.GP64(), p.GP64()
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		acc[i] = p.ZMM()
	}

	p.Label("tile")
	for _, a := range acc {
		p.Clear(a)
	}
	p.Load(p.Param("q"), q.base)
	p.Load(p.Param("scales"), scales)
	p.Load(p.Param("sums"), sums)
	blocks := p.Load(p.Param("blocks"), p.GP64())
	p.MOVQ(blocks, left)

	p.Label("block")
	gatherScales(p, rows, t.lanes(), halves)
	p.Prefetch(prefetchFurther, asm.Lines(operand.Mem{Base: ahead}, t.lanes()*rowBlockBytes)...)
	p.ADDQ(operand.U32(t.lanes()*rowBlockBytes), ahead)
	vectors := transposedRows(p, t, rows.At)
	part := startColumns(p, t, n, newColumnSet(p, "qStride", 3).from(sums), minusSum)
	for v, w := range vectors {
		addPlanes(p, c, w, q, v, part)
	}
	w := p.ZMM()
	p.VCVTPH2PS(halves, w)
	columnScales := newColumnSet(p, "scaleStride", 0).from(scales)
	for i := range part {
		addTerm(p, t, acc[i], w, columnScales.at(i, 0), finishSums(p, part[i]))
	}
	p.Advance(rows, operand.Imm(rowBlockBytes))
	step := p.Load(p.Param("scaleStep"), p.GP64())
	p.ADDQ(step, scales)
	p.ADDQ(operand.U32(128), q.base)
	p.ADDQ(operand.Imm(16), sums)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("block"))

	skip := p.Load(p.Param("skip"), p.GP64())
	dst := p.Argument("dst")
	out := newColumnSet(p, "dstStride", 0)
	p.MOVQ(dst, out.base)
	for i, a := range acc {
		t.storeLast(skip, a, out.at(i, 0))
	}
	p.ADDQ(operand.Imm(uint64(4*t.lanes())), dst)
	nextTile(p, rows, t.lanes(), stride)
}
