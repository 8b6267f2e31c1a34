package twobit

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	stripRows     = 16            // two registers of 8, a dword of each
	stripCols     = 64            // columns that share expanded weights, at most
	stepCodes     = 4 * stripRows // bytes that 4 codes of each row are expanded to
	unrolledSteps = 2
)

// A stripTarget is an instruction set for strips.
type stripTarget interface {
	isa() string
	// part is the groups of a block that are summed up before a sum may overflow;
	// 0: all that there are.
	part() int
	// start begins a sum.
	start(acc reg.VecVirtual, minusSum operand.Mem)
	// dot adds the products of 4 codes and 4 activations.
	dot(x, codes, acc reg.VecVirtual)
	// widen makes a sum int32.
	widen(acc reg.VecVirtual)
	// bias adds minusSum, unless start has done so.
	bias(acc reg.VecVirtual, minusSum operand.Mem)
}

// strip is a kernel for batches with registers of 32 bytes. Two of them have 4
// codes of 16 rows, a strip, so there are no horizontal sums. A block of a strip
// is expanded to bytes once for up to 64 columns. Then each dword of activations
// meets two registers of codes; the sums of 4 columns are in registers. Results
// are in the frame until the strip is done.
type strip struct {
	g *generator
	stripTarget

	// frame is 64-byte aligned, and has at
	frame     reg.GPVirtual
	scalesAt  int // where the activation scales of each column begin
	groupsAt  int // the groups of a part, at most
	partAt    int // rounds of steps of a part
	panelAt   int // bytes from block to block of a panel
	scaleAt   int // the sum of scaleStep so far
	leftAt    int // blocks that follow
	lessAt    int // bytes that the scales of later strips are behind less than their codes
	parkedAt  int // sums of a block's first part
	codesAt   int // the codes of a block
	resultsAt int // 2 registers for each column

	// position is where the block's codes are, scale that of its activation scale in a column.
	position, scale reg.GPVirtual
	panels          reg.GPVirtual // the block in the first panel
	ahead           reg.GPVirtual // what is prefetched
	mask            reg.VecVirtual
	weights         [2]reg.VecVirtual // scales of the block
}

// strip writes the kernel of the layout codes64.
func (g *generator) strip(t stripTarget) {
	b := &strip{g: g, stripTarget: t, position: g.GP64(), scale: g.GP64(), ahead: g.GP64()}
	name := "tileStrip" + t.isa()
	g.Func(name, "func("+batchArguments+")", append(batchDoc(name, "codes64", fmt.Sprintf("up to %d columns", stripCols)),
		"It does what tileBatch8AVX512VNNI does, but that a block has at most 256 columns, and that",
		"with a weight sums go on from block to block.")...)
	b.layFrame()
	g.Load(g.Param("ahead"), b.ahead)
	b.mask = g.loadMasks(g.YMM, 1)[0]
	b.layScales()
	b.layGroups()

	g.Label("strip")
	b.begin()
	g.Label("block")
	b.expand()
	halves := b.g.GP64()
	g.MOVQ(b.position, halves)
	g.SUBQ(asm.At(b.frame, b.lessAt), halves)
	for h := range b.weights {
		b.weights[h] = g.YMM()
		g.VCVTPH2PS(asm.At(halves, 16*h), b.weights[h])
	}
	b.multiply()
	b.nextBlock()
	b.store()
	b.nextStrip()
	g.VZEROUPPER()
	g.RET()
}

func (b *strip) layFrame() {
	size := 0
	room := func(bytes int) int { at := size; size += (bytes + 63) &^ 63; return at }
	b.scalesAt = room(8 * stripCols)
	numbers := room(64)
	for i, at := range []*int{&b.groupsAt, &b.partAt, &b.panelAt, &b.scaleAt, &b.leftAt, &b.lessAt} {
		*at = numbers + 8*i
	}
	if b.part() > 0 {
		b.parkedAt = room(panelCols * 64)
	}
	b.codesAt = room(unitBytes * stepCodes)
	b.resultsAt = room(stripCols * 64)
	b.g.Attributes(0) // too large for NOSPLIT
	frame := b.g.AllocLocal(size + 64)
	b.frame = b.g.GP64()
	b.g.LEAQ(frame.Offset(63), b.frame)
	b.g.ANDQ(operand.I32(-64), b.frame)
}

// layScales writes where the scales of each column begin; the columns that the last panel lacks have
// those of the last.
func (b *strip) layScales() {
	first, stride, cols, next, i := b.argument("scales"), b.argument("scaleStride"), b.argument("cols"), b.g.GP64(), b.g.GP64()
	most := b.g.GP64()
	b.g.LEAQ(asm.At(cols, panelCols-1), most)
	b.g.ANDQ(operand.I32(-panelCols), most)
	b.g.XORQ(i, i)
	b.g.MOVQ(i, asm.At(b.frame, b.lessAt))
	b.g.Label("scales")
	b.g.MOVQ(first, operand.Mem{Base: b.frame, Index: i, Scale: 8, Disp: b.scalesAt})
	b.g.LEAQ(operand.Mem{Base: first, Index: stride, Scale: 1}, next)
	b.g.INCQ(i)
	b.g.CMPQ(i, cols)
	b.g.CMOVQLT(next, first)
	b.g.CMPQ(i, most)
	b.g.JLT(operand.LabelRef("scales"))
}

// layGroups makes of a block's groups what the loops want of them. Codes are 2 at the most where there
// is a weight: 64 steps of 2·2·127 are 32,512.
func (b *strip) layGroups() {
	groups, panel := b.argument("groups"), b.g.GP64()
	b.g.MOVQ(groups, panel)
	b.g.SHLQ(operand.U8(bits.TrailingZeros(groupSteps*stepBytes)), panel)
	b.g.ADDQ(operand.I32(stepBytes), panel)
	b.g.MOVQ(panel, asm.At(b.frame, b.panelAt))
	if b.part() > 0 {
		most := b.g.GP64()
		b.g.MOVQ(operand.I32(b.part()), most)
		b.g.CMPQ(b.g.Argument("weight"), operand.I8(0))
		b.g.CMOVQNE(groups, most)
		b.g.MOVQ(most, asm.At(b.frame, b.groupsAt))
		b.g.CMPQ(groups, most)
		b.g.CMOVQGT(most, groups)
	}
	b.g.SHLQ(operand.U8(bits.TrailingZeros(groupSteps/unrolledSteps)), groups)
	b.g.MOVQ(groups, asm.At(b.frame, b.partAt))
}

// begin begins a strip.
func (b *strip) begin() {
	results, cols, zero := b.g.GP64(), b.argument("cols"), b.g.YMM()
	b.g.Clear(zero)
	b.g.LEAQ(asm.At(b.frame, b.resultsAt), results)
	b.g.Label("zero")
	for i := range 2 * panelCols {
		b.g.VMOVDQU(zero, asm.At(results, 32*i))
	}
	b.g.ADDQ(operand.I32(64*panelCols), results)
	b.g.SUBQ(operand.I32(panelCols), cols)
	b.g.JG(operand.LabelRef("zero"))
	b.g.XORQ(b.scale, b.scale)
	b.g.MOVQ(b.scale, asm.At(b.frame, b.scaleAt))
	b.g.MOVQ(b.argument("blocks"), asm.At(b.frame, b.leftAt))
	b.g.MOVQ(b.g.Argument("tile"), b.position)
	b.panels = b.argument("panel")
}

// nextStrip goes to the 16 rows that follow, if there are some.
func (b *strip) nextStrip() {
	b.g.ADDQ(operand.I32(4*stripRows), b.g.Argument("dst"))
	b.g.ADDQ(operand.I32(4*stripRows), b.g.Argument("tile"))
	b.g.ADDQ(operand.I32(2*stripRows), asm.At(b.frame, b.lessAt))
	b.g.SUBQ(operand.I32(stripRows), b.g.Argument("rows"))
	b.g.JG(operand.LabelRef("strip"))
}

// argument returns the argument of that name in a register of its own.
func (b *strip) argument(name string) reg.GPVirtual {
	v := b.g.GP64()
	b.g.MOVQ(b.g.Argument(name), v)
	return v
}

// expand writes the codes of a block as bytes.
func (b *strip) expand() {
	codes, left := b.g.GP64(), b.argument("groups")
	b.g.LEAQ(asm.At(b.frame, b.codesAt), codes)
	b.g.Label("expand")
	for d := range quadDwords {
		for h := range 2 {
			w := b.g.YMM()
			b.g.VMOVDQU(asm.At(b.position, dwordBytes*d+32*h), w)
			b.expandCodes(w, codes, d, h)
		}
	}
	b.g.fetch(b.ahead, stripRows*groupBytes)
	b.g.ADDQ(operand.I32(quadDwords*dwordBytes), b.position)
	b.g.ADDQ(operand.I32(groupSteps*stepCodes), codes)
	b.g.DECQ(left)
	b.g.JNZ(operand.LabelRef("expand"))
}

// expandCodes writes the codes of dword d of 8 rows, half h of the strip.
func (b *strip) expandCodes(w reg.VecVirtual, codes reg.GPVirtual, d, h int) {
	for j := range 4 {
		t := w
		if j > 0 {
			t = b.g.YMM()
			b.g.VPSRLD(operand.U8(2*j), w, t)
		}
		masked := b.g.YMM()
		b.g.VPAND(b.mask, t, masked)
		b.g.VMOVDQU(masked, asm.At(codes, stepCodes*(4*d+j)+32*h))
	}
}

// multiply adds the block's products to the results of all columns.
func (b *strip) multiply() {
	panel, results, scales, cols := b.g.GP64(), b.g.GP64(), b.g.GP64(), b.argument("cols")
	b.g.MOVQ(b.panels, panel)
	b.g.LEAQ(asm.At(b.frame, b.resultsAt), results)
	b.g.LEAQ(asm.At(b.frame, b.scalesAt), scales)
	b.g.Label("columns")
	b.multiplyColumns(panel, results, scales)
	b.g.ADDQ(b.g.Argument("panelStride"), panel)
	b.g.ADDQ(operand.I32(64*panelCols), results)
	b.g.ADDQ(operand.I32(8*panelCols), scales)
	b.g.SUBQ(operand.I32(panelCols), cols)
	b.g.JG(operand.LabelRef("columns"))
}

// multiplyColumns takes the columns of a panel.
func (b *strip) multiplyColumns(panel, results, scales reg.GPVirtual) {
	var acc [panelCols][2]reg.VecVirtual
	for c := range acc {
		acc[c] = [2]reg.VecVirtual{b.g.YMM(), b.g.YMM()}
	}
	x, codes, left := b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.LEAQ(asm.At(panel, stepBytes), x)
	b.g.LEAQ(asm.At(b.frame, b.codesAt), codes)
	b.g.Label("part")
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.start(sum, asm.At(panel, 4*(i/2))) })
	b.g.MOVQ(asm.At(b.frame, b.partAt), left)
	b.addSteps(acc, x, codes, left)
	eachSum(acc, func(sum reg.VecVirtual, _ int) { b.widen(sum) })
	if b.part() > 0 {
		b.joinParts(acc, codes, left)
	}
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.bias(sum, asm.At(panel, 4*(i/2))) })

	b.g.CMPQ(b.g.Argument("weight"), operand.I8(0))
	b.g.JEQ(operand.LabelRef("terms"))
	eachSum(acc, func(sum reg.VecVirtual, i int) {
		b.g.VPADDD(asm.At(results, 32*i), sum, sum)
		b.g.VMOVDQU(sum, asm.At(results, 32*i))
	})
	b.g.JMP(operand.LabelRef("added"))
	b.g.Label("terms")
	column := b.g.GP64()
	eachSum(acc, func(sum reg.VecVirtual, i int) {
		if i%2 == 0 {
			b.g.MOVQ(asm.At(scales, 4*i), column)
		}
		scale := b.g.timesBroadcast(b.weights[i%2], operand.Mem{Base: column, Index: b.scale, Scale: 1})
		b.g.VCVTDQ2PS(sum, sum)
		b.g.VMULPS(scale, sum, sum)
		b.g.VADDPS(asm.At(results, 32*i), sum, sum)
		b.g.VMOVDQU(sum, asm.At(results, 32*i))
	})
	b.g.Label("added")
}

// joinParts adds the sums of a second part to those of the first, which are
// parked while it is summed up.
func (b *strip) joinParts(acc [panelCols][2]reg.VecVirtual, codes, end reg.GPVirtual) {
	b.g.MOVQ(b.g.Argument("groups"), end)
	b.g.CMPQ(end, asm.At(b.frame, b.groupsAt))
	b.g.JLE(operand.LabelRef("summed"))
	b.g.LEAQ(asm.At(b.frame, b.codesAt+unitBytes*stepCodes), end)
	b.g.CMPQ(codes, end)
	b.g.JEQ(operand.LabelRef("second"))
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.g.VMOVDQU(sum, asm.At(b.frame, b.parkedAt+32*i)) })
	b.g.JMP(operand.LabelRef("part"))
	b.g.Label("second")
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.g.VPADDD(asm.At(b.frame, b.parkedAt+32*i), sum, sum) })
	b.g.Label("summed")
}

// eachSum calls do with the sums of a panel, number i of them.
func eachSum(acc [panelCols][2]reg.VecVirtual, do func(sum reg.VecVirtual, i int)) {
	for c := range acc {
		for h, sum := range acc[c] {
			do(sum, 2*c+h)
		}
	}
}

// addSteps adds the products of rounds of steps. Behind the last column activations
// are zero, and codes what they were.
func (b *strip) addSteps(acc [panelCols][2]reg.VecVirtual, x, codes, rounds reg.GPVirtual) {
	b.g.Label("steps")
	for s := range unrolledSteps {
		var w [2]reg.VecVirtual
		for h := range w {
			w[h] = b.g.YMM()
			b.g.load(asm.At(codes, stepCodes*s+32*h), w[h])
		}
		for c := range acc {
			v := b.g.YMM()
			b.g.VPBROADCASTD(asm.At(x, stepBytes*s+4*c), v)
			for h := range w {
				b.dot(v, w[h], acc[c][h])
			}
		}
	}
	b.g.ADDQ(operand.I32(unrolledSteps*stepBytes), x)
	b.g.ADDQ(operand.I32(unrolledSteps*stepCodes), codes)
	b.g.DECQ(rounds)
	b.g.JNZ(operand.LabelRef("steps"))
}

// nextBlock goes to the block that follows, if there is one.
func (b *strip) nextBlock() {
	b.g.ADDQ(asm.At(b.frame, b.panelAt), b.panels)
	b.g.ADDQ(operand.I32(tileScales), b.position)
	b.g.MOVQ(asm.At(b.frame, b.scaleAt), b.scale)
	b.g.ADDQ(b.g.Argument("scaleStep"), b.scale)
	b.g.MOVQ(b.scale, asm.At(b.frame, b.scaleAt))
	b.g.ANDQ(operand.I32(-4), b.scale)
	b.g.DECQ(asm.At(b.frame, b.leftAt))
	b.g.JNZ(operand.LabelRef("block"))
}

// store writes the results of a strip.
func (b *strip) store() {
	dst, stride, rows, cols := b.argument("dst"), b.argument("dstStride"), b.argument("rows"), b.argument("cols")
	results, weight, scales := b.g.GP64(), b.argument("weight"), b.argument("scales")
	b.g.LEAQ(asm.At(b.frame, b.resultsAt), results)
	b.g.Label("store")
	v := [2]reg.VecVirtual{b.g.YMM(), b.g.YMM()}
	for h := range v {
		b.g.load(asm.At(results, 32*h), v[h])
	}
	b.g.TESTQ(weight, weight)
	b.g.JZ(operand.LabelRef("scaled"))
	b.scaleSums(v, weight, scales)
	b.g.Label("scaled")
	b.g.CMPQ(rows, operand.I32(stripRows))
	b.g.JLT(operand.LabelRef("few"))
	for h := range v {
		b.g.VMOVDQU(v[h], asm.At(dst, 32*h))
	}
	b.g.JMP(operand.LabelRef("stored"))
	b.g.Label("few")
	for h := range v {
		b.g.VMOVDQU(v[h], asm.At(results, 32*h))
	}
	i, y := b.g.GP64(), b.g.GP32()
	b.g.XORQ(i, i)
	b.g.Label("row")
	b.g.MOVL(operand.Mem{Base: results, Index: i, Scale: 4}, y)
	b.g.MOVL(y, operand.Mem{Base: dst, Index: i, Scale: 4})
	b.g.INCQ(i)
	b.g.CMPQ(i, rows)
	b.g.JLT(operand.LabelRef("row"))
	b.g.Label("stored")
	b.g.ADDQ(stride, dst)
	b.g.ADDQ(operand.I32(64), results)
	b.g.DECQ(cols)
	b.g.JNZ(operand.LabelRef("store"))
}

// scaleSums makes sums of whole rows their results, and goes to the scale of the next column.
func (b *strip) scaleSums(sums [2]reg.VecVirtual, weight, scales reg.GPVirtual) {
	all, zero := b.g.YMM(), b.g.YMM()
	b.g.VBROADCASTSS(asm.At(weight, 0), all)
	scale := b.g.timesBroadcast(all, asm.At(scales, 0))
	b.g.ADDQ(b.g.Argument("scaleStride"), scales)
	b.g.Clear(zero)
	for _, sum := range sums { // the generic path adds its only term to 0
		b.g.VCVTDQ2PS(sum, sum)
		b.g.VMULPS(scale, sum, sum)
		b.g.VADDPS(zero, sum, sum)
	}
}

// dpStrip adds with VPDPBUSD.
type dpStrip struct{ g *generator }

func (dpStrip) isa() string                                      { return "AVXVNNI" }
func (dpStrip) part() int                                        { return 0 }
func (e dpStrip) start(acc reg.VecVirtual, minusSum operand.Mem) { e.g.VPBROADCASTD(minusSum, acc) }
func (e dpStrip) dot(x, codes, acc reg.VecVirtual)               { e.g.VEXDPBUSD(x, codes, acc) }
func (dpStrip) widen(acc reg.VecVirtual)                         {}
func (dpStrip) bias(acc reg.VecVirtual, minusSum operand.Mem)    {}

// wordStrip adds with VPMADDUBSW in int16.
type wordStrip struct{ g *generator }

func (wordStrip) isa() string { return "AVX2" }

// part keeps sums below 2¹⁵: with codes up to 3 a step adds up to 2·3·127 = 762,
// and there may be 43.
func (wordStrip) part() int { return 2 }

func (e wordStrip) start(acc reg.VecVirtual, minusSum operand.Mem) { e.g.Clear(acc) }

func (e wordStrip) dot(x, codes, acc reg.VecVirtual) {
	products := e.g.YMM()
	e.g.VPMADDUBSW(x, codes, products)
	e.g.VPADDW(products, acc, acc)
}

func (e wordStrip) widen(acc reg.VecVirtual) { e.g.VPMADDWD(e.g.wordOnes, acc, acc) }

func (e wordStrip) bias(acc reg.VecVirtual, minusSum operand.Mem) {
	less := e.g.YMM()
	e.g.VPBROADCASTD(minusSum, less)
	e.g.VPADDD(less, acc, acc)
}

// timesBroadcast returns v times the float32 at m.
func (g *generator) timesBroadcast(v reg.VecVirtual, m operand.Mem) reg.VecVirtual {
	out := g.YMM()
	g.VBROADCASTSS(m, out)
	g.VMULPS(v, out, out)
	return out
}
