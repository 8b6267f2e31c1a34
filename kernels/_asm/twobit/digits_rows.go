package twobit

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Rows of ptq1_0 in place, 4 at a time: a register of 32 bytes takes a block of 26 bytes of
// digits and its scale, whose activations are 0. Digit n of all bytes meets vector n of the
// activations, which are arranged so.
const (
	digitRowBytes = 28
	digitScale    = 26
	digitOrder    = 6 * 32 // five vectors, and -Σq
)

// A digitsEngine multiplies the digits of 4 rows.
type digitsEngine interface {
	isa() string
	// prepare loads constants.
	prepare()
	// products returns the sums of each row's dwords times 1<<shift.
	products(rows [4]reg.VecVirtual, q reg.GPVirtual) (sums [4]reg.VecVirtual, shift int)
}

// digitsRows writes the kernel of an engine.
func (g *generator) digitsRows(e digitsEngine) {
	name := "digitsRows" + e.isa()
	g.Func(name, "func(dst *float32, w *byte, stride, blocks int, q *int8, scales *float32, tiles int)",
		name+" multiplies tiles of 4 rows of blocks of ptq1_0 that start stride bytes",
		"apart; if stride is 0 they are one row, and one result is stored. q is in digit order.",
		"",
		"\tfor r := range 4 * tiles {",
		"\t\tvar y float32",
		"\t\tfor b := range blocks {",
		"\t\t\tblock := w[r*stride+28*b:][:28]",
		"\t\t\tsum := int32s(q[192*b+160:])[0]",
		"\t\t\tfor n := range 5 {",
		"\t\t\t\tfor i := range 26 {",
		"\t\t\t\t\tsum += digit(n, block[i]) * int32(q[192*b+32*n+i])",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t\ty += float32(float32(fp16(block[26:])*scales[b]) * float32(sum))",
		"\t\t}",
		"\t\tdst[r] = y",
		"\t}")
	var row [4]reg.GPVirtual
	for i := range row {
		row[i] = g.GP64()
	}
	q, scales, ahead, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	e.prepare()

	g.Label("tile")
	g.MOVQ(g.Argument("w"), row[0])
	g.MOVQ(g.Argument("stride"), left)
	for i := range 3 {
		g.LEAQ(operand.Mem{Base: row[i], Index: left, Scale: 1}, row[i+1])
	}
	g.LEAQ(operand.Mem{Base: row[3], Index: left, Scale: 1, Disp: prefetchBytes}, ahead)
	g.MOVQ(g.Argument("q"), q)
	g.MOVQ(g.Argument("scales"), scales)
	g.MOVQ(g.Argument("blocks"), left)
	y := g.XMM()
	g.Clear(y)

	g.Label("block")
	var w [4]reg.VecVirtual
	for i := range w {
		w[i] = g.YMM()
		g.VMOVDQU(g.prefix.Offset(64-digitRowBytes), w[i])
		g.VPMASKMOVD(asm.At(row[i], 0), w[i], w[i])
	}
	sums, shift := e.products(w, q)
	sum := g.foldLanes(g.TransposeAdd(sums))
	if shift > 0 {
		g.VPSRAD(operand.U8(shift), sum, sum)
	}
	minus, weight, scale := g.XMM(), g.XMM(), g.XMM()
	g.VPBROADCASTD(asm.At(q, 5*32), minus)
	g.VPADDD(minus, sum, sum)
	g.Clear(weight)
	for i := range row {
		g.VPINSRW(operand.U8(i), asm.At(row[i], digitScale), weight, weight)
	}
	g.VCVTPH2PS(weight, weight)
	g.VBROADCASTSS(asm.At(scales, 0), scale)
	g.VMULPS(scale, weight, weight)
	g.VCVTDQ2PS(sum, sum)
	g.VMULPS(weight, sum, sum)
	g.VADDPS(sum, y, y)
	g.Prefetch(prefetchBytes, asm.Lines(asm.At(ahead, 0), 4*digitRowBytes)...)
	for _, r := range row {
		g.ADDQ(operand.I32(digitRowBytes), r)
	}
	g.ADDQ(operand.I32(4*digitRowBytes), ahead)
	g.ADDQ(operand.I32(digitOrder), q)
	g.ADDQ(operand.I32(4), scales)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("block"))

	g.MOVQ(g.Argument("dst"), q)
	g.MOVQ(g.Argument("stride"), left)
	g.storeTile(y, q, left)
	g.ADDQ(operand.I32(16), g.Argument("dst"))
	g.SHLQ(operand.U8(2), left)
	g.ADDQ(left, g.Argument("w"))
	g.DECQ(g.Argument("tiles"))
	g.JNZ(operand.LabelRef("tile"))
	g.VZEROUPPER()
	g.RET()
}

// dpDigits adds Σ v·q and Σ next v·q with VPDPBUSD, as digits64 does: 256·digit is
// 3·v - next v.
type dpDigits struct {
	g   *generator
	vex bool
}

func (e *dpDigits) isa() string {
	if e.vex {
		return "AVXVNNI"
	}
	return "AVX512VNNI"
}

func (e *dpDigits) prepare() {}

func (e *dpDigits) products(rows [4]reg.VecVirtual, q reg.GPVirtual) (sums [4]reg.VecVirtual, shift int) {
	now, next := e.g.zeros(e.g.YMM, 4), e.g.zeros(e.g.YMM, 4)
	for n := range digitBytes {
		x := e.g.YMM()
		e.g.VMOVDQU(asm.At(q, 32*n), x)
		for i, v := range rows {
			e.dot(x, v, now[i])
			t := e.g.YMM()
			e.g.VPADDB(v, v, t)
			e.g.VPADDB(t, v, v)
			e.dot(x, v, next[i])
		}
	}
	for i := range sums {
		sums[i] = e.g.YMM()
		e.g.VPADDD(now[i], now[i], sums[i])
		e.g.VPADDD(now[i], sums[i], sums[i])
		e.g.VPSUBD(next[i], sums[i], sums[i])
	}
	return sums, 8
}

func (e *dpDigits) dot(q, v, acc reg.VecVirtual) {
	if e.vex {
		e.g.VEXDPBUSD(q, v, acc)
	} else {
		e.g.VPDPBUSD(q, v, acc)
	}
}

// wordDigits takes digits apart. A byte less 128 is compared with 85 and 170 less 128; three
// times it is 128 less than three times the byte, so what is compared stays signed. In int16
// a block adds 5·2·2·127 = 2540.
type wordDigits struct {
	g                      *generator
	sign, third, twoThirds reg.VecVirtual
}

func (e *wordDigits) isa() string { return "AVX2" }

func (e *wordDigits) prepare() {
	e.sign, e.third, e.twoThirds = e.everyByte(0x80), e.everyByte(85-128), e.everyByte(170-128)
}

// everyByte returns a register of 32 bytes of v.
func (e *wordDigits) everyByte(v int) reg.VecVirtual {
	r, y := e.g.GP32(), e.g.YMM()
	e.g.MOVL(operand.U32(uint32(uint8(v))*0x01010101), r)
	e.g.VMOVD(r, y.AsX())
	e.g.VPBROADCASTD(y.AsX(), y)
	return y
}

func (e *wordDigits) products(rows [4]reg.VecVirtual, q reg.GPVirtual) (sums [4]reg.VecVirtual, shift int) {
	for _, v := range rows {
		e.g.VPXOR(e.sign, v, v)
	}
	for n := range digitBytes {
		for i, v := range rows {
			t, digit := e.g.YMM(), e.g.YMM()
			if n > 0 {
				e.g.VPADDB(v, v, t)
				e.g.VPADDB(t, v, v)
			}
			e.g.VPCMPGTB(e.third, v, digit)
			e.g.VPCMPGTB(e.twoThirds, v, t)
			e.g.VPADDB(t, digit, digit)
			e.g.VPABSB(digit, digit)
			e.g.VPMADDUBSW(asm.At(q, 32*n), digit, digit)
			if n == 0 {
				sums[i] = digit
			} else {
				e.g.VPADDW(digit, sums[i], sums[i])
			}
		}
	}
	for _, v := range sums {
		e.g.VPMADDWD(e.g.wordOnes, v, v)
	}
	return sums, 0
}
