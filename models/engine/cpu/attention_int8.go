package cpu

import (
	"math"

	"onebit/internal/half"
	"onebit/internal/math32"
)

// Values in int8 are multiplied in integers. Weights are rounded to int16 together
// with the scales of the values that they are for: of each row and block of 32
// channels, relative to what bounds that product over the positions of the tile that
// the row sees. Nothing of a later position is in it, and so nothing of a batch.

// codeMost is what the largest weight is rounded to.
const codeMost = math.MaxInt16

// A weighing is what rows and the values of a tile add up to.
type weighing struct {
	answers   []float32 // rows × width: of the tiles so far
	weights   []float32 // rows × cacheTile: between 0 and 1
	by, parts []float32 // of rows: what to multiply the answers so far with, and the tile's
	scales    []float32 // blocks × cacheTile
	// factors make codes of weights times scales, and units make numbers of sums of
	// codes: of each block, or of each block of each row.
	factors, units []float32
	stride         int    // from a row's factors to the next one's
	values         []byte // see int8Values
	blocks         int
	positions      int
	ahead          []byte  // what is wanted from memory next
	codes          []int16 // scratch: meetRows × blocks × cacheTile
}

// weighingFloats is how many float32 resize makes.
func weighingFloats(rows, blocks int) int {
	return blocks*(cacheTile+2*rows+1) + meetRows*blocks*cacheTile/2
}

// resize makes room for what attention over int8 holds besides.
func (a *attention) resizeInt8(rows, blocks int) {
	w := &a.weighing
	a.queryCodes = grow(a.queryCodes, rows*blocks*queryBytes)
	w.blocks, w.scales, a.bounds = blocks, grow(w.scales, blocks*cacheTile), grow(a.bounds, blocks)
	w.factors, w.units = grow(w.factors, rows*blocks), grow(w.units, rows*blocks)
	w.codes = grow(w.codes, meetRows*blocks*cacheTile)
}

// scoreInt8 multiplies the rows with the keys: spans that are whole together, and
// then the rest. Meanwhile it fetches the values; the keys were fetched while the tile
// before was weighed.
func (t *tile) scoreInt8(from int) {
	blocks := t.cache.dim / q8Len
	for at, n := 0, 0; at < t.positions; at += n {
		if n = (t.positions - at) / attendSpan * attendSpan; n == 0 {
			n = t.positions - at
		}
		scores, keys := t.scores[from*cacheTile+at:], t.cache.groups(t.keys, at, n, &t.reader)
		t.vec.scoresQ8(scores, t.queryCodes[from*blocks*queryBytes:], keys, blocks, n, t.values[at*t.cache.rowBytes:(at+n)*t.cache.rowBytes])
	}
}

// meetInt8 takes rows through a tile.
func (t *tile) meetInt8(from int) {
	t.scoreInt8(from)
	t.soften(from)
	t.bound(from)
	w := &t.weighing
	w.answers, w.weights = t.answers[from*t.cache.dim:], t.scores[from*cacheTile:]
	w.values, w.positions, w.ahead = t.cache.int8Values(t.values, t.positions, &t.reader), t.positions, t.next
	t.vec.weigh(w)
}

// bound fetches the scales of the tile's values, and sets factors and units by the
// largest that rows see, from a row on.
func (t *tile) bound(from int) {
	w, halves := &t.weighing, t.cache.scales(t.values)
	t.vec.DecodeF16(w.scales, halves)
	if t.sees(from) == cacheTile {
		w.stride = 0
		for b := range t.bounds {
			t.bounds[b] = math.Float32bits(half.ToFloat32(t.vec.greatest(halves[2*b*cacheTile:][:2*cacheTile])))
		}
		t.unitsOf(0)
	} else {
		w.stride = w.blocks
		clear(t.bounds)
		seen := 0
		for r := range w.parts {
			seen = t.see(seen, t.sees(from+r))
			t.unitsOf(r)
		}
		for b := range w.blocks {
			clear(w.scales[b*cacheTile:][seen:cacheTile])
		}
	}
	for _, bits := range t.bounds {
		if !isFinite(bits) {
			clearBad(w.scales)
		}
	}
}

// see raises the bounds by the positions [from, end), and returns end.
func (t *tile) see(from, end int) int {
	for b := range t.bounds {
		for _, scale := range t.scales[b*cacheTile:][from:end] {
			t.bounds[b] = max(t.bounds[b], magnitude(scale))
		}
	}
	return end
}

// unitsOf sets those of a row by the bounds. Where a scale is not finite, neither
// are answers.
func (t *tile) unitsOf(row int) {
	w := &t.weighing
	for b, bits := range t.bounds {
		factor, unit := float32(0), float32(0)
		switch bound := math.Float32frombits(bits); {
		case !isFinite(bits):
			unit = float32(math.NaN())
		case bits != 0:
			factor, unit = codeMost/bound, bound/codeMost
		}
		w.factors[row*w.stride+b], w.units[row*w.stride+b] = factor, unit
	}
}

// magnitude is |x| as bits, which compare as numbers do; NaN is the largest.
func magnitude(x float32) uint32 { return math.Float32bits(x) &^ (1 << 31) }

func isFinite(magnitude uint32) bool { return magnitude < 0x7f800000 }

// clearBad sets to zero what is not finite: rows that do not see it have weights of
// zero for it.
func clearBad(x []float32) {
	for i, v := range x {
		if !isFinite(magnitude(v)) {
			x[i] = 0
		}
	}
}

// softenScalar turns the scores of rows, cacheTile each, into weights relative to the
// row's largest, by powers of two. It returns the largest, and sums of the weights:
// those of sixteen lanes, halved until there is one.
func softenScalar(scores, tops, sums []float32, scale float32) {
	for r := range tops {
		x := scores[r*cacheTile:][:cacheTile]
		tops[r] = loopsInGo.Max(x)
		var lanes [16]float32
		for i, v := range x {
			x[i] = math32.Exp2(float32((v - tops[r]) * scale))
			lanes[i%16] += x[i]
		}
		for n := 8; n > 0; n /= 2 {
			for i := range n {
				lanes[i] += lanes[i+n]
			}
		}
		sums[r] = lanes[0]
	}
}

// weighScalar adds the values of a tile to the answers of rows, each by its rounded
// weights. Sums of products are exact.
func weighScalar(w *weighing) {
	width := w.blocks * q8Len
	for r, part := range w.parts {
		weights := w.weights[r*cacheTile:][:w.positions]
		for b := range w.blocks {
			factor, unit := w.factors[r*w.stride+b], float32(w.units[r*w.stride+b]*part)
			var sums [q8Len]int32
			for t, weight := range weights {
				x := float32(weight*w.scales[b*cacheTile+t]) * factor
				code, values := int32(math.RoundToEven(float64(x))), w.values[t/2*2*width+2*b*q8Len+t%2:]
				for i := range sums {
					sums[i] += code * int32(int8(values[2*i]))
				}
			}
			answers := w.answers[r*width+b*q8Len:]
			for i, sum := range sums {
				answers[i] = math32.FMA(float32(sum), unit, float32(answers[i]*w.by[r]))
			}
		}
	}
}

// greatestScalar returns the largest of fp16 numbers without their signs, as bits;
// NaN is the largest.
func greatestScalar(halves []byte) uint16 {
	var most uint16
	for ; len(halves) > 0; halves = halves[2:] {
		most = max(most, (uint16(halves[1])<<8|uint16(halves[0]))&^(1<<15))
	}
	return most
}

// unpackPairsScalar writes the values of four positions at a time, of q4_0, as
// int8: see cache.
func unpackPairsScalar(dst, src []byte, width int) {
	for pair := 2 * width; len(src) > 0; dst, src = dst[2*pair:], src[pair:] {
		for i, codes := range src[:pair] {
			dst[i], dst[pair+i] = codes&15-8, codes>>4-8
		}
	}
}
