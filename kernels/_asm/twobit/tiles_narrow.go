package twobit

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Tiles of 64 rows on registers of 32 bytes, which hold dwords of 8 rows. Sums of half a
// tile fit the 16 registers, so a block is multiplied twice, for 32 rows each. The
// results of a tile are in the frame.

const (
	halfVectors = tileRows / 2 / 8
	halfBytes   = dwordBytes / 2
	quadDwords  = 4 // dwords of all rows, 64 columns of 2-bit codes
)

// A halfTile is the state of a kernel for one column.
type halfTile struct {
	g             *generator
	data, q, sums reg.GPVirtual // those of half a tile's block, moved along by who reads
	minus         reg.GPVirtual // -Σq of the block
	half          reg.GPVirtual // 0 or 64: the scales of the second half lie so far behind those of the first
	ahead         reg.GPVirtual // what is fetched next: all bytes in turn, though halves are read with gaps
	parked        operand.Mem   // room for the sums of half a tile
}

// narrowTiles writes the loops over tiles, blocks and halves. multiply takes half a tile's
// block from data, q and sums to their ends, subtracts sums from minus, and returns the sums
// of products.
func (g *generator) narrowTiles(multiply func(k *halfTile) [halfVectors]reg.VecVirtual) {
	k := &halfTile{g: g, data: g.GP64(), q: g.GP64(), sums: g.GP64(), minus: g.GP64(), half: g.GP64(), ahead: g.GP64()}
	frame := g.AllocLocal(4*tileRows + 32*halfVectors)
	k.parked = frame.Offset(4 * tileRows)
	left, data, q, sums, scaleAt := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Load(g.Param("data"), data)
	g.LEAQ(asm.At(data, tileAhead), k.ahead)

	g.Label("tile")
	zero := g.YMM()
	g.Clear(zero)
	for i := range 2 * halfVectors {
		g.VMOVUPS(zero, frame.Offset(32*i))
	}
	g.XORQ(scaleAt, scaleAt)
	g.MOVQ(g.Argument("q"), q)
	g.MOVQ(g.Argument("sums"), sums)
	g.MOVQ(g.Argument("blocks"), left)

	g.Label("block")
	g.XORQ(k.half, k.half)
	g.Label("half")
	g.LEAQ(operand.Mem{Base: data, Index: k.half, Scale: halfBytes / 64}, k.data)
	g.MOVQ(q, k.q)
	g.MOVQ(sums, k.sums)
	g.XORQ(k.minus, k.minus)
	k.addTerms(multiply(k), frame, scaleAt)
	k.fetch() // of the scales
	g.ADDQ(operand.I32(tileScales/2), k.half)
	g.CMPQ(k.half, operand.I32(tileScales))
	g.JLT(operand.LabelRef("half"))
	g.MOVQ(k.data, data) // the second half ends as far from its block as the scales are long
	g.MOVQ(k.q, q)
	g.MOVQ(k.sums, sums)
	g.ADDQ(g.Argument("scaleStep"), scaleAt)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))

	g.storeRows(frame)
	g.ADDQ(operand.I32(4*tileRows), g.Argument("dst"))
	g.SUBQ(operand.I32(tileRows), g.Argument("rows"))
	g.JG(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// storeRows stores a tile's results, or of the last tile those of its rows.
func (g *generator) storeRows(results operand.Mem) {
	dst, rows := g.GP64(), g.GP64()
	g.MOVQ(g.Argument("dst"), dst)
	g.MOVQ(g.Argument("rows"), rows)
	g.CMPQ(rows, operand.I32(tileRows))
	g.JLT(operand.LabelRef("few"))
	for i := range 2 * halfVectors {
		y := g.YMM()
		g.VMOVUPS(results.Offset(32*i), y)
		g.VMOVUPS(y, asm.At(dst, 32*i))
	}
	g.JMP(operand.LabelRef("stored"))
	g.Label("few")
	from, i, y := g.GP64(), g.GP64(), g.GP32()
	g.LEAQ(results, from)
	g.XORQ(i, i)
	g.Label("row")
	g.MOVL(operand.Mem{Base: from, Index: i, Scale: 4}, y)
	g.MOVL(y, operand.Mem{Base: dst, Index: i, Scale: 4})
	g.INCQ(i)
	g.CMPQ(i, rows)
	g.JLT(operand.LabelRef("row"))
	g.Label("stored")
}

// addTerms is results += float32(weight·scale)·float32(sum - Σq).
func (k *halfTile) addTerms(sums [halfVectors]reg.VecVirtual, results operand.Mem, scaleAt reg.GPVirtual) {
	minus, scale, at, weights, to := k.g.YMM(), k.g.YMM(), k.g.GP64(), k.g.GP64(), k.g.GP64()
	k.g.VMOVD(k.minus.As32(), minus.AsX())
	k.g.VPBROADCASTD(minus.AsX(), minus)
	k.g.MOVQ(scaleAt, at)
	k.g.ANDQ(operand.I32(-4), at)
	k.g.ADDQ(k.g.Argument("scales"), at)
	k.g.VBROADCASTSS(asm.At(at, 0), scale)
	k.g.MOVQ(k.data, weights)
	k.g.SUBQ(k.half, weights)
	k.g.LEAQ(results, to)
	k.g.LEAQ(operand.Mem{Base: to, Index: k.half, Scale: 2}, to)
	for i, sum := range sums {
		weight, y := k.g.YMM(), asm.At(to, 32*i)
		k.g.VCVTPH2PS(asm.At(weights, 16*i), weight)
		k.g.VMULPS(scale, weight, weight)
		k.g.VPADDD(minus, sum, sum)
		k.g.VCVTDQ2PS(sum, sum)
		k.g.VMULPS(weight, sum, sum)
		k.g.VADDPS(y, sum, sum)
		k.g.VMOVUPS(sum, y)
	}
}

// activations returns dword i from q on in every lane.
func (k *halfTile) activations(i int) reg.VecVirtual {
	q := k.g.YMM()
	k.g.VPBROADCASTD(asm.At(k.q, 4*i), q)
	return q
}

// codes returns vector v of dword d.
func (k *halfTile) codes(d, v int) reg.VecVirtual {
	w := k.g.YMM()
	k.g.VMOVDQU(asm.At(k.data, dwordBytes*d+32*v), w)
	return w
}

// fetch fetches another line ahead.
func (k *halfTile) fetch() {
	const line = 64
	k.g.Prefetch(tileFurther, asm.At(k.ahead, 0))
	k.g.ADDQ(operand.I32(line), k.ahead)
}

// A codesEngine multiplies 2-bit codes of half a tile.
type codesEngine interface {
	isa() string
	// prepare loads constants.
	prepare()
	// start begins the sums of a block.
	start(k *halfTile)
	// quad adds the products of 4 dwords, which are 64 columns.
	quad(k *halfTile)
	// totals returns the sums.
	totals(k *halfTile) [halfVectors]reg.VecVirtual
}

// narrowCodes64 writes the kernel of the layout codes64 for one column.
func (g *generator) narrowCodes64(e codesEngine) {
	name := "codes64" + e.isa()
	g.codes64Func(name)
	e.prepare()
	g.narrowTiles(func(k *halfTile) [halfVectors]reg.VecVirtual {
		left := g.GP64()
		g.MOVQ(g.Argument("pairs"), left)
		e.start(k)
		g.Label("quad")
		for i := range 2 {
			g.SUBL(asm.At(k.sums, 4*i), k.minus.As32())
		}
		e.quad(k)
		g.ADDQ(operand.I32(quadDwords*dwordBytes), k.data)
		g.ADDQ(operand.I32(64), k.q)
		g.ADDQ(operand.I32(8), k.sums)
		g.SUBQ(operand.I32(2), left)
		g.JNZ(operand.LabelRef("quad"))
		return e.totals(k)
	})
}

// eachCode calls multiply with the codes of a quad, masked: those at shift 2j of dword d,
// vector v, times 4 if j is odd, and their activations.
func (k *halfTile) eachCode(masks []reg.VecVirtual, multiply func(d, v, j int, codes, q reg.VecVirtual)) {
	for d := range quadDwords {
		var q [4]reg.VecVirtual
		for j := range q {
			q[j] = k.activations(4*d + j)
		}
		for v := range halfVectors {
			if v%2 == 0 {
				k.fetch()
			}
			w := k.codes(d, v)
			for j := range q {
				if j == 2 {
					k.g.VPSRLW(operand.U8(4), w, w)
				}
				t := k.g.YMM()
				k.g.VPAND(masks[j%2], w, t)
				multiply(d, v, j, t, q[j])
			}
		}
	}
}

// dpCodes adds with VPDPBUSD: sum 0 of 2 for 8 rows is over codes at shifts 0 and 4, sum 1
// over the others, times 4.
type dpCodes struct {
	g     *generator
	masks []reg.VecVirtual
	acc   [halfVectors][2]reg.VecVirtual
}

func (e *dpCodes) isa() string { return "AVXVNNI" }

func (e *dpCodes) prepare() { e.masks = e.g.loadMasks(e.g.YMM, 2) }

func (e *dpCodes) start(*halfTile) {
	for v := range e.acc {
		e.acc[v] = [2]reg.VecVirtual(e.g.zeros(e.g.YMM, 2))
	}
}

func (e *dpCodes) quad(k *halfTile) {
	k.eachCode(e.masks, func(_, v, j int, codes, q reg.VecVirtual) { e.g.VEXDPBUSD(q, codes, e.acc[v][j%2]) })
}

func (e *dpCodes) totals(*halfTile) (sums [halfVectors]reg.VecVirtual) {
	for v, a := range e.acc {
		e.g.VPSRAD(operand.U8(2), a[1], a[1])
		e.g.VPADDD(a[1], a[0], a[0])
		sums[v] = a[0]
	}
	return sums
}

// wordCodes adds with VPMADDUBSW in int16, as dpCodes does. Of a quad, sum 1 is at most
// 4·2·2·12·127 = 24,384, and both are no more than 4·4·2·3·127 = 12,192 once it is a fourth.
type wordCodes struct {
	g     *generator
	masks []reg.VecVirtual
}

func (e *wordCodes) isa() string { return "AVX2" }

func (e *wordCodes) prepare() { e.masks = e.g.loadMasks(e.g.YMM, 2) }

func (e *wordCodes) start(k *halfTile) {
	zero := e.g.YMM()
	e.g.Clear(zero)
	for v := range halfVectors {
		e.g.VMOVDQU(zero, k.parked.Offset(32*v))
	}
}

func (e *wordCodes) quad(k *halfTile) {
	var words [halfVectors][2]reg.VecVirtual
	k.eachCode(e.masks, func(d, v, j int, codes, q reg.VecVirtual) {
		e.g.VPMADDUBSW(q, codes, codes)
		if words[v][j%2] == nil {
			words[v][j%2] = codes
		} else {
			e.g.VPADDW(codes, words[v][j%2], words[v][j%2])
		}
	})
	for v, w := range words {
		sum := k.parked.Offset(32 * v)
		e.g.VPSRAW(operand.U8(2), w[1], w[1])
		e.g.VPADDW(w[1], w[0], w[0])
		e.g.VPMADDWD(e.g.wordOnes, w[0], w[0])
		e.g.VPADDD(sum, w[0], w[0])
		e.g.VMOVDQU(w[0], sum)
	}
}

func (e *wordCodes) totals(k *halfTile) (sums [halfVectors]reg.VecVirtual) {
	for v := range sums {
		sums[v] = e.g.YMM()
		e.g.VMOVDQU(k.parked.Offset(32*v), sums[v])
	}
	return sums
}
