package q1

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// Within a byte the codes are bits, worth 2^j. A plane is taken out with an
// AND and not shifted down: accumulator j holds 2^j times its sum, exactly, and
// one shift per group puts that right. The upper four planes are shifted down
// by 4 together, so that four accumulators do for eight planes.

// avx512vnni holds 16 rows in a ZMM register; VPDPBUSD takes four activations
// as a broadcast operand.
type avx512vnni struct{ *asm.Program }

func (avx512vnni) name() string             { return "AVX512VNNI" }
func (avx512vnni) lanes() int               { return 16 }
func (t avx512vnni) vector() reg.VecVirtual { return t.ZMM() }

func (t avx512vnni) constants() any {
	var masks [4]reg.VecVirtual
	for j := range masks {
		masks[j] = t.ZMM()
		r := t.GP32()
		t.MOVL(operand.U32(0x01010101<<j), r)
		t.VPBROADCASTD(r, masks[j])
	}
	return masks
}

func (t avx512vnni) groupSum(constants any, load func(v int) reg.VecVirtual, q operand.Mem, from, to int, minusSum operand.Mem) reg.VecVirtual {
	masks := constants.([4]reg.VecVirtual)
	acc := startSums(t.Program, t, minusSum)
	for v := from; v < to; v++ {
		w := load(v)
		for j := range 8 {
			if j == 4 {
				u := t.ZMM()
				t.VPSRLW(operand.Imm(4), w, u)
				w = u
			}
			code := t.ZMM()
			t.VPANDD(masks[j%4], w, code)
			t.VPDPBUSD_BCST(at(q, 32*v+4*j), code, acc[j%4])
		}
	}
	return finishSums(t.Program, acc)
}

// addShare adds to total the sums of 32 columns times the share that they have of
// a span. Either has 16 bits. sum is lost.
func (t avx512vnni) addShare(total, sum reg.VecVirtual, share operand.Mem) {
	t.VPDPWSSD_BCST(share, sum, total)
}

func (t avx512vnni) mulBroadcast(a reg.VecVirtual, m operand.Mem) reg.VecVirtual {
	out := t.ZMM()
	t.VMULPS_BCST(m, a, out)
	return out
}

func (t avx512vnni) loadVector(m operand.Mem) reg.VecVirtual {
	w := t.ZMM()
	t.VMOVDQU32(m, w)
	return w
}

func (t avx512vnni) loadRows(m []operand.Mem) reg.VecVirtual {
	w := t.ZMM()
	t.VMOVDQU(m[0], w.AsX())
	t.VINSERTI128(operand.Imm(1), m[1], w.AsY(), w.AsY())
	t.VINSERTI32X4(operand.Imm(2), m[2], w, w)
	t.VINSERTI32X4(operand.Imm(3), m[3], w, w)
	return w
}

func (t avx512vnni) storeLast(skip reg.Register, a reg.VecVirtual, m operand.Mem) {
	count, k := t.ZMM(), t.K()
	t.VPBROADCASTD(skip.(reg.GPVirtual).As32(), count)
	t.VPCMPD(operand.Imm(2), laneNumbers(), count, k) // skip ≤ lane
	t.VMOVUPS(a, k, m)
}

// storeFirst stores a but for lanes from rows on.
func (t avx512vnni) storeFirst(rows reg.Register, a reg.VecVirtual, m operand.Mem) {
	count, k := t.ZMM(), t.K()
	t.VPBROADCASTD(rows.(reg.GPVirtual).As32(), count)
	t.VPCMPGTD(laneNumbers(), count, k)
	t.VMOVUPS(a, k, m)
}

// startSums clears four accumulators; the second, which counts once in twice
// the sum, begins with −Σq.
func startSums(p *asm.Program, t target, minusSum operand.Mem) (acc [4]reg.VecVirtual) {
	for j := range acc {
		acc[j] = t.vector()
		if j == 1 && minusSum.Base != nil {
			p.VPBROADCASTD(minusSum, acc[j])
			continue
		}
		p.Clear(acc[j])
	}
	return acc
}

// finishSums returns 2·(acc0 + acc1/2 + acc2/4 + acc3/8): twice the sum where
// bits are 1, less Σq.
func finishSums(p *asm.Program, acc [4]reg.VecVirtual) reg.VecVirtual {
	p.VPSRAD(operand.Imm(1), acc[2], acc[2])
	p.VPSRAD(operand.Imm(2), acc[3], acc[3])
	p.VPADDD(acc[0], acc[0], acc[0])
	p.VPADDD(acc[2], acc[3], acc[2])
	p.VPADDD(acc[0], acc[1], acc[0])
	p.VPADDD(acc[0], acc[2], acc[0])
	return acc[0]
}

// ymmTarget is what AVX-VNNI and AVX2 share: 8 rows in a YMM register.
type ymmTarget struct{ *asm.Program }

func (ymmTarget) lanes() int               { return 8 }
func (t ymmTarget) vector() reg.VecVirtual { return t.YMM() }

func (t ymmTarget) mulBroadcast(a reg.VecVirtual, m operand.Mem) reg.VecVirtual {
	out := t.YMM()
	t.VBROADCASTSS(m, out)
	t.VMULPS(a, out, out)
	return out
}

func (t ymmTarget) loadVector(m operand.Mem) reg.VecVirtual {
	w := t.YMM()
	t.VMOVDQU(m, w)
	return w
}

func (t ymmTarget) loadRows(m []operand.Mem) reg.VecVirtual {
	w := t.YMM()
	t.VMOVDQU(m[0], w.AsX())
	t.VINSERTI128(operand.Imm(1), m[1], w, w)
	return w
}

func (t ymmTarget) storeLast(skip reg.Register, a reg.VecVirtual, m operand.Mem) {
	lanes, x, mask := t.YMM(), t.XMM(), t.YMM()
	t.VMOVDQU(laneNumbers(), lanes)
	t.VMOVD(skip.(reg.GPVirtual).As32(), x)
	t.VPBROADCASTD(x, mask)
	t.VPCMPGTD(lanes, mask, mask) // skip > lane
	all := t.YMM()
	t.VPCMPEQD(all, all, all)
	t.VPXOR(all, mask, mask)
	t.VMASKMOVPS(a, mask, m)
}

const readOnly = attr.RODATA | attr.NOPTR

// laneNumbers is the symbol of 0 to 15 as int32, q1Twos that of 2 in every int16; declareConstants declares it.
func laneNumbers() operand.Mem {
	return operand.NewDataAddr(operand.NewStaticSymbol("q1LaneNumbers"), 0)
}

func declareConstants(p *asm.Program) {
	p.StaticGlobal("q1LaneNumbers")
	p.DataAttributes(readOnly)
	for i := range 16 {
		p.AppendDatum(operand.U32(i))
	}
	p.StaticGlobal("q1Twos")
	p.DataAttributes(readOnly)
	for range 8 {
		p.AppendDatum(operand.U32(0x00020002))
	}
}

// broadcast returns v in every dword, made without memory.
func (t ymmTarget) broadcast(v uint32) reg.VecVirtual {
	r, x, y := t.GP32(), t.XMM(), t.YMM()
	t.MOVL(operand.U32(v), r)
	t.VMOVD(r, x)
	t.VPBROADCASTD(x, y)
	return y
}

func (t ymmTarget) masks() (m [4]reg.VecVirtual) {
	for j := range m {
		m[j] = t.broadcast(0x01010101 << j)
	}
	return m
}

// planes calls plane for each plane of the vectors [from, to): its codes and
// its four activations in every dword.
func (t ymmTarget) planes(masks [4]reg.VecVirtual, load func(v int) reg.VecVirtual, q operand.Mem, from, to int, plane func(j int, code, x reg.VecVirtual)) {
	code, x := t.YMM(), t.YMM()
	for v := from; v < to; v++ {
		w := load(v)
		for j := range 8 {
			if j == 4 {
				t.VPSRLW(operand.Imm(4), w, w)
			}
			t.VPAND(masks[j%4], w, code)
			t.VPBROADCASTD(at(q, 32*v+4*j), x)
			plane(j%4, code, x)
		}
	}
}

// avxvnni has the same VPDPBUSD on YMM registers, without a broadcast operand.
type avxvnni struct{ ymmTarget }

func (avxvnni) name() string     { return "AVXVNNI" }
func (t avxvnni) constants() any { return t.masks() }

func (t avxvnni) groupSum(constants any, load func(v int) reg.VecVirtual, q operand.Mem, from, to int, minusSum operand.Mem) reg.VecVirtual {
	acc := startSums(t.Program, t, minusSum)
	t.planes(constants.([4]reg.VecVirtual), load, q, from, to, func(j int, code, x reg.VecVirtual) {
		t.VEXDPBUSD(x, code, acc[j])
	})
	return finishSums(t.Program, acc)
}

// avx2 multiplies with VPMADDUBSW and adds in int16.
type avx2 struct{ ymmTarget }

func (avx2) name() string { return "AVX2" }

func (t avx2) constants() any { return t.masks() }

// groupSum sums a block in int16: accumulator j takes at most 8 pairs of codes
// of 2^j ≤ 8 and |q| ≤ 127, less than 2^14; no VPMADDUBSW saturates.
func (t avx2) groupSum(constants any, load func(v int) reg.VecVirtual, q operand.Mem, from, to int, minusSum operand.Mem) reg.VecVirtual {
	var acc [4]reg.VecVirtual
	t.planes(constants.([4]reg.VecVirtual), load, q, from, to, func(j int, code, x reg.VecVirtual) {
		if acc[j] == nil {
			acc[j] = t.YMM()
			t.VPMADDUBSW(x, code, acc[j])
			return
		}
		t.VPMADDUBSW(x, code, x)
		t.VPADDW(x, acc[j], acc[j])
	})
	for j := 1; j < 4; j++ {
		t.VPSRAW(operand.Imm(uint64(j)), acc[j], acc[j])
	}
	t.VPADDW(acc[1], acc[0], acc[0])
	t.VPADDW(acc[3], acc[2], acc[2])
	t.VPADDW(acc[2], acc[0], acc[0])
	t.VPMADDWD(operand.NewDataAddr(operand.NewStaticSymbol("q1Twos"), 0), acc[0], acc[0])
	if minusSum.Base != nil {
		less := t.YMM()
		t.VPBROADCASTD(minusSum, less)
		t.VPADDD(less, acc[0], acc[0])
	}
	return acc[0]
}
