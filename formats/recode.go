package formats

import "slices"

// Recode writes src, a rows × cols matrix of format from, to dst as to has it, codes
// as codes and scales as scales: not a bit of a weight is rounded. It reports
// whether it could: both are ternary formats with an fp16 scale for as many
// weights (q2_0_g128, pq2_0 and ptq1_0; tq2_0 and tq1_0), and to has every code
// of src, which formats of base-3 digits do not have of code 3; or to is q8_0, and
// from's codes are bytes (q4_0, q5_0, iq4_nl). If not, dst holds nothing. What Validate
// refuses of src is an error.
func Recode(dst []byte, to *Type, src []byte, from *Type, rows, cols int) (bool, error) {
	digits := to.blocks != nil && from.blocks != nil && to.ternary && from.ternary && to.BlockLen == from.BlockLen
	if !digits && !from.toBytes(to) {
		return false, nil
	}
	if err := to.checkData(dst, rows, cols); err != nil {
		return false, err
	}
	if err := from.Validate(src, rows, cols); err != nil {
		return false, err
	}
	a, b := from.blocks, to.blocks
	if !digits {
		for ; len(src) > 0; dst, src = dst[b.bytes:], src[a.bytes:] {
			copy(dst[b.scaleAt:][:2], src[a.scaleAt:][:2])
			for k := range a.weights {
				dst[b.codes.At+k] = byte(a.code(src[:a.bytes], k))
			}
		}
		return true, nil
	}
	codes, back := make([]float32, a.weights), make([]float32, b.weights)
	for ; len(src) > 0; dst, src = dst[b.bytes:], src[a.bytes:] {
		a.decode(codes, src[:a.bytes], 1)
		b.encode(dst[:b.bytes], codes, 1)
		b.decode(back, dst[:b.bytes], 1)
		if !slices.Equal(back, codes) {
			return false, nil
		}
		copy(dst[b.scaleAt:][:2], src[a.scaleAt:][:2])
	}
	return true, nil
}
