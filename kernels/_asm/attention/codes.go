package attention

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

const (
	tile    = 128 // positions
	q8Len   = 32  // channels of a value that share a scale
	eight   = 8   // positions that are multiplied before the next test
	pairs   = eight / 2
	codeRow = 2 * tile // bytes of a row's weights of a block, in int16
)

// softenConstants are those of the power of two that math32.Exp2 is, but for One and
// Magic.
var softenConstants = []asm.Constant{
	{Name: "Lowest", Value: math.Float32bits(float32(math.Inf(-1)))},
	{Name: "Vanishing", Value: math.Float32bits(-125)},
	{Name: "Power4", Value: math.Float32bits(0x1.3a02fp-7)},
	{Name: "Power3", Value: math.Float32bits(0x1.c9fc5cp-5)},
	{Name: "Power2", Value: math.Float32bits(0x1.ec0378p-3)},
	{Name: "Power1", Value: math.Float32bits(0x1.62e12cp-1)},
}

func (t target) constant(name string) operand.Mem { return asm.Declared("attention" + name) }

// soften turns the scores of whole tiles into weights.
func (t target) soften() {
	name := "soften" + t.isa
	t.Func(name, "func(scores, tops, sums *float32, rows int, scale float32)",
		name+" turns the scores of rows, 128 each, into weights, and returns each row's",
		"largest score and the sum of its weights.",
		"",
		"\tfor r := range rows {",
		"\t\tx, lanes := scores[128*r:][:128], [16]float32{}",
		"\t\ttops[r] = maximum(x)",
		"\t\tfor i := range x {",
		"\t\t\tx[i] = math32.Exp2((x[i] - tops[r]) * scale)",
		"\t\t\tlanes[i%16] += x[i]",
		"\t\t}",
		"\t\tfor n := 8; n > 0; n /= 2 {",
		"\t\t\tfor i := range n {",
		"\t\t\t\tlanes[i] += lanes[i+n]",
		"\t\t\t}",
		"\t\t}",
		"\t\tsums[r] = lanes[0]",
		"\t}")
	x, tops, sums := t.Load(t.Param("scores"), t.GP64()), t.Load(t.Param("tops"), t.GP64()), t.Load(t.Param("sums"), t.GP64())
	rows := t.Load(t.Param("rows"), t.GP64())
	scale := t.register()
	t.VBROADCASTSS(t.Argument("scale"), scale)

	t.Label("row")
	var most [4]reg.VecVirtual
	for i := range most {
		most[i] = t.register()
		t.VMOVUPS(t.constant("Lowest"), most[i])
	}
	for i := range tile / t.lanes {
		v := t.register()
		t.VMOVUPS(asm.At(x, 4*t.lanes*i), v)
		t.VMAXPS(most[i%4], v, most[i%4]) // the second stays if the first is NaN
	}
	t.VMAXPS(most[0], most[1], most[0])
	t.VMAXPS(most[2], most[3], most[2])
	t.VMAXPS(most[0], most[2], most[0])
	top := t.fold([]reg.VecVirtual{most[0]}, func(a, b reg.Register) { t.VMAXPS(b, a, a) })
	t.VMOVSS(top, asm.At(tops, 0))
	all := t.register()
	t.VBROADCASTSS(top, all)
	lanes := make([]reg.VecVirtual, 16/t.lanes)
	for i := range lanes {
		lanes[i] = t.register()
		t.Clear(lanes[i])
	}
	const together = 2 // vectors that are written out
	left := t.GP64()
	t.MOVQ(operand.U32(tile/t.lanes/together), left)
	t.Label("weights")
	for i := range together {
		v := t.register()
		t.VMOVUPS(asm.At(x, 4*t.lanes*i), v)
		t.VSUBPS(all, v, v)
		t.VMULPS(scale, v, v)
		v = t.exp2(v)
		t.VMOVUPS(v, asm.At(x, 4*t.lanes*i))
		sum := lanes[i%len(lanes)]
		t.VADDPS(v, sum, sum)
	}
	t.ADDQ(operand.U32(4*t.lanes*together), x)
	t.DECQ(left)
	t.JNZ(operand.LabelRef("weights"))
	t.VMOVSS(t.fold(lanes, func(a, b reg.Register) { t.VADDPS(b, a, a) }), asm.At(sums, 0))
	t.ADDQ(operand.U8(4), tops)
	t.ADDQ(operand.U8(4), sums)
	t.DECQ(rows)
	t.JNZ(operand.LabelRef("row"))
	t.VZEROUPPER()
	t.RET()
}

// exp2 returns 2 to the power of x.
func (t target) exp2(x reg.VecVirtual) reg.VecVirtual {
	shifted, p := t.register(), t.register()
	t.VADDPS(t.constant("Magic"), x, shifted)
	n := t.register()
	t.VSUBPS(t.constant("Magic"), shifted, n)
	r := t.register()
	t.VSUBPS(n, x, r)
	t.VMOVUPS(t.constant("Power4"), p)
	for _, term := range []string{"Power3", "Power2", "Power1", "One"} {
		t.VFMADD213PS(t.constant(term), r, p)
	}
	const notLess = 5
	if t.lanes == 16 {
		keep := t.K()
		t.VCMPPS(operand.U8(notLess), t.constant("Vanishing"), x, keep)
		out := t.register()
		t.VSCALEFPS_Z(n, p, keep, out)
		return out
	}
	keep := t.register()
	t.VCMPPS(operand.U8(notLess), t.constant("Vanishing"), x, keep)
	t.VPSLLD(operand.U8(23), shifted, shifted)
	t.VPADDD(t.constant("One"), shifted, shifted)
	t.VMULPS(shifted, p, p)
	t.VANDPS(keep, p, p)
	return p
}

// fold joins sixteen lanes, or the eight of one register, into one number: lane i with
// lane i+n for n of 8, 4, 2 and 1.
func (t target) fold(v []reg.VecVirtual, join func(a, b reg.Register)) reg.Register {
	y := v[0].AsY()
	switch {
	case t.lanes == 16:
		upper := t.YMM()
		t.VEXTRACTF64X4(operand.U8(1), v[0], upper)
		join(y, upper)
	case len(v) == 2:
		join(y, v[1])
	}
	x, other := v[0].AsX(), t.XMM()
	t.VEXTRACTF128(operand.U8(1), y, other)
	join(x, other)
	t.VPSHUFD(operand.U8(0b1110), x, other)
	join(x, other)
	t.VPSHUFD(operand.U8(0b0001), x, other)
	join(x, other)
	return x
}

// roundCodes makes int16 of weights times the scales of their values.
func (t target) roundCodes() {
	name := "roundCodes" + t.isa
	t.Func(name, "func(dst *int16, weights, scales, factors *float32, rows, blocks, stride int)",
		name+" rounds the weights of a tile's positions, times their scales.",
		"",
		"\tfor b := range blocks {",
		"\t\tfor r := range rows {",
		"\t\t\tfor t := range 128 {",
		"\t\t\t\tx := float32(weights[128*r+t]*scales[128*b+t]) * factors[stride*r+b]",
		"\t\t\t\tdst[128*(rows*b+r)+t] = int16(math.RoundToEven(x))",
		"\t\t\t}",
		"\t\t}",
		"\t}")
	dst, scales := t.Load(t.Param("dst"), t.GP64()), t.Load(t.Param("scales"), t.GP64())
	factors, stride := t.Load(t.Param("factors"), t.GP64()), t.Load(t.Param("stride"), t.GP64())
	blocks := t.Load(t.Param("blocks"), t.GP64())
	t.SHLQ(operand.U8(2), stride)
	t.Label("block")
	weights, factor, rows := t.GP64(), t.GP64(), t.GP64()
	t.Load(t.Param("weights"), weights)
	t.Load(t.Param("rows"), rows)
	t.MOVQ(factors, factor)
	t.Label("row")
	f := t.register()
	t.VBROADCASTSS(asm.At(factor, 0), f)
	code := func(i int) reg.VecVirtual {
		v := t.register()
		t.VMOVUPS(asm.At(weights, 4*t.lanes*i), v)
		t.VMULPS(asm.At(scales, 4*t.lanes*i), v, v)
		t.VMULPS(f, v, v)
		t.VCVTPS2DQ(v, v)
		return v
	}
	for i := range tile / 16 {
		if t.lanes == 16 {
			t.VPMOVDW(code(i), asm.At(dst, 32*i))
			continue
		}
		low, high := code(2*i), code(2*i+1)
		t.VPACKSSDW(high, low, low)
		t.VPERMQ(operand.U8(0b11011000), low, low)
		t.VMOVDQU(low, asm.At(dst, 32*i))
	}
	t.ADDQ(operand.U32(4*tile), weights)
	t.ADDQ(operand.U32(codeRow), dst)
	t.ADDQ(stride, factor)
	t.DECQ(rows)
	t.JNZ(operand.LabelRef("row"))
	t.ADDQ(operand.U32(4*tile), scales)
	t.ADDQ(operand.U8(4), factors)
	t.DECQ(blocks)
	t.JNZ(operand.LabelRef("block"))
	t.VZEROUPPER()
	t.RET()
}

// A pairDot adds to 32-bit sums the products of two positions' values, in int16,
// with the weights of one row.
type pairDot func(acc, values, weights reg.VecVirtual)

func (t target) fusedPair(acc, values, weights reg.VecVirtual) { t.VPDPWSSD(weights, values, acc) }

func (t target) plainPair(acc, values, weights reg.VecVirtual) {
	p := t.register()
	t.VPMADDWD(weights, values, p)
	t.VPADDD(p, acc, acc)
}

// addValues adds up the values of a tile, in int8, by weights that are rounded. Of few
// rows, several sums take turns, so that none waits for the one before.
func (t target) addValues(rows int, dot pairDot) {
	const vectors = 2
	columns := vectors * t.lanes
	name := fmt.Sprintf("addValues%dx%d%s", rows, columns, t.isa)
	t.Func(name, "func(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)",
		fmt.Sprintf("%s multiplies %d rows with by, and adds the values of", name, rows),
		fmt.Sprintf("8 · eights positions, by codes. While it works it fetches what is ahead, step bytes for every 8 positions of %d numbers.", columns),
		"",
		fmt.Sprintf("\tfor r := range %d {", rows),
		"\t\tfor d := range 32 * blocks {",
		"\t\t\tsum, b := int32(0), d/32",
		"\t\t\tfor t := range 8 * eights {",
		fmt.Sprintf("\t\t\t\tsum += int32(codes[128*(%d*b+r)+t]) * int32(int8(values[t/2*64*blocks+2*d+t%%2]))", rows),
		"\t\t\t}",
		"\t\t\tunit, x := float32(units[stride*r+b]*parts[r]), &dst[32*blocks*r+d]",
		"\t\t\t*x = fma(float32(sum), unit, float32(*x*by[r]))",
		"\t\t}",
		"\t}")
	ahead := t.fetcher(rows)
	values, codes := t.Load(t.Param("values"), t.GP64()), t.Load(t.Param("codes"), t.GP64())
	pairBytes, width := t.Load(t.Param("blocks"), t.GP64()), t.GP64()
	t.SHLQ(operand.U8(6), pairBytes)
	t.LEAQ(operand.Mem{Base: pairBytes, Index: pairBytes, Scale: 1}, width)
	pair := t.Rows(t.Stride(pairBytes), 1)
	out := t.Rows(t.Stride(width), (rows+3)/4)
	t.Load(t.Param("dst"), out.Fourth[0])
	t.StartRows(out)

	// Of many rows a pair of positions is work enough for a loop.
	written := pairs
	if rows > fetchRows {
		written = 1
	}
	parts, blocks := q8Len/columns, t.Argument("blocks")
	if parts == 2 {
		t.SHLQ(operand.U8(1), blocks)
	}
	t.Label("block")
	code, left := t.GP64(), t.GP64()
	t.MOVQ(values, pair.Fourth[0])
	t.MOVQ(codes, code)
	t.Load(t.Param("eights"), left)
	if written == 1 {
		t.SHLQ(operand.U8(2), left)
	}
	sets := make([][][]reg.VecVirtual, max(1, 8/(rows*vectors)))
	for i := range sets {
		sets[i] = t.tile(rows, vectors)
		t.each(sets[i], func(_, _ int, v reg.VecVirtual) { t.Clear(v) })
	}
	t.Label("pairs")
	t.fetch(ahead, eight*columns*34/q8Len)
	t.step(ahead)
	for i := range written {
		acc := sets[i%len(sets)]
		var v [vectors]reg.VecVirtual
		for j := range v {
			v[j] = t.register()
			t.VPMOVSXBW(pair.At(i, 2*t.lanes*j), v[j])
		}
		for r := range rows {
			weights := t.register()
			t.VPBROADCASTD(asm.At(code, codeRow*r+4*i), weights)
			for j := range v {
				dot(acc[r][j], v[j], weights)
			}
		}
	}
	t.ADDQ(operand.U8(4*written), code)
	t.LEAQ(operand.Mem{Base: pair.Fourth[0], Index: pair.One, Scale: uint8(written)}, pair.Fourth[0])
	t.DECQ(left)
	t.JNZ(operand.LabelRef("pairs"))
	t.blendRows(out, sets)
	t.Advance(out, operand.U32(4*columns))
	t.ADDQ(operand.U32(2*columns), values)
	t.DECQ(blocks)
	if parts == 2 { // the second part has the same codes
		t.TESTQ(operand.U32(1), blocks)
		t.JNZ(operand.LabelRef("block"))
	}
	t.ADDQ(operand.U32(codeRow*rows), codes)
	t.ADDQ(operand.U8(4), t.Argument("units"))
	t.CMPQ(blocks, operand.U8(0))
	t.JNE(operand.LabelRef("block"))
	t.VZEROUPPER()
	t.RET()
}

// blendRows adds the sums of a part of a block to the rows.
func (t target) blendRows(out asm.Rows, sets [][][]reg.VecVirtual) {
	by, parts := t.Load(t.Param("by"), t.GP64()), t.Load(t.Param("parts"), t.GP64())
	units, stride := t.Load(t.Param("units"), t.GP64()), t.Load(t.Param("stride"), t.GP64())
	t.SHLQ(operand.U8(2), stride)
	sums := sets[0]
	for r := range sums {
		unit, b := t.register(), t.register()
		t.VBROADCASTSS(asm.At(units, 0), unit)
		t.VBROADCASTSS(asm.At(parts, 4*r), b)
		t.VMULPS(b, unit, unit)
		t.VBROADCASTSS(asm.At(by, 4*r), b)
		t.ADDQ(stride, units)
		for j, sum := range sums[r] {
			for _, other := range sets[1:] {
				t.VPADDD(other[r][j], sum, sum)
			}
			x := t.register()
			t.VCVTDQ2PS(sum, sum)
			t.VMULPS(out.At(r, 4*t.lanes*j), b, x)
			t.VFMADD231PS(unit, sum, x)
			t.VMOVUPS(x, out.At(r, 4*t.lanes*j))
		}
	}
}

// greatest finds the largest of a tile's scales.
func (t target) greatest() {
	name := "greatest" + t.isa
	t.Func(name, "func(halves *byte) uint64",
		name+" returns the largest of 128 uint16 without their highest bits.",
		"",
		"\tfor i := range 128 {",
		"\t\tmost = max(most, uint16At(halves, 2*i)&0x7fff)",
		"\t}")
	src := t.Load(t.Param("halves"), t.GP64())
	mask := t.register()
	t.VMOVDQU(t.constant("Unsigned"), mask)
	var most [2]reg.VecVirtual
	for i := range 2 * tile / 32 {
		v := t.register()
		t.VPAND(asm.At(src, 32*i), mask, v)
		if i < len(most) {
			most[i] = v
			continue
		}
		t.VPMAXUW(v, most[i%2], most[i%2])
	}
	t.VPMAXUW(most[1], most[0], most[0])
	x, other := most[0].AsX(), t.XMM()
	t.VEXTRACTI128(operand.U8(1), most[0].AsY(), other)
	t.VPMAXUW(other, x, x)
	// What is smallest of the complements is largest.
	t.VPXOR(t.constant("Complement"), x, x)
	t.VPHMINPOSUW(x, x)
	out := t.GP32()
	t.VMOVD(x, out)
	t.NOTL(out)
	t.MOVWLZX(out.As16(), out)
	t.Store(out.As64(), t.ReturnIndex(0))
	t.VZEROUPPER()
	t.RET()
}
