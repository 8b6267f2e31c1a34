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
		{"f32", 4, "math.Float32frombits(binary.LittleEndian.Uint32(w[r*stride+4*k:]))", multiplyF32},
		{"f16", 2, "half.ToFloat32(binary.LittleEndian.Uint16(w[r*stride+2*k:]))", multiplyF16},
		{"bf16", 2, "half.BToFloat32(binary.LittleEndian.Uint16(w[r*stride+2*k:]))", multiplyBF16},
	} {
		g := &generator{p, w}
		g.rows("AVX512", 4, 2, p.ZMM)
		g.rows("AVX2", 2, 4, p.YMM)
	}
}

// weights is what the formats differ in.
type weights struct {
	name  string
	width int    // bytes
	at    string // weight k of row r, in Go
	// multiply sets t to the product of x with the weights at m.
	multiply func(g *asm.Program, m operand.Mem, x, t reg.VecVirtual)
}

func multiplyF32(g *asm.Program, m operand.Mem, x, t reg.VecVirtual) { g.VMULPS(m, x, t) }

func multiplyF16(g *asm.Program, m operand.Mem, x, t reg.VecVirtual) {
	g.VCVTPH2PS(m, t)
	g.VMULPS(x, t, t)
}

func multiplyBF16(g *asm.Program, m operand.Mem, x, t reg.VecVirtual) {
	g.VPMOVZXWD(m, t)
	g.VPSLLD(operand.U8(16), t, t)
	g.VMULPS(x, t, t)
}

type generator struct {
	*asm.Program
	weights
}

// rows writes the kernel that takes tile rows at a time, parts registers of
// lanes each. All rows of a tile use the x that was loaded once, and their
// chains of additions overlap. The tile that follows is prefetched as this one
// is read, a stream for each row, to L2: it is as large as L1.
func (g *generator) rows(isa string, tile, parts int, register func() reg.VecVirtual) {
	name := g.name + "Rows" + isa
	g.Func(name, "func(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)",
		fmt.Sprintf("%s multiplies tiles of %d rows, which start stride bytes apart and have", name, tile),
		"blocks of 32 columns each.",
		"",
		fmt.Sprintf("\tfor r := range %d * tiles {", tile),
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
	tileBytes, stride3 := g.GP64(), g.GP64()
	g.MOVQ(stride, tileBytes)
	g.IMUL3Q(operand.I32(tile), tileBytes, tileBytes)
	if tile > 3 {
		g.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	}
	acc := make([][]reg.VecVirtual, tile)
	for r := range acc {
		for range parts {
			acc[r] = append(acc[r], register())
		}
	}

	g.Label("tile")
	src, xp, left, ahead := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	row := func(base reg.Register, r int) operand.Mem {
		switch r {
		case 0:
			return operand.Mem{Base: base}
		case 3:
			return operand.Mem{Base: base, Index: stride3, Scale: 1}
		}
		return operand.Mem{Base: base, Index: stride, Scale: uint8(r)}
	}
	g.MOVQ(w, src)
	g.MOVQ(x, xp)
	g.MOVQ(blocks, left)
	g.LEAQ(operand.Mem{Base: w, Index: tileBytes, Scale: 1, Disp: aheadBytes}, ahead)
	for r := range acc {
		for _, v := range acc[r] {
			g.zero(v)
		}
	}

	g.Label("block")
	size := int(acc[0][0].Size())
	var xv []reg.VecVirtual
	for i := range parts {
		v := register()
		g.VMOVUPS(operand.Mem{Base: xp, Disp: i * size}, v)
		xv = append(xv, v)
	}
	for r := range acc {
		for line := range g.width / 2 {
			g.PREFETCHT1(row(ahead, r).Offset(64 * line))
		}
		for i, a := range acc[r] {
			t := register()
			g.multiply(g.Program, row(src, r).Offset(i*size/4*g.width), xv[i], t)
			g.VADDPS(t, a, a)
		}
	}
	g.ADDQ(operand.I32(32*g.width), src)
	g.ADDQ(operand.I32(128), xp)
	g.ADDQ(operand.I32(32*g.width), ahead)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))

	g.store(acc, dst)
	g.ADDQ(tileBytes, w)
	g.ADDQ(operand.I32(4*tile), dst)
	g.DECQ(tiles)
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

func (g *generator) zero(v reg.VecVirtual) {
	x := v.AsX()
	g.VXORPS(x, x, x)
}

// store folds the lanes of each row and stores the sums.
func (g *generator) store(acc [][]reg.VecVirtual, dst reg.Register) {
	var rows []reg.VecVirtual // 4 lanes each
	for _, parts := range acc {
		rows = append(rows, g.fold(parts))
	}
	if len(rows) == 2 {
		sum, upper := g.pair(rows[0], rows[1]), g.XMM()
		g.VMOVHLPS(sum, sum, upper)
		g.VADDPS(upper, sum, sum)
		g.VMOVLPS(sum, operand.Mem{Base: dst})
		return
	}
	ab, cd := g.pair(rows[0], rows[1]), g.pair(rows[2], rows[3])
	lo, hi := g.XMM(), g.XMM()
	g.VMOVLHPS(cd, ab, lo)
	g.VMOVHLPS(ab, cd, hi)
	g.VADDPS(hi, lo, lo)
	g.VMOVUPS(lo, operand.Mem{Base: dst})
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
	y := parts[0]
	if y.Size() == 64 {
		upper := g.YMM()
		g.VEXTRACTF64X4(operand.U8(1), y, upper)
		g.VADDPS(upper, y.AsY(), upper)
		y = upper
	}
	upper := g.XMM()
	g.VEXTRACTF128(operand.U8(1), y, upper)
	g.VADDPS(upper, y.AsX(), upper)
	return upper
}
