package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The layout rows128: 128 rows × 128 columns are 8 groups of 16 columns, each
// four vectors of 32 rows, an int16 of bits a row, and 128 fp16 scales.
const (
	wordRows       = 128
	wordVectors    = wordRows / 32
	wordGroupBytes = wordVectors * vectorBytes
	wordBits       = 8 * wordGroupBytes
)

// wordLookup writes the kernel for one scale in 128 columns, or in 32.
func wordLookup(p *asm.Program, per32 bool) {
	name := "q1WordLookup128AVX512"
	doc := []string{
		name + " multiplies rows of the layout rows128 with one column, whose scale is",
		"that of 128 columns or, if scaleStep is 0 and not 4, of the row; what it computes",
		"is drawn at q1Lookup128AVX2. tables are those that q1WordTablesAVX2 makes of q.",
	}
	if per32 {
		name = "q1WordLookup32AVX512VNNI"
		doc = []string{name + " is q1WordLookup128AVX512 for a column under q8_32; what it", "computes is drawn at q1Lookup32AVX2."}
	}
	p.Func(name, "func(dst *float32, data *byte, tables *int8, scales *float32, scaleStep, blocks, rows int)", doc...)
	k := newWordKernel(p)
	if !per32 {
		k.half = k.halves()
	}
	dst := p.Load(p.Param("dst"), p.GP64())
	k.data = p.Load(p.Param("data"), p.GP64())
	rows := p.Load(p.Param("rows"), p.GP64())
	step := p.Load(p.Param("scaleStep"), p.GP64())
	k.tables, k.scales = p.GP64(), p.GP64()
	left := p.GP64()
	for i := range k.y {
		k.y[i] = p.ZMM()
	}

	p.Label("tile")
	for _, y := range k.y {
		p.Clear(y)
	}
	p.Load(p.Param("tables"), k.tables)
	p.Load(p.Param("scales"), k.scales)
	p.Load(p.Param("blocks"), left)

	p.Label("block")
	if per32 {
		k.addSpan()
	} else {
		k.addBlock()
	}
	p.ADDQ(operand.U32(2*wordRows), k.data)
	p.ADDQ(step, k.scales)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("block"))

	p.CMPQ(rows, operand.U32(wordRows))
	p.JLT(operand.LabelRef("rest"))
	for i, y := range k.y {
		p.VMOVUPS(y, operand.Mem{Base: dst, Disp: vectorBytes * i})
	}
	p.ADDQ(operand.U32(4*wordRows), dst)
	p.SUBQ(operand.U32(wordRows), rows)
	p.JNZ(operand.LabelRef("tile"))
	p.VZEROUPPER()
	p.RET()

	p.Comment("The last tile has rows that only the layout has.")
	p.Label("rest")
	for i, y := range k.y {
		k.storeFirst(rows, y, operand.Mem{Base: dst, Disp: vectorBytes * i})
		p.SUBQ(operand.Imm(16), rows)
	}
	p.VZEROUPPER()
	p.RET()
}

type wordKernel struct {
	avx512vnni           // what it shares with bit planes needs no VNNI
	data, tables, scales reg.Register
	half                 [2]reg.VecVirtual               // VPMADDWD: 1 for the even int16, or the odd
	y                    [2 * wordVectors]reg.VecVirtual // of 16 rows each
}

func newWordKernel(p *asm.Program) *wordKernel {
	return &wordKernel{avx512vnni: avx512vnni{p}}
}

func (k *wordKernel) halves() (half [2]reg.VecVirtual) {
	for h, ones := range []uint32{1, 1 << 16} {
		r := k.GP32()
		half[h] = k.ZMM()
		k.MOVL(operand.U32(ones), r)
		k.VPBROADCASTD(r, half[h])
	}
	return half
}

// groups calls add with the sums of each two groups of 16 columns. VPERMW takes the lowest
// five bits of an int16; as the tables have their 16 entries twice, the bit of
// the next column that is among them does not matter. |Σ| ≤ 8·508. It leaves data at the scales.
func (k *wordKernel) groups(add func(sums [wordVectors]reg.VecVirtual)) {
	const together = 2
	left := k.GP64()
	k.MOVQ(operand.U32(8/together), left)
	k.Label("groups")
	k.Prefetch(prefetchFurther, asm.Lines(operand.Mem{Base: k.data, Disp: prefetchAhead}, together*wordGroupBytes)...)
	var acc [wordVectors]reg.VecVirtual
	for g := range together {
		var w [wordVectors]reg.VecVirtual
		for v := range w {
			w[v] = k.loadVector(operand.Mem{Base: k.data, Disp: wordGroupBytes*g + vectorBytes*v})
		}
		for nibble := range 4 {
			table := k.ZMM()
			k.VBROADCASTI64X4(operand.Mem{Base: k.tables, Disp: (4*g + nibble) * lookupTables}, table)
			for v := range w {
				if nibble > 0 {
					k.VPSRLW(operand.Imm(4), w[v], w[v])
				}
				if acc[v] == nil {
					acc[v] = k.ZMM()
					k.VPERMW(table, w[v], acc[v])
					continue
				}
				sum := k.ZMM()
				k.VPERMW(table, w[v], sum)
				k.VPADDW(sum, acc[v], acc[v])
			}
		}
	}
	add(acc)
	k.ADDQ(operand.U32(together*wordGroupBytes), k.data)
	k.ADDQ(operand.U32(together*4*lookupTables), k.tables)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("groups"))
	k.Prefetch(prefetchFurther, asm.Lines(operand.Mem{Base: k.data, Disp: prefetchAhead}, 2*wordRows)...)
}

// addBlock is y += float32(w·scale)·float32(sum). The layout has put rows so
// that the even int16 are 16 rows in sequence, and the odd the 16 behind them.
func (k *wordKernel) addBlock() {
	var sums [wordVectors]reg.VecVirtual
	for v := range sums {
		sums[v] = k.ZMM()
		k.Program.Clear(sums[v])
	}
	k.groups(func(of [wordVectors]reg.VecVirtual) {
		for v, s := range of {
			k.VPADDW(s, sums[v], sums[v])
		}
	})
	for i := range k.y {
		sum := k.ZMM()
		k.VPMADDWD(k.half[i%2], sums[i/2], sum)
		k.addTerm(i, sum, operand.Mem{Base: k.scales})
	}
}

func (k *wordKernel) addTerm(i int, sum reg.VecVirtual, activation operand.Mem) {
	w := k.ZMM()
	k.VCVTPH2PS(operand.Mem{Base: k.data, Disp: 32 * i}, w)
	addTerm(k.Program, k.avx512vnni, k.y[i], w, activation, sum)
}

// addSpan is addBlock under q8_32. VPDPWSSD multiplies with the share of a group what
// VPMADDWD widens.
func (k *wordKernel) addSpan() {
	var totals [2 * wordVectors]reg.VecVirtual
	for i := range totals {
		totals[i] = k.ZMM()
		k.Program.Clear(totals[i])
	}
	k.groups(func(sums [wordVectors]reg.VecVirtual) {
		shares := k.evenAndOdd(span.share(k.scales, 0))
		for i, total := range totals {
			k.VPDPWSSD(shares[i%2], sums[i/2], total)
		}
		k.ADDQ(operand.Imm(4), k.scales)
	})
	k.SUBQ(operand.Imm(16), k.scales)
	for i, total := range totals {
		k.addTerm(i, total, span.unit(k.scales))
	}
}

// evenAndOdd returns a share in the even int16, and in the odd.
func (k *wordKernel) evenAndOdd(share operand.Mem) (v [2]reg.VecVirtual) {
	v[0], v[1] = k.ZMM(), k.ZMM()
	k.VPBROADCASTD(share, v[0])
	k.VPSLLD(operand.Imm(16), v[0], v[1])
	return v
}
