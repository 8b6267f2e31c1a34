package twobit

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Kernels of the layout codes64 under q8_32. Codes are shifted down to bytes, and the
// sums of 32 products, which have 16 bits, meet the integer share of their scale in one
// instruction. Several columns meet codes that were shifted once.

// GenerateSpans writes all functions of spans_amd64.s.
func GenerateSpans(p *asm.Program) {
	g := &generator{Program: p}
	g.masks[0] = g.repeat("spansMask", 0x0303030303030303, unitBytes)
	for _, t := range []spanTarget{dpSpans{g}, vexSpans{narrowSpans{g}}, wordSpans{narrowSpans{g}}} {
		for _, s := range t.shapes() {
			k := &spanKernel{g: g, spanTarget: t, vectors: s[0], columns: s[1]}
			k.write()
		}
	}
}

// Fields of a quantize.Span, of which shares are the first.
const (
	spanMinus    = 24 // of all groups
	spanHalf     = 28 // of the first two
	spanShares   = 16 // bytes
	spanSize     = 32
	groupColumns = 32
)

// A spanTarget is what differs between instruction sets.
type spanTarget interface {
	name() string
	// shapes are kernels' vectors of rows, and columns.
	shapes() [][2]int
	register() reg.VecVirtual
	// sums are for each vector and column, by turns, of so many columns.
	sums(columns int) int
	// together is how many of so many vectors have their codes in registers at once.
	together(vectors int) int
	// clear begins a sum of 32 products.
	clear(sum reg.VecVirtual)
	copy(from, to reg.VecVirtual)
	// code loads w's codes 2j bits up.
	code(w operand.Mem, j int, mask, to reg.VecVirtual)
	// add adds the products of vectors' codes with four activations to their sums.
	add(q operand.Mem, codes, sums []reg.VecVirtual)
	// scale adds sums times a share to others.
	scale(share operand.Mem, sums, to []reg.VecVirtual)
	// mul multiplies with a float32.
	mul(by operand.Mem, v reg.VecVirtual)
}

// A spanKernel is a kernel for so many vectors of rows and columns.
type spanKernel struct {
	g *generator
	spanTarget
	vectors, columns int

	codes, scales, left reg.GPVirtual
	half                reg.GPVirtual // where halves of spans are terms, more than 0 in the first and less in the second
	q, spans            asm.Rows
	mask                reg.VecVirtual
	sum, scaled, y      [][]reg.VecVirtual // by column, then vector
}

func (k *spanKernel) grid(per int) (out [][]reg.VecVirtual) {
	for range k.columns {
		var vectors []reg.VecVirtual
		for range k.vectors * per {
			vectors = append(vectors, k.register())
		}
		out = append(out, vectors)
	}
	return out
}

func (k *spanKernel) rowBytes() int { return int(k.register().Size()) } // of a dword of each of a vector's rows

func (k *spanKernel) write() {
	name := fmt.Sprintf("spans%d%s", k.columns, k.name())
	rows := k.vectors * k.rowBytes() / 4
	doc := fmt.Sprintf(`%s multiplies %d rows of a tile of the layout codes64 or codes128, in blocks of
terms times groups times 32 columns, with %d columns of activations under q8_32 in their
natural order, stride bytes apart. Those of dst are dstStride bytes apart. spans are their
quantize.Spans, of which a term is the whole or, with two groups, a half. Codes and scales
begin with the first row's, skip bytes lie between the codes of a block and those of the
next, step from scales to scales. If scales is nil, all are scale.

	for r := range %d {
		for each term:
			sum := int32(0)
			for k := range columns of the term {
				sum += share(k/32) * (code(r, k) - 1) * q[k]
			}
			dst[r] += float32(fp16(scale(r)) * float32(unit*float32(sum)))
	}`, name, rows, k.columns, rows)
	k.g.Func(name, "func(dst *float32, dstStride int, codes, scales *byte, scale float32, q *int8, stride int, spans *int32, blocks, terms, groups, skip, step int)", strings.Split(doc, "\n")...)
	k.start()
	k.g.Label("block")
	terms := k.g.GP64()
	k.g.MOVQ(k.g.Argument("terms"), terms)
	k.g.Label("term")
	k.term()
	k.g.DECQ(terms)
	k.g.JNZ(operand.LabelRef("term"))
	k.g.ADDQ(k.g.Argument("skip"), k.codes)
	k.g.ADDQ(k.g.Argument("step"), k.scales)
	k.g.DECQ(k.left)
	k.g.JNZ(operand.LabelRef("block"))
	k.store()
	k.g.VZEROUPPER()
	k.g.RET()
}

func (k *spanKernel) start() {
	k.codes, k.scales, k.left = k.g.GP64(), k.g.GP64(), k.g.GP64()
	stride, spanStride := k.g.GP64(), k.g.GP64()
	k.g.Load(k.g.Param("codes"), k.codes)
	k.g.Load(k.g.Param("scales"), k.scales)
	k.g.Load(k.g.Param("blocks"), k.left)
	k.half = k.g.GP64()
	k.g.MOVQ(k.g.Argument("groups"), k.half)
	k.g.ANDQ(operand.U8(2), k.half)
	k.g.Load(k.g.Param("stride"), stride)
	k.g.MOVQ(stride, spanStride)
	k.g.SHRQ(operand.U8(2), spanStride)
	k.q, k.spans = k.columnsOf("q", stride), k.columnsOf("spans", spanStride)
	k.mask = k.register()
	k.g.load(k.g.masks[0], k.mask)
	k.sum, k.scaled, k.y = k.grid(k.sums(k.columns)), k.grid(1), k.grid(1)
	for _, y := range k.y {
		for _, v := range y {
			k.g.Clear(v)
		}
	}
}

func (k *spanKernel) columnsOf(param string, stride reg.GPVirtual) asm.Rows {
	s := asm.Stride{One: stride}
	if k.columns > 3 {
		s = k.g.Stride(stride)
	}
	r := k.g.Rows(s, (k.columns+3)/4)
	k.g.Load(k.g.Param(param), r.Fourth[0].(reg.GPVirtual))
	k.g.StartRows(r)
	return r
}

// term multiplies a span or half of one. Behind the last group the spans' pointers are at the unit.
func (k *spanKernel) term() {
	k.minus()
	left := k.g.GP64()
	k.g.MOVQ(k.g.Argument("groups"), left)
	k.g.Label("group")
	k.group()
	k.g.DECQ(left)
	k.g.JNZ(operand.LabelRef("group"))
	k.g.TESTQ(k.half, k.half)
	k.g.JLE(operand.LabelRef("unit"))
	k.g.Advance(k.spans, operand.I32(spanShares/2))
	k.g.Label("unit")
	k.addTerms()
	k.g.Advance(k.spans, operand.I32(spanSize-spanShares))
	k.g.NEGQ(k.half)
	k.g.JGE(operand.LabelRef("passed"))
	k.g.Advance(k.spans, operand.I32(spanShares/2-spanSize))
	k.g.Label("passed")
}

// minus begins the sums with what is too much in the products of codes.
func (k *spanKernel) minus() {
	k.g.TESTQ(k.half, k.half)
	k.g.JZ(operand.LabelRef("whole"))
	k.g.JS(operand.LabelRef("second"))
	for c, s := range k.scaled {
		k.g.VPBROADCASTD(k.spans.At(c, spanHalf), s[0])
	}
	k.g.JMP(operand.LabelRef("begun"))
	k.g.Label("second")
	for c, s := range k.scaled {
		half := k.register()
		k.g.VPBROADCASTD(k.spans.At(c, spanMinus-spanShares/2), s[0])
		k.g.VPBROADCASTD(k.spans.At(c, spanHalf-spanShares/2), half)
		k.g.VPSUBD(half, s[0], s[0])
	}
	k.g.JMP(operand.LabelRef("begun"))
	k.g.Label("whole")
	for c, s := range k.scaled {
		k.g.VPBROADCASTD(k.spans.At(c, spanMinus), s[0])
	}
	k.g.Label("begun")
	for _, s := range k.scaled {
		for _, v := range s[1:] {
			k.copy(s[0], v)
		}
	}
}

// group multiplies 32 columns, and moves on.
func (k *spanKernel) group() {
	var lines []operand.Mem
	if k.columns == 1 { // others' rows, too: they come next
		lines = asm.Lines(asm.At(k.codes, tileAhead), 2*dwordBytes)
	} else {
		for d := range 2 {
			lines = append(lines, asm.Lines(asm.At(k.codes, tileAhead+d*dwordBytes), max(64, k.vectors*k.rowBytes()))...)
		}
	}
	k.g.Prefetch(tileFurther, lines...)
	for _, sums := range k.sum {
		for _, s := range sums {
			k.clear(s)
		}
	}
	for d := range 2 {
		for j := range 4 {
			k.products(d, j)
		}
	}
	for c := range k.columns {
		for turn := range k.sums(k.columns) {
			k.scale(k.spans.At(c, 0), k.sum[c][turn*k.vectors:][:k.vectors], k.scaled[c])
		}
	}
	k.g.ADDQ(operand.I32(2*dwordBytes), k.codes)
	k.g.Advance(k.q, operand.I32(groupColumns))
	k.g.Advance(k.spans, operand.I32(4))
}

// products multiplies codes 4j to 4j+3 of a dword. Where registers are few, each vector's
// are by themselves.
func (k *spanKernel) products(d, j int) {
	together := k.together(k.vectors)
	turn := d % k.sums(k.columns) * k.vectors
	for from := 0; from < k.vectors; from += together {
		var codes []reg.VecVirtual
		for v := range together {
			c := k.register()
			k.code(asm.At(k.codes, d*dwordBytes+(from+v)*k.rowBytes()), j, k.mask, c)
			codes = append(codes, c)
		}
		for c := range k.columns {
			k.add(k.q.At(c, 16*d+4*j), codes, k.sum[c][turn+from:][:together])
		}
	}
}

// addTerms adds weight·(unit·sum) to the results.
func (k *spanKernel) addTerms() {
	weights := make([]reg.VecVirtual, k.vectors)
	k.g.TESTQ(k.scales, k.scales)
	k.g.JZ(operand.LabelRef("tensor"))
	for v := range weights {
		weights[v] = k.register()
		k.g.VCVTPH2PS(asm.At(k.scales, v*k.rowBytes()/2), weights[v])
	}
	k.g.JMP(operand.LabelRef("weighed"))
	k.g.Label("tensor")
	for _, w := range weights {
		k.g.VBROADCASTSS(k.g.Argument("scale"), w)
	}
	k.g.Label("weighed")
	for v, w := range weights {
		for c := range k.columns {
			s, y := k.scaled[c][v], k.y[c][v]
			k.g.VCVTDQ2PS(s, s)
			k.mul(k.spans.At(c, 0), s)
			k.g.VMULPS(w, s, s)
			k.g.VADDPS(s, y, y)
		}
	}
}

func (k *spanKernel) store() {
	dst, stride := k.g.GP64(), k.g.GP64()
	k.g.Load(k.g.Param("dst"), dst)
	k.g.Load(k.g.Param("dstStride"), stride)
	for c := range k.y {
		for v, y := range k.y[c] {
			k.g.VMOVUPS(y, asm.At(dst, v*k.rowBytes()))
		}
		if c < k.columns-1 {
			k.g.ADDQ(stride, dst)
		}
	}
}

// dpSpans has VPDPBUSD and VPDPWSSD of AVX-512.
type dpSpans struct{ g *generator }

func (dpSpans) name() string                   { return "AVX512VNNI" }
func (dpSpans) shapes() [][2]int               { return [][2]int{{4, 1}, {4, 2}, {2, 4}} }
func (t dpSpans) register() reg.VecVirtual     { return t.g.ZMM() }
func (dpSpans) together(vectors int) int       { return vectors }
func (t dpSpans) clear(sum reg.VecVirtual)     { t.g.Clear(sum) }
func (t dpSpans) copy(from, to reg.VecVirtual) { t.g.VMOVDQA64(from, to) }

// sums are two where one of each vector would wait for the product before.
func (dpSpans) sums(columns int) int {
	if columns == 1 {
		return 2
	}
	return 1
}

func (t dpSpans) code(w operand.Mem, j int, mask, to reg.VecVirtual) {
	if j == 0 {
		t.g.VPANDD(w, mask, to)
		return
	}
	t.g.VPSRLD(operand.U8(2*j), w, to)
	t.g.VPANDD(mask, to, to)
}

func (t dpSpans) add(q operand.Mem, codes, sums []reg.VecVirtual) {
	four := t.g.ZMM()
	t.g.VPBROADCASTD(q, four)
	for v, c := range codes {
		t.g.VPDPBUSD(four, c, sums[v])
	}
}

func (t dpSpans) scale(share operand.Mem, sums, to []reg.VecVirtual) {
	for v, s := range sums {
		t.g.VPDPWSSD_BCST(share, s, to[v])
	}
}

func (t dpSpans) mul(by operand.Mem, v reg.VecVirtual) { t.g.VMULPS_BCST(by, v, v) }

// narrowSpans is what 32-byte registers have in common.
type narrowSpans struct{ g *generator }

func (narrowSpans) shapes() [][2]int               { return [][2]int{{4, 1}, {1, 4}} }
func (t narrowSpans) register() reg.VecVirtual     { return t.g.YMM() }
func (narrowSpans) sums(int) int                   { return 1 }
func (narrowSpans) together(int) int               { return 1 }
func (t narrowSpans) clear(sum reg.VecVirtual)     { t.g.Clear(sum) }
func (t narrowSpans) copy(from, to reg.VecVirtual) { t.g.VMOVDQA(from, to) }

func (t narrowSpans) code(w operand.Mem, j int, mask, to reg.VecVirtual) {
	if j == 0 {
		t.g.VPAND(w, mask, to)
		return
	}
	t.g.VMOVDQU(w, to)
	t.g.VPSRLD(operand.U8(2*j), to, to)
	t.g.VPAND(mask, to, to)
}

func (t narrowSpans) mul(by operand.Mem, v reg.VecVirtual) {
	b := t.g.YMM()
	t.g.VBROADCASTSS(by, b)
	t.g.VMULPS(b, v, v)
}

// vexSpans has VPDPBUSD and VPDPWSSD of AVX-VNNI.
type vexSpans struct{ narrowSpans }

func (vexSpans) name() string { return "AVXVNNI" }

func (t vexSpans) add(q operand.Mem, codes, sums []reg.VecVirtual) {
	four := t.g.YMM()
	t.g.VPBROADCASTD(q, four)
	for v, c := range codes {
		t.g.VEXDPBUSD(four, c, sums[v])
	}
}

func (t vexSpans) scale(share operand.Mem, sums, to []reg.VecVirtual) {
	by := t.g.YMM()
	t.g.VPBROADCASTD(share, by)
	for v, s := range sums {
		t.g.VEXDPWSSD(by, s, to[v])
	}
}

// wordSpans has VPMADDUBSW and VPMADDWD: sums are two int16.
type wordSpans struct{ narrowSpans }

func (wordSpans) name() string { return "AVX2" }

func (t wordSpans) add(q operand.Mem, codes, sums []reg.VecVirtual) {
	four := t.g.YMM()
	t.g.VPBROADCASTD(q, four)
	for v, c := range codes {
		product := t.g.YMM() // columns share codes
		t.g.VPMADDUBSW(four, c, product)
		t.g.VPADDW(product, sums[v], sums[v])
	}
}

func (t wordSpans) scale(share operand.Mem, sums, to []reg.VecVirtual) {
	by := t.g.YMM()
	t.g.VPBROADCASTW(share, by)
	for v, s := range sums {
		t.g.VPMADDWD(by, s, s)
		t.g.VPADDD(s, to[v], to[v])
	}
}
