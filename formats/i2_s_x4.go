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
	encode: func(t *Type, dst []byte, src []float32, rows, cols int) error {
		t.encodeI2STail(dst, src, rows, cols)
		for ; len(src) > 0; dst, src = dst[cols:], src[4*cols:] {
			for c := range dst[:cols] {
				w := src[c:]
				dst[c] = i2sCode(w[0])<<6 | i2sCode(w[cols])<<4 | i2sCode(w[2*cols])<<2 | i2sCode(w[3*cols])
			}
		}
		return nil
	},
	decode: func(t *Type, dst []float32, src []byte, rows, cols, from, to int) error {
		s := t.tensorScale(src, rows, cols)
		values := [4]float32{-s, 0, s, 0}
		for row := from; row < to; row++ {
			group, shift := src[row/4*cols:][:cols], 6-2*(row%4)
			// Only this row's codes count: another's mistake is not ours.
			if c := indexCode3(group, 0x0101010101010101<<shift); c >= 0 {
				return t.errorf("code 3 has no meaning").at(row, c, row/4*cols+c)
			}
			w := dst[:cols]
			for c, b := range group {
				w[c] = values[b>>shift&3]
			}
			dst = dst[cols:]
		}
		return nil
	},
	validate: func(t *Type, src []byte, rows, cols int) error {
		if i := indexCode3(src[:rows*cols/4], anyCode); i >= 0 {
			row := i/cols*4 + code3Group(src[i])
			return t.errorf("code 3 has no meaning").at(row, i%cols, i)
		}
		return t.validateTensorScale(src, rows, cols)
	},
})
