package twobit

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// The layout digits64 of ptq1_0: tiles of 64 rows, whose blocks are six dwords of five
// digits in each byte, four vectors of 16 rows each, then the last two bytes and the
// fp16 scale of every row.
//
// A byte is a fraction v/256; three times the byte without what exceeds 8 bits is the
// next one, and what exceeds them the digit: 256·digit = 3·v - next v. So Σ digit·q is
// (3·Σ v·q - Σ next v·q)/256: digits are never taken apart for one column.
const (
	digitDwords = 6
	digitBytes  = 5 // digits in a byte
	tailAt      = digitDwords * dwordBytes
	tailBytes   = 2 * tileRows
)

// Weights 16n+m are digit n of byte m, 80+8n+m of byte 16+m: the digits of the first dwords
// meet every fourth dword of a block's activations, those of the second two every other.
const firstDwords = 4

// The last two bytes have weights 120+2n+m. Beside them, 16 bits higher, goes what their
// next digits come from: two digits of both meet a dword of activations.
const tailDwords = 2

// digits64 writes the kernel of the layout for one column.
func (g *generator) digits64() {
	g.Func("digits64AVX512VNNI", "func(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, scaleStep, rows int)",
		append([]string{
			"digits64AVX512VNNI multiplies rows of the layout digits64 with one column of",
			"activations in their natural order.",
			"",
		}, tileLoops("128", "(digit(r, 128*b+k) - 1) * q[128*b+k]")...)...)
	g.tiles(func(k *tileKernel) (total [tileVectors]reg.VecVirtual) {
		now, next := g.zeros(g.ZMM, tileVectors), g.zeros(g.ZMM, tileVectors)
		minus := g.ZMM()
		g.Clear(minus)
		for i := range 4 {
			g.VPSUBD_BCST(asm.At(k.sums, 4*i), minus, minus)
		}
		left := g.GP64()
		dwords := func(label string, n int) { // whose digits meet dwords as many apart
			g.MOVQ(operand.I32(n), left)
			g.Label(label)
			k.digitDword(n, now, next)
			g.DECQ(left)
			g.JNZ(operand.LabelRef(label))
			g.ADDQ(operand.I32(4*n*(digitBytes-1)), k.q)
		}
		dwords("first", firstDwords)
		dwords("second", digitDwords-firstDwords)
		g.Prefetch(tileFurther, asm.Lines(asm.At(k.data, tileAhead), tailBytes)...)
		q := []reg.VecVirtual{k.activations(0), k.activations(1)}
		for v := range total {
			w := g.tail(asm.At(k.data, 32*v))
			for i, q := range q {
				if i > 0 {
					w = g.tripled(w)
				}
				g.VPDPBUSD(q, w, now[v])
				w = g.tripled(w)
				g.VPDPBUSD(q, w, next[v])
			}
		}
		for v := range total {
			sum := g.ZMM()
			g.VPADDD(now[v], now[v], sum)
			g.VPADDD(now[v], sum, sum)
			g.VPSUBD(next[v], sum, sum)
			g.VPSRAD(operand.U8(8), sum, sum)
			g.VPADDD(minus, sum, sum)
			total[v] = sum
		}
		g.ADDQ(operand.I32(tailBytes), k.data)
		g.ADDQ(operand.I32(4*tailDwords), k.q)
		g.ADDQ(operand.I32(4*4), k.sums)
		return total
	})
}

// digitDword adds the products of a dword of the tile's rows, whose digits meet dwords of the
// activations so far apart, and moves on.
func (k *tileKernel) digitDword(apart int, now, next []reg.VecVirtual) {
	k.g.Prefetch(tileFurther, asm.Lines(asm.At(k.data, tileAhead), dwordBytes)...)
	var q [digitBytes]reg.VecVirtual
	for n := range q {
		q[n] = k.activations(apart * n)
	}
	for v := range tileVectors {
		w := k.g.ZMM()
		k.g.VMOVDQU64(asm.At(k.data, 64*v), w)
		for _, q := range q {
			k.g.VPDPBUSD(q, w, now[v])
			w = k.g.tripled(w)
			k.g.VPDPBUSD(q, w, next[v])
		}
	}
	k.g.ADDQ(operand.I32(dwordBytes), k.data)
	k.g.ADDQ(operand.I32(4), k.q)
}

// activations returns dword i of a block's in every lane.
func (k *tileKernel) activations(i int) reg.VecVirtual {
	q := k.g.ZMM()
	k.g.VPBROADCASTD(asm.At(k.q, 4*i), q)
	return q
}

// tripled returns 3·v of every byte.
func (g *generator) tripled(v reg.VecVirtual) reg.VecVirtual {
	t := g.ZMM()
	g.VPADDB(v, v, t)
	g.VPADDB(v, t, t)
	return t
}

// tail returns the last two bytes of 16 rows, and 16 bits higher three times these.
func (g *generator) tail(m operand.Mem) reg.VecVirtual {
	w := g.ZMM()
	g.VPMOVZXWD(m, w)
	next := g.tripled(w)
	g.VPSLLD(operand.U8(16), next, next)
	g.VPORD(next, w, w)
	return w
}

// digits64Batch writes the kernel of the layout for several columns, in panels as those
// of codes64. Here digits are taken apart, to bytes which all columns meet.
func (g *generator) digits64Batch(cols int) {
	d := &digitBatch{}
	g.batch("digits64", "digits64", 2, cols, func(b *batch) {
		d.batch, d.ones, d.third, d.twoThirds = b, g.ZMM(), g.everyDword(85*0x01010101), g.everyDword(170*0x01010101)
		g.VMOVDQU64(g.byteOnes, d.ones)
	}, func(b *batch, back reg.GPVirtual) {
		d.dwords()
		at := g.GP64()
		g.MOVQ(b.codes, at)
		g.SUBQ(back, at)
		w := make([]reg.VecVirtual, b.vectors)
		for v := range w {
			w[v] = g.tail(asm.At(at, 2*vectorRows*v))
		}
		for i := range tailDwords {
			if i > 0 {
				w = d.tripled(d.tripled(w))
			}
			b.multiply(d.digits(w), func(c int) operand.Mem { return b.column(c, i) })
		}
		g.fetch(b.ahead, tailBytes*b.vectors/tileVectors)
		g.ADDQ(operand.I32(tailBytes), b.codes)
		b.advance(operand.I32(tailDwords * stepBytes))
	})
}

// digitBatch is the state of a kernel.
type digitBatch struct {
	*batch
	ones, third, twoThirds reg.VecVirtual // the last byte of the first, and of the second third
}

// dwords multiplies those of a block. The digits of the first ones meet dwords of the activations that are
// as many apart as they are, then so do those of the second ones.
func (d *digitBatch) dwords() {
	left, apart := d.g.GP64(), asm.Stride{One: d.g.GP64(), Three: d.g.GP64()}
	d.g.MOVQ(operand.I32(firstDwords), left)
	d.g.MOVQ(operand.I32(firstDwords*stepBytes), apart.One)
	d.g.Label("dwords")
	d.g.LEAQ(operand.Mem{Base: apart.One, Index: apart.One, Scale: 2}, apart.Three)
	d.g.Label("dword")
	w := d.loadDword()
	for n := range digitBytes {
		if n > 0 {
			w = d.tripled(w)
		}
		d.multiply(d.digits(w), func(c int) operand.Mem {
			m := d.column(c, 0)
			if n == digitBytes-1 {
				m.Index, m.Scale = apart.One, digitBytes-1
				return m
			}
			return apart.Row(m.Base, n, m.Disp)
		})
	}
	d.advance(operand.I32(stepBytes))
	d.g.DECQ(left)
	d.g.JNZ(operand.LabelRef("dword"))
	for _, q := range d.q {
		d.g.LEAQ(operand.Mem{Base: q, Index: apart.One, Scale: digitBytes - 1}, q)
	}
	d.g.MOVQ(operand.I32(digitDwords-firstDwords), left)
	d.g.CMPQ(apart.One, operand.I32((digitDwords-firstDwords)*stepBytes))
	d.g.MOVQ(operand.I32((digitDwords-firstDwords)*stepBytes), apart.One)
	d.g.JNE(operand.LabelRef("dwords"))
}

func (d *digitBatch) tripled(w []reg.VecVirtual) (t []reg.VecVirtual) {
	for _, w := range w {
		t = append(t, d.g.tripled(w))
	}
	return t
}

// digits returns the first ones of w.
func (d *digitBatch) digits(w []reg.VecVirtual) []reg.VecVirtual {
	const greater = 6
	digits := d.registers()
	for v, w := range w {
		one, two := d.g.K(), d.g.K()
		d.g.VPCMPUB(operand.U8(greater), d.third, w, one)
		d.g.VPCMPUB(operand.U8(greater), d.twoThirds, w, two)
		d.g.VMOVDQU8_Z(d.ones, one, digits[v])
		d.g.VPADDB(d.ones, digits[v], two, digits[v])
	}
	return digits
}
