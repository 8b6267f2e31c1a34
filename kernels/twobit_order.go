package kernels

// unitCols is the columns of a unit: 64 bytes of 2-bit codes.
const unitCols = 256

// column returns the column, within a unit's 256, of the code that byte i of
// the unit's 64 bytes of codes holds at shift 2j.
func (f *twoBit) column(i, j int) int {
	run, in := i/f.span, i%f.span
	part := j
	if f.shifts[0] != 0 { // high bits first
		part = 3 - j
	}
	return run*4*f.span + part*f.span + in
}

// rowOrder is for kernels with one scale per tensor. A column of activations
// becomes 64 bytes, -Σq as the first int32 and zeros, and then for each unit
// four vectors of 64, vector j holding what belongs to the codes at shift 2j.
func (f *twoBit) rowOrder() *Order {
	return &Order{
		Name: "rows",
		Size: func(n, stride int) int { return n * rowOrderLen(stride) },
		Arrange: func(dst, q []int8, n, stride int) {
			for c := range n {
				f.arrangeRow(dst[c*rowOrderLen(stride):][:rowOrderLen(stride)], q[c*stride:][:stride])
			}
		},
	}
}

func rowOrderLen(stride int) int { return 64 + stride }

func (f *twoBit) arrangeRow(dst, q []int8) {
	var sum int32
	for _, v := range q {
		sum -= int32(v)
	}
	clear(dst[:64])
	for i := range 4 {
		dst[i] = int8(sum >> (8 * i))
	}
	for dst = dst[64:]; len(q) > 0; dst, q = dst[unitCols:], q[unitCols:] {
		for j := range 4 {
			for i := range 64 {
				dst[64*j+i] = q[f.column(i, j)]
			}
		}
	}
}
