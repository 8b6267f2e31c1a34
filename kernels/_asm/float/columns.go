package float

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The products of several columns. Weights that were converted once are
// multiplied with all of them. Their lanes are too many for the registers and
// lie on the stack; the kernel goes along panels, as many columns of weights as
// keep the activations in L1, and there adds to one or two registers of lanes of
// each result at a time.
const (
	laneRows    = 16 // rows that have lanes
	laneBytes   = 4 * 32
	panelBlocks = 16 // of 32 columns: 8 KiB of four columns of activations
)

// columns writes the kernel for n columns.
func (g *generator) columns(n int) {
	name := fmt.Sprintf("%sColumns%d%s", g.format, n, g.isa)
	g.Func(name, "func(dst *float32, dstStride int, w *byte, stride int, x *float32, blocks, tiles int)",
		fmt.Sprintf("%s multiplies at most %d tiles of %d rows, which start stride bytes", name, laneRows/g.tile, g.tile),
		fmt.Sprintf("apart and have blocks of 32 columns each, with %d columns of activations. Results", n),
		"of a column are dstStride floats behind those of the column before.",
		"",
		fmt.Sprintf("\tfor c := range %d {", n),
		fmt.Sprintf("\t\tfor r := range %d * tiles {", g.tile),
		"\t\t\tvar lanes [32]float32",
		"\t\t\tfor k := range 32 * blocks {",
		fmt.Sprintf("\t\t\t\tlanes[k%%32] += float32(%s * x[32*blocks*c+k])", g.at),
		"\t\t\t}",
		"\t\t\tdst[c*dstStride+r] = foldLanes(&lanes)",
		"\t\t}",
		"\t}")
	g.Attributes(attr.Attribute(0)) // no NOSPLIT: the frame is large
	frame := g.AllocLocal(n * laneRows * laneBytes)
	panel := g.AllocLocal(8) // the blocks of this panel
	stride := g.Load(g.Param("stride"), g.GP64())
	xStride := g.Load(g.Param("blocks"), g.GP64())
	g.SHLQ(operand.U8(7), xStride)
	row, column := g.strided(stride, g.tile), g.strided(xStride, n)
	lanes, left, tiles := g.GP64(), g.GP64(), g.GP64()
	g.zeroFrame(frame, n*laneRows*laneBytes)

	w, x := g.Load(g.Param("w"), g.GP64()), g.Load(g.Param("x"), g.GP64())
	g.Load(g.Param("blocks"), left)
	g.Label("panel")
	size, first := g.GP64(), g.GP64()
	g.MOVQ(operand.I32(panelBlocks), size)
	g.CMPQ(left, size)
	g.CMOVQLT(left, size)
	g.MOVQ(size, panel)
	g.MOVQ(w, first)
	g.LEAQ(frame, lanes)
	g.Load(g.Param("tiles"), tiles)
	g.Label("tile")
	g.passes(n, first, x, lanes, panel, row, column)
	g.LEAQ(operand.Mem{Base: first, Index: stride, Scale: uint8(g.tile)}, first)
	g.ADDQ(operand.I32(laneBytes*g.tile), lanes)
	g.DECQ(tiles)
	g.JNZ(operand.LabelRef("tile"))
	g.ADDQ(operand.I32(32*panelBlocks*g.width), w)
	g.ADDQ(operand.I32(32*panelBlocks*4), x)
	g.SUBQ(operand.I32(panelBlocks), left)
	g.JGT(operand.LabelRef("panel"))
	g.foldColumns(n, frame)
	g.VZEROUPPER()
	g.RET()
}

// zeroFrame sets bytes of the stack to zero.
func (g *generator) zeroFrame(frame operand.Mem, bytes int) {
	zero, p, left := g.register(), g.GP64(), g.GP64()
	g.VXORPS(zero.AsX(), zero.AsX(), zero.AsX())
	g.LEAQ(frame, p)
	g.MOVQ(operand.I32(bytes/256), left)
	g.Label("zero")
	for i := 0; i < 256; i += int(zero.Size()) {
		g.VMOVUPS(zero, operand.Mem{Base: p, Disp: i})
	}
	g.ADDQ(operand.I32(256), p)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("zero"))
}

// passes adds a panel of a tile to its lanes, as many in a pass as registers hold.
// The rows that are 16 further are prefetched in the first pass.
func (g *generator) passes(n int, w, x, lanes reg.Register, panel operand.Mem, row, column func(reg.Register, int) operand.Mem) {
	parts := g.sums / (g.tile * n) // of a row, in a pass
	acc := make([]reg.VecVirtual, parts*g.tile*n)
	for i := range acc {
		acc[i] = g.register()
	}
	size := int(acc[0].Size())
	// at is where the lanes of acc[i] are.
	at := func(i int) operand.Mem {
		c, r, part := i/parts/g.tile, i/parts%g.tile, i%parts
		return operand.Mem{Base: lanes, Disp: laneBytes*(laneRows*c+r) + size*part}
	}
	passes := g.parts / parts
	src, xp, left, ahead := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	eight := row(w, 1)
	eight.Scale = 8
	g.LEAQ(eight, ahead)
	eight.Base = ahead
	g.LEAQ(eight, ahead)
	pass := func(label string, from int, fetch func()) {
		g.MOVQ(w, src)
		g.MOVQ(panel, left)
		for i, a := range acc {
			g.VMOVUPS(at(i).Offset(from), a)
		}
		g.Label(label)
		fetch()
		for part := range parts {
			offset := from + size*part
			var xv []reg.VecVirtual
			for c := range n {
				xv = append(xv, g.register())
				g.VMOVUPS(column(xp, c).Offset(offset), xv[c])
			}
			for r := range g.tile {
				weights := g.register()
				g.load(g.Program, row(src, r).Offset(offset/4*g.width), weights)
				for c, v := range xv {
					product, a := g.register(), acc[(c*g.tile+r)*parts+part]
					g.VMULPS(v, weights, product)
					g.VADDPS(product, a, a)
				}
			}
		}
		g.ADDQ(operand.I32(32*g.width), src)
		g.ADDQ(operand.I32(laneBytes), xp)
		g.DECQ(left)
		g.JNZ(operand.LabelRef(label))
		for i, a := range acc {
			g.VMOVUPS(a, at(i).Offset(from))
		}
	}
	fetch := func() {
		g.prefetch(ahead, row)
		g.ADDQ(operand.I32(32*g.width), ahead)
	}
	if passes == 1 || g.width == 4 { // a pass that converts nothing is too short for a loop
		for i := range passes {
			g.MOVQ(x, xp)
			pass(fmt.Sprint("pass", i), i*size*parts, fetch)
			fetch = func() {}
		}
		return
	}
	count := g.AllocLocal(8)
	g.MOVQ(operand.I32(passes), count)
	g.MOVQ(x, xp)
	g.Label("pass")
	pass("block", 0, func() {
		g.CMPQ(count, operand.I8(passes))
		g.JNE(operand.LabelRef("fetched"))
		fetch()
		g.Label("fetched")
	})
	g.MOVQ(panel, left) // x goes back to the first block's next part
	g.SHLQ(operand.U8(bits.TrailingZeros(laneBytes)), left)
	g.SUBQ(left, xp)
	g.ADDQ(operand.I32(size*parts), xp)
	g.ADDQ(operand.I32(size*parts), lanes)
	g.ADDQ(operand.I32(size*parts/4*g.width), w)
	g.DECQ(count)
	g.JNZ(operand.LabelRef("pass"))
	g.SUBQ(operand.I32(laneBytes), lanes)
	g.SUBQ(operand.I32(32*g.width), w)
}

// foldColumns stores what the lanes of all columns sum up to.
func (g *generator) foldColumns(n int, frame operand.Mem) {
	dst, lanes := g.Load(g.Param("dst"), g.GP64()), g.GP64()
	dstStride, tiles := g.Load(g.Param("dstStride"), g.GP64()), g.Load(g.Param("tiles"), g.GP64())
	g.SHLQ(operand.U8(2), dstStride)
	column := g.strided(dstStride, n)
	g.LEAQ(frame, lanes)
	g.Label("fold")
	for c := range n {
		acc := make([][]reg.VecVirtual, g.tile)
		for r := range acc {
			for part := range g.parts {
				v := g.register()
				g.VMOVUPS(operand.Mem{Base: lanes, Disp: laneBytes*(laneRows*c+r) + int(v.Size())*part}, v)
				acc[r] = append(acc[r], v)
			}
		}
		g.store(acc, column(dst, c))
	}
	g.ADDQ(operand.I32(laneBytes*g.tile), lanes)
	g.ADDQ(operand.I32(4*g.tile), dst)
	g.DECQ(tiles)
	g.JNZ(operand.LabelRef("fold"))
}
