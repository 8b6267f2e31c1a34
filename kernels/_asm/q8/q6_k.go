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
	// Behind the activations of a block are their sums.
	q6Activations = 256
	q6Order       = q6Activations + 2*16
)

// GenerateQ6_K writes all functions of q6_k_amd64.s.
func GenerateQ6_K(p *asm.Program) {
	g := &generator{p}
	g.q6Rows("AVX512", g.wideBlock())
	g.q6Rows("AVX2", g.narrowBlock())
	g.q6Batch()
}

// A blockEngine multiplies a block of one row.
type blockEngine struct {
	setup func()
	// scales returns the 8 activation scales at m in the order of groups.
	scales func(m operand.Mem) reg.VecVirtual
	// sums returns the sums of the 8 groups of 32 columns of the block at w, and what is to be
	// taken off them.
	sums func(w, q reg.Register) (sums, minus reg.VecVirtual)
	// groups is the group that each dword of sums belongs to.
	groups [8]int
	// load and insert set the lower and the upper half of a register, in the
	// encoding that reaches all there are.
	load, insert func(ops ...operand.Op)
}

// wideBlock decodes 64 columns in a register. For those of half h of a block
// 64 bytes of low bits have all it takes; its 32 bytes of high bits serve
// both halves of the register, shifted by different amounts.
func (g *generator) wideBlock() blockEngine {
	nibble := g.constant("q6Nibble512", 0x0f0f0f0f0f0f0f0f, 8)
	high := g.constant("q6High512", 0x3030303030303030, 8)
	ones := g.constant("q6Ones512", 0x0001000100010001, 8)
	left := g.counts("q6Left", 4, 2)
	right := g.counts("q6Right", 0, 2)
	order := g.dwords("q6Order", [8]int{0, 2, 4, 6, 1, 3, 5, 7})
	spread := [2]operand.Mem{g.wordsOf("q6Spread512_0", 0, 4), g.wordsOf("q6Spread512_1", 8, 12)}
	var nibbleV, highV, onesV, leftV, rightV, orderV reg.VecVirtual
	var spreadV [2]reg.VecVirtual
	e := blockEngine{groups: [8]int{0, 2, 4, 6, 1, 3, 5, 7}, load: g.VBROADCASTF32X4, insert: g.VINSERTF32X4}
	e.setup = func() {
		nibbleV, highV, onesV, leftV, rightV, orderV = g.ZMM(), g.ZMM(), g.ZMM(), g.ZMM(), g.ZMM(), g.YMM()
		g.VMOVDQU64(nibble, nibbleV)
		g.VMOVDQU64(high, highV)
		g.VMOVDQU64(ones, onesV)
		g.VMOVDQU64(left, leftV)
		g.VMOVDQU64(right, rightV)
		g.VMOVDQU(order, orderV)
		for i := range spreadV {
			spreadV[i] = g.ZMM()
			g.VMOVDQU64(spread[i], spreadV[i])
		}
	}
	e.scales = func(m operand.Mem) reg.VecVirtual {
		v := g.YMM()
		g.VPERMPS(m, orderV, v)
		return v
	}
	e.sums = func(w, q reg.Register) (sums, minus reg.VecVirtual) {
		scales := g.ZMM()
		g.VPMOVSXBW(asm.At(w, q6Scales), scales.AsY())
		var halves [2]reg.VecVirtual
		for h := range halves {
			low, qh := g.ZMM(), g.ZMM()
			g.VMOVDQU64(asm.At(w, 64*h), low)
			g.VBROADCASTI64X4(asm.At(w, q6High+32*h), qh)
			var dots [2]reg.VecVirtual
			for part := range dots {
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
				dots[part] = g.four(codes, asm.At(q, 128*h+64*part), onesV)
			}
			words := g.ZMM()
			g.VPERMW(scales, spreadV[h], words)
			halves[h] = g.weigh(dots[0], dots[1], words)
		}
		minus = g.minus(scales, q)
		g.VPERMD(minus, orderV, minus)
		return g.foldGroups(g.addNeighbours(halves[0], halves[1])), minus
	}
	return e
}

// narrowBlock decodes 32 columns, a group, in a register.
func (g *generator) narrowBlock() blockEngine {
	nibble := g.constant("q6Nibble", 0x0f0f0f0f0f0f0f0f, 4)
	high := g.constant("q6High", 0x3030303030303030, 4)
	ones := g.constant("q6Ones", 0x0001000100010001, 4)
	spread := [2]operand.Mem{g.spread("q6Spread0", 0), g.spread("q6Spread1", 4)}
	var nibbleV, highV, onesV reg.VecVirtual
	load := func(ops ...operand.Op) { g.VBROADCASTF128(ops[0], ops[1]) }
	insert := func(ops ...operand.Op) { g.VINSERTF128(ops[0], ops[1], ops[2], ops[3]) }
	e := blockEngine{groups: [8]int{0, 1, 2, 3, 4, 5, 6, 7}, load: load, insert: insert}
	e.setup = func() {
		nibbleV, highV, onesV = g.YMM(), g.YMM(), g.YMM()
		g.VMOVDQU(nibble, nibbleV)
		g.VMOVDQU(high, highV)
		g.VMOVDQU(ones, onesV)
	}
	e.scales = func(m operand.Mem) reg.VecVirtual {
		v := g.YMM()
		g.VMOVUPS(m, v)
		return v
	}
	e.sums = func(w, q reg.Register) (sums, minus reg.VecVirtual) {
		scales := g.YMM()
		g.VPMOVSXBW(asm.At(w, q6Scales), scales)
		minus = g.minus(scales, q)
		var half [2]reg.VecVirtual
		for h := range half {
			both, bits := g.YMM(), g.YMM() // the scales of this half, in both lanes
			g.VPERMQ(operand.U8([2]uint8{0x44, 0xee}[h]), scales, both)
			g.VMOVDQU(asm.At(w, q6High+32*h), bits)
			var dots [4]reg.VecVirtual
			for _, quarter := range [4]int{0, 2, 1, 3} { // the low bits of two are in the same bytes
				codes, shifted := g.YMM(), g.YMM()
				g.VMOVDQU(asm.At(w, 64*h+32*(quarter%2)), codes)
				if quarter >= 2 {
					g.VPSRLW(operand.U8(4), codes, codes)
				}
				g.VPAND(nibbleV, codes, codes)
				switch shift := 4 - 2*quarter; {
				case shift > 0:
					g.VPSLLW(operand.U8(shift), bits, shifted)
					g.VPAND(highV, shifted, shifted)
				case shift < 0:
					g.VPSRLW(operand.U8(-shift), bits, shifted)
					g.VPAND(highV, shifted, shifted)
				default:
					g.VPAND(highV, bits, shifted)
				}
				g.VPOR(shifted, codes, codes)
				dots[quarter] = g.four(codes, asm.At(q, 128*h+32*quarter), onesV)
			}
			var pairs [2]reg.VecVirtual
			for i := range pairs {
				words := g.YMM()
				g.VPSHUFB(spread[i], both, words)
				pairs[i] = g.weigh(dots[2*i], dots[2*i+1], words)
			}
			half[h] = g.addNeighbours(pairs[0], pairs[1])
		}
		return g.join(half[0], half[1]), minus
	}
	return e
}

// four returns the sums of code·q of every 4 columns, at most 4·63·127 = 32,004.
func (g *generator) four(codes reg.VecVirtual, q operand.Mem, ones reg.VecVirtual) reg.VecVirtual {
	g.VPMADDUBSW(q, codes, codes)
	g.VPMADDWD(ones, codes, codes)
	return codes
}

// weigh returns the sums of 8 columns, times their scales: lane by lane two of a and two
// of b. scales has words for the four of a and the four of b.
func (g *generator) weigh(a, b, scales reg.VecVirtual) reg.VecVirtual {
	g.VPACKSSDW(b, a, a)
	g.VPMADDWD(scales, a, a)
	return a
}

// addNeighbours adds dwords 2i and 2i+1 of every lane: two sums of a before two of b.
func (g *generator) addNeighbours(a, b reg.VecVirtual) reg.VecVirtual {
	even, odd := g.Like(a), g.Like(a)
	g.VSHUFPS(operand.U8(0x88), b, a, even)
	g.VSHUFPS(operand.U8(0xdd), b, a, odd)
	g.VPADDD(odd, even, even)
	return even
}

// minus returns 32·scale·Σq of the 8 groups, of scales as words.
func (g *generator) minus(scales reg.VecVirtual, q reg.Register) reg.VecVirtual {
	m := g.YMM()
	g.VPMADDWD(asm.At(q, q6Activations), scales.AsY(), m)
	g.VPSLLD(operand.U8(5), m, m)
	return m
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

// spread is the operand of VPSHUFB that puts words from and from+2 of 8 in the lower lane, four
// times each, and the words behind those in the upper lane.
func (g *generator) spread(name string, from int) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for lane := range 2 {
		for i := range 2 {
			at := uint64(2 * (from + 2*i + lane))
			g.AppendDatum(operand.U64(0x0001000100010001 * (at | (at+1)<<8)))
		}
	}
	return m
}

// wordsOf is the operand of VPERMW that puts words a+l and b+l in lane l, four times each.
func (g *generator) wordsOf(name string, a, b int) operand.Mem {
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for lane := range 4 {
		for _, word := range [2]int{a + lane, b + lane} {
			g.AppendDatum(operand.U64(0x0001000100010001 * uint64(word)))
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
		"\t\t\t\tsum += q6Code(w[r*stride:], k) * int32(q[k/256*288+k%256])",
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

	// The tile behind the next is four streams of two rows each: a line of each
	// is prefetched with every row of a block.
	ahead := g.GP64()
	g.LEAQ(operand.Mem{Base: block, Index: stride, Scale: 8}, ahead)
	g.LEAQ(operand.Mem{Base: ahead, Index: stride, Scale: 8}, ahead)

	g.Label("block")
	activation, w, term, left := e.scales(asm.At(scales, 0)), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(block, w)
	g.LEAQ(terms, term)
	g.MOVQ(operand.U32(tile), left)
	g.Label("row")
	g.Prefetch(0, operand.Mem{Base: ahead}, operand.Mem{Base: ahead, Index: stride2, Scale: 1},
		operand.Mem{Base: ahead, Index: stride2, Scale: 2}, operand.Mem{Base: ahead, Index: stride6, Scale: 1})
	g.ADDQ(operand.I32((2*q6Block+tile-1)/tile), ahead)
	sums, minus := e.sums(w, q)
	d := g.YMM()
	g.VPSUBD(minus, sums, sums)
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
	g.ADDQ(operand.I32(q6Order), q)
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
