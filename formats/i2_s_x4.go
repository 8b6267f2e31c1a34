package formats

// I2_S_X4 is I2_S as bitnet.cpp packs it on x86 when built without
// ACT_PARALLEL: a byte holds one column of four rows. Like [I2_S_ARM] it is
// only ever chosen by a person.
var I2_S_X4 = register(&Type{
	Name:        "i2_s_x4",
	Summary:     "i2_s with four rows per byte, as quantized without ACT_PARALLEL",
	BlockLen:    1,
	rowMultiple: 4,
	ternary:     true,
	size:        func(rows, cols int) int { return rows*cols/4 + i2sTail },
	scaleAt:     func(rows, cols int) int { return rows * cols / 4 },
	encode: func(m Matrix, src []float32) error {
		m.encodeI2STail(src)
		cols := m.Cols
		for dst := m.Data; len(src) > 0; dst, src = dst[cols:], src[4*cols:] {
			for c := range dst[:cols] {
				w := src[c:]
				dst[c] = i2sCode(w[0])<<6 | i2sCode(w[cols])<<4 | i2sCode(w[2*cols])<<2 | i2sCode(w[3*cols])
			}
		}
		return nil
	},
	decode: func(m Matrix, dst []float32, from, to int) error {
		s, cols := m.scale(), m.Cols
		values := [4]float32{-s, 0, s, 0}
		for row := from; row < to; row++ {
			group, shift := m.Data[row/4*cols:][:cols], 6-2*(row%4)
			// Only this row's codes count: another's mistake is not ours.
			if c := indexCode3(group, 0x0101010101010101<<shift); c >= 0 {
				return m.Type.errorf("code 3 has no meaning").at(row, c, row/4*cols+c)
			}
			w := dst[:cols]
			for c, b := range group {
				w[c] = values[b>>shift&3]
			}
			dst = dst[cols:]
		}
		return nil
	},
	validate: func(m Matrix) error {
		if i := indexCode3(m.Data[:m.scaleAt()], anyCode); i >= 0 {
			row := i/m.Cols*4 + code3Group(m.Data[i])
			return m.Type.errorf("code 3 has no meaning").at(row, i%m.Cols, i)
		}
		return m.validateScale()
	},
})
