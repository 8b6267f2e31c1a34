package formats

// I2_S is the interchange layout of bitnet.cpp's I2_S: what its converters
// write on every machine, and what the official BitNet b1.58 2B4T file holds.
// Layout and quantizer: microsoft/BitNet src/ggml-bitnet-mad.cpp,
// quantize_i2_s.
var I2_S = register(i2sBlocks("i2_s", "ternary, 2 bits, one scale per tensor (BitNet)", 32))

const (
	// i2sTail is what follows the codes: the scale and 28 bytes that mean
	// nothing. bitnet.cpp leaves them unset; Quantize writes zeros.
	i2sTail = 32
	// i2sZero is the magnitude below which quantize_i2_s takes a weight for
	// zero.
	i2sZero = 1e-6
)

// i2sBlocks is the layout of i2_s and i2_s_arm: blocks of 4 × lanes weights,
// where byte l holds weights l, l+lanes, l+2·lanes and l+3·lanes from the high
// bits down.
func i2sBlocks(name, summary string, lanes int) *Type {
	return &Type{
		Name:     name,
		Summary:  summary,
		BlockLen: 4 * lanes,
		ternary:  true,
		codes:    &Codes{Bits: 2, Span: lanes, HighFirst: true},
		size:     func(rows, cols int) int { return rows*cols/4 + i2sTail },
		scaleAt:  func(rows, cols int) int { return rows * cols / 4 },
		encode: func(m Matrix, src []float32) error {
			m.encodeI2STail(src)
			for dst := m.Data; len(src) > 0; dst, src = dst[lanes:], src[4*lanes:] {
				for l := range dst[:lanes] {
					w := src[l:]
					dst[l] = i2sCode(w[0])<<6 | i2sCode(w[lanes])<<4 | i2sCode(w[2*lanes])<<2 | i2sCode(w[3*lanes])
				}
			}
			return nil
		},
		encodeDigits: func(dst []byte, digits []int8, _ int) {
			for ; len(digits) > 0; dst, digits = dst[lanes:], digits[4*lanes:] {
				for l := range dst[:lanes] {
					w := digits[l:][:3*lanes+1]
					dst[l] = byte(w[0]+1)<<6 | byte(w[lanes]+1)<<4 | byte(w[2*lanes]+1)<<2 | byte(w[3*lanes]+1)
				}
			}
		},
		decode: func(m Matrix, dst []float32, from, to int) error {
			s := m.scale()
			values := [4]float32{-s, 0, s, 0}
			start, end := from*m.Cols/4, to*m.Cols/4
			if i := indexCode3(m.Data[start:end], anyCode); i >= 0 {
				return m.i2sCode3(start+i, lanes)
			}
			for src := m.Data[start:end]; len(src) > 0; src, dst = src[lanes:], dst[4*lanes:] {
				for l, b := range src[:lanes] {
					w := dst[l:][:3*lanes+1]
					w[0], w[lanes], w[2*lanes], w[3*lanes] = values[b>>6], values[b>>4&3], values[b>>2&3], values[b&3]
				}
			}
			return nil
		},
		validate: func(m Matrix) error {
			if i := indexCode3(m.Data[:m.scaleAt()], anyCode); i >= 0 {
				return m.i2sCode3(i, lanes)
			}
			return m.validateScale()
		},
	}
}

// encodeI2STail writes what follows the codes of every I2_S packing.
func (m Matrix) encodeI2STail(src []float32) {
	clear(m.Data[m.scaleAt():])
	m.setScale(absMax(src))
}

// i2sCode keeps only the sign of a weight: the format expects weights that are
// already -s, 0 or +s (see Ternarize).
func i2sCode(x float32) byte {
	switch {
	case float64(x) >= i2sZero: // as double, like the original
		return 2
	case float64(x) <= -i2sZero:
		return 0
	}
	return 1
}

// i2sCode3 names the place of the code 3 in byte at of a matrix in blocks.
func (m Matrix) i2sCode3(at, lanes int) *Error {
	i := at/lanes*4*lanes + code3Group(m.Data[at])*lanes + at%lanes
	return m.Type.errorf("code 3 has no meaning").at(i/m.Cols, i%m.Cols, at)
}

// code3Group returns which of the four codes of b, counted from the high bits,
// is the first to be 3.
func code3Group(b byte) int {
	for g := range 3 {
		if b>>(6-2*g)&3 == 3 {
			return g
		}
	}
	return 3
}
