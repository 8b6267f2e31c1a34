package attention

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// A block of a query is 32 int8, a float32 scale, and -128 times the sum of the
// int8. A block of the keys of a group is 8 fp16 scales, and their 256 int8 by
// four.
const (
	queryBlock  = 40
	queryScale  = 32
	queryExcess = 36
	keyBlock    = 34 * group
	keyCodes    = 2 * group
	quads       = 8 // of codes in a block
	quadsOut    = 4 // of which so many are written out
)

func declareConstants(p *asm.Program) {
	for _, c := range []struct {
		name  string
		value uint64
	}{{"attentionBias", 0x8080808080808080}, {"attentionOnes", 0x0001000100010001}, {"attentionNibbles", 0x0f0f0f0f0f0f0f0f}, {"attentionEights", 0x0808080808080808},
		{"attentionUnsigned", 0x7fff7fff7fff7fff}, {"attentionComplement", 0xffffffffffffffff}} {
		p.StaticGlobal(c.name)
		p.DataAttributes(attr.RODATA | attr.NOPTR)
		for range 8 {
			p.AppendDatum(operand.U64(c.value))
		}
	}
}

// A dot multiplies bytes of keys with a query's.
type dot struct {
	doc    string
	excess bool // sums begin at what is too much in them
	// constant returns what the others take in a register.
	constant func() reg.VecVirtual
	// keys prepares a vector of keys for all rows.
	keys func(constant, keys reg.VecVirtual) reg.VecVirtual
	// add adds to 32-bit sums the products of four bytes of a query, in every lane, with
	// keys, and with what was prepared of them.
	add func(constant, acc, keys, prepared, query reg.VecVirtual)
}

// biased flips the keys' sign bits, which makes them unsigned, 128 too large.
func (t target) biased() dot {
	return dot{
		doc:    "It multiplies keys+128, which are unsigned, and begins with what that is too much.",
		excess: true,
		constant: func() reg.VecVirtual {
			c := t.register()
			t.VMOVUPS(operand.NewDataAddr(operand.NewStaticSymbol("attentionBias"), 0), c)
			return c
		},
		keys: func(constant, keys reg.VecVirtual) reg.VecVirtual {
			t.VPXORD(constant, keys, keys)
			return keys
		},
		add: func(_, acc, keys, _, query reg.VecVirtual) { t.VPDPBUSD(query, keys, acc) },
	}
}

// signed gives the keys' signs to the query. Two products stay below 2·127·127, so
// that VPMADDUBSW never saturates: no code of a cache is -128.
func (t target) signed() dot {
	return dot{
		doc: "It multiplies |keys| with a query that has got the keys' signs; no key is -128.",
		constant: func() reg.VecVirtual {
			c := t.register()
			t.VMOVUPS(operand.NewDataAddr(operand.NewStaticSymbol("attentionOnes"), 0), c)
			return c
		},
		keys: func(_, keys reg.VecVirtual) reg.VecVirtual {
			magnitude := t.register()
			t.VPABSB(keys, magnitude)
			return magnitude
		},
		add: func(ones, acc, keys, magnitude, query reg.VecVirtual) {
			p := t.register()
			t.VPSIGNB(keys, query, p)
			t.VPMADDUBSW(p, magnitude, p)
			t.VPMADDWD(ones, p, p)
			t.VPADDD(p, acc, acc)
		},
	}
}

// scales loads the scales of vector v of the positions, which are at disp from their groups.
func (t target) scales(keys asm.Rows, v, disp int) reg.VecVirtual {
	out := t.register()
	if t.lanes == group {
		t.VCVTPH2PS(keys.At(v, disp), out)
		return out
	}
	t.VBROADCASTF32X4(keys.At(2*v+1, disp), out.AsY())
	t.VINSERTF32X4(operand.U8(0), keys.At(2*v, disp), out.AsY(), out.AsY())
	t.VCVTPH2PS(out.AsY(), out)
	return out
}

func (t target) scoresQ8(rows, vectors int, d dot) {
	positions := vectors * t.lanes
	name := fmt.Sprintf("scoresQ8x%dx%d%s", rows, positions, t.isa)
	t.Func(name, "func(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)",
		fmt.Sprintf("%s multiplies %d queries of blocks of 32 numbers with the keys of", name, rows),
		fmt.Sprintf("%d · tiles positions, both in int8 with scales. While it works it fetches what is ahead.", positions),
		"",
		fmt.Sprintf("\tfor r := range %d {", rows),
		fmt.Sprintf("\t\tfor t := range %d * tiles {", positions),
		"\t\t\tdst[128*r+t] = 0",
		"\t\t\tfor b := range blocks {",
		"\t\t\t\tvar sum int32",
		"\t\t\t\tq, keys := q[40*(blocks*r+b):], keys[272*(t/8*blocks+b):]",
		"\t\t\t\tfor k := range 32 {",
		"\t\t\t\t\tsum += int32(int8(q[k])) * int32(int8(keys[16+k/4*32+t%8*4+k%4]))",
		"\t\t\t\t}",
		"\t\t\t\tscale := float32At(q, 32) * fp16At(keys, 2*(t%8))",
		"\t\t\t\tdst[128*r+t] = fma(float32(sum), scale, dst[128*r+t])",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"",
		d.doc)
	dst := t.Load(t.Param("dst"), t.GP64())
	ahead := t.fetcher(rows)
	blocks, groupBytes, rowBytes := t.Load(t.Param("blocks"), t.GP64()), t.GP64(), t.GP64()
	t.IMUL3Q(operand.U32(keyBlock), blocks, groupBytes)
	t.IMUL3Q(operand.U32(queryBlock), blocks, rowBytes)
	queries := t.Rows(t.Stride(rowBytes), (rows+3)/4)
	keys := t.groups(groupBytes, positions)
	constant := d.constant()

	t.Label("tile")
	left := t.GP64()
	t.IMUL3Q(operand.U32(quads/quadsOut), blocks, left)
	t.Load(t.Param("q"), queries.Fourth[0])
	t.StartRows(queries)
	t.StartRows(keys)
	scores, sums := t.tile(rows, vectors), t.tile(rows, vectors)
	t.each(scores, func(_, _ int, v reg.VecVirtual) { t.Clear(v) })

	t.Label("block")
	t.fetch(ahead, positions*keyBlock/group)
	t.step(ahead)
	for r := range sums {
		for _, v := range sums[r] {
			if d.excess {
				t.VPBROADCASTD(queries.At(r, queryExcess), v)
			} else {
				t.Clear(v)
			}
		}
	}
	t.Label("quads")
	for quad := range quadsOut {
		var codes, prepared []reg.VecVirtual
		for v := range vectors {
			codes = append(codes, t.gather(keys, v, keyCodes+4*group*quad, t.floats()))
			prepared = append(prepared, d.keys(constant, codes[v]))
		}
		for r := range rows {
			query := t.register()
			t.VPBROADCASTD(queries.At(r, 4*quad), query)
			for v := range vectors {
				d.add(constant, sums[r][v], codes[v], prepared[v], query)
			}
		}
	}
	t.Advance(keys, operand.U32(4*group*quadsOut))
	t.Advance(queries, operand.U32(4*quadsOut))
	t.DECQ(left)
	t.TESTQ(operand.U32(quads/quadsOut-1), left)
	t.JNZ(operand.LabelRef("quads"))
	for v := range vectors {
		scale := t.scales(keys, v, -4*group*quads)
		for r := range rows {
			both := t.register()
			t.VBROADCASTSS(queries.At(r, queryScale-4*quads), both)
			t.VMULPS(scale, both, both)
			t.VCVTDQ2PS(sums[r][v], sums[r][v])
			t.VFMADD231PS(both, sums[r][v], scores[r][v])
		}
	}
	t.Advance(keys, operand.U32(keyBlock-4*group*quads))
	t.Advance(queries, operand.U32(queryBlock-4*quads))
	t.TESTQ(left, left)
	t.JNZ(operand.LabelRef("block"))

	// keys is at the second group of the tile now.
	t.each(scores, func(row, disp int, v reg.VecVirtual) { t.VMOVUPS(v, asm.At(dst, rowStride*row+disp)) })
	t.nextGroups(keys, positions)
	t.ADDQ(operand.U32(4*positions), dst)
	tiles := t.Argument("tiles")
	t.DECQ(tiles)
	t.JNZ(operand.LabelRef("tile"))
	t.VZEROUPPER()
	t.RET()
}
