package pack

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words writes the packer of four rows of the layout words: codes of four
// columns, a byte each, are brought together in a byte by two multiplications.
func (g *generator) words() {
	g.Func("packWordsAVX2", "func(dst *byte, stride int, group *byte, units int)",
		"packWordsAVX2 packs units of 128 columns of four rows, whose words start stride",
		"bytes apart.",
		"",
		"\tfor r := range 4 {",
		"\t\tfor k := range 128 * units {",
		"\t\t\tdst[r*stride+k/4] |= group[k] >> (6 - 2*r) & 3 << (k % 4 * 2)",
		"\t\t}",
		"\t}",
		"",
		"What was in dst is overwritten.")
	stride := g.Load(g.Param("stride"), g.GP64())
	dst := g.Load(g.Param("dst"), g.GP64())
	group := g.Load(g.Param("group"), g.GP64())
	units := g.Load(g.Param("units"), g.GP64())
	rows := g.Stride(stride)
	code := g.bytes("packCode", 3)
	const by4, by16, every4th = 0x0401040104010401, 0x0010000100100001, 0x0000000400000000
	weights, places, order := g.YMM(), g.YMM(), g.YMM()
	g.VMOVDQU(g.constant("packBy4", [4]uint64{by4, by4, by4, by4}), weights)
	g.VMOVDQU(g.constant("packBy16", [4]uint64{by16, by16, by16, by16}), places)
	g.VMOVDQU(g.constant("packOrder", [4]uint64{every4th, every4th + 0x0000000100000001, every4th + 0x0000000200000002, every4th + 0x0000000300000003}), order)

	g.Label("unit")
	var bytes [4]reg.VecVirtual
	for i := range bytes {
		bytes[i] = g.YMM()
		g.VMOVDQU(operand.Mem{Base: group, Disp: 32 * i}, bytes[i])
	}
	for r := range 4 {
		var v [4]reg.VecVirtual
		for i := range v {
			v[i] = g.YMM()
			if shift := 6 - 2*r; shift > 0 {
				g.VPSRLW(operand.U8(shift), bytes[i], v[i])
				g.VPAND(code, v[i], v[i])
			} else {
				g.VPAND(code, bytes[i], v[i])
			}
			g.VPMADDUBSW(weights, v[i], v[i])
			g.VPMADDWD(places, v[i], v[i])
		}
		g.VPACKUSDW(v[1], v[0], v[0])
		g.VPACKUSDW(v[3], v[2], v[2])
		g.VPACKUSWB(v[2], v[0], v[0])
		g.VPERMD(v[0], order, v[0])
		g.VMOVDQU(v[0], rows.Row(dst, r, 0))
	}
	g.ADDQ(operand.I32(128), group)
	g.ADDQ(operand.I32(32), dst)
	g.DECQ(units)
	g.JNZ(operand.LabelRef("unit"))
	g.VZEROUPPER()
	g.RET()
}
