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
	sumCols       = 4             // columns of a panel, whose sums registers hold
	stepBytes     = 4 * sumCols   // of a panel: 4 activations, or a sum, of each column
	stepCodes     = 4 * stripRows // bytes that 4 codes of each row are expanded to
	groupSteps    = groupBytes
	unrolledSteps = 8
)

// stripPanel writes the function that makes panels of columns in row order.
func (g *generator) stripPanel() {
	g.Func("stripPanelAVX2", "func(dst, columns *int8, stride, cols, groups, blocks int)",
		"stripPanelAVX2 makes a panel of up to 4 columns in row order, stride bytes apart. Each",
		"block of groups of 64 activations begins with -Σq of its columns; then come 16",
		"bytes for each 4 activations, in the order in which strips of weights have their",
		"codes: 16 bytes, within them 4, and of these the 4 shifts. Columns that are not",
		"there repeat the last.",
		"",
		"\tfor c := range 4 {",
		"\t\tfrom := int32s(columns[min(c, cols-1)*stride+64:])",
		"\t\tfor b := range blocks {",
		"\t\t\tto := int32s(dst)[4*b*(1+16*groups):]",
		"\t\t\tto[c] = -Σq of block b",
		"\t\t\tfor i := range 4 * groups {",
		"\t\t\t\tfor j := range 4 {",
		"\t\t\t\t\tk := 4*groups*b + i",
		"\t\t\t\t\tto[4*(1+4*i+j)+c] = from[k/16*64+16*j+k%16]",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	var column [sumCols]reg.GPVirtual
	last, stride := g.GP64(), g.GP64()
	g.Load(g.Param("stride"), stride)
	g.Load(g.Param("cols"), last)
	for c := range column {
		column[c] = g.GP64()
		if c == 0 {
			g.Load(g.Param("columns"), column[0])
			g.ADDQ(operand.I32(64), column[0])
			continue
		}
		next := g.GP64()
		g.MOVQ(column[c-1], column[c])
		g.LEAQ(operand.Mem{Base: column[c], Index: stride, Scale: 1}, next)
		g.CMPQ(last, operand.I32(c))
		g.CMOVQGT(next, column[c])
	}
	dst := g.Load(g.Param("dst"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	groups, sums, position := g.GP64(), g.GP64(), g.GP64()
	ones, minus, sum := g.XMM(), g.XMM(), g.XMM()
	g.VMOVDQU(g.byteOnes, ones)
	g.VPCMPEQD(minus, minus, minus)
	g.XORQ(position, position)

	g.Label("block")
	g.Clear(sum)
	g.MOVQ(dst, sums)
	g.ADDQ(operand.I32(stepBytes), dst)
	g.MOVQ(g.Argument("groups"), groups)
	g.Label("group")
	// A group is 16 bytes at each shift, of the 64 that a unit has.
	words := g.XMM() // sums of 32 activations
	g.Clear(words)
	for j := range 4 {
		var v [4]reg.VecVirtual
		for c := range v {
			v[c] = g.XMM()
			g.VMOVDQU(operand.Mem{Base: column[c], Index: position, Scale: 1, Disp: 64 * j}, v[c])
		}
		for d, row := range g.Transpose(v) {
			g.VMOVDQU(row, asm.At(dst, stepBytes*(4*d+j)))
			g.VPMADDUBSW(row, ones, row)
			g.VPADDW(row, words, words)
		}
	}
	g.VPMADDWD(minus, words, words)
	g.VPADDD(words, sum, sum)
	g.ADDQ(operand.I32(groupSteps*stepBytes), dst)
	// The next group of this unit, or the first of the next.
	g.ADDQ(operand.I32(groupBytes), position)
	g.TESTQ(operand.I32(unitBytes-1), position)
	g.JNZ(operand.LabelRef("counted"))
	g.ADDQ(operand.I32(unitQ-unitBytes), position)
	g.Label("counted")
	g.DECQ(groups)
	g.JNZ(operand.LabelRef("group"))
	g.VMOVDQU(sum, asm.At(sums, 0))
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))
	g.RET()
}

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
	*generator
	stripTarget
	// ternary says that there is one scale for the tensor: sums go on from block to
	// block, and a block is a unit of the row.
	ternary bool
	// tile says that rows lie in the lanes of the layout codes64.
	tile bool

	// frame is 64-byte aligned, and has at
	frame     reg.GPVirtual
	rowsAt    int // where each row begins
	scalesAt  int // where the activation scales of each column begin
	halvesAt  int // fp16 scales of a block
	tailsAt   int // the rows' last bytes, padded to a group
	parkedAt  int // sums of a block's first part
	partAt    int // rounds of steps of a part
	panelAt   int // bytes from block to block of a panel
	scaleAt   int // the sum of scaleStep so far
	codesAt   int // the codes of a block
	resultsAt int // 2 registers for each column

	// position is that of the block's codes behind a row's first, or in a tile their address;
	// scale that of its activation scale in a column.
	position, scale reg.GPVirtual
	panels          reg.GPVirtual // the block in the first panel
	ahead           reg.GPVirtual // what is prefetched
	mask            reg.VecVirtual
	weights         [2]reg.VecVirtual // scales of the block
}

// strip writes the kernel of formats with a scale per block, or of those with
// one per tensor.
func (g *generator) strip(t stripTarget, ternary bool) {
	b := &strip{generator: g, stripTarget: t, ternary: ternary}
	b.declare()
	b.generate()
}

// tileStrip writes the kernel of the layout codes64.
func (g *generator) tileStrip(t stripTarget) {
	b := &strip{generator: g, stripTarget: t, tile: true}
	name := "codes64Strip" + t.isa()
	g.Func(name, "func(dst *float32, dstStride int, data *byte, vector, rows, blocks int, panel *int8, panelStride int, scales *float32, scaleStride, cols, groups, scaleStep int)",
		name+" multiplies up to 16 rows of a tile of the layout codes64, from row",
		fmt.Sprintf("16·vector on, blocks of groups times 64 columns, with up to %d columns, in panels of 4:", stripCols),
		"each as codes64"+t.isa()+" does. Strides are in bytes.")
	b.generate()
}

func (b *strip) generate() {
	b.layFrame()
	b.prepare()

	b.Label("block")
	if b.rowsApart() && !b.ternary {
		b.copyHalves()
	}
	b.expand()
	if !b.ternary {
		halves := b.halves()
		for h := range b.weights {
			b.weights[h] = b.YMM()
			b.VCVTPH2PS(halves.Offset(16*h), b.weights[h])
		}
	}
	b.multiply()
	b.nextBlock()
	b.store()
	b.VZEROUPPER()
	b.RET()
}

// rowsApart says whether each row has a pointer of its own.
func (b *strip) rowsApart() bool { return !b.tile }

// halves returns where the fp16 scales of the block lie together. A tile has them
// behind its codes: 16 rows further, codes are 64 bytes further and scales 32.
func (b *strip) halves() operand.Mem {
	if b.rowsApart() {
		return asm.At(b.frame, b.halvesAt)
	}
	at, less := b.GP64(), b.argument("vector")
	b.MOVQ(b.position, at)
	b.SHLQ(operand.U8(5), less)
	b.SUBQ(less, at)
	return asm.At(at, 0)
}

func (b *strip) declare() {
	declare := func(name, rows string, doc, loops []string, arguments string) {
		doc = append([]string{
			fmt.Sprintf("%s multiplies up to %d %s", name, stripRows, rows),
			fmt.Sprintf("that start stride bytes apart with up to %d columns, in panels of 4. Strides are in", stripCols),
			"bytes.",
		}, doc...)
		b.Func(name, "func(dst *float32, dstStride int, w *byte, stride, rows, "+arguments+" int)", append(doc, loops...)...)
	}
	if !b.ternary {
		declare("blocksStrip"+b.isa(), "rows of blocks", blocksDoc, blocksLoops("rows"),
			"blocks int, panel *int8, panelStride int, scales *float32, scaleStride, cols, "+blocksArguments)
		return
	}
	declare("ternaryStrip"+b.isa(), "rows of rowBytes bytes, a multiple of 4,", []string{""}, []string{
		"\tfor c := range cols {",
		"\t\tfor r := range rows {",
		"\t\t\tsum := -Σq[c] + Σ code[r]·q[c]",
		"\t\t\tdst[c*dstStride/4+r] = float32(float32(scale*scales[c])*float32(sum)) + 0",
		"\t\t}",
		"\t}",
	}, "rowBytes int, panel *int8, panelStride int, scales *float32, scale float32, cols")
}

func (b *strip) layFrame() {
	size := 0
	room := func(bytes int) int { at := size; size += (bytes + 63) &^ 63; return at }
	if b.rowsApart() {
		b.rowsAt = room(8 * stripRows)
		b.halvesAt = room(2 * stripRows)
	}
	if b.ternary {
		b.tailsAt = room(groupBytes * stripRows)
	} else {
		b.scalesAt = room(8 * stripCols)
		b.partAt = room(3 * 8)
		b.panelAt = b.partAt + 8
		b.scaleAt = b.partAt + 16
		if b.parts() {
			b.parkedAt = room(sumCols * 64)
		}
	}
	b.codesAt = room(unitBytes * stepCodes)
	b.resultsAt = room(stripCols * 64)
	b.Attributes(0) // too large for NOSPLIT
	frame := b.AllocLocal(size + 64)
	b.frame = b.GP64()
	b.LEAQ(frame.Offset(63), b.frame)
	b.ANDQ(operand.I32(-64), b.frame)
}

// prepare begins a strip.
func (b *strip) prepare() {
	b.position, b.scale, b.ahead = b.GP64(), b.GP64(), b.GP64()
	cols := b.argument("cols")
	if b.rowsApart() {
		b.startRows()
	} else {
		b.startTile()
	}
	if !b.ternary {
		most := b.GP64() // columns, those of a panel that are not there included
		b.LEAQ(asm.At(cols, sumCols-1), most)
		b.ANDQ(operand.I32(-sumCols), most)
		b.pointers("scales", b.scalesAt, b.argument("scales"), b.argument("scaleStride"), cols, most)
	}
	results, zero := b.GP64(), b.YMM()
	b.Clear(zero)
	b.LEAQ(asm.At(b.frame, b.resultsAt), results)
	b.Label("zero")
	for i := range 2 * sumCols {
		b.VMOVDQU(zero, asm.At(results, 32*i))
	}
	b.ADDQ(operand.I32(64*sumCols), results)
	b.SUBQ(operand.I32(sumCols), cols)
	b.JG(operand.LabelRef("zero"))

	if !b.ternary {
		b.XORQ(b.scale, b.scale)
		b.MOVQ(b.scale, asm.At(b.frame, b.scaleAt))
		b.layGroups()
	}
	b.panels = b.argument("panel")
	b.mask = b.YMM()
	b.load(b.masks[0], b.mask)
}

// startRows points to rows that are apart.
func (b *strip) startRows() {
	w, stride, rows := b.argument("w"), b.argument("stride"), b.argument("rows")
	b.MOVQ(stride, b.ahead)
	b.IMULQ(rows, b.ahead)
	b.ADDQ(w, b.ahead) // the next strip
	b.pointers("rows", b.rowsAt, w, stride, rows, operand.I32(stripRows))
	b.XORQ(b.position, b.position)
}

// startTile points to 16 rows of a tile. A quarter of the next tile is fetched ahead.
func (b *strip) startTile() {
	data, vector, codes := b.argument("data"), b.argument("vector"), b.argument("groups")
	b.MOVQ(vector, b.position)
	b.SHLQ(operand.U8(6), b.position)
	b.ADDQ(data, b.position)
	b.SHLQ(operand.U8(bits.TrailingZeros(quadDwords*dwordBytes)), codes)
	b.LEAQ(asm.At(codes, tileScales), b.ahead)
	b.SHRQ(operand.U8(2), codes)
	b.IMULQ(vector, codes)
	b.ADDQ(codes, b.ahead)
	b.IMULQ(b.Argument("blocks"), b.ahead)
	b.ADDQ(data, b.ahead)
}

// layGroups makes of a block's groups what the loops want of them.
func (b *strip) layGroups() {
	groups, panel, most := b.argument("groups"), b.GP64(), b.GP64()
	b.MOVQ(groups, panel)
	b.SHLQ(operand.U8(bits.TrailingZeros(groupSteps*stepBytes)), panel)
	b.ADDQ(operand.I32(stepBytes), panel)
	b.MOVQ(panel, asm.At(b.frame, b.panelAt))
	if b.parts() {
		b.MOVQ(operand.I32(b.part()), most)
		b.CMPQ(groups, most)
		b.CMOVQGT(most, groups)
	}
	b.SHLQ(operand.U8(bits.TrailingZeros(groupSteps/unrolledSteps)), groups)
	b.MOVQ(groups, asm.At(b.frame, b.partAt))
}

// argument returns the argument of that name in a register of its own.
func (b *strip) argument(name string) reg.GPVirtual {
	v := b.GP64()
	b.MOVQ(b.Argument(name), v)
	return v
}

// pointers writes where each of n rows or columns begins, and as many more as
// make most: the last repeated.
func (b *strip) pointers(label string, to int, first, stride, n reg.GPVirtual, most operand.Op) {
	next, i := b.GP64(), b.GP64()
	b.XORQ(i, i)
	b.Label(label)
	b.MOVQ(first, operand.Mem{Base: b.frame, Index: i, Scale: 8, Disp: to})
	b.LEAQ(operand.Mem{Base: first, Index: stride, Scale: 1}, next)
	b.INCQ(i)
	b.CMPQ(i, n)
	b.CMOVQLT(next, first)
	b.CMPQ(i, most)
	b.JLT(operand.LabelRef(label))
}

// inRow returns what is at a position in row r.
func (b *strip) inRow(r int, position reg.Register) operand.Mem {
	row := b.GP64()
	b.MOVQ(asm.At(b.frame, b.rowsAt+8*r), row)
	return operand.Mem{Base: row, Index: position, Scale: 1}
}

// copyHalves brings the fp16 scales of the rows together. They go through
// memory: shuffles would take the port that products need.
func (b *strip) copyHalves() {
	position, half := b.argument("scaleAt"), b.GP32()
	b.ADDQ(b.position, position)
	for r := range stripRows {
		b.MOVWLZX(b.inRow(r, position), half)
		b.MOVW(half.As16(), asm.At(b.frame, b.halvesAt+2*r))
	}
}

// expand writes the codes of a block as bytes.
func (b *strip) expand() {
	codes, left := b.GP64(), b.GP64()
	b.LEAQ(asm.At(b.frame, b.codesAt), codes)
	if !b.ternary {
		b.MOVQ(b.Argument("groups"), left)
		b.Label("expand")
		if b.tile {
			b.expandDwords(codes)
		} else {
			b.expandGroup(codes)
		}
		b.DECQ(left)
		b.JNZ(operand.LabelRef("expand"))
		return
	}
	b.LEAQ(asm.At(b.position, unitBytes), left) // the end of the block
	b.Label("expand")
	rest := b.GP64()
	b.MOVQ(b.Argument("rowBytes"), rest)
	b.SUBQ(b.position, rest)
	b.JLE(operand.LabelRef("expanded"))
	b.CMPQ(rest, operand.I32(groupBytes))
	b.JGE(operand.LabelRef("whole"))
	b.padRows(rest)
	b.Label("whole")
	b.expandGroup(codes)
	b.CMPQ(b.position, left)
	b.JLT(operand.LabelRef("expand"))
	b.Label("expanded")
}

// padRows copies the last bytes of each row, fewer than a group, and lets the
// rows end there.
func (b *strip) padRows(rest reg.GPVirtual) {
	row, tail, r, i, zero, dword := b.GP64(), b.GP64(), b.GP64(), b.GP64(), b.XMM(), b.GP32()
	b.Clear(zero)
	b.LEAQ(asm.At(b.frame, b.tailsAt), tail)
	b.XORQ(r, r)
	b.Label("pad")
	b.MOVQ(operand.Mem{Base: b.frame, Index: r, Scale: 8, Disp: b.rowsAt}, row)
	b.ADDQ(b.position, row)
	b.VMOVDQU(zero, asm.At(tail, 0))
	b.XORQ(i, i)
	b.Label("dword")
	b.MOVL(operand.Mem{Base: row, Index: i, Scale: 1}, dword)
	b.MOVL(dword, operand.Mem{Base: tail, Index: i, Scale: 1})
	b.ADDQ(operand.I32(4), i)
	b.CMPQ(i, rest)
	b.JLT(operand.LabelRef("dword"))
	b.MOVQ(tail, row)
	b.SUBQ(b.position, row)
	b.MOVQ(row, operand.Mem{Base: b.frame, Index: r, Scale: 8, Disp: b.rowsAt})
	b.ADDQ(operand.I32(groupBytes), tail)
	b.INCQ(r)
	b.CMPQ(r, operand.I32(stripRows))
	b.JLT(operand.LabelRef("pad"))
}

// expandGroup writes 16 bytes of each row as 64, and goes on to the next.
func (b *strip) expandGroup(codes reg.GPVirtual) {
	for h := range 2 {
		var v [4]reg.VecVirtual
		for i := range v {
			v[i] = b.YMM()
			// A broadcast sets all of the register: avo keeps nothing of it.
			b.VBROADCASTI128(b.inRow(8*h+i, b.position), v[i])
			b.VINSERTI128(operand.U8(1), b.inRow(8*h+4+i, b.position), v[i], v[i])
		}
		for d, w := range b.Transpose(v) {
			b.expandCodes(w, codes, d, h)
		}
	}
	b.nextGroup(codes, groupBytes)
}

// expandDwords writes 4 dwords of 16 rows of a tile as expandGroup does.
func (b *strip) expandDwords(codes reg.GPVirtual) {
	for d := range quadDwords {
		for h := range 2 {
			w := b.YMM()
			b.VMOVDQU(asm.At(b.position, dwordBytes*d+32*h), w)
			b.expandCodes(w, codes, d, h)
		}
	}
	b.nextGroup(codes, quadDwords*dwordBytes)
}

// expandCodes writes the codes of dword d of 8 rows, half h of the strip.
func (b *strip) expandCodes(w reg.VecVirtual, codes reg.GPVirtual, d, h int) {
	for j := range 4 {
		t := w
		if j > 0 {
			t = b.YMM()
			b.VPSRLD(operand.U8(2*j), w, t)
		}
		masked := b.YMM()
		b.VPAND(b.mask, t, masked)
		b.VMOVDQU(masked, asm.At(codes, stepCodes*(4*d+j)+32*h))
	}
}

// nextGroup goes to the codes so many bytes further.
func (b *strip) nextGroup(codes reg.GPVirtual, bytes int) {
	for line := range stripRows * groupBytes / 64 {
		b.PREFETCHT0(asm.At(b.ahead, 64*line))
	}
	b.ADDQ(operand.I32(stripRows*groupBytes), b.ahead)
	b.ADDQ(operand.I32(bytes), b.position)
	b.ADDQ(operand.I32(groupSteps*stepCodes), codes)
}

// multiply adds the block's products to the results of all columns.
func (b *strip) multiply() {
	panel, results, scales, cols, stride := b.GP64(), b.GP64(), b.GP64(), b.GP64(), b.GP64()
	b.MOVQ(b.panels, panel)
	b.LEAQ(asm.At(b.frame, b.resultsAt), results)
	if !b.ternary {
		b.LEAQ(asm.At(b.frame, b.scalesAt), scales)
	}
	b.MOVQ(b.Argument("cols"), cols)
	b.MOVQ(b.Argument("panelStride"), stride)
	b.Label("columns")
	b.multiplyColumns(panel, results, scales)
	b.ADDQ(stride, panel)
	b.ADDQ(operand.I32(64*sumCols), results)
	if !b.ternary {
		b.ADDQ(operand.I32(8*sumCols), scales)
	}
	b.SUBQ(operand.I32(sumCols), cols)
	b.JG(operand.LabelRef("columns"))
}

// multiplyColumns takes the columns of a panel.
func (b *strip) multiplyColumns(panel, results, scales reg.GPVirtual) {
	var acc [sumCols][2]reg.VecVirtual
	for c := range acc {
		acc[c] = [2]reg.VecVirtual{b.YMM(), b.YMM()}
	}
	x, codes, left := b.GP64(), b.GP64(), b.GP64()
	b.LEAQ(asm.At(panel, stepBytes), x)
	b.LEAQ(asm.At(b.frame, b.codesAt), codes)
	b.Label("part")
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.start(sum, asm.At(panel, 4*(i/2))) })
	if b.ternary {
		b.MOVQ(operand.I32(unitBytes/unrolledSteps), left)
	} else {
		b.MOVQ(asm.At(b.frame, b.partAt), left)
	}
	b.addSteps(acc, x, codes, left)
	eachSum(acc, func(sum reg.VecVirtual, _ int) { b.widen(sum) })
	if b.parts() {
		b.joinParts(acc, codes, left)
	}
	for c := range acc {
		for _, sum := range acc[c] {
			b.bias(sum, asm.At(panel, 4*c))
		}
		b.addResults(acc[c], asm.At(results, 64*c), asm.At(scales, 8*c))
	}
}

// parts says whether a block may have two parts. Those of ternary formats have one:
// codes are 2 at the most, and 64 steps of 2·2·127 are 32,512.
func (b *strip) parts() bool { return !b.ternary && b.part() > 0 }

// joinParts adds the sums of a second part to those of the first, which are
// parked while it is summed up.
func (b *strip) joinParts(acc [sumCols][2]reg.VecVirtual, codes, end reg.GPVirtual) {
	b.CMPQ(b.Argument("groups"), operand.I32(b.part()))
	b.JLE(operand.LabelRef("summed"))
	b.LEAQ(asm.At(b.frame, b.codesAt+unitBytes*stepCodes), end)
	b.CMPQ(codes, end)
	b.JEQ(operand.LabelRef("second"))
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.VMOVDQU(sum, asm.At(b.frame, b.parkedAt+32*i)) })
	b.JMP(operand.LabelRef("part"))
	b.Label("second")
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.VPADDD(asm.At(b.frame, b.parkedAt+32*i), sum, sum) })
	b.Label("summed")
}

// eachSum calls do with the sums of a panel, number i of them.
func eachSum(acc [sumCols][2]reg.VecVirtual, do func(sum reg.VecVirtual, i int)) {
	for c := range acc {
		for h, sum := range acc[c] {
			do(sum, 2*c+h)
		}
	}
}

// addSteps adds the products of rounds of steps. Behind the last column activations
// are zero, and codes what they were.
func (b *strip) addSteps(acc [sumCols][2]reg.VecVirtual, x, codes, rounds reg.GPVirtual) {
	b.Label("steps")
	for s := range unrolledSteps {
		var w [2]reg.VecVirtual
		for h := range w {
			w[h] = b.YMM()
			b.load(asm.At(codes, stepCodes*s+32*h), w[h])
		}
		for c := range acc {
			v := b.YMM()
			b.VPBROADCASTD(asm.At(x, stepBytes*s+4*c), v)
			for h := range w {
				b.dot(v, w[h], acc[c][h])
			}
		}
	}
	b.ADDQ(operand.I32(unrolledSteps*stepBytes), x)
	b.ADDQ(operand.I32(unrolledSteps*stepCodes), codes)
	b.DECQ(rounds)
	b.JNZ(operand.LabelRef("steps"))
}

// addResults adds the sums of a column, or the terms that they make.
func (b *strip) addResults(sums [2]reg.VecVirtual, results, scale operand.Mem) {
	if b.ternary {
		for h, sum := range sums {
			b.VPADDD(results.Offset(32*h), sum, sum)
			b.VMOVDQU(sum, results.Offset(32*h))
		}
		return
	}
	column := b.GP64()
	b.MOVQ(scale, column)
	for h, sum := range sums {
		scale := b.timesBroadcast(b.weights[h], operand.Mem{Base: column, Index: b.scale, Scale: 1})
		b.VCVTDQ2PS(sum, sum)
		b.VMULPS(scale, sum, sum)
		b.VADDPS(results.Offset(32*h), sum, sum)
		b.VMOVDQU(sum, results.Offset(32*h))
	}
}

// nextBlock goes to the block that follows, if there is one.
func (b *strip) nextBlock() {
	if b.ternary {
		b.ADDQ(operand.I32((1+unitBytes)*stepBytes), b.panels)
		b.CMPQ(b.position, b.Argument("rowBytes"))
		b.JLT(operand.LabelRef("block"))
		return
	}
	b.ADDQ(asm.At(b.frame, b.panelAt), b.panels)
	if b.tile {
		b.ADDQ(operand.I32(tileScales), b.position)
	} else {
		b.ADDQ(b.Argument("gap"), b.position)
	}
	b.MOVQ(asm.At(b.frame, b.scaleAt), b.scale)
	b.ADDQ(b.Argument("scaleStep"), b.scale)
	b.MOVQ(b.scale, asm.At(b.frame, b.scaleAt))
	b.ANDQ(operand.I32(-4), b.scale)
	b.DECQ(b.Argument("blocks"))
	b.JNZ(operand.LabelRef("block"))
}

// store writes the results of a strip.
func (b *strip) store() {
	dst, stride, rows, cols := b.argument("dst"), b.argument("dstStride"), b.argument("rows"), b.argument("cols")
	results, scales := b.GP64(), b.GP64()
	weight, zero := b.YMM(), b.YMM()
	b.LEAQ(asm.At(b.frame, b.resultsAt), results)
	if b.ternary {
		b.MOVQ(b.Argument("scales"), scales)
		b.VBROADCASTSS(b.Argument("scale"), weight)
		b.Clear(zero)
	}
	b.Label("store")
	var v [2]reg.VecVirtual
	var scale reg.VecVirtual
	if b.ternary {
		scale = b.timesBroadcast(weight, asm.At(scales, 0))
		b.ADDQ(operand.I32(4), scales)
	}
	for h := range v {
		v[h] = b.YMM()
		b.load(asm.At(results, 32*h), v[h])
		if b.ternary { // the generic path adds its only term to 0
			b.VCVTDQ2PS(v[h], v[h])
			b.VMULPS(scale, v[h], v[h])
			b.VADDPS(zero, v[h], v[h])
		}
	}
	b.CMPQ(rows, operand.I32(stripRows))
	b.JLT(operand.LabelRef("few"))
	for h := range v {
		b.VMOVDQU(v[h], asm.At(dst, 32*h))
	}
	b.JMP(operand.LabelRef("stored"))
	b.Label("few")
	for h := range v {
		b.VMOVDQU(v[h], asm.At(results, 32*h))
	}
	i, y := b.GP64(), b.GP32()
	b.XORQ(i, i)
	b.Label("row")
	b.MOVL(operand.Mem{Base: results, Index: i, Scale: 4}, y)
	b.MOVL(y, operand.Mem{Base: dst, Index: i, Scale: 4})
	b.INCQ(i)
	b.CMPQ(i, rows)
	b.JLT(operand.LabelRef("row"))
	b.Label("stored")
	b.ADDQ(stride, dst)
	b.ADDQ(operand.I32(64), results)
	b.DECQ(cols)
	b.JNZ(operand.LabelRef("store"))
}

// dpStrip adds with VPDPBUSD.
type dpStrip struct{ *generator }

func (dpStrip) isa() string                                      { return "AVXVNNI" }
func (dpStrip) part() int                                        { return 0 }
func (e dpStrip) start(acc reg.VecVirtual, minusSum operand.Mem) { e.VPBROADCASTD(minusSum, acc) }
func (e dpStrip) dot(x, codes, acc reg.VecVirtual)               { e.VEXDPBUSD(x, codes, acc) }
func (dpStrip) widen(acc reg.VecVirtual)                         {}
func (dpStrip) bias(acc reg.VecVirtual, minusSum operand.Mem)    {}

// wordStrip adds with VPMADDUBSW in int16.
type wordStrip struct{ *generator }

func (wordStrip) isa() string { return "AVX2" }

// part keeps sums below 2¹⁵: with codes up to 3 a step adds up to 2·3·127 = 762,
// and there may be 43.
func (wordStrip) part() int { return 2 }

func (e wordStrip) start(acc reg.VecVirtual, minusSum operand.Mem) { e.Clear(acc) }

func (e wordStrip) dot(x, codes, acc reg.VecVirtual) {
	products := e.YMM()
	e.VPMADDUBSW(x, codes, products)
	e.VPADDW(products, acc, acc)
}

func (e wordStrip) widen(acc reg.VecVirtual) { e.VPMADDWD(e.wordOnes, acc, acc) }

func (e wordStrip) bias(acc reg.VecVirtual, minusSum operand.Mem) {
	less := e.YMM()
	e.VPBROADCASTD(minusSum, less)
	e.VPADDD(less, acc, acc)
}

// timesBroadcast returns v times the float32 at m.
func (g *generator) timesBroadcast(v reg.VecVirtual, m operand.Mem) reg.VecVirtual {
	out := g.YMM()
	g.VBROADCASTSS(m, out)
	g.VMULPS(v, out, out)
	return out
}
