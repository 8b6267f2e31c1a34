package q1

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// A strip of the kernel for several columns is two tiles of rows64: four
// registers of rows, whose sums in bytes take half of the registers.
const (
	stripVectors = 4
	stripRows    = 32 * stripVectors
	nibbles      = 32 // of 128 columns of a row

	// What the kernel works in: the nibbles of a block, as bytes; its scales; and
	// the sums of a column in int16.
	roomNibbles = 0
	roomScales  = roomNibbles + nibbles*stripRows
	roomSums    = roomScales + 4*stripRows // under q8_32 of each 32 columns
	sumsBytes   = 2 * stripRows
)

// lookupColumns writes the kernel for several columns: bits become nibbles once
// for all of them, in the L1 cache, and a scale becomes float32 once. Results lie
// in memory and are added to once a block.
func lookupColumns(p *asm.Program, per32 bool) {
	name := "q1LookupColumns128AVX2"
	doc := []string{
		name + " is q1Lookup128AVX2 of a strip of two tiles, the second nextTile bytes behind the",
		"first, for each of some columns, whose tables and scales are tableStride and scaleStride",
		"bytes apart. y has a strip for each column, to which it adds:",
		"",
		"\tfor c := range columns {",
		"\t\tfor i := range 128 {",
		"\t\t\tfor b := range blocks {",
		"\t\t\t\tS := int32(0)",
		"\t\t\t\tfor k := range 128 {",
		"\t\t\t\t\tS += (2*bit(i, 128*b+k) - 1) * q[c][128*b+k]",
		"\t\t\t\t}",
		"\t\t\t\ty[128*c+i] += float32(float32(scale(i, b)*scales[(c*scaleStride+b*scaleStep)/4]) * float32(S))",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"",
		fmt.Sprintf("It works in %d bytes of room, which begins with a cache line.", roomSums+sumsBytes),
	}
	if per32 {
		name = "q1LookupColumns32AVX2"
		doc = []string{
			name + " is q1LookupColumns128AVX2 for columns under q8_32: what a block adds is drawn at",
			fmt.Sprintf("q1Lookup32AVX2. It works in %d bytes of room.", roomSums+4*sumsBytes),
		}
	}
	p.Func(name, "func(y *float32, data *byte, nextTile int, tables *int8, tableStride int, scales *float32, scaleStride, scaleStep, blocks, columns int, room *byte)", doc...)
	k := &lookupColumnsKernel{lookupKernel: lookupKernel{ymmTarget: ymmTarget{p}}, room: p.Load(p.Param("room"), p.GP64())}
	k.data = p.Load(p.Param("data"), p.GP64())
	tables, scales := p.Load(p.Param("tables"), p.GP64()), p.Load(p.Param("scales"), p.GP64())
	k.tables, k.scales = p.GP64(), p.GP64()
	y, left := p.GP64(), p.GP64()

	p.Label("block")
	k.expand()
	p.MOVQ(tables, k.tables)
	p.MOVQ(scales, k.scales)
	p.Load(p.Param("y"), y)
	p.Load(p.Param("columns"), left)

	p.Label("column")
	if per32 {
		k.sums32()
		k.addColumn32(y)
	} else {
		k.sum()
		k.addColumn(y)
	}
	tableStride, scaleStride := p.Load(p.Param("tableStride"), p.GP64()), p.Load(p.Param("scaleStride"), p.GP64())
	p.ADDQ(tableStride, k.tables)
	p.ADDQ(scaleStride, k.scales)
	p.ADDQ(operand.U32(4*stripRows), y)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("column"))

	p.ADDQ(operand.U32(lookupBlockBytes), k.data)
	p.ADDQ(operand.U32(nibbles*lookupTables), tables)
	scaleStep := p.Load(p.Param("scaleStep"), p.GP64())
	p.ADDQ(scaleStep, scales)
	p.DECQ(p.Argument("blocks"))
	p.JNZ(operand.LabelRef("block"))
	p.VZEROUPPER()
	p.RET()
}

type lookupColumnsKernel struct {
	lookupKernel
	room reg.Register
}

// expand writes the nibbles and scales of a block.
func (k *lookupColumnsKernel) expand() {
	second := k.Load(k.Param("nextTile"), k.GP64())
	k.ADDQ(k.data, second)
	tiles := [2]reg.Register{k.data, second}
	k.fetch(tiles, operand.Mem{Disp: prefetchAhead + lookupBits}, lookupBlockBytes-lookupBits)
	for i := range stripRows / k.lanes() {
		scale := k.vector()
		k.VCVTPH2PS(operand.Mem{Base: tiles[i/8], Disp: lookupBits + 16*(i%8)}, scale)
		k.VMOVUPS(scale, operand.Mem{Base: k.room, Disp: roomScales + 32*i})
	}
	low := k.everyWord(0x0f0f)
	from, to, left := k.GP64(), k.GP64(), k.GP64()
	k.XORQ(from, from)
	k.MOVQ(k.room, to)
	k.MOVQ(operand.U32(nibbles/4), left)
	k.Label("expand")
	k.fetch(tiles, operand.Mem{Index: from, Scale: 1, Disp: prefetchAhead}, 2*lookupRows)
	for c := range 2 {
		for v := range stripVectors {
			lower, upper := k.vector(), k.vector()
			k.VMOVDQU(operand.Mem{Base: tiles[v/2], Index: from, Scale: 1, Disp: lookupRows*c + lookupVector*(v%2)}, lower)
			k.VPSRLW(operand.Imm(4), lower, upper)
			for i, w := range []reg.VecVirtual{lower, upper} {
				k.VPAND(low, w, w)
				k.VMOVDQA(w, operand.Mem{Base: to, Disp: roomNibbles + stripRows*(2*c+i) + lookupVector*v})
			}
		}
	}
	k.ADDQ(operand.U32(2*lookupRows), from)
	k.ADDQ(operand.U32(4*stripRows), to)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("expand"))
}

// fetch fetches so many bytes of both tiles, where at says.
func (k *lookupColumnsKernel) fetch(tiles [2]reg.Register, at operand.Mem, bytes int) {
	var lines []operand.Mem
	for _, tile := range tiles {
		at.Base = tile
		lines = append(lines, asm.Lines(at, bytes)...)
	}
	k.Prefetch(prefetchFurther, lines...)
}

// sum leaves the sums of a column's block in the room.
func (k *lookupColumnsKernel) sum() {
	words := func(v int) operand.Mem { return operand.Mem{Base: k.room, Disp: roomSums + lookupVector*v} }
	start := k.everyWord(0x10000 - 32*lookupBias)
	for v := range 2 * stripVectors {
		k.VMOVDQA(start, words(v))
	}
	k.eachGroup(func(i int, w reg.VecVirtual) {
		k.VPADDW(words(i), w, w)
		k.VMOVDQA(w, words(i))
	})
}

// sums32 leaves the sums of each group there, with the bias.
func (k *lookupColumnsKernel) sums32() {
	to := k.GP64()
	k.LEAQ(operand.Mem{Base: k.room, Disp: roomSums - sumsBytes}, to)
	k.eachGroup(func(i int, w reg.VecVirtual) {
		if i == 0 {
			k.ADDQ(operand.U32(sumsBytes), to)
		}
		k.VMOVDQA(w, operand.Mem{Base: to, Disp: lookupVector * i})
	})
}

// eachGroup calls add with the sums of each 32 columns, of 16 rows after the other.
func (k *lookupColumnsKernel) eachGroup(add func(i int, words reg.VecVirtual)) {
	weights := k.everyWord(32<<8 | 1)
	table, index, left := k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(k.tables, table)
	k.MOVQ(k.room, index)
	k.MOVQ(operand.U32(4), left)
	k.Label("group")
	var sums [stripVectors][2]reg.VecVirtual // lower and upper parts: see group of lookupKernel
	for n := range nibbles / 4 {
		var tables [2]reg.VecVirtual
		for part := range tables {
			tables[part] = k.vector()
			k.VBROADCASTI128(operand.Mem{Base: table, Disp: lookupTables*n + 16*part}, tables[part])
		}
		for v := range sums {
			which := k.vector()
			k.VMOVDQA(operand.Mem{Base: index, Disp: roomNibbles + stripRows*n + lookupVector*v}, which)
			for part, table := range tables {
				if n == 0 {
					sums[v][part] = k.vector()
					k.VPSHUFB(which, table, sums[v][part])
					continue
				}
				found := k.vector()
				k.VPSHUFB(which, table, found)
				k.VPADDB(found, sums[v][part], sums[v][part])
			}
		}
	}
	for v, sum := range sums {
		lower, upper := k.vector(), k.vector()
		k.VPUNPCKLBW(sum[1], sum[0], lower)
		k.VPUNPCKHBW(sum[1], sum[0], upper)
		for i, w := range []reg.VecVirtual{lower, upper} {
			k.VPMADDUBSW(weights, w, w)
			add(2*(v/2*2+i)+v%2, w)
		}
	}
	k.ADDQ(operand.U32(nibbles/4*lookupTables), table)
	k.ADDQ(operand.U32(nibbles/4*stripRows), index)
	k.DECQ(left)
	k.JNZ(operand.LabelRef("group"))
}

// addColumn is y += float32(w·scale)·float32(sum) for a column.
func (k *lookupColumnsKernel) addColumn(y reg.Register) {
	scale := k.vector()
	k.VBROADCASTSS(operand.Mem{Base: k.scales}, scale)
	for i := range stripRows / k.lanes() {
		sum, ws := k.vector(), k.vector()
		out := operand.Mem{Base: y, Disp: 32 * i}
		k.VPMOVSXWD(operand.Mem{Base: k.room, Disp: roomSums + 16*i}, sum)
		k.VMULPS(operand.Mem{Base: k.room, Disp: roomScales + 32*i}, scale, ws)
		k.VCVTDQ2PS(sum, sum)
		k.VMULPS(ws, sum, sum)
		k.VADDPS(out, sum, sum)
		k.VMOVUPS(sum, out)
	}
}

// addColumn32 is addColumn under q8_32.
func (k *lookupColumnsKernel) addColumn32(y reg.Register) {
	scale, less := k.vector(), k.lessBias(k.scales)
	k.VBROADCASTSS(span.unit(k.scales), scale)
	shares := [2]reg.VecVirtual{k.pairOfShares(k.scales, 0), k.pairOfShares(k.scales, 1)}
	for i := range 2 * stripVectors {
		var totals [2]reg.VecVirtual
		for pair := range shares {
			var words [2]reg.VecVirtual
			for g := range words {
				words[g] = k.loadVector(operand.Mem{Base: k.room, Disp: roomSums + sumsBytes*(2*pair+g) + lookupVector*i})
			}
			sums := k.pairs(words[0], words[1], shares[pair])
			for half, sum := range sums {
				if pair > 0 {
					k.VPADDD(totals[half], sum, sum)
				}
			}
			totals = sums
		}
		for half, sum := range k.inSequence(totals) {
			at := 64*i + 32*half
			ws, out := k.vector(), operand.Mem{Base: y, Disp: at}
			k.VPADDD(less, sum, sum)
			k.VMULPS(operand.Mem{Base: k.room, Disp: roomScales + at}, scale, ws)
			k.VCVTDQ2PS(sum, sum)
			k.VMULPS(ws, sum, sum)
			k.VADDPS(out, sum, sum)
			k.VMOVUPS(sum, out)
		}
	}
}
