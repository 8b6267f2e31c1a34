package formats

// Codes says how a format lays out its small codes: what kernels, shaders and generators
// of weights need to know of it beside [Type.Dequantize].
type Codes struct {
	Bits int // of a code: 1 is ±1, 2 is code-1, 4 is code-8, 6 is q6_k's, 8 an int8
	// Columns are those of a block, which has one fp16 scale; 0: the tensor has one
	// float32 scale.
	Columns, Bytes int
	At, ScaleAt    int  // bytes of a block: the first of its codes, its scale
	Span           int  // a byte has columns so far apart, in runs of as many bytes
	HighFirst      bool // the first of them in the highest bits
}

// Codes returns the layout of t's codes; false if it is none of these.
func (t *Type) Codes() (Codes, bool) {
	if t.codes == nil {
		return Codes{}, false
	}
	c := *t.codes
	if b := t.blocks; b != nil {
		c.Columns, c.Bytes, c.ScaleAt = b.weights, b.bytes, b.scaleAt
	}
	return c, true
}

// CodeAt returns the integer that the scale of its block multiplies in weight k of a
// row, of formats of blocks whose codes are int8 at most.
func (t *Type) CodeAt(row []byte, k int) int32 {
	b := t.blocks
	return b.code(row[k/b.weights*b.bytes:][:b.bytes], k%b.weights)
}

// decodeCodes is blocks.decode of formats that have CodeAt.
func (l blocks) decodeCodes(dst []float32, block []byte, d float32) {
	for j := range dst {
		dst[j] = float32(l.code(block, j)) * d
	}
}

// toBytes reports whether to has a byte for each code of t, and a scale for as many.
func (t *Type) toBytes(to *Type) bool {
	return to == Q8_0 && t.blocks != nil && t.blocks.code != nil && t.BlockLen == to.BlockLen
}

// Unpacked returns a format with Codes whose matrices hold what those of t do, where t's
// own are packed otherwise: of digits, the ternary one of 2-bit codes; of codes that are
// int8's, q8_0. It is t itself, if t has Codes or there is none.
func (t *Type) Unpacked() *Type {
	switch {
	case t.codes != nil:
		return t
	case t.toBytes(Q8_0):
		return Q8_0
	case !t.ternary:
		return t
	}
	best := t
	for _, u := range Types() {
		same := (u.scaleAt == nil) == (t.scaleAt == nil) && (u.scaleAt != nil || u.BlockLen == t.BlockLen)
		if u.codes != nil && u.ternary && same && (best == t || u.BlockLen < best.BlockLen) {
			best = u
		}
	}
	return best
}
