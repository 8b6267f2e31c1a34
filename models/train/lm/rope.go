package lm

import (
	"math"

	"onebit/internal/aligned"
	"onebit/models/train"
)

// A rope turns the pairs (z[i], z[i+d/2]) of every head by an angle of position ·
// base^(-2i/d): Su et al., arXiv:2104.09864. Rows are whole windows.
type rope struct {
	build    *train.Builder
	width    int // of a head
	length   int // of a window
	cos, sin []float32

	y, gx []float32
}

func newRope(b *train.Builder, width, length int, base float64) *rope {
	r := &rope{build: b, width: width, length: length}
	half := width / 2
	r.cos, r.sin = make([]float32, length*half), make([]float32, length*half)
	for position := range length {
		for i := range half {
			sin, cos := math.Sincos(float64(position) * math.Pow(base, -2*float64(i)/float64(width)))
			r.cos[position*half+i], r.sin[position*half+i] = float32(cos), float32(sin)
		}
	}
	return r
}

// tied returns one with the same table.
func (r *rope) tied() *rope {
	return &rope{build: r.build, width: r.width, length: r.length, cos: r.cos, sin: r.sin}
}

// forward turns rows of so many heads.
func (r *rope) forward(x []float32, heads int) []float32 {
	r.y = aligned.Grow(r.y, len(x), nil)
	r.turn(r.y, x, heads, 1)
	return r.y
}

// backward turns gradients back.
func (r *rope) backward(grad []float32, heads int) []float32 {
	r.gx = aligned.Grow(r.gx, len(grad), nil)
	r.turn(r.gx, grad, heads, -1)
	return r.gx
}

func (r *rope) turn(dst, src []float32, heads int, direction float32) {
	row := heads * r.width
	r.build.Pool.ForEach(len(src)/row, func(n int) {
		half := r.width / 2
		at := n % r.length * half
		cos, sin := r.cos[at:at+half], r.sin[at:at+half]
		for h := range heads {
			from := n*row + h*r.width
			a, b := src[from:from+half], src[from+half:from+2*half]
			outA, outB := dst[from:from+half], dst[from+half:from+2*half]
			for i, c := range cos {
				s := direction * sin[i]
				outA[i] = a[i]*c - b[i]*s
				outB[i] = a[i]*s + b[i]*c
			}
		}
	})
}
