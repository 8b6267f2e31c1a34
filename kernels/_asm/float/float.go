// Package float generates the products of weights that are floats.
//
// Column k of a row is added to lane k mod 32 of the row, after its product
// has been rounded, and the lanes are folded in halves: two ZMM or four YMM
// registers per row, and no fused multiply-add.
package float

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// aheadBytes is how much further than one tile the prefetches run: for tiles
// of 2 rows of a few KiB, one is too near.
const aheadBytes = 2048

// Generate writes all functions of float_amd64.s.
func Generate(p *asm.Program) {
	for _, w := range []weights{
		{"f32", 4, "math.Float32frombits(binary.LittleEndian.Uint32(w[r*stride+4*k:]))", loadF32},
		{"f16", 2, "half.ToFloat32(binary.LittleEndian.Uint16(w[r*stride+2*k:]))", loadF16},
		{"bf16", 2, "half.BToFloat32(binary.LittleEndian.Uint16(w[r*stride+2*k:]))", loadBF16},
	} {
		for _, t := range []target{
			{"AVX512", 4, 2, 16, p.ZMM},
			{"AVX2", 2, 4, 8, p.YMM},
		} {
			g := &generator{p, w, t}
			g.rows()
			few := 2
			if w.width == 4 { // nothing is converted
				few = 4
			}
			for n := few; n <= 4; n++ {
				g.columns(n)
			}
		}
	}
}

// weights is what the formats differ in.
type weights struct {
	format string
	width  int    // bytes
	at     string // weight k of row r, in Go
	// load sets t to the weights at m, as float32.
	load func(g *asm.Program, m operand.Mem, t reg.VecVirtual)
}

func loadF32(g *asm.Program, m operand.Mem, t reg.VecVirtual) { g.VMOVUPS(m, t) }

func loadF16(g *asm.Program, m operand.Mem, t reg.VecVirtual) { g.VCVTPH2PS(m, t) }

func loadBF16(g *asm.Program, m operand.Mem, t reg.VecVirtual) {
	g.VPMOVZXWD(m, t)
	g.VPSLLD(operand.U8(16), t, t)
}

// target is what the instruction sets differ in.
type target struct {
	isa      string
	tile     int // rows at a time
	parts    int // registers that 32 lanes take
	sums     int // registers for lanes that a batch kernel has
	register func() reg.VecVirtual
}

type generator struct {
	*asm.Program
	weights
	target
}

// rows writes the kernel for one column. All rows of a tile use the x that was
// loaded once, and their chains of additions overlap. The tile that follows is
// prefetched as this one is read, a stream for each row.
func (g *generator) rows() {
	name := g.format + "Rows" + g.isa
	g.Func(name, "func(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)",
		fmt.Sprintf("%s multiplies tiles of %d rows, which start stride bytes apart and have", name, g.tile),
		"blocks of 32 columns each.",
		"",
		fmt.Sprintf("\tfor r := range %d * tiles {", g.tile),
		"\t\tvar lanes [32]float32",
		"\t\tfor k := range 32 * blocks {",
		fmt.Sprintf("\t\t\tlanes[k%%32] += float32(%s * x[k])", g.at),
		"\t\t}",
		"\t\tdst[r] = foldLanes(&lanes)",
		"\t}")
	dst := g.Load(g.Param("dst"), g.GP64())
	w := g.Load(g.Param("w"), g.GP64())
	stride := g.Load(g.Param("stride"), g.GP64())
	x := g.Load(g.Param("x"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	tiles := g.Load(g.Param("tiles"), g.GP64())
	row := g.strided(stride, g.tile)
	acc := make([][]reg.VecVirtual, g.tile)
	for r := range acc {
		for range g.parts {
			acc[r] = append(acc[r], g.register())
		}
	}

	g.Label("tile")
	src, xp, left, ahead := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(w, src)
	g.MOVQ(x, xp)
	g.MOVQ(blocks, left)
	g.LEAQ(operand.Mem{Base: w, Index: stride, Scale: uint8(g.tile), Disp: aheadBytes}, ahead)
	for r := range acc {
		for _, v := range acc[r] {
			g.VXORPS(v.AsX(), v.AsX(), v.AsX())
		}
	}

	g.Label("block")
	size := int(acc[0][0].Size())
	var xv []reg.VecVirtual
	for i := range g.parts {
		v := g.register()
		g.VMOVUPS(operand.Mem{Base: xp, Disp: i * size}, v)
		xv = append(xv, v)
	}
	g.prefetch(ahead, row)
	for r := range acc {
		for i, a := range acc[r] {
			t := g.register()
			g.load(g.Program, row(src, r).Offset(i*size/4*g.width), t)
			g.VMULPS(xv[i], t, t)
			g.VADDPS(t, a, a)
		}
	}
	g.ADDQ(operand.I32(32*g.width), src)
	g.ADDQ(operand.I32(128), xp)
	g.ADDQ(operand.I32(32*g.width), ahead)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))

	g.store(acc, operand.Mem{Base: dst})
	g.LEAQ(operand.Mem{Base: w, Index: stride, Scale: uint8(g.tile)}, w)
	g.ADDQ(operand.I32(4*g.tile), dst)
	g.DECQ(tiles)
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// prefetch fetches 32 weights of each row of a tile.
func (g *generator) prefetch(tile reg.Register, row func(reg.Register, int) operand.Mem) {
	var lines []operand.Mem
	for r := range g.tile {
		lines = append(lines, asm.Lines(row(tile, r), 32*g.width)...)
	}
	g.Prefetch(0, lines...)
}

// strided returns the way to address n things, up to 4, that begin stride
// bytes apart.
func (g *generator) strided(stride reg.Register, n int) func(base reg.Register, i int) operand.Mem {
	s := asm.Stride{One: stride}
	if n > 3 {
		s = g.Stride(stride)
	}
	return func(base reg.Register, i int) operand.Mem { return s.Row(base, i, 0) }
}

// store folds the lanes of each row and stores the sums.
func (g *generator) store(acc [][]reg.VecVirtual, dst operand.Mem) {
	var rows []reg.VecVirtual // 4 lanes each
	for _, parts := range acc {
		rows = append(rows, g.fold(parts))
	}
	if len(rows) == 2 {
		sum, upper := g.pair(rows[0], rows[1]), g.XMM()
		g.VMOVHLPS(sum, sum, upper)
		g.VADDPS(upper, sum, sum)
		g.VMOVLPS(sum, dst)
		return
	}
	ab, cd := g.pair(rows[0], rows[1]), g.pair(rows[2], rows[3])
	lo, hi := g.XMM(), g.XMM()
	g.VMOVLHPS(cd, ab, lo)
	g.VMOVHLPS(ab, cd, hi)
	g.VADDPS(hi, lo, lo)
	g.VMOVUPS(lo, dst)
}

// pair returns a0+a2, b0+b2, a1+a3, b1+b3.
func (g *generator) pair(a, b reg.VecVirtual) reg.VecVirtual {
	lo, hi := g.XMM(), g.XMM()
	g.VUNPCKLPS(b, a, lo)
	g.VUNPCKHPS(b, a, hi)
	g.VADDPS(hi, lo, lo)
	return lo
}

// fold adds the upper half of the lanes to the lower until 4 are left.
func (g *generator) fold(parts []reg.VecVirtual) reg.VecVirtual {
	for n := len(parts) / 2; n > 0; n /= 2 {
		for i := range n {
			g.VADDPS(parts[i+n], parts[i], parts[i])
		}
	}
	y, upper := parts[0], g.XMM()
	if y.Size() == 32 {
		g.VEXTRACTF128(operand.U8(1), y, upper)
		g.VADDPS(upper, y.AsX(), upper)
		return upper
	}
	half := g.YMM()
	g.VEXTRACTF64X4(operand.U8(1), y, half)
	g.VADDPS(half, y.AsY(), half)
	g.VEXTRACTF32X4(operand.U8(1), half, upper) // reaches all 32 registers
	g.VADDPS(upper, half.AsX(), upper)
	return upper
}
