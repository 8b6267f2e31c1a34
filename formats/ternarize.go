package formats

import (
	"fmt"
	"math"
)

// minTernaryScale is the least scale of a ternarized matrix: huggingface/
// transformers src/transformers/integrations/bitnet.py, BitLinear's weight_quant.
const minTernaryScale = 1e-5

// Ternarize writes w quantized by absmean to dst: s = max(mean|w|, 1e-5), then
// s · clamp(round(w/s), -1, +1) with halves rounded to even. It returns s. dst
// may be w. This is how BitNet b1.58 trains (arXiv 2402.17764, as Hugging Face
// implements it), and what must precede an encoder that keeps signs only, such
// as i2_s, when the weights are a model's masters.
//
// A weight that is not finite is an error with its index.
func Ternarize(dst, w []float32) (scale float32, err error) {
	if len(dst) != len(w) {
		panic("formats: Ternarize: dst and w differ in length")
	}
	if i := indexNonFinite(w); i >= 0 {
		return 0, fmt.Errorf("weight %v at index %d is not finite", w[i], i)
	}
	scale = ternaryScale(w)
	for i, x := range w {
		dst[i] = float32(ternaryDigit(x, scale/2)) * scale
	}
	return scale, nil
}

// A Ternarizer does what [Ternarize] does for a matrix that is never in memory
// as a whole: Add is given all of its weights, in parts; then Digits may be.
// Only weights that are all -s, 0 or +s already keep that scale: absmean would
// shrink them by their share of zeros. No training leaves such weights, but
// unpacking a ternary checkpoint does.
type Ternarizer struct {
	sum   float64
	n     int
	scale float32 // the magnitude that all weights so far have but zeros; 0: none
	mixed bool    // there are several
}

// Add takes a part of the weights into account.
func (t *Ternarizer) Add(w []float32) {
	t.n += len(w)
	t.sum += sumAbs(w)
	if t.mixed {
		return
	}
	i := 0
	for i < len(w) && w[i] == 0 {
		i++
	}
	if i < len(w) {
		s := max(w[i], -w[i])
		t.join(s, !isTernary(w[i:], s))
	}
}

// Merge takes into account what u was given.
func (t *Ternarizer) Merge(u *Ternarizer) {
	t.n += u.n
	t.sum += u.sum
	t.join(u.scale, u.mixed)
}

func (t *Ternarizer) join(s float32, mixed bool) {
	t.mixed = t.mixed || mixed || s != 0 && t.scale != 0 && s != t.scale
	t.scale = max(t.scale, s)
}

// Ternary reports whether all weights are -s, 0 or +s for some s.
func (t *Ternarizer) Ternary() bool { return !t.mixed }

// Scale returns what the digits are to be multiplied by; NaN or an infinity if
// a weight is one.
func (t *Ternarizer) Scale() float32 {
	if !t.mixed {
		return t.scale
	}
	return max(float32(t.sum/float64(t.n)), minTernaryScale)
}

// Digits writes -1, 0 or +1 to dst for each weight of a part.
func (t *Ternarizer) Digits(dst []int8, w []float32) {
	if len(dst) != len(w) {
		panic("formats: Digits: dst and w differ in length")
	}
	threshold := t.Scale() / 2
	for i, x := range w {
		dst[i] = ternaryDigit(x, threshold)
	}
}

// ternaryScale returns the absmean scale of w.
func ternaryScale(w []float32) float32 {
	if len(w) == 0 {
		return minTernaryScale
	}
	return max(absMean(w), minTernaryScale)
}

// ternaryDigit returns +1 above threshold, -1 below -threshold, else 0. With
// threshold s/2 that is clamp(round(x/s), -1, +1), halves to even: x/s rounds
// to zero up to and including 1/2, and beyond 1 only the clamp matters.
// Written without branches, since no processor predicts weights: the bits of
// floats that are not negative compare like integers.
func ternaryDigit(x, threshold float32) int8 {
	b := int32(math.Float32bits(x))
	beyond := (int32(math.Float32bits(threshold)) - b&math.MaxInt32) >> 31
	return int8((b>>31 | 1) & beyond)
}

// isTernary reports whether every weight is -s, 0 or +s.
func isTernary(w []float32, s float32) bool {
	for _, x := range w {
		if x != 0 && x != s && x != -s {
			return false
		}
	}
	return true
}
