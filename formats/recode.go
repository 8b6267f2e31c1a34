package formats

import "slices"

// Recode writes src to dst, a matrix of another format, as that has it, codes
// as codes and scales as scales: not a bit of a weight is rounded. It reports
// whether it could: both are ternary formats with an fp16 scale for as many
// weights (q2_0_g128, pq2_0 and ptq1_0; tq2_0 and tq1_0), and dst's has every code
// of src, which formats of base-3 digits do not have of code 3; or dst is q8_0, and
// src's codes are bytes (q4_0, q5_0, iq4_nl). If not, dst holds nothing. What Validate
// refuses of src is an error.
func Recode(dst, src Matrix) (bool, error) {
	to, from := dst.Type, src.Type
	digits := to.blocks != nil && from.blocks != nil && to.ternary && from.ternary && to.BlockLen == from.BlockLen
	if !digits && !from.toBytes(to) {
		return false, nil
	}
	if err := dst.check(); err != nil {
		return false, err
	}
	if err := src.Validate(); err != nil {
		return false, err
	}
	a, b, out, in := from.blocks, to.blocks, dst.Data, src.Data
	if !digits {
		for ; len(in) > 0; out, in = out[b.bytes:], in[a.bytes:] {
			copy(out[b.scaleAt:][:2], in[a.scaleAt:][:2])
			for k := range a.weights {
				out[b.codes.At+k] = byte(a.code(in[:a.bytes], k))
			}
		}
		return true, nil
	}
	codes, back := make([]float32, a.weights), make([]float32, b.weights)
	for ; len(in) > 0; out, in = out[b.bytes:], in[a.bytes:] {
		a.decode(codes, in[:a.bytes], 1)
		b.encode(out[:b.bytes], codes, 1)
		b.decode(back, out[:b.bytes], 1)
		if !slices.Equal(back, codes) {
			return false, nil
		}
		copy(out[b.scaleAt:][:2], in[a.scaleAt:][:2])
	}
	return true, nil
}
