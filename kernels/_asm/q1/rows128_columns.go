package q1

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// wordLookupColumns is how many columns are looked up with the same bits: their
// sums, an int16 for each of 128 rows, take half of the registers.
const wordLookupColumns = 4

// wordColumns writes the kernel for several columns at once: bits are loaded
// and shifted once for all of them, and a scale becomes float32 once. Results
// lie in memory and are added to once a block.
func wordColumns(p *asm.Program) {
	const name = "q1WordColumns4AVX512"
	p.Func(name, "func(dst *float32, dstStride int, data *byte, tables *int8, tableStride int, scales *float32, scaleStride, scaleStep, blocks int)",
		name+" is q1WordLookup128AVX512 of one tile of 128 rows, for each of 4 columns, whose",
		"results, tables and scales are dstStride, tableStride and scaleStride bytes apart.",
		"tables are those that q1BatchTablesAVX512 makes of q.")
	k := newWordKernel(p)
	k.half = k.halves()
	k.multiplyColumns(func(tables, _ columnSet) (func(c, i int) reg.VecVirtual, operand.Mem) {
		sums := k.columnSums(tables)
		return func(c, i int) reg.VecVirtual {
			sum := p.ZMM()
			p.VPMADDWD(k.half[i%2], sums[c][i/2], sum)
			return sum
		}, operand.Mem{}
	})
}

// wordColumns32 writes the kernel for q8_32.
func wordColumns32(p *asm.Program) {
	const name = "q1WordColumns4Per32AVX512VNNI"
	p.Func(name, "func(dst *float32, dstStride int, data *byte, tables *int8, tableStride int, scales *float32, scaleStride, scaleStep, blocks int, room *byte)",
		name+" is q1WordColumns4AVX512 for columns under q8_32: what a block adds is drawn at",
		"q1Lookup32AVX2. It works in 2048 bytes of room.")
	k := newWordKernel(p)
	k.multiplyColumns(func(tables, spans columnSet) (func(c, i int) reg.VecVirtual, operand.Mem) {
		room := p.Load(p.Param("room"), p.GP64())
		total := func(c, i int) operand.Mem { return asm.At(room, vectorBytes*(2*wordVectors*c+i)) }
		begun := p.K() // no lane in the first turn, all in those that follow
		p.KXORW(begun, begun, begun)
		sums, left := k.newColumnSums(), p.GP64()
		p.MOVQ(operand.U32(4), left)
		p.Label("share")
		k.groupSums(sums, tables, 2, "group")
		for c := range sums {
			shares := k.evenAndOdd(spans.at(c, 0))
			for i := range 2 * wordVectors {
				k.addShared(begun, shares[i%2], sums[c][i/2], total(c, i))
			}
		}
		p.KXNORW(begun, begun, begun)
		p.ADDQ(operand.Imm(4), spans.base)
		p.DECQ(left)
		p.JNZ(operand.LabelRef("share"))
		p.SUBQ(operand.Imm(16), spans.base)
		return func(c, i int) reg.VecVirtual { return k.loadVector(total(c, i)) }, span.unit(nil)
	})
}

// addShared adds shares of sums to the lanes of a total that have begun.
func (k *wordKernel) addShared(begun reg.Register, shares, sums reg.VecVirtual, total operand.Mem) {
	v := k.ZMM()
	k.VMOVDQU32_Z(total, begun, v)
	k.VPDPWSSD(shares, sums, v)
	k.VMOVDQU32(v, total)
}

// multiplyColumns goes through the blocks. sums returns that of a column's part i, of 16
// rows, and where among the scales of a block it is that they are multiplied with.
func (k *wordKernel) multiplyColumns(sums func(tables, scales columnSet) (func(c, i int) reg.VecVirtual, operand.Mem)) {
	p := k.Program
	dst, tables, scales := newColumnSet(p, "dstStride", 0), newColumnSet(p, "tableStride", 0), newColumnSet(p, "scaleStride", 0)
	p.Load(p.Param("dst"), dst.base)
	p.Load(p.Param("tables"), tables.base)
	p.Load(p.Param("scales"), scales.base)
	k.data = p.Load(p.Param("data"), p.GP64())
	blocks := p.Argument("blocks")
	zero := p.ZMM()
	p.Clear(zero)
	for c := range wordLookupColumns {
		for i := range 2 * wordVectors {
			p.VMOVUPS(zero, dst.at(c, vectorBytes*i))
		}
	}

	p.Label("block")
	sumOf, scale := sums(tables, scales)
	for i := range 2 * wordVectors {
		w := p.ZMM()
		p.VCVTPH2PS(operand.Mem{Base: k.data, Disp: 32 * i}, w)
		for c := range wordLookupColumns {
			sum, y := sumOf(c, i), dst.at(c, vectorBytes*i)
			ws := k.mulBroadcast(w, scales.at(c, scale.Disp))
			p.VCVTDQ2PS(sum, sum)
			p.VMULPS(ws, sum, sum)
			p.VADDPS(y, sum, sum)
			p.VMOVUPS(sum, y)
		}
	}
	p.ADDQ(operand.U32(2*wordRows), k.data)
	step := p.Load(p.Param("scaleStep"), p.GP64())
	p.ADDQ(step, scales.base)
	p.DECQ(blocks)
	p.JNZ(operand.LabelRef("block"))
	p.VZEROUPPER()
	p.RET()
}

// columnSums looks the bits of a block up in the tables of each column: of 16
// columns of weights, five by the lowest five bits of an int16, which is what
// VPERMW takes, five by the next and six by the last, for which VPERMI2W has two
// registers. |Σ| ≤ 128·127. It leaves data at the scales, and tables at the next
// block.
func (k *wordKernel) columnSums(tables columnSet) [wordLookupColumns][wordVectors]reg.VecVirtual {
	acc := k.newColumnSums()
	k.groupSums(acc, tables, wordBits/wordGroupBytes, "group")
	return acc
}

// newColumnSums takes registers for columnSums: for avo, VPXORD reads what it clears, so
// they are taken once.
func (k *wordKernel) newColumnSums() (acc [wordLookupColumns][wordVectors]reg.VecVirtual) {
	for c := range acc {
		for v := range acc[c] {
			acc[c][v] = k.ZMM()
		}
	}
	return acc
}

// groupSums is columnSums of so many times 16 columns. It leaves data and tables behind
// them.
func (k *wordKernel) groupSums(acc [wordLookupColumns][wordVectors]reg.VecVirtual, tables columnSet, groups int, label string) {
	for c := range acc {
		for v := range acc[c] {
			k.Program.Clear(acc[c][v])
		}
	}
	left := k.GP64()
	k.MOVQ(operand.U32(groups), left)
	k.Label(label)
	var w [wordVectors]reg.VecVirtual
	for v := range w {
		w[v] = k.loadVector(operand.Mem{Base: k.data, Disp: vectorBytes * v})
	}
	for i := range 2 {
		for c := range acc {
			table := k.loadVector(tables.at(c, vectorBytes*i))
			k.addLookups(acc[c], func(v int, sum reg.VecVirtual) { k.VPERMW(table, w[v], sum) })
		}
		for v := range w {
			k.VPSRLW(operand.Imm(5), w[v], w[v])
		}
	}
	for c := range acc {
		lower, upper := k.loadVector(tables.at(c, vectorBytes*2)), k.loadVector(tables.at(c, vectorBytes*3))
		k.addLookups(acc[c], func(v int, sum reg.VecVirtual) {
			k.VMOVDQA64(w[v], sum) // the index, which is lost
			k.VPERMI2W(upper, lower, sum)
		})
	}
	k.ADDQ(operand.U32(wordGroupBytes), k.data)
	k.ADDQ(operand.U32(batchTables), tables.base)
	k.DECQ(left)
	k.JNZ(operand.LabelRef(label))
}

// addLookups adds what lookup finds for each vector. Two look-ups and then two
// additions take a Zen 4 little more than two cycles, by turns they take two and a
// half: an addition then often waits in the queue of a unit that permutes.
func (k *wordKernel) addLookups(acc [wordVectors]reg.VecVirtual, lookup func(v int, sum reg.VecVirtual)) {
	for v := 0; v < wordVectors; v += 2 {
		first, second := k.ZMM(), k.ZMM()
		lookup(v, first)
		lookup(v+1, second)
		k.VPADDW(first, acc[v], acc[v])
		k.VPADDW(second, acc[v+1], acc[v+1])
	}
}
