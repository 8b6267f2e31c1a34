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
	unrolledSteps = 2
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
	shift := g.GP64()
	g.MOVQ(operand.I32(4), shift)
	g.Label("shift")
	var v [4]reg.VecVirtual
	for c := range v {
		v[c] = g.XMM()
		g.VMOVDQU(operand.Mem{Base: column[c], Index: position, Scale: 1}, v[c])
	}
	for d, row := range g.Transpose(v) {
		g.VMOVDQU(row, asm.At(dst, 4*stepBytes*d))
		g.VPMADDUBSW(row, ones, row)
		g.VPADDW(row, words, words)
	}
	g.ADDQ(operand.I32(unitBytes), position)
	g.ADDQ(operand.I32(stepBytes), dst)
	g.DECQ(shift)
	g.JNZ(operand.LabelRef("shift"))
	g.SUBQ(operand.I32(4*unitBytes), position)
	g.VPMADDWD(minus, words, words)
	g.VPADDD(words, sum, sum)
	g.ADDQ(operand.I32((groupSteps-4)*stepBytes), dst)
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
	g *generator
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
	b := &strip{g: g, stripTarget: t, ternary: ternary}
	b.declare()
	b.generate()
}

// tileStrip writes the kernel of the layout codes64.
func (g *generator) tileStrip(t stripTarget) {
	b := &strip{g: g, stripTarget: t, tile: true}
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

	b.g.Label("block")
	if b.rowsApart() && !b.ternary {
		b.copyHalves()
	}
	b.expand()
	if !b.ternary {
		halves := b.halves()
		for h := range b.weights {
			b.weights[h] = b.g.YMM()
			b.g.VCVTPH2PS(halves.Offset(16*h), b.weights[h])
		}
	}
	b.multiply()
	b.nextBlock()
	b.store()
	b.g.VZEROUPPER()
	b.g.RET()
}

// rowsApart says whether each row has a pointer of its own.
func (b *strip) rowsApart() bool { return !b.tile }

// halves returns where the fp16 scales of the block lie together. A tile has them
// behind its codes: 16 rows further, codes are 64 bytes further and scales 32.
func (b *strip) halves() operand.Mem {
	if b.rowsApart() {
		return asm.At(b.frame, b.halvesAt)
	}
	at, less := b.g.GP64(), b.argument("vector")
	b.g.MOVQ(b.position, at)
	b.g.SHLQ(operand.U8(5), less)
	b.g.SUBQ(less, at)
	return asm.At(at, 0)
}

func (b *strip) declare() {
	declare := func(name, rows string, doc, loops []string, arguments string) {
		doc = append([]string{
			fmt.Sprintf("%s multiplies up to %d %s", name, stripRows, rows),
			fmt.Sprintf("that start stride bytes apart with up to %d columns, in panels of 4. Strides are in", stripCols),
			"bytes.",
		}, doc...)
		b.g.Func(name, "func(dst *float32, dstStride int, w *byte, stride, rows, "+arguments+" int)", append(doc, loops...)...)
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
	b.g.Attributes(0) // too large for NOSPLIT
	frame := b.g.AllocLocal(size + 64)
	b.frame = b.g.GP64()
	b.g.LEAQ(frame.Offset(63), b.frame)
	b.g.ANDQ(operand.I32(-64), b.frame)
}

// prepare begins a strip.
func (b *strip) prepare() {
	b.position, b.scale, b.ahead = b.g.GP64(), b.g.GP64(), b.g.GP64()
	cols := b.argument("cols")
	if b.rowsApart() {
		b.startRows()
	} else {
		b.startTile()
	}
	if !b.ternary {
		most := b.g.GP64() // columns, those of a panel that are not there included
		b.g.LEAQ(asm.At(cols, sumCols-1), most)
		b.g.ANDQ(operand.I32(-sumCols), most)
		b.pointers("scales", b.scalesAt, b.argument("scales"), b.argument("scaleStride"), cols, most)
	}
	results, zero := b.g.GP64(), b.g.YMM()
	b.g.Clear(zero)
	b.g.LEAQ(asm.At(b.frame, b.resultsAt), results)
	b.g.Label("zero")
	for i := range 2 * sumCols {
		b.g.VMOVDQU(zero, asm.At(results, 32*i))
	}
	b.g.ADDQ(operand.I32(64*sumCols), results)
	b.g.SUBQ(operand.I32(sumCols), cols)
	b.g.JG(operand.LabelRef("zero"))

	if !b.ternary {
		b.g.XORQ(b.scale, b.scale)
		b.g.MOVQ(b.scale, asm.At(b.frame, b.scaleAt))
		b.layGroups()
	}
	b.panels = b.argument("panel")
	b.mask = b.g.YMM()
	b.g.load(b.g.masks[0], b.mask)
}

// startRows points to rows that are apart.
func (b *strip) startRows() {
	w, stride, rows := b.argument("w"), b.argument("stride"), b.argument("rows")
	b.g.MOVQ(stride, b.ahead)
	b.g.IMULQ(rows, b.ahead)
	b.g.ADDQ(w, b.ahead) // the next strip
	b.pointers("rows", b.rowsAt, w, stride, rows, operand.I32(stripRows))
	b.g.XORQ(b.position, b.position)
}

// startTile points to 16 rows of a tile. A quarter of the next tile is fetched ahead.
func (b *strip) startTile() {
	data, vector, codes := b.argument("data"), b.argument("vector"), b.argument("groups")
	b.g.MOVQ(vector, b.position)
	b.g.SHLQ(operand.U8(6), b.position)
	b.g.ADDQ(data, b.position)
	b.g.SHLQ(operand.U8(bits.TrailingZeros(quadDwords*dwordBytes)), codes)
	b.g.LEAQ(asm.At(codes, tileScales), b.ahead)
	b.g.SHRQ(operand.U8(2), codes)
	b.g.IMULQ(vector, codes)
	b.g.ADDQ(codes, b.ahead)
	b.g.IMULQ(b.g.Argument("blocks"), b.ahead)
	b.g.ADDQ(data, b.ahead)
}

// layGroups makes of a block's groups what the loops want of them.
func (b *strip) layGroups() {
	groups, panel, most := b.argument("groups"), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(groups, panel)
	b.g.SHLQ(operand.U8(bits.TrailingZeros(groupSteps*stepBytes)), panel)
	b.g.ADDQ(operand.I32(stepBytes), panel)
	b.g.MOVQ(panel, asm.At(b.frame, b.panelAt))
	if b.parts() {
		b.g.MOVQ(operand.I32(b.part()), most)
		b.g.CMPQ(groups, most)
		b.g.CMOVQGT(most, groups)
	}
	b.g.SHLQ(operand.U8(bits.TrailingZeros(groupSteps/unrolledSteps)), groups)
	b.g.MOVQ(groups, asm.At(b.frame, b.partAt))
}

// argument returns the argument of that name in a register of its own.
func (b *strip) argument(name string) reg.GPVirtual {
	v := b.g.GP64()
	b.g.MOVQ(b.g.Argument(name), v)
	return v
}

// pointers writes where each of n rows or columns begins, and as many more as
// make most: the last repeated.
func (b *strip) pointers(label string, to int, first, stride, n reg.GPVirtual, most operand.Op) {
	next, i := b.g.GP64(), b.g.GP64()
	b.g.XORQ(i, i)
	b.g.Label(label)
	b.g.MOVQ(first, operand.Mem{Base: b.frame, Index: i, Scale: 8, Disp: to})
	b.g.LEAQ(operand.Mem{Base: first, Index: stride, Scale: 1}, next)
	b.g.INCQ(i)
	b.g.CMPQ(i, n)
	b.g.CMOVQLT(next, first)
	b.g.CMPQ(i, most)
	b.g.JLT(operand.LabelRef(label))
}

// inRow returns what is at a position in row r.
func (b *strip) inRow(r int, position reg.Register) operand.Mem {
	row := b.g.GP64()
	b.g.MOVQ(asm.At(b.frame, b.rowsAt+8*r), row)
	return operand.Mem{Base: row, Index: position, Scale: 1}
}

// copyHalves brings the fp16 scales of the rows together. They go through
// memory: shuffles would take the port that products need.
func (b *strip) copyHalves() {
	position, half := b.argument("scaleAt"), b.g.GP32()
	b.g.ADDQ(b.position, position)
	for r := range stripRows {
		b.g.MOVWLZX(b.inRow(r, position), half)
		b.g.MOVW(half.As16(), asm.At(b.frame, b.halvesAt+2*r))
	}
}

// expand writes the codes of a block as bytes.
func (b *strip) expand() {
	codes, left := b.g.GP64(), b.g.GP64()
	b.g.LEAQ(asm.At(b.frame, b.codesAt), codes)
	if !b.ternary {
		b.g.MOVQ(b.g.Argument("groups"), left)
		b.g.Label("expand")
		if b.tile {
			b.expandDwords(codes)
		} else {
			b.expandGroup(codes)
		}
		b.g.DECQ(left)
		b.g.JNZ(operand.LabelRef("expand"))
		return
	}
	b.g.LEAQ(asm.At(b.position, unitBytes), left) // the end of the block
	b.g.Label("expand")
	rest := b.g.GP64()
	b.g.MOVQ(b.g.Argument("rowBytes"), rest)
	b.g.SUBQ(b.position, rest)
	b.g.JLE(operand.LabelRef("expanded"))
	b.g.CMPQ(rest, operand.I32(groupBytes))
	b.g.JGE(operand.LabelRef("whole"))
	b.padRows(rest)
	b.g.Label("whole")
	b.expandGroup(codes)
	b.g.CMPQ(b.position, left)
	b.g.JLT(operand.LabelRef("expand"))
	b.g.Label("expanded")
}

// padRows copies the last bytes of each row, fewer than a group, and lets the
// rows end there.
func (b *strip) padRows(rest reg.GPVirtual) {
	row, tail, r, i, zero, dword := b.g.GP64(), b.g.GP64(), b.g.GP64(), b.g.GP64(), b.g.XMM(), b.g.GP32()
	b.g.Clear(zero)
	b.g.LEAQ(asm.At(b.frame, b.tailsAt), tail)
	b.g.XORQ(r, r)
	b.g.Label("pad")
	b.g.MOVQ(operand.Mem{Base: b.frame, Index: r, Scale: 8, Disp: b.rowsAt}, row)
	b.g.ADDQ(b.position, row)
	b.g.VMOVDQU(zero, asm.At(tail, 0))
	b.g.XORQ(i, i)
	b.g.Label("dword")
	b.g.MOVL(operand.Mem{Base: row, Index: i, Scale: 1}, dword)
	b.g.MOVL(dword, operand.Mem{Base: tail, Index: i, Scale: 1})
	b.g.ADDQ(operand.I32(4), i)
	b.g.CMPQ(i, rest)
	b.g.JLT(operand.LabelRef("dword"))
	b.g.MOVQ(tail, row)
	b.g.SUBQ(b.position, row)
	b.g.MOVQ(row, operand.Mem{Base: b.frame, Index: r, Scale: 8, Disp: b.rowsAt})
	b.g.ADDQ(operand.I32(groupBytes), tail)
	b.g.INCQ(r)
	b.g.CMPQ(r, operand.I32(stripRows))
	b.g.JLT(operand.LabelRef("pad"))
}

// expandGroup writes 16 bytes of each row as 64, and goes on to the next.
func (b *strip) expandGroup(codes reg.GPVirtual) {
	for h := range 2 {
		var v [4]reg.VecVirtual
		for i := range v {
			v[i] = b.g.YMM()
			// A broadcast sets all of the register: avo keeps nothing of it.
			b.g.VBROADCASTI128(b.inRow(8*h+i, b.position), v[i])
			b.g.VINSERTI128(operand.U8(1), b.inRow(8*h+4+i, b.position), v[i], v[i])
		}
		for d, w := range b.g.Transpose(v) {
			b.expandCodes(w, codes, d, h)
		}
	}
	b.nextGroup(codes, groupBytes)
}

// expandDwords writes 4 dwords of 16 rows of a tile as expandGroup does.
func (b *strip) expandDwords(codes reg.GPVirtual) {
	for d := range quadDwords {
		for h := range 2 {
			w := b.g.YMM()
			b.g.VMOVDQU(asm.At(b.position, dwordBytes*d+32*h), w)
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
			t = b.g.YMM()
			b.g.VPSRLD(operand.U8(2*j), w, t)
		}
		masked := b.g.YMM()
		b.g.VPAND(b.mask, t, masked)
		b.g.VMOVDQU(masked, asm.At(codes, stepCodes*(4*d+j)+32*h))
	}
}

// nextGroup goes to the codes so many bytes further.
func (b *strip) nextGroup(codes reg.GPVirtual, bytes int) {
	for line := range stripRows * groupBytes / 64 {
		b.g.PREFETCHT0(asm.At(b.ahead, 64*line))
	}
	b.g.ADDQ(operand.I32(stripRows*groupBytes), b.ahead)
	b.g.ADDQ(operand.I32(bytes), b.position)
	b.g.ADDQ(operand.I32(groupSteps*stepCodes), codes)
}

// multiply adds the block's products to the results of all columns.
func (b *strip) multiply() {
	panel, results, scales, cols, stride := b.g.GP64(), b.g.GP64(), b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.MOVQ(b.panels, panel)
	b.g.LEAQ(asm.At(b.frame, b.resultsAt), results)
	if !b.ternary {
		b.g.LEAQ(asm.At(b.frame, b.scalesAt), scales)
	}
	b.g.MOVQ(b.g.Argument("cols"), cols)
	b.g.MOVQ(b.g.Argument("panelStride"), stride)
	b.g.Label("columns")
	b.multiplyColumns(panel, results, scales)
	b.g.ADDQ(stride, panel)
	b.g.ADDQ(operand.I32(64*sumCols), results)
	if !b.ternary {
		b.g.ADDQ(operand.I32(8*sumCols), scales)
	}
	b.g.SUBQ(operand.I32(sumCols), cols)
	b.g.JG(operand.LabelRef("columns"))
}

// multiplyColumns takes the columns of a panel.
func (b *strip) multiplyColumns(panel, results, scales reg.GPVirtual) {
	var acc [sumCols][2]reg.VecVirtual
	for c := range acc {
		acc[c] = [2]reg.VecVirtual{b.g.YMM(), b.g.YMM()}
	}
	x, codes, left := b.g.GP64(), b.g.GP64(), b.g.GP64()
	b.g.LEAQ(asm.At(panel, stepBytes), x)
	b.g.LEAQ(asm.At(b.frame, b.codesAt), codes)
	b.g.Label("part")
	eachSum(acc, func(sum reg.VecVirtual, i int) { b.start(sum, asm.At(panel, 4*(i/2))) })
	if b.ternary {
		b.g.MOVQ(operand.I32(unitBytes/unrolledSteps), left)
	} else {
		b.g.MOVQ(asm.At(b.frame, b.partAt), left)
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
	b.g.CMPQ(b.g.Argument("groups"), operand.I32(b.part()))
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

// addResults adds the sums of a column, or the terms that they make.
func (b *strip) addResults(sums [2]reg.VecVirtual, results, scale operand.Mem) {
	if b.ternary {
		for h, sum := range sums {
			b.g.VPADDD(results.Offset(32*h), sum, sum)
			b.g.VMOVDQU(sum, results.Offset(32*h))
		}
		return
	}
	column := b.g.GP64()
	b.g.MOVQ(scale, column)
	for h, sum := range sums {
		scale := b.g.timesBroadcast(b.weights[h], operand.Mem{Base: column, Index: b.scale, Scale: 1})
		b.g.VCVTDQ2PS(sum, sum)
		b.g.VMULPS(scale, sum, sum)
		b.g.VADDPS(results.Offset(32*h), sum, sum)
		b.g.VMOVDQU(sum, results.Offset(32*h))
	}
}

// nextBlock goes to the block that follows, if there is one.
func (b *strip) nextBlock() {
	if b.ternary {
		b.g.ADDQ(operand.I32((1+unitBytes)*stepBytes), b.panels)
		b.g.CMPQ(b.position, b.g.Argument("rowBytes"))
		b.g.JLT(operand.LabelRef("block"))
		return
	}
	b.g.ADDQ(asm.At(b.frame, b.panelAt), b.panels)
	if b.tile {
		b.g.ADDQ(operand.I32(tileScales), b.position)
	} else {
		b.g.ADDQ(b.g.Argument("gap"), b.position)
	}
	b.g.MOVQ(asm.At(b.frame, b.scaleAt), b.scale)
	b.g.ADDQ(b.g.Argument("scaleStep"), b.scale)
	b.g.MOVQ(b.scale, asm.At(b.frame, b.scaleAt))
	b.g.ANDQ(operand.I32(-4), b.scale)
	b.g.DECQ(b.g.Argument("blocks"))
	b.g.JNZ(operand.LabelRef("block"))
}

// store writes the results of a strip.
func (b *strip) store() {
	dst, stride, rows, cols := b.argument("dst"), b.argument("dstStride"), b.argument("rows"), b.argument("cols")
	results, scales := b.g.GP64(), b.g.GP64()
	weight, zero := b.g.YMM(), b.g.YMM()
	b.g.LEAQ(asm.At(b.frame, b.resultsAt), results)
	if b.ternary {
		b.g.MOVQ(b.g.Argument("scales"), scales)
		b.g.VBROADCASTSS(b.g.Argument("scale"), weight)
		b.g.Clear(zero)
	}
	b.g.Label("store")
	var v [2]reg.VecVirtual
	var scale reg.VecVirtual
	if b.ternary {
		scale = b.g.timesBroadcast(weight, asm.At(scales, 0))
		b.g.ADDQ(operand.I32(4), scales)
	}
	for h := range v {
		v[h] = b.g.YMM()
		b.g.load(asm.At(results, 32*h), v[h])
		if b.ternary { // the generic path adds its only term to 0
			b.g.VCVTDQ2PS(v[h], v[h])
			b.g.VMULPS(scale, v[h], v[h])
			b.g.VADDPS(zero, v[h], v[h])
		}
	}
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
