package vectors

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

func (t target) sums() {
	t.sum("sum", "func(sums *[32]float64, x *float32, n int)", []string{"x"},
		"sums[i%32] += float64(x[i])", nothing,
		func(at func(int) operand.Mem) reg.VecVirtual { return t.load(at(0)) })
	var center reg.VecVirtual
	t.sum("sumAbs", "func(sums *[32]float64, x *float32, center float32, n int)", []string{"x"},
		"sums[i%32] += math.Abs(float64(x[i] - center))", func() { center = t.broadcast("center") },
		func(at func(int) operand.Mem) reg.VecVirtual {
			v := t.load(at(0))
			t.VSUBPS(center, v, v)
			t.VANDPS(constant("Magnitude"), v, v)
			return v
		})
	var shift, scale reg.VecVirtual
	t.sum("expSum", "func(sums *[32]float64, dst, x *float32, shift, scale float32, n int)", []string{"dst", "x"},
		"dst[i] = math32.Exp(float32((x[i]-shift) * scale)); sums[i%32] += float64(dst[i])",
		func() { shift, scale = t.broadcast("shift"), t.broadcast("scale") },
		func(at func(int) operand.Mem) reg.VecVirtual {
			v := t.load(at(1))
			t.VSUBPS(shift, v, v)
			t.VMULPS(scale, v, v)
			t.exp(v)
			t.VMOVUPS(v, at(0))
			return v
		})
	t.dot()
	t.max()
}

func nothing() {}

// doubles returns registers for 32 float64s, zero.
func (t target) doubles() []reg.VecVirtual {
	var sums []reg.VecVirtual
	for range 2 * block / t.lanes {
		s := t.register()
		t.Clear(s)
		sums = append(sums, s)
	}
	return sums
}

// store writes registers to the array that an argument points to.
func (t target) store(argument string, v []reg.VecVirtual) func() {
	return func() {
		dst := t.Load(t.Param(argument), t.GP64())
		for i := range v {
			t.VMOVUPS(v[i], asm.At(dst, i*4*t.lanes))
		}
	}
}

// halves returns the numbers of v as float64s, in two registers.
func (t target) halves(v reg.VecVirtual) (low, high reg.VecVirtual) {
	low, high = t.register(), t.register()
	if t.lanes == 16 {
		upper := t.YMM()
		t.VEXTRACTF64X4(operand.U8(1), v, upper)
		t.VCVTPS2PD(v.AsY(), low)
		t.VCVTPS2PD(upper, high)
		return low, high
	}
	upper := t.XMM()
	t.VEXTRACTF128(operand.U8(1), v, upper)
	t.VCVTPS2PD(v.AsX(), low)
	t.VCVTPS2PD(upper, high)
	return low, high
}

// sum writes a loop that adds what terms returns.
func (t target) sum(name, signature string, slices []string, doc string, prepare func(), terms func(at func(int) operand.Mem) reg.VecVirtual) {
	t.loop(name, signature, slices, doc, func() (func(int, func(int) operand.Mem), func()) {
		prepare()
		sums := t.doubles()
		return func(part int, at func(int) operand.Mem) {
			low, high := t.halves(terms(at))
			t.VADDPD(low, sums[2*part], sums[2*part])
			t.VADDPD(high, sums[2*part+1], sums[2*part+1])
		}, t.store("sums", sums)
	})
}

// dot writes the sum of products, which are exact, so that they may be fused.
func (t target) dot() {
	t.loop("dot", "func(sums *[32]float64, x, y *float32, n int)", []string{"x", "y"}, "sums[i%32] += float64(x[i]) * float64(y[i])",
		func() (func(int, func(int) operand.Mem), func()) {
			sums := t.doubles()
			return func(part int, at func(int) operand.Mem) {
				for half := range 2 {
					x, y := t.register(), t.register()
					t.VCVTPS2PD(at(0).Offset(half*2*t.lanes), x)
					t.VCVTPS2PD(at(1).Offset(half*2*t.lanes), y)
					t.VFMADD231PD(x, y, sums[2*part+half])
				}
			}, t.store("sums", sums)
		})
}

// max writes the largest number of each lane, of those that are no NaN.
func (t target) max() {
	t.loop("max", "func(most *[32]float32, x *float32, n int)", []string{"x"}, "if x[i] > most[i%32] { most[i%32] = x[i] }",
		func() (func(int, func(int) operand.Mem), func()) {
			src := t.Load(t.Param("most"), t.GP64())
			var most []reg.VecVirtual
			for i := range block / t.lanes {
				most = append(most, t.load(asm.At(src, i*4*t.lanes)))
			}
			return func(part int, at func(int) operand.Mem) {
				t.VMAXPS(most[part], t.load(at(0)), most[part])
			}, t.store("most", most)
		})
}
