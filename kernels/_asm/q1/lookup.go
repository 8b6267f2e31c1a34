package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The layout rows64: 64 rows × 128 columns are 16 vectors of 64 bytes, each the
// next eight columns of every row, and 64 fp16 scales. Two tables of 16 bytes
// belong to every four columns.
const (
	lookupRows       = 64
	lookupBits       = 16 * 64
	lookupBlockBytes = lookupBits + 2*lookupRows
	lookupTables     = 2 * 16 // bytes for four columns
	lookupVector     = 32     // VPSHUFB looks up a nibble of as many rows: half of them
	partBytes        = 64     // from the results of the first half's first rows to those of the second's
	groupBits        = 4 * 64 // bytes of 32 columns
	groupTables      = 8 * lookupTables
	// lookupBias makes the signed sum of four activations positive.
	lookupBias = 4 * 127
)

// lookup writes the kernel for one scale in 128 columns, or in 32.
func lookup(p *asm.Program, per32 bool) {
	name := "q1Lookup128AVX2"
	doc := []string{
		name + " multiplies rows of the layout rows64 with one column, whose scale is",
		"that of 128 columns or, if scaleStep is 0 and not 4, of the row:",
		"",
		"\tfor i := range rows {",
		"\t\tdst[i] = 0",
		"\t\tfor b := range blocks {",
		"\t\t\tS := int32(0)",
		"\t\t\tfor k := range 128 {",
		"\t\t\t\tS += (2*bit(i, 128*b+k) - 1) * q[128*b+k]",
		"\t\t\t}",
		"\t\t\tdst[i] += float32(float32(scale(i, b)*scales[b*scaleStep/4]) * float32(S))",
		"\t\t}",
		"\t}",
		"",
		"tables are those that q1TablesAVX2 makes of q.",
	}
	if per32 {
		name = "q1Lookup32AVX2"
		doc = []string{
			name + " is q1Lookup128AVX2 for a column under q8_32: what a block adds is",
			"float32(float32(scale(i, b)*Unit) * float32(Σ_g Shares[g]*S_g)), of its quantize.Span, of which scales is the",
			"first. scaleStep is 32.",
		}
	}
	p.Func(name, "func(dst *float32, data *byte, tables *int8, scales *float32, scaleStep, blocks, rows int)", doc...)
	k := &lookupKernel{ymmTarget: ymmTarget{p}, y: p.AllocLocal(4 * lookupRows)}
	dst := p.Load(p.Param("dst"), p.GP64())
	k.data = p.Load(p.Param("data"), p.GP64())
	rows := p.Load(p.Param("rows"), p.GP64())
	step := p.Load(p.Param("scaleStep"), p.GP64())
	k.tables, k.scales, k.part = p.GP64(), p.GP64(), p.GP64()
	left := p.GP64()
	k.low = k.everyWord(0x0f0f)
	k.weights = k.everyWord(32<<8 | 1)

	p.Label("tile")
	zero := k.vector()
	p.Clear(zero)
	for at := 0; at < 4*lookupRows; at += lookupVector {
		p.VMOVUPS(zero, k.y.Offset(at))
	}
	p.Load(p.Param("tables"), k.tables)
	p.Load(p.Param("scales"), k.scales)
	p.Load(p.Param("blocks"), left)

	p.Label("block")
	p.Prefetch(prefetchFurther, asm.Lines(operand.Mem{Base: k.data, Disp: prefetchAhead}, lookupBlockBytes)...)
	p.XORQ(k.part, k.part)
	p.Label("part")
	if per32 {
		k.addSpan()
	} else {
		k.addBlock()
	}
	p.SUBQ(operand.U32(lookupBits-lookupVector), k.data)
	p.SUBQ(operand.U32(32*lookupTables), k.tables)
	p.ADDQ(operand.Imm(partBytes), k.part)
	p.CMPQ(k.part, operand.Imm(64/lookupVector*partBytes))
	p.JNE(operand.LabelRef("part"))
	p.ADDQ(operand.U32(lookupBlockBytes-64), k.data)
	p.ADDQ(operand.U32(32*lookupTables), k.tables)
	p.ADDQ(step, k.scales)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("block"))

	p.CMPQ(rows, operand.Imm(lookupRows))
	p.JLT(operand.LabelRef("rest"))
	for at := 0; at < 4*lookupRows; at += lookupVector {
		v := k.vector()
		p.VMOVUPS(k.y.Offset(at), v)
		p.VMOVUPS(v, operand.Mem{Base: dst, Disp: at})
	}
	p.ADDQ(operand.U32(4*lookupRows), dst)
	p.SUBQ(operand.Imm(lookupRows), rows)
	p.JNZ(operand.LabelRef("tile"))
	p.VZEROUPPER()
	p.RET()

	p.Comment("The last tile has rows that only the layout has.")
	p.Label("rest")
	from, v := p.GP64(), p.GP32()
	p.XORQ(from, from)
	p.Label("row")
	p.MOVL(k.y.Idx(from, 4), v)
	p.MOVL(v, operand.Mem{Base: dst, Index: from, Scale: 4})
	p.INCQ(from)
	p.CMPQ(from, rows)
	p.JLT(operand.LabelRef("row"))
	p.VZEROUPPER()
	p.RET()
}

type lookupKernel struct {
	ymmTarget
	data, tables, scales reg.Register
	part                 reg.Register // bytes that the results of the rows' part are behind y
	y                    operand.Mem  // of the tile's rows, on the stack
	low, weights         reg.VecVirtual
}

// group looks 32 columns of a part of the rows up, the g-th from data and tables on. A sum of four
// activations, made positive, lies in the tables in two parts of five bits: eight of them fit in
// a byte.
func (k *lookupKernel) group(g int) [2]reg.VecVirtual {
	var sum [2]reg.VecVirtual // lower and upper parts
	for c := 4 * g; c < 4*g+4; c++ {
		w := k.vector()
		k.VMOVUPS(operand.Mem{Base: k.data, Disp: 64 * c}, w)
		for nibble := range 2 {
			index := k.vector()
			if nibble == 0 {
				k.VPAND(k.low, w, index)
			} else {
				k.VPSRLW(operand.Imm(4), w, index)
				k.VPAND(k.low, index, index)
			}
			for part := range sum {
				v := k.vector()
				k.VBROADCASTI128(operand.Mem{Base: k.tables, Disp: (2*c+nibble)*lookupTables + 16*part}, v)
				k.VPSHUFB(index, v, v)
				if sum[part] == nil {
					sum[part] = v
					continue
				}
				k.VPADDB(v, sum[part], sum[part])
			}
		}
	}
	var words [2]reg.VecVirtual
	for i := range words {
		words[i] = k.vector()
	}
	k.VPUNPCKLBW(sum[1], sum[0], words[0])
	k.VPUNPCKHBW(sum[1], sum[0], words[1])
	for _, w := range words {
		k.VPMADDUBSW(k.weights, w, w)
	}
	return words
}

// nextGroups goes on to the groups behind n, of as many as a block has.
func (k *lookupKernel) nextGroups(left reg.Register, n int, label string) {
	k.ADDQ(operand.U32(n*groupBits), k.data)
	k.ADDQ(operand.U32(n*groupTables), k.tables)
	k.DECQ(left)
	k.JNZ(operand.LabelRef(label))
}

// addBlock is y += float32(w·scale)·float32(sum − bias) for a part of the rows.
// The layout has put them so that each half of words is rows in sequence.
func (k *lookupKernel) addBlock() {
	less := k.everyWord(0x10000 - 32*lookupBias)
	var words [2]reg.VecVirtual
	for i := range words {
		words[i] = k.vector()
		k.VMOVDQA(less, words[i])
	}
	left := k.GP64()
	k.MOVQ(operand.U32(4), left)
	k.Label("group")
	for i, w := range k.group(0) {
		k.VPADDW(w, words[i], words[i])
	}
	k.nextGroups(left, 1, "group")
	for i, w := range words {
		for half := range 2 {
			sum := k.vector()
			k.widen(w, half, sum)
			k.addTerm(lookupRow(i, half), sum, operand.Mem{Base: k.scales})
		}
	}
}

// lookupRow is the first row of half of words i of the first part of the rows.
func lookupRow(i, half int) int { return 32*i + lookupVector/4*half }

// addTerm is y += float32(w·scale)·float32(sum) for eight rows of a part; data is behind their bits.
func (k *lookupKernel) addTerm(row int, sum reg.VecVirtual, activation operand.Mem) {
	scale, y := k.vector(), k.y.Offset(4*row).Idx(k.part, 1)
	k.VCVTPH2PS(operand.Mem{Base: k.data, Disp: 2 * row}, scale)
	ws := k.mulBroadcast(scale, activation)
	k.VCVTDQ2PS(sum, sum)
	k.VMULPS(ws, sum, sum)
	k.VADDPS(y, sum, sum)
	k.VMOVUPS(sum, y)
}

// addSpan is addBlock under q8_32, where words of two groups are multiplied with
// their shares at once.
func (k *lookupKernel) addSpan() {
	less := k.lessBias(k.scales)
	var totals [2][2]reg.VecVirtual // of words i: the lower and the upper four of each eight rows
	for i := range totals {
		for half := range totals[i] {
			totals[i][half] = k.vector()
			k.Program.Clear(totals[i][half])
		}
	}
	left := k.GP64()
	k.MOVQ(operand.U32(2), left)
	k.Label("pair")
	first, second := k.group(0), k.group(1)
	shares := k.pairOfShares(k.scales, 0)
	for i := range first {
		for half, sum := range k.pairs(first[i], second[i], shares) {
			k.VPADDD(sum, totals[i][half], totals[i][half])
		}
	}
	k.ADDQ(operand.Imm(8), k.scales)
	k.nextGroups(left, 2, "pair")
	k.SUBQ(operand.Imm(16), k.scales)
	for i := range totals {
		for half, sum := range k.inSequence(totals[i]) {
			k.VPADDD(less, sum, sum)
			k.addTerm(lookupRow(i, half), sum, span.unit(k.scales))
		}
	}
}

// pairOfShares returns two shares in every dword.
func (t ymmTarget) pairOfShares(spans reg.Register, pair int) reg.VecVirtual {
	v := t.YMM()
	t.VPBROADCASTQ(asm.At(spans, 8*pair), v)
	t.VPACKSSDW(v, v, v)
	return v
}

// pairs returns first·share + second·share, of words, in the order of VPUNPCKLWD and
// VPUNPCKHWD.
func (t ymmTarget) pairs(first, second, shares reg.VecVirtual) (sums [2]reg.VecVirtual) {
	sums[0], sums[1] = t.YMM(), t.YMM()
	t.VPUNPCKLWD(second, first, sums[0])
	t.VPUNPCKHWD(second, first, sums[1])
	for _, sum := range sums {
		t.VPMADDWD(shares, sum, sum)
	}
	return sums
}

// inSequence undoes the order of pairs.
func (t ymmTarget) inSequence(sums [2]reg.VecVirtual) (rows [2]reg.VecVirtual) {
	rows[0], rows[1] = t.YMM(), t.YMM()
	t.VPERM2I128(operand.Imm(0x20), sums[1], sums[0], rows[0])
	t.VPERM2I128(operand.Imm(0x31), sums[1], sums[0], rows[1])
	return rows
}

// lessBias returns what takes the bias of look-ups off a span's sums, in every dword.
func (t ymmTarget) lessBias(spans reg.Register) reg.VecVirtual {
	r, x, v := t.GP32(), t.XMM(), t.YMM()
	t.IMUL3L(operand.I32(-8*lookupBias), span.total(spans), r)
	t.VMOVD(r, x)
	t.VPBROADCASTD(x, v)
	return v
}

// widen sets dst to half of the int16 in w, as int32.
func (k *lookupKernel) widen(w reg.VecVirtual, half int, dst reg.VecVirtual) {
	part := w.AsX()
	if half == 1 {
		part = k.XMM()
		k.VEXTRACTI128(operand.Imm(1), w, part)
	}
	k.VPMOVSXWD(part, dst)
}

// everyWord returns v in every int16.
func (k *lookupKernel) everyWord(v uint16) reg.VecVirtual { return k.broadcast(uint32(v) * 0x00010001) }

// tables writes the makers of tables: of bytes, and of int16.
func tables(p *asm.Program) {
	p.Func("q1TablesAVX2", "func(dst, q *int8, n int)",
		"q1TablesAVX2 makes the two tables of every four of n activations, n a multiple of",
		"4 and not 0:",
		"",
		"\tfor g := range n / 4 {",
		"\t\tfor i := range 16 {",
		"\t\t\tsum := 508",
		"\t\t\tfor t := range 4 {",
		"\t\t\t\tsum += (2*(i>>t&1) - 1) * q[4*g+t]",
		"\t\t\t}",
		"\t\t\tdst[32*g+i] = sum % 32",
		"\t\t\tdst[32*g+16+i] = sum / 32",
		"\t\t}",
		"\t}")
	five := ymmTarget{p}.broadcast(0x001f001f)
	everyFour(p, "q1TableBias", func(sum reg.VecVirtual) {
		upper := p.YMM()
		p.VPSRLW(operand.Imm(5), sum, upper)
		p.VPAND(five, sum, sum)
		p.VPACKUSWB(upper, sum, sum)
		p.VPERMQ(operand.Imm(0b11011000), sum, sum)
	})
	p.Func("q1WordTablesAVX2", "func(dst, q *int8, n int)",
		"q1WordTablesAVX2 makes a table of int16 of every four of n activations, n a multiple",
		"of 4 and not 0: as q1TablesAVX2, but for",
		"",
		"\t\t\tsum := 0",
		"\t\t\tint16(dst[32*g+2*i:]) = sum")
	everyFour(p, "q1WordTableBias", func(reg.VecVirtual) {})
}

// everyFour sums four activations in 16 ways, adds the bias, and stores what
// finish makes of it.
func everyFour(p *asm.Program, bias string, finish func(sum reg.VecVirtual)) {
	dst := p.Load(p.Param("dst"), p.GP64())
	q := p.Load(p.Param("q"), p.GP64())
	n := p.Load(p.Param("n"), p.GP64())
	y := ymmTarget{p}
	load := func(name string, at int) reg.VecVirtual {
		v := p.YMM()
		p.VMOVDQU(operand.NewDataAddr(operand.NewStaticSymbol(name), at), v)
		return v
	}
	signs := [2]reg.VecVirtual{load("q1TableSigns", 0), load("q1TableSigns", 32)}
	add := load(bias, 0)
	unsigned, ones := y.broadcast(0x80808080), y.broadcast(0x00010001)
	p.Label("four")
	x := p.YMM()
	p.VPBROADCASTD(operand.Mem{Base: q}, x)
	p.Comment("As q + 128, which VPMADDUBSW wants; the bias takes ±128 off again.")
	p.VPXOR(unsigned, x, x)
	var sum [2]reg.VecVirtual
	for i := range sum {
		sum[i] = p.YMM()
		p.VPMADDUBSW(signs[i], x, sum[i])
		p.VPMADDWD(ones, sum[i], sum[i])
	}
	p.VPACKSSDW(sum[1], sum[0], sum[0])
	p.VPADDW(add, sum[0], sum[0])
	finish(sum[0])
	p.VMOVDQU(sum[0], operand.Mem{Base: dst})
	p.ADDQ(operand.Imm(4), q)
	p.ADDQ(operand.Imm(lookupTables), dst)
	p.SUBQ(operand.Imm(4), n)
	p.JNZ(operand.LabelRef("four"))
	p.VZEROUPPER()
	p.RET()
}

// declareTables declares the signs of the entries, in the order that
// VPACKSSDW puts right, and what is to be added to Σ ±(q+128).
func declareTables(p *asm.Program) {
	p.StaticGlobal("q1TableSigns")
	p.DataAttributes(readOnly)
	for _, first := range []int{0, 8, 4, 12} {
		for i := first; i < first+4; i++ {
			var dword uint32
			for t := range 4 {
				sign := uint32(0xff)
				if i>>t&1 != 0 {
					sign = 1
				}
				dword |= sign << (8 * t)
			}
			p.AppendDatum(operand.U32(dword))
		}
	}
	for _, table := range []struct {
		name string
		bias int
	}{{"q1TableBias", lookupBias}, {"q1WordTableBias", 0}} {
		p.StaticGlobal(table.name)
		p.DataAttributes(readOnly)
		for i := range 16 {
			signs := 0
			for t := range 4 {
				signs += 2*(i>>t&1) - 1
			}
			p.AppendDatum(operand.U16(uint16(table.bias - 128*signs)))
		}
	}
}
