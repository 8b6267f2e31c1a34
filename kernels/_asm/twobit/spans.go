package twobit

import (
	"fmt"
	"math/bits"
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
	for _, b := range []spanBlock{
		{name: "Tensor", columns: 128, tensor: true},
		{name: "Block64", columns: 64},
		{name: "Block", columns: 128},
	} {
		for _, t := range []spanTarget{dpSpans{g}, vexSpans{narrowSpans{g}}, wordSpans{narrowSpans{g}}} {
			for _, s := range t.shapes() {
				k := &spanKernel{g: g, spanTarget: t, block: b, vectors: s[0], columns: s[1]}
				k.write()
			}
		}
	}
}

// A spanBlock is how codes lie: so many columns, or that many times terms, and behind them
// the fp16 scales of 64 rows; or none, as there is one for the tensor.
type spanBlock struct {
	name    string
	columns int
	tensor  bool
}

// Fields of a kernels.Span, of which shares are the first.
const (
	spanUnit     = 16
	spanMinus    = 24 // of all groups
	spanHalf     = 28 // of the first two
	spanSize     = 32
	spanColumns  = 128
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
	block            spanBlock
	vectors, columns int

	codes, scales, left reg.GPVirtual
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
	name := fmt.Sprintf("spans%s%d%s", k.block.name, k.columns, k.name())
	rows := k.vectors * k.rowBytes() / 4
	weight := "fp16(scale(r, k))"
	if k.block.tensor {
		weight = "scale"
	}
	blocks := "so many terms of 128 columns"
	if k.block.columns < spanColumns {
		blocks = fmt.Sprint(k.block.columns, " columns")
	}
	doc := fmt.Sprintf(`%s multiplies %d rows of a tile of the layout codes64, in blocks
of %s, with %d columns of activations under q8_32 in their natural order, stride
bytes apart. Those of dst are dstStride bytes apart, spans are their kernels.Spans.

	for r := range %d {
		for each term, the columns of a block and a span:
			sum := int32(0)
			for k := range columns of the term {
				sum += share(k/32) * (code(r, k) - 1) * q[k]
			}
			dst[r] += float32(%s * float32(unit*float32(sum)))
	}

Codes and scales begin with the first row's%s.`, name, rows, blocks, k.columns, rows, weight, map[bool]string{true: "; of the latter there are none"}[k.block.tensor])
	k.g.Func(name, "func(dst *float32, dstStride int, codes, scales *byte, scale float32, q *int8, stride int, spans *int32, blocks, terms int)", strings.Split(doc, "\n")...)
	k.start()
	k.g.Label("block")
	if groups := k.block.columns / groupColumns; groups == 4 {
		terms := k.g.GP64()
		k.g.MOVQ(k.g.Argument("terms"), terms)
		k.g.Label("term")
		k.term("groups", groups, 0)
		k.g.DECQ(terms)
		k.g.JNZ(operand.LabelRef("term"))
		k.next("block")
	} else {
		k.term("first", groups, 0)
		k.endBlock()
		k.g.DECQ(k.left)
		k.g.JZ(operand.LabelRef("end"))
		k.term("second", groups, groups)
		k.next("block")
		k.g.Label("end")
	}
	k.store()
	k.g.VZEROUPPER()
	k.g.RET()
}

func (k *spanKernel) start() {
	k.codes, k.scales, k.left = k.g.GP64(), k.g.GP64(), k.g.GP64()
	stride, spanStride := k.g.GP64(), k.g.GP64()
	k.g.Load(k.g.Param("codes"), k.codes)
	if !k.block.tensor {
		k.g.Load(k.g.Param("scales"), k.scales)
	}
	k.g.Load(k.g.Param("blocks"), k.left)
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

// term multiplies so many groups of a span, from one on. The spans' pointers are at the
// share of that.
func (k *spanKernel) term(label string, groups, from int) {
	done := 4 * from
	for c := range k.scaled {
		for _, s := range k.scaled[c] {
			minus := k.spans.At(c, spanMinus-done)
			if groups < 4 && from == 0 {
				minus = k.spans.At(c, spanHalf)
			}
			k.g.VPBROADCASTD(minus, s)
			if from > 0 {
				half := k.register()
				k.g.VPBROADCASTD(k.spans.At(c, spanHalf-done), half)
				k.g.VPSUBD(half, s, s)
			}
		}
	}
	left := k.g.GP64()
	k.g.MOVQ(operand.I32(groups), left)
	k.g.Label(label)
	k.group()
	k.g.DECQ(left)
	k.g.JNZ(operand.LabelRef(label))
	k.addTerms(spanUnit - 4*(from+groups))
	if from+groups == 4 {
		k.g.Advance(k.spans, operand.I32(spanSize-16))
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
func (k *spanKernel) addTerms(unit int) {
	for v := range k.vectors {
		weight := k.register()
		if k.block.tensor {
			k.g.VBROADCASTSS(k.g.Argument("scale"), weight)
		} else {
			k.g.VCVTPH2PS(asm.At(k.scales, v*k.rowBytes()/2), weight)
		}
		for c := range k.columns {
			s, y := k.scaled[c][v], k.y[c][v]
			k.g.VCVTDQ2PS(s, s)
			k.mul(k.spans.At(c, unit), s)
			k.g.VMULPS(weight, s, s)
			k.g.VADDPS(s, y, y)
		}
	}
}

func (k *spanKernel) endBlock() {
	if !k.block.tensor {
		k.g.ADDQ(operand.I32(tileScales), k.codes)
		k.nextScales()
	}
}

// nextScales goes on from those of a block, as many bytes as a block has.
func (k *spanKernel) nextScales() {
	if k.block.columns < spanColumns {
		k.g.ADDQ(operand.I32(k.block.columns/16*dwordBytes+tileScales), k.scales)
		return
	}
	terms := k.g.GP64()
	k.g.MOVQ(k.g.Argument("terms"), terms)
	k.g.SHLQ(operand.U8(bits.TrailingZeros(spanColumns/16*dwordBytes)), terms)
	k.g.LEAQ(operand.Mem{Base: k.scales, Index: terms, Scale: 1, Disp: tileScales}, k.scales)
}

// next ends a block, and goes on with the next.
func (k *spanKernel) next(label string) {
	k.endBlock()
	k.g.DECQ(k.left)
	k.g.JNZ(operand.LabelRef(label))
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

func (dpSpans) name() string               { return "AVX512VNNI" }
func (dpSpans) shapes() [][2]int           { return [][2]int{{4, 1}, {4, 2}, {2, 4}} }
func (t dpSpans) register() reg.VecVirtual { return t.g.ZMM() }
func (dpSpans) together(vectors int) int   { return vectors }
func (t dpSpans) clear(sum reg.VecVirtual) { t.g.Clear(sum) }

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

func (narrowSpans) shapes() [][2]int           { return [][2]int{{4, 1}, {1, 4}} }
func (t narrowSpans) register() reg.VecVirtual { return t.g.YMM() }
func (narrowSpans) sums(int) int               { return 1 }
func (narrowSpans) together(int) int           { return 1 }
func (t narrowSpans) clear(sum reg.VecVirtual) { t.g.Clear(sum) }

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
