package q8

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// nibblesMost is the columns whose results a frame has room for.
const nibblesMost = 16

// A nibbles is the state of a kernel of formats with codes of 4 bits, for as many rows as lie in the
// lanes of its vectors. Tiles are drawn in package heads.
type nibbles struct {
	*generator
	isa    string
	rows   int
	vector func() reg.VecVirtual
	load   func(ops ...operand.Op)
	and    func(ops ...operand.Op)
	// sum returns the sums of products of each row.
	sum func(codes []reg.VecVirtual, q reg.Register) reg.VecVirtual

	mask          reg.VecVirtual
	w, block      reg.GPVirtual // a group's bytes, and its block's
	scale, offset reg.VecVirtual
}

// GenerateNibbles writes all functions of nibbles_amd64.s.
func GenerateNibbles(p *asm.Program) {
	g := &generator{p}
	(&nibbles{generator: g, isa: "AVX512VNNI", rows: 16, vector: g.ZMM, sum: g.nibbleSum,
		load: func(ops ...operand.Op) { g.VMOVDQU64(ops...) }, and: g.VPANDD}).write()
	(&nibbles{generator: g, isa: "AVX2", rows: 8, vector: g.YMM, sum: g.nibbleSumOfWords(g.constant("nibbleOnes", 0x0001000100010001, 4)),
		load: func(ops ...operand.Op) { g.VMOVDQU(ops[0], ops[1]) }, and: func(ops ...operand.Op) { g.VPAND(ops[0], ops[1], ops[2]) }}).write()
}

// nibbleSum adds 4 products of each row at a time. Two sums hide how long that takes.
func (g *generator) nibbleSum(codes []reg.VecVirtual, q reg.Register) reg.VecVirtual {
	sums := [2]reg.VecVirtual{g.ZMM(), g.ZMM()}
	for i, v := range codes {
		if i < len(sums) {
			g.Clear(sums[i])
		}
		g.VPDPBUSD_BCST(asm.At(q, 4*i), v, sums[i%2])
	}
	g.VPADDD(sums[1], sums[0], sums[0])
	return sums[0]
}

// nibbleSumOfWords adds pairs of products in 16 bits, those of half a group: at most 4·2·15·127 = 15,240.
func (g *generator) nibbleSumOfWords(ones operand.Mem) func([]reg.VecVirtual, reg.Register) reg.VecVirtual {
	return func(codes []reg.VecVirtual, q reg.Register) reg.VecVirtual {
		var sums [2]reg.VecVirtual
		for i, v := range codes {
			t := g.YMM()
			g.VPBROADCASTD(asm.At(q, 4*i), t)
			g.VPMADDUBSW(t, v, t)
			if sum := &sums[i/4]; *sum == nil {
				*sum = t
			} else {
				g.VPADDW(t, *sum, *sum)
			}
			if i%4 == 3 {
				g.VPMADDWD(ones, sums[i/4], sums[i/4])
			}
		}
		g.VPADDD(sums[1], sums[0], sums[0])
		return sums[0]
	}
}

func (k *nibbles) write() {
	g := k.generator
	name := "nibbles" + k.isa
	g.Func(name, "func(dst *float32, dstStride int, w *byte, q *int8, qStride int, sums *int32, sumStride int, scales *float32, scaleStride, shift, groups, tiles, columns, inBlocks int)",
		fmt.Sprintf("%s multiplies tiles of %d rows with 1 to 16 columns. All strides are in bytes.", name, k.rows),
		"sums[c*sumStride/4+g] is Σq of group g of 32 columns. If inBlocks is not 0, 8 groups are a block with",
		"scales of their scales and offsets.",
		"",
		"\tfor c := range columns {",
		fmt.Sprintf("\t\tfor r := range %d * tiles {", k.rows),
		"\t\t\ty := float32(0)",
		"\t\t\tfor g := range groups {",
		"\t\t\t\tact := scales[c*scaleStride/4+g>>shift]",
		"\t\t\t\tif inBlocks != 0 {",
		"\t\t\t\t\ty += term(d[r]*scale[r], act, Σ code[r]·q[c]) - term(dmin[r]*offset[r], act, Σ q[c])",
		"\t\t\t\t} else {",
		"\t\t\t\t\ty += term(scale[r], act, Σ (code[r]-8)·q[c])",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t\tdst[c*dstStride/4+r] = y",
		"\t\t}",
		"\t}")
	g.Attributes(attr.Attribute(0)) // no NOSPLIT: the frame is large
	// Results lie in the frame: registers are for the codes.
	frame, results, end, group := g.AllocLocal(64*(nibblesMost+1)), g.AllocLocal(8), g.AllocLocal(8), g.AllocLocal(8)
	t := g.startColumns(frame, results, end)
	k.w, k.block = g.GP64(), g.GP64()
	g.Load(g.Param("w"), k.w)
	qStride, sumStride, scaleStride := g.Load(g.Param("qStride"), g.GP64()), g.Load(g.Param("sumStride"), g.GP64()), g.Load(g.Param("scaleStride"), g.GP64())
	inBlocks := g.Load(g.Param("inBlocks"), g.GP64())
	k.mask = k.vector()
	k.load(g.constant("nibbleMask"+k.isa, 0x0f0f0f0f0f0f0f0f, k.rows/2), k.mask)

	g.Label("tile")
	g.MOVQ(operand.I32(0), group)
	zero, y := k.vector(), g.GP64()
	g.Clear(zero)
	g.eachColumn("clear", y, results, end, func() { g.VMOVUPS(zero, asm.At(y, 0)) })

	g.Label("group")
	g.MOVQ(group, t)
	k.startGroup(t, inBlocks)
	codes := k.codes()
	q, sums, scales := g.columnInputs(t)
	g.eachColumn("column", y, results, end, func() {
		sum := k.sum(codes, q)
		k.term(sum, sums, scales, inBlocks)
		g.VADDPS(asm.At(y, 0), sum, sum)
		g.VMOVUPS(sum, asm.At(y, 0))
		g.ADDQ(qStride, q)
		g.ADDQ(sumStride, sums)
		g.ADDQ(scaleStride, scales)
	})
	g.INCQ(group)
	g.MOVQ(group, t)
	g.CMPQ(t, g.Argument("groups"))
	g.JNE(operand.LabelRef("group"))

	g.storeColumns(y, t, k.vector(), results, end, k.rows)
	g.DECQ(g.Argument("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// startGroup makes the rows' scales and offsets of a group, the number of which is given, and goes
// to its codes.
func (k *nibbles) startGroup(group, inBlocks reg.Register) {
	k.scale, k.offset = k.vector(), k.vector()
	k.Prefetch(nibblesFurther, asm.Lines(asm.At(k.w, nibblesAhead), 18*k.rows)...)
	k.TESTQ(inBlocks, inBlocks)
	k.JNZ(operand.LabelRef("inBlock"))
	k.VCVTPH2PS(asm.At(k.w, 0), k.scale)
	k.Clear(k.offset)
	k.JMP(operand.LabelRef("scaled"))
	k.Label("inBlock")
	k.TESTQ(operand.I32(7), group)
	k.JNZ(operand.LabelRef("within"))
	k.MOVQ(k.w, k.block)
	k.ADDQ(operand.I32(4*k.rows), k.w)
	k.Label("within")
	for i, v := range []reg.VecVirtual{k.scale, k.offset} {
		of := k.vector()
		k.VPMOVZXBD(asm.At(k.w, k.rows*i), v)
		k.VCVTDQ2PS(v, v)
		k.VCVTPH2PS(asm.At(k.block, 2*k.rows*i), of)
		k.VMULPS(of, v, v)
	}
	k.Label("scaled")
	k.ADDQ(operand.I32(2*k.rows), k.w)
}

// What is fetched ahead: bytes behind what is multiplied, and further for level 2.
const (
	nibblesAhead   = 2 << 10
	nibblesFurther = 6 << 10
)

// codes returns those of a group, as bytes, 4 of each row in a register.
func (k *nibbles) codes() []reg.VecVirtual {
	codes := make([]reg.VecVirtual, 8)
	for i := range 4 {
		low, high := k.vector(), k.vector()
		k.load(asm.At(k.w, 4*k.rows*i), low)
		k.VPSRLW(operand.U8(4), low, high)
		k.and(k.mask, low, low)
		k.and(k.mask, high, high)
		codes[i], codes[4+i] = low, high
	}
	k.ADDQ(operand.I32(16*k.rows), k.w)
	return codes
}

// term makes a sum that of a column.
func (k *nibbles) term(sum reg.VecVirtual, sums, scales, inBlocks reg.Register) {
	act, all, t := k.vector(), k.vector(), k.vector()
	k.VBROADCASTSS(asm.At(scales, 0), act)
	k.VPBROADCASTD(asm.At(sums, 0), all)
	k.VMULPS(act, k.scale, t)
	k.TESTQ(inBlocks, inBlocks)
	k.JNZ(operand.LabelRef("less"))
	k.VPSLLD(operand.U8(3), all, all)
	k.VPSUBD(all, sum, sum)
	k.VCVTDQ2PS(sum, sum)
	k.VMULPS(t, sum, sum)
	k.JMP(operand.LabelRef("made"))
	k.Label("less")
	k.VCVTDQ2PS(sum, sum)
	k.VMULPS(t, sum, sum)
	k.VCVTDQ2PS(all, all)
	k.VMULPS(act, k.offset, act)
	k.VMULPS(act, all, all)
	k.VSUBPS(all, sum, sum)
	k.Label("made")
}
