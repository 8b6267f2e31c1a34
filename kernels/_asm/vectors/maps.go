package vectors

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"onebit/kernels/_asm/asm"
)

// eachNumber writes a loop that changes one slice: result returns what is written to the first. Scalars
// are arguments that it needs in every lane.
func (t target) eachNumber(name, signature string, slices, scalars []string, doc string, result func(at func(int) operand.Mem, scalar []reg.VecVirtual) reg.VecVirtual) {
	t.loop(name, signature, slices, doc, func() (func(int, func(int) operand.Mem), func()) {
		var scalar []reg.VecVirtual
		for _, s := range scalars {
			scalar = append(scalar, t.broadcast(s))
		}
		return func(_ int, at func(int) operand.Mem) { t.VMOVUPS(result(at, scalar), at(0)) }, nothing
	})
}

func (t target) maps() {
	dst := []string{"dst", "x"}
	t.eachNumber("add", "func(dst, x *float32, n int)", dst, nil, "dst[i] += x[i]",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			v := t.load(at(0))
			t.VADDPS(at(1), v, v)
			return v
		})
	t.eachNumber("axpy", "func(dst *float32, a float32, x *float32, n int)", dst, []string{"a"}, "dst[i] += float32(a * x[i])",
		func(at func(int) operand.Mem, scalar []reg.VecVirtual) reg.VecVirtual {
			v := t.register()
			t.VMULPS(at(1), scalar[0], v)
			t.VADDPS(at(0), v, v)
			return v
		})
	t.eachNumber("scale", "func(dst *float32, a float32, x *float32, n int)", dst, []string{"a"}, "dst[i] = a * x[i]",
		func(at func(int) operand.Mem, scalar []reg.VecVirtual) reg.VecVirtual {
			v := t.register()
			t.VMULPS(at(1), scalar[0], v)
			return v
		})
	t.eachNumber("silu", "func(dst, x *float32, n int)", dst, nil, "dst[i] = x[i] / (1 + math32.Exp(-x[i]))",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			x := t.load(at(1))
			e := t.onePlusExp(x)
			t.VDIVPS(e, x, e)
			return e
		})
	t.eachNumber("sigmoid", "func(dst, x *float32, n int)", dst, nil, "dst[i] = math32.Sigmoid(x[i])",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual { return t.sigmoid(t.load(at(1))) })
	t.eachNumber("squaredReLU", "func(dst, x *float32, n int)", dst, nil, "dst[i] = relu(x[i]) * relu(x[i])",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			r := t.relu(at(1))
			t.VMULPS(r, r, r)
			return r
		})
	t.ternarize(dst)
	t.products()
	t.adamW()
}

// products writes the loops with two arguments beside the result.
func (t target) products() {
	dst := []string{"dst", "x", "y"}
	grad := []string{"dst", "grad", "x"}
	t.eachNumber("mul", "func(dst, x, y *float32, n int)", dst, nil, "dst[i] = x[i] * y[i]",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			v := t.load(at(1))
			t.VMULPS(at(2), v, v)
			return v
		})
	t.eachNumber("mulAdd", "func(dst, x, y *float32, n int)", dst, nil, "dst[i] += float32(x[i] * y[i])",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			v := t.load(at(1))
			t.VMULPS(at(2), v, v)
			t.VADDPS(at(0), v, v)
			return v
		})
	t.eachNumber("mulShifted", "func(dst, x, y *float32, shift float32, n int)", dst, []string{"shift"}, "dst[i] = x[i] * (y[i] - shift)",
		func(at func(int) operand.Mem, scalar []reg.VecVirtual) reg.VecVirtual {
			v := t.load(at(2))
			t.VSUBPS(scalar[0], v, v)
			t.VMULPS(at(1), v, v)
			return v
		})
	t.eachNumber("combine", "func(dst *float32, a float32, x *float32, b float32, y *float32, n int)", dst, []string{"a", "b"},
		"dst[i] = float32(a*x[i]) + float32(b*y[i])",
		func(at func(int) operand.Mem, scalar []reg.VecVirtual) reg.VecVirtual {
			v, w := t.register(), t.register()
			t.VMULPS(at(1), scalar[0], v)
			t.VMULPS(at(2), scalar[1], w)
			t.VADDPS(w, v, v)
			return v
		})
	t.eachNumber("siluGrad", "func(dst, grad, x *float32, n int)", grad, nil, "dst[i] = grad[i] * float32(s*(1 + float32(x[i]*(1-s)))) // s = sigmoid(x[i])",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			x := t.load(at(2))
			s, one := t.sigmoid(x), t.load(constant("One"))
			slope := t.register()
			t.VSUBPS(s, one, slope)
			t.VMULPS(slope, x, slope)
			t.VADDPS(slope, one, slope)
			t.VMULPS(slope, s, slope)
			t.VMULPS(at(1), slope, slope)
			return slope
		})
	t.eachNumber("squaredGrad", "func(dst, grad, x *float32, n int)", grad, nil, "dst[i] = grad[i] * (2 * relu(x[i]))",
		func(at func(int) operand.Mem, _ []reg.VecVirtual) reg.VecVirtual {
			r := t.relu(at(2))
			t.VMULPS(constant("Two"), r, r)
			t.VMULPS(at(1), r, r)
			return r
		})
}

// relu returns max(x, 0). NaN stays: the first is what is kept if one is.
func (t target) relu(x operand.Mem) reg.VecVirtual {
	v, zero := t.load(x), t.register()
	t.Clear(zero)
	t.VMAXPS(v, zero, v)
	return v
}

// ternarize writes the rounding to three values. Bits of floats that are not negative compare
// like integers.
func (t target) ternarize(dst []string) {
	t.eachNumber("ternarize", "func(dst, x *float32, center, half, scale float32, n int)", dst, []string{"center", "half", "scale"},
		"dst[i] = ternary(x[i]-center, half, scale)",
		func(at func(int) operand.Mem, scalar []reg.VecVirtual) reg.VecVirtual {
			v, beyond := t.load(at(1)), t.register()
			t.VSUBPS(scalar[0], v, v)
			t.VANDPS(constant("Magnitude"), v, beyond)
			t.VPSUBD(beyond, scalar[1], beyond)
			t.VPSRAD(operand.U8(31), beyond, beyond)
			t.VANDPS(constant("Sign"), v, v)
			t.VORPS(scalar[2], v, v)
			t.VANDPS(beyond, v, v)
			return v
		})
}

// adamW writes an optimizer's step.
func (t target) adamW() {
	t.loop("adamW", "func(w, grad, first, second *float32, s *[9]float32, n int)", []string{"w", "grad", "first", "second"},
		"w[i], first[i], second[i] = … // as Variant.AdamW, with its constants in the order of AdamW.constants",
		func() (func(int, func(int) operand.Mem), func()) {
			s := t.Load(t.Param("s"), t.GP64())
			var c [9]reg.VecVirtual
			for i := range c {
				c[i] = t.register()
				t.VBROADCASTSS(asm.At(s, 4*i), c[i])
			}
			beta1, rest1, beta2, rest2, unbias1, unbias2, rate, decay, eps := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]
			return func(_ int, at func(int) operand.Mem) {
				g, first, second, v := t.load(at(1)), t.register(), t.register(), t.register()
				t.VMULPS(at(2), beta1, first)
				t.VMULPS(g, rest1, v)
				t.VADDPS(v, first, first)
				t.VMOVUPS(first, at(2))
				t.VMULPS(at(3), beta2, second)
				t.VMULPS(g, rest2, v)
				t.VMULPS(g, v, v)
				t.VADDPS(v, second, second)
				t.VMOVUPS(second, at(3))
				t.VMULPS(unbias2, second, second)
				t.VSQRTPS(second, second)
				t.VADDPS(eps, second, second)
				t.VMULPS(unbias1, first, first)
				t.VDIVPS(second, first, first)
				w := t.load(at(0))
				t.VMULPS(decay, w, v)
				t.VADDPS(v, first, first)
				t.VMULPS(rate, first, first)
				t.VSUBPS(first, w, w)
				t.VMOVUPS(w, at(0))
			}, nothing
		})
}
