//go:build !purego && (amd64 || arm64)

package cpu

import (
	"unsafe"

	"onebit/internal/half"
	"onebit/kernels"
)

// Each function of the assembly takes a multiple of 8 elements, which the
// caller has checked the slices for.

//go:noescape
func addSIMD(x, y *float32, n int)

//go:noescape
func squaresSIMD(sum *lanes, x *float32, n int)

//go:noescape
func scaleSIMD(dst, x, gain *float32, n int, scale float32)

//go:noescape
func siluSIMD(gate, up *float32, n int)

//go:noescape
func relu2SIMD(gate, up *float32, n int)

//go:noescape
func expSIMD(sum *lanes, x *float32, n int, top, scale float32)

//go:noescape
func encodeF16SIMD(dst *byte, src *float32, n int)

//go:noescape
func decodeF16SIMD(dst, src *byte, n int)

//go:noescape
func maxSIMD(x *float32, n int) float32

//go:noescape
func turnSIMD(a, b, cos, sin *float32, n int)

//go:noescape
func addProductSIMD(dst, x, y *float32, n int)

// hadamardSIMD takes a power of two of 8 values or more.
//
//go:noescape
func hadamardSIMD(x *float32, n int, by float32)

// deltaRuleSIMD takes a matrix of 32 columns.
//
//go:noescape
func deltaRuleSIMD(matrix, q, k, v, out *float32, keys int, decay, beta float32)

// newSIMD returns vectors that leave to the specification what fills no
// register.
func newSIMD(name, summary string, isa *kernels.ISA, a attentionSIMD) *Vectors {
	v := &Vectors{
		Name: name, Summary: summary, ISA: isa,
		add: add, squares: squares, scale: scale, silu: silu, relu2: relu2, exp: exp,
		encodeF16: encodeF16, decodeF16: decodeF16, maximum: maximum, turn: turn,
		scores: a.scores, weighted: a.weighted, blend: a.blend,
		scoresQ8: a.scoresQ8, soften: a.soften, weigh: a.weigh, greatest: a.greatest, unpackQ4: a.unpackQ4, unpackPairs: a.unpackPairs,
		sigmoid: sigmoid, addProduct: addProduct, hadamard: hadamard,
	}
	if a.halfScoreTiles != nil {
		v.scoresF16, v.weightedF16 = a.scoresF16, a.weightedF16
	}
	return v.withDeltaRule(deltaRuleSIMD)
}

// withDeltaRule gives v a kernel of matrices of slabWidth columns.
func (v *Vectors) withDeltaRule(kernel func(matrix, q, k, v, out *float32, keys int, decay, beta float32)) *Vectors {
	v.deltaRule = func(matrix, q, k, v, out []float32, decay, beta float32) {
		if len(out) != slabWidth || len(k) == 0 {
			deltaRuleScalar(matrix, q, k, v, out, decay, beta)
			return
		}
		matrix, q, v = matrix[:len(k)*slabWidth], q[:len(k)], v[:slabWidth]
		kernel(&matrix[0], &q[0], &k[0], &v[0], &out[0], len(k), decay, beta)
	}
	return v
}

// whole returns how many of n elements the assembly takes.
func whole(n int) int { return n &^ 7 }

func add(x, y []float32) {
	n := whole(len(x))
	if n > 0 {
		y = y[:len(x)]
		addSIMD(&x[0], &y[0], n)
	}
	addScalar(x[n:], y[n:])
}

func squares(sum lanes, x []float32) lanes {
	n := whole(len(x))
	if n > 0 {
		squaresSIMD(&sum, &x[0], n)
	}
	return squaresScalar(sum, x[n:])
}

func scale(dst, x, gain []float32, by float32) {
	n := whole(len(gain))
	if n > 0 {
		dst, x = dst[:len(gain)], x[:len(gain)]
		scaleSIMD(&dst[0], &x[0], &gain[0], n, by)
	}
	scaleScalar(dst[n:], x[n:], gain[n:], by)
}

func silu(gate, up []float32) {
	n := whole(len(gate))
	if n > 0 {
		up = up[:len(gate)]
		siluSIMD(&gate[0], &up[0], n)
	}
	siluScalar(gate[n:], up[n:])
}

// sigmoid is sigmoidScalar with the exponentials together.
func sigmoid(gate, up []float32) {
	exp(lanes{}, gate, 0, -1)
	up = up[:len(gate)]
	for i, e := range gate {
		gate[i] = 1 / (1 + e) * up[i]
	}
}

func relu2(gate, up []float32) {
	n := whole(len(gate))
	if n > 0 {
		up = up[:len(gate)]
		relu2SIMD(&gate[0], &up[0], n)
	}
	relu2Scalar(gate[n:], up[n:])
}

func exp(sum lanes, x []float32, top, by float32) lanes {
	n := whole(len(x))
	if n > 0 {
		expSIMD(&sum, &x[0], n, top, by)
	}
	return expScalar(sum, x[n:], top, by)
}

func encodeF16(dst []byte, src []float32) {
	n := whole(len(src))
	if n > 0 {
		dst = dst[:2*len(src)]
		encodeF16SIMD(&dst[0], &src[0], n)
	}
	half.Encode(dst[2*n:], src[n:])
}

func decodeF16(dst []float32, src []byte) {
	n := whole(len(dst))
	if n > 0 {
		src = src[:2*len(dst)]
		decodeF16SIMD(bytesOf(dst), &src[0], n)
	}
	half.Decode(dst[n:], src[2*n:])
}

// bytesOf returns the first byte of x, which is not empty.
func bytesOf(x []float32) *byte { return (*byte)(unsafe.Pointer(&x[0])) }

func maximum(x []float32) float32 {
	n := whole(len(x))
	top := maximumScalar(x[n:])
	if n > 0 {
		top = max(top, maxSIMD(&x[0], n))
	}
	return top
}

func turn(a, b, cos, sin []float32) {
	n := whole(len(cos))
	if n > 0 {
		a, b, sin = a[:len(cos)], b[:len(cos)], sin[:len(cos)]
		turnSIMD(&a[0], &b[0], &cos[0], &sin[0], n)
	}
	turnScalar(a[n:], b[n:], cos[n:], sin[n:])
}

func addProduct(dst, x, y []float32) {
	n := whole(len(dst))
	if n > 0 {
		x, y = x[:len(dst)], y[:len(dst)]
		addProductSIMD(&dst[0], &x[0], &y[0], n)
	}
	addProductScalar(dst[n:], x[n:], y[n:])
}

func hadamard(x []float32, by float32) {
	if len(x) < 8 {
		hadamardScalar(x, by)
		return
	}
	hadamardSIMD(&x[0], len(x), by)
}
