package dense

import (
	"math"

	"onebit/kernels"
)

// goVariant is the specification of all others.
var goVariant = &Variant{
	ISA:  kernels.Go,
	rows: side{4, 4}, columns: side{8, 8},
	tiles:     [][]tileFunc{{tileGo}},
	transpose: transposeGo, gather: gatherGo,
}

func tileGo(c []float32, stride int, a, b []float32, k int, add bool) {
	const mr, nr = 4, 8
	for i := range mr {
		var sums [nr]float32
		for l := range k {
			row := (*[nr]float32)(b[l*nr:])
			av := float64(a[l*mr+i])
			for j := range sums {
				sums[j] = fma(av, float64(row[j]), sums[j])
			}
		}
		out := (*[nr]float32)(c[i*stride:])
		if add {
			for j := range out {
				out[j] += sums[j]
			}
		} else {
			*out = sums
		}
	}
}

// fma returns a·b + c rounded once to float32, where a and b are float32s. Their product is
// exact in float64, the sum is not always. Rounding it again is wrong only where the first
// rounding ended half-way between two float32s.
func fma(a, b float64, c float32) float32 {
	const (
		below = 1<<29 - 1 // the bits that float32 does not have
		half  = 1 << 28
	)
	s := a*b + float64(c)
	bits := math.Float64bits(s)
	if bits&below == half || bits&^(1<<63) < 0x381<<52 {
		return roundOnce(a*b, float64(c), s)
	}
	return float32(s)
}

// roundOnce returns p + c, of which s is the rounded sum, rounded to float32. A
// result that has become odd in its last bit, because it is not exact, is not half-way (S.
// Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd", IEEE Transactions on Computers 57(4), 2008). It is rare, and fma is inlined without it.
//
//go:noinline
func roundOnce(p, c, s float64) float32 {
	back := s - p
	err := (p - (s - back)) + (c - back)
	if bits := math.Float64bits(s); err != 0 && bits&1 == 0 {
		if (err > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

func transposeGo(dst, src []float32, stride, rows, k, width int) {
	fourRows(dst, src, stride, rows, k, width, func([]float32, *[4][]float32) int { return 0 })
}

// fourRows is a transpose of four rows at a time, of which fast does the first columns, and
// says how many. Where there are fewer rows, the last stands for those that are missing.
func fourRows(dst, src []float32, stride, rows, k, width int, fast func(dst []float32, r *[4][]float32) (done int)) {
	for i := 0; i < width; i += 4 {
		var r [4][]float32
		for n := range r {
			r[n] = src[min(i+n, rows-1)*stride:][:k]
		}
		out := dst[i:]
		for l := fast(out, &r); l < k; l++ {
			*(*[4]float32)(out[l*width:]) = [4]float32{r[0][l], r[1][l], r[2][l], r[3][l]}
		}
	}
}

func gatherGo(dst, src []float32, stride, k, width int) {
	for l := range k {
		copy(dst[l*width:(l+1)*width], src[l*stride:])
	}
}
