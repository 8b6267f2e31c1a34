package twobit

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The layout codes64: tiles of 64 rows, of which every 16 codes are four vectors, a
// dword of 16 rows each. Code 4j+i of a dword is at bits 8i+2j and the next, so that
// four neighbouring activations, broadcast, meet what one mask leaves of it. Behind
// the codes of a block are the 64 fp16 scales.
const (
	tileRows    = 64
	tileVectors = tileRows / 16
	dwordBytes  = 4 * tileRows // of 16 codes of all rows
	tileScales  = 2 * tileRows
	// What is fetched ahead lies so far behind what is read.
	tileAhead   = 2 << 10
	tileFurther = 6 << 10 // for level 2
)

// tileKernel is a kernel for one column and tiles of 64 rows, which are in the
// lanes of four registers.
type tileKernel struct {
	g                     *generator
	data, q, scales, sums reg.GPVirtual
	scaleAt               reg.GPVirtual // the sum of scaleStep so far
	y                     [tileVectors]reg.VecVirtual
}

// tiles writes the loops over tiles and blocks; block multiplies one, moves data to
// its scales, q and sums to the next block, and returns the sums of its products.
func (g *generator) tiles(block func(k *tileKernel) [tileVectors]reg.VecVirtual) {
	k := &tileKernel{g: g, q: g.GP64(), scales: g.GP64(), sums: g.GP64(), scaleAt: g.GP64()}
	dst, rows, left := g.GP64(), g.GP64(), g.GP64()
	k.data = g.GP64()
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("data"), k.data)
	g.Load(g.Param("rows"), rows)
	for i := range k.y {
		k.y[i] = g.ZMM()
	}

	g.Label("tile")
	for _, y := range k.y {
		g.Clear(y)
	}
	g.XORQ(k.scaleAt, k.scaleAt)
	g.MOVQ(g.Argument("q"), k.q)
	g.MOVQ(g.Argument("sums"), k.sums)
	g.MOVQ(g.Argument("blocks"), left)

	g.Label("block")
	k.addTerms(block(k))
	g.Prefetch(tileFurther, asm.Lines(asm.At(k.data, tileAhead), tileScales)...)
	g.ADDQ(operand.I32(tileScales), k.data)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))

	g.Comment("Rows of the last tile that only the layout has are not stored.")
	for i, y := range k.y {
		g.storeLanes(y, rows, asm.At(dst, 64*i))
		g.SUBQ(operand.I32(16), rows)
	}
	g.ADDQ(operand.I32(4*tileRows), dst)
	g.TESTQ(rows, rows)
	g.JG(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// storeLanes stores the first rows of the 16 floats of v: all, or none, if rows is
// more or less.
func (g *generator) storeLanes(v reg.VecVirtual, rows reg.GPVirtual, to operand.Mem) {
	g.VMOVUPS(v, g.firstLanes(rows), to)
}

// firstLanes returns a mask of so many lanes.
func (g *generator) firstLanes(n reg.GPVirtual) reg.OpmaskVirtual {
	count, lanes := g.ZMM(), g.K()
	g.VPBROADCASTD(n.As32(), count)
	g.VPCMPGTD(g.laneNumbers, count, lanes)
	return lanes
}

// addTerms is y += float32(weight·scale)·float32(sum).
func (k *tileKernel) addTerms(sums [tileVectors]reg.VecVirtual) {
	scale := k.g.GP64()
	k.g.MOVQ(k.scaleAt, scale)
	k.g.ANDQ(operand.I32(-4), scale)
	k.g.ADDQ(k.g.Argument("scales"), scale)
	k.g.ADDQ(k.g.Argument("scaleStep"), k.scaleAt)
	for i, sum := range sums {
		weight := k.g.ZMM()
		k.g.VCVTPH2PS(asm.At(k.data, 32*i), weight)
		k.g.VMULPS_BCST(asm.At(scale, 0), weight, weight)
		k.g.VCVTDQ2PS(sum, sum)
		k.g.VMULPS(weight, sum, sum)
		k.g.VADDPS(sum, k.y[i], k.y[i])
	}
}

// tileLoops specify a kernel of tiles, whose rows have blocks of so many columns.
func tileLoops(cols, sum string) []string {
	return []string{
		"\tfor r := range rows {",
		"\t\tdst[r] = 0",
		"\t\tfor b := range blocks {",
		"\t\t\tsum := int32(0)",
		fmt.Sprintf("\t\t\tfor k := range %s {", cols),
		"\t\t\t\tsum += " + sum,
		"\t\t\t}",
		"\t\t\tdst[r] += float32(float32(fp16(scale(r, b))*scales[b*scaleStep/4]) * float32(sum))",
		"\t\t}",
		"\t}",
		"",
		"sums has the sums of every 32 activations.",
	}
}

// codes64Func begins a kernel of the layout for one column.
func (g *generator) codes64Func(name string) {
	g.Func(name, "func(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, pairs, scaleStep, rows int)",
		append([]string{
			name + " multiplies rows of the layout codes64, blocks of pairs times 32",
			"columns, with one column of activations in their natural order.",
			"",
		}, tileLoops("32*pairs", "(code(r, 32*pairs*b+k) - 1) * q[32*pairs*b+k]")...)...)
}

// codes64 writes the kernel of the layout for one column. Four sums for 16 rows
// each are over the codes at shifts 0, 2, 4 and 6, left there.
func (g *generator) codes64() {
	g.codes64Func("codes64AVX512VNNI")
	masks := g.loadMasks(g.ZMM, 4)
	g.tiles(func(k *tileKernel) (total [tileVectors]reg.VecVirtual) {
		var acc [tileVectors][4]reg.VecVirtual
		for v := range acc {
			acc[v] = [4]reg.VecVirtual(g.zeros(g.ZMM, 4))
		}
		minus, pairs := g.ZMM(), g.GP64()
		g.Clear(minus)
		g.MOVQ(g.Argument("pairs"), pairs)
		g.Label("pair")
		g.VPSUBD_BCST(asm.At(k.sums, 0), minus, minus)
		for d := range 2 {
			var q [4]reg.VecVirtual
			for j := range q {
				q[j] = g.ZMM()
				g.VPBROADCASTD(asm.At(k.q, 16*d+4*j), q[j])
			}
			g.Prefetch(tileFurther, asm.Lines(asm.At(k.data, tileAhead+dwordBytes*d), dwordBytes)...)
			for v := range acc {
				w := g.ZMM()
				g.VMOVDQU64(asm.At(k.data, dwordBytes*d+64*v), w)
				for j, mask := range masks {
					t := g.ZMM()
					g.VPANDD(mask, w, t)
					g.VPDPBUSD(q[j], t, acc[v][j])
				}
			}
		}
		g.ADDQ(operand.I32(2*dwordBytes), k.data)
		g.ADDQ(operand.I32(32), k.q)
		g.ADDQ(operand.I32(4), k.sums)
		g.DECQ(pairs)
		g.JNZ(operand.LabelRef("pair"))
		for v, a := range acc {
			for j := 3; j > 0; j-- { // what a mask leaves is the code times 4^j
				g.VPSRAD(operand.U8(2), a[j], a[j])
				g.VPADDD(a[j], a[j-1], a[j-1])
			}
			g.VPADDD(minus, a[0], a[0])
			total[v] = a[0]
		}
		return total
	})
}
