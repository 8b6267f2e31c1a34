package q8

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The parts of a q6_k block, as drawn in package formats.
const (
	q6Block  = 210
	q6High   = 128
	q6Scales = 192
	q6Scale  = 208
)

// GenerateQ6_K writes all functions of q6_k_amd64.s.
func GenerateQ6_K(p *asm.Program) {
	g := &generator{p}
	spread := g.spread()
	g.q6Rows("AVX512", g.wideBlock(spread))
	g.q6Rows("AVX2", g.narrowBlock(spread))
	g.q6Batch()
}

// A blockEngine multiplies a block of one row.
type blockEngine struct {
	setup func()
	// scales returns the 8 activation scales at m in the order of groups.
	scales func(m operand.Mem) reg.VecVirtual
	// sums returns the sums of the 8 groups of 32 columns of the block at w.
	sums func(w, q reg.Register) reg.VecVirtual
	// groups is the group that each dword of sums belongs to.
	groups [8]int
	// load and insert set the lower and the upper half of a register, in the
	// encoding that reaches all there are.
	load, insert func(ops ...operand.Op)
}

// wideBlock decodes 64 columns in a register. For those of half h of a block
// 64 bytes of low bits have all it takes; its 32 bytes of high bits serve
// both halves of the register, shifted by different amounts.
func (g *generator) wideBlock(spread operand.Mem) blockEngine {
	nibble := g.constant("q6Nibble512", 0x0f0f0f0f0f0f0f0f, 8)
	high := g.constant("q6High512", 0x3030303030303030, 8)
	left := g.counts("q6Left", 4, 2)
	right := g.counts("q6Right", 0, 2)
	order := g.dwords("q6Order", [8]int{0, 2, 4, 6, 1, 3, 5, 7})
	var nibbleV, highV, leftV, rightV, orderV reg.VecVirtual
	var spreadV [4]reg.VecVirtual
	e := blockEngine{groups: [8]int{0, 2, 4, 6, 1, 3, 5, 7}, load: g.VBROADCASTF32X4, insert: g.VINSERTF32X4}
	e.setup = func() {
		nibbleV, highV, leftV, rightV, orderV = g.ZMM(), g.ZMM(), g.ZMM(), g.ZMM(), g.YMM()
		g.VMOVDQU64(nibble, nibbleV)
		g.VMOVDQU64(high, highV)
		g.VMOVDQU64(left, leftV)
		g.VMOVDQU64(right, rightV)
		g.VMOVDQU(order, orderV)
		for i := range spreadV {
			spreadV[i] = g.ZMM()
			g.VMOVDQU64(spread.Offset(64*i), spreadV[i])
		}
	}
	e.scales = func(m operand.Mem) reg.VecVirtual {
		v := g.YMM()
		g.VPERMPS(m, orderV, v)
		return v
	}
	e.sums = func(w, q reg.Register) reg.VecVirtual {
		scales := g.ZMM()
		g.VBROADCASTI32X4(asm.At(w, q6Scales), scales)
		var dots [4]reg.VecVirtual
		for h := range 2 {
			low, qh := g.ZMM(), g.ZMM()
			g.VMOVDQU64(asm.At(w, 64*h), low)
			g.VBROADCASTI64X4(asm.At(w, q6High+32*h), qh)
			for part := range 2 {
				codes := g.ZMM()
				if part == 0 {
					g.VPSLLVQ(leftV, qh, codes)
				} else {
					g.VPSRLVQ(rightV, qh, codes)
					g.VPSRLW(operand.U8(4), low, low)
				}
				g.VPANDQ(highV, codes, codes)
				const orAnd = 0xf8 // codes | low & nibble
				g.VPTERNLOGQ(operand.U8(orAnd), nibbleV, low, codes)
				i := 2*h + part
				dots[i] = g.ZMM()
				g.VPSHUFB(spreadV[i], scales, dots[i])
				g.weigh(codes, asm.At(q, 128*i), asm.At(q, 128*i+64), dots[i])
			}
		}
		return g.foldGroups(g.TransposeAdd(dots))
	}
	return e
}

// narrowBlock decodes 32 columns, a group, in a register.
func (g *generator) narrowBlock(spread operand.Mem) blockEngine {
	nibble := g.constant("q6Nibble", 0x0f0f0f0f0f0f0f0f, 4)
	high := g.constant("q6High", 0x3030303030303030, 4)
	var nibbleV, highV reg.VecVirtual
	load := func(ops ...operand.Op) { g.VBROADCASTF128(ops[0], ops[1]) }
	insert := func(ops ...operand.Op) { g.VINSERTF128(ops[0], ops[1], ops[2], ops[3]) }
	e := blockEngine{groups: [8]int{0, 1, 2, 3, 4, 5, 6, 7}, load: load, insert: insert}
	e.setup = func() {
		nibbleV, highV = g.YMM(), g.YMM()
		g.VMOVDQU(nibble, nibbleV)
		g.VMOVDQU(high, highV)
	}
	e.scales = func(m operand.Mem) reg.VecVirtual {
		v := g.YMM()
		g.VMOVUPS(m, v)
		return v
	}
	e.sums = func(w, q reg.Register) reg.VecVirtual {
		var half [2]reg.VecVirtual
		for h := range half {
			var dots [4]reg.VecVirtual
			for quarter := range dots {
				i := 4*h + quarter
				codes, bits := g.YMM(), g.YMM()
				g.VMOVDQU(asm.At(w, 64*h+32*(quarter%2)), codes)
				if quarter >= 2 {
					g.VPSRLW(operand.U8(4), codes, codes)
				}
				g.VPAND(nibbleV, codes, codes)
				g.VMOVDQU(asm.At(w, q6High+32*h), bits)
				switch shift := 4 - 2*quarter; {
				case shift > 0:
					g.VPSLLW(operand.U8(shift), bits, bits)
				case shift < 0:
					g.VPSRLW(operand.U8(-shift), bits, bits)
				}
				g.VPAND(highV, bits, bits)
				g.VPOR(bits, codes, codes)
				dots[quarter] = g.YMM()
				g.VBROADCASTI128(asm.At(w, q6Scales), dots[quarter])
				g.VPSHUFB(spread.Offset(32*i), dots[quarter], dots[quarter])
				g.weigh(codes, asm.At(q, 128*(i/2)+32*(i%2)), asm.At(q, 128*(i/2)+64+32*(i%2)), dots[quarter])
			}
			half[h] = g.TransposeAdd(dots)
		}
		return g.join(half[0], half[1])
	}
	return e
}

// weigh makes dots, which has the int8 scales in the upper bytes of words, the
// sums of scale·(code-32)·q of 4 columns. Sums of two products lie within
// 2·63·127 = 16,002 and, less 32·q, within 8128.
func (g *generator) weigh(codes reg.VecVirtual, q, minus operand.Mem, dots reg.VecVirtual) {
	g.VPSRAW(operand.U8(8), dots, dots)
	g.VPMADDUBSW(q, codes, codes)
	g.VPSUBW(minus, codes, codes)
	g.VPMADDWD(codes, dots, dots)
}

// counts is two shift counts, for the halves of a ZMM register.
func (g *generator) counts(name string, low, high uint64) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AppendDatum(operand.U64([2]uint64{low, high}[i/4]))
	}
	return m
}

func (g *generator) dwords(name string, values [8]int) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range values {
		g.AppendDatum(operand.U32(v))
	}
	return m
}

// spread is the operands of VPSHUFB, one lane each, that put each of 16 scales
// in the upper bytes of a lane's words.
func (g *generator) spread() operand.Mem {
	m := g.StaticGlobal("q6Spread")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for scale := range 16 {
		for range 2 {
			g.AppendDatum(operand.U64(uint64(scale)<<8*0x0001000100010001 | 0x0080008000800080))
		}
	}
	return m
}

// foldGroups adds 128-bit lane 1 to lane 0, and 3 to 2.
func (g *generator) foldGroups(z reg.VecVirtual) reg.VecVirtual {
	y := g.YMM()
	g.VSHUFI64X2(operand.U8(0xd8), z, z, z) // lanes 0, 2, 1, 3
	g.VEXTRACTI64X4(operand.U8(1), z, y)
	g.VPADDD(y, z.AsY(), y)
	return y
}

func (g *generator) q6Rows(isa string, e blockEngine) {
	name := "q6Rows" + isa
	g.Func(name, "func(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)",
		name+" multiplies tiles of 8 rows, which start stride bytes apart and have",
		"blocks of 210 bytes each. q is in the order that q6Order makes.",
		"",
		"\tfor r := range 8 * tiles {",
		"\t\tdst[r] = 0",
		"\t\tfor g := range 8 * blocks {",
		"\t\t\tvar sum int32",
		"\t\t\tfor k := 32 * g; k < 32*g+32; k++ {",
		"\t\t\t\tsum += q6Code(w[r*stride:], k) * int32(q[k/64*128+k%64])",
		"\t\t\t}",
		"\t\t\tdst[r] += term(fp16At(w, r*stride+g/8*210+208), scales[g], sum)",
		"\t\t}",
		"\t}")
	stride := g.Load(g.Param("stride"), g.GP64())
	stride2, stride6 := g.GP64(), g.GP64()
	g.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 1}, stride2)
	g.LEAQ(operand.Mem{Base: stride2, Index: stride2, Scale: 2}, stride6)
	terms := g.AllocLocal(8 * 32)
	e.setup()

	g.Label("tile")
	block := g.Load(g.Param("w"), g.GP64())
	q := g.Load(g.Param("q"), g.GP64())
	scales := g.Load(g.Param("scales"), g.GP64())
	blocks := g.Load(g.Param("blocks"), g.GP64())
	y := g.YMM()
	g.VPXOR(y, y, y)

	// The tile that follows is four streams of two rows each: a line of each
	// is prefetched with every row of a block.
	ahead := g.GP64()
	g.LEAQ(operand.Mem{Base: block, Index: stride, Scale: 8}, ahead)

	g.Label("block")
	activation, w, term, left := e.scales(asm.At(scales, 0)), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(block, w)
	g.LEAQ(terms, term)
	g.MOVQ(operand.U32(tile), left)
	g.Label("row")
	g.Prefetch(0, operand.Mem{Base: ahead}, operand.Mem{Base: ahead, Index: stride2, Scale: 1},
		operand.Mem{Base: ahead, Index: stride2, Scale: 2}, operand.Mem{Base: ahead, Index: stride6, Scale: 1})
	g.ADDQ(operand.I32((2*q6Block+tile-1)/tile), ahead)
	sums, d := e.sums(w, q), g.YMM()
	g.VCVTDQ2PS(sums, sums)
	g.VPBROADCASTW(asm.At(w, q6Scale), d.AsX())
	g.VCVTPH2PS(d.AsX(), d)
	g.VMULPS(activation, d, d)
	g.VMULPS(sums, d, d)
	g.VMOVUPS(d, asm.At(term, 0))
	g.ADDQ(stride, w)
	g.ADDQ(operand.I32(32), term)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("row"))

	g.addTerms(terms, e, y)
	g.ADDQ(operand.I32(q6Block), block)
	g.ADDQ(operand.I32(512), q)
	g.ADDQ(operand.I32(32), scales)
	g.DECQ(blocks)
	g.JNZ(operand.LabelRef("block"))

	dst := g.Load(g.Param("dst"), g.GP64())
	g.VMOVUPS(y, asm.At(dst, 0))
	g.ADDQ(operand.I32(4*tile), dst)
	g.Store(dst, g.Param("dst"))
	first := g.Load(g.Param("w"), g.GP64())
	g.LEAQ(operand.Mem{Base: first, Index: stride, Scale: 8}, first)
	g.Store(first, g.Param("w"))
	tiles := g.Load(g.Param("tiles"), g.GP64())
	g.DECQ(tiles)
	g.Store(tiles, g.Param("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// addTerms adds 8 terms of each of 8 rows to y, in the order of the groups
// that they belong to, as soon as all before them are there.
func (g *generator) addTerms(terms operand.Mem, e blockEngine, y reg.VecVirtual) {
	var columns [8]reg.VecVirtual
	next := 0
	for half := range 2 {
		for i, v := range g.transpose(terms.Offset(16*half), e) {
			columns[e.groups[4*half+i]] = v
		}
		for ; next < 8 && columns[next] != nil; next++ {
			g.VADDPS(columns[next], y, y)
		}
	}
}

// transpose returns columns 0 to 3 of 8 rows of floats, 32 bytes apart.
func (g *generator) transpose(m operand.Mem, e blockEngine) [4]reg.VecVirtual {
	var rows, t, out [4]reg.VecVirtual // rows r and r+4
	for r := range rows {
		rows[r] = g.YMM()
		e.load(m.Offset(32*r), rows[r])
		e.insert(operand.U8(1), m.Offset(32*(r+4)), rows[r], rows[r])
	}
	for i := range t {
		t[i], out[i] = g.YMM(), g.YMM()
	}
	g.VUNPCKLPS(rows[1], rows[0], t[0])
	g.VUNPCKHPS(rows[1], rows[0], t[1])
	g.VUNPCKLPS(rows[3], rows[2], t[2])
	g.VUNPCKHPS(rows[3], rows[2], t[3])
	g.VUNPCKLPD(t[2], t[0], out[0])
	g.VUNPCKHPD(t[2], t[0], out[1])
	g.VUNPCKLPD(t[3], t[1], out[2])
	g.VUNPCKHPD(t[3], t[1], out[3])
	return out
}
