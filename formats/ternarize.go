package formats

import "fmt"

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
	scale, err = finiteTernaryScale(w)
	if err != nil {
		return 0, err
	}
	for i, x := range w {
		dst[i] = float32(ternaryDigit(x, scale/2)) * scale
	}
	return scale, nil
}

// TernaryCodes is [Ternarize] with the weights as codes: -1, 0 or +1, each to
// be multiplied by the scale.
func TernaryCodes(dst []int8, w []float32) (scale float32, err error) {
	if len(dst) != len(w) {
		panic("formats: TernaryCodes: dst and w differ in length")
	}
	scale, err = finiteTernaryScale(w)
	if err != nil {
		return 0, err
	}
	for i, x := range w {
		dst[i] = ternaryDigit(x, scale/2)
	}
	return scale, nil
}

func finiteTernaryScale(w []float32) (float32, error) {
	if i := indexNonFinite(w); i >= 0 {
		return 0, fmt.Errorf("weight %v at index %d is not finite", w[i], i)
	}
	return ternaryScale(w), nil
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
func ternaryDigit(x, threshold float32) int8 {
	switch {
	case x > threshold:
		return 1
	case x < -threshold:
		return -1
	}
	return 0
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
