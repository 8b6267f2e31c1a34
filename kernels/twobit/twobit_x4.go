package twobit

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/quantize"
)

// The kernels of i2_s_x4, whose bytes hold a column of four rows. Rows apart,
// as ternary_u32 has them, suit the kernels of that format: wordRows.

func registerX4(format kernels.Format) {
	kernels.RegisterFormat(format)
	for _, u := range []struct {
		name, summary string
		pref          int
		dot           func(group []byte, shift uint, q []int8) int32
	}{
		{"scalar", "one weight at a time, pure Go: the specification", 0, x4Dot},
		{"unrolled", "branchless, unrolled, pure Go", 1, x4DotUnrolled},
	} {
		for _, act := range []kernels.Scheme{kernels.Q8Row, kernels.Q8Per128, kernels.Q8Per32} {
			kernels.Register(&kernels.Variant{
				Name: u.name, Summary: u.summary, Format: format.Type, Scheme: act, ISA: kernels.Go, Layout: kernels.Native,
				Preference: u.pref, Kernels: []kernels.Kernel{kernels.ByColumn(nil, x4MatVec(u.dot))},
			})
		}
	}
}

// x4MatVec is codec.matVec for rows that are not apart.
func x4MatVec(dot func(group []byte, shift uint, q []int8) int32) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		g, spans := a.Scheme.GroupLen(a.Cols), a.Scheme == kernels.Q8Per32
		if spans {
			g = quantize.SpanLen
		}
		q := a.Q[col*a.Stride:][:a.Cols]
		for r := r0; r < r1; r++ {
			group := m.Row(r/4, m.Cols)
			sum := func(from, to int) int32 { return dot(group[from:to], uint(6-2*(r%4)), q[from:to]) }
			var y float32
			for from := 0; from < len(q); from += g {
				to := min(from+g, len(q))
				if spans {
					y += a.SpanTerm(m.Scale, col, from, to, sum)
					continue
				}
				y += kernels.Term(m.Scale, a.Scale(col, from/g), sum(from, to))
			}
			dst[r] = y
		}
	}
}

func x4Dot(group []byte, shift uint, q []int8) int32 {
	var sum int32
	for k, v := range q {
		sum += (int32(group[k]>>shift&3) - 1) * int32(v)
	}
	return sum
}

// x4DotUnrolled takes eight columns at a time.
func x4DotUnrolled(group []byte, shift uint, q []int8) int32 {
	var sum int32
	for len(q) >= 8 {
		b, v := (*[8]byte)(group), (*[8]int8)(q)
		w := binary.LittleEndian.Uint64(b[:]) >> (shift & 7)
		sum += (int32(w&3)-1)*int32(v[0]) + (int32(w>>8&3)-1)*int32(v[1]) +
			(int32(w>>16&3)-1)*int32(v[2]) + (int32(w>>24&3)-1)*int32(v[3]) +
			(int32(w>>32&3)-1)*int32(v[4]) + (int32(w>>40&3)-1)*int32(v[5]) +
			(int32(w>>48&3)-1)*int32(v[6]) + (int32(w>>56&3)-1)*int32(v[7])
		group, q = group[8:], q[8:]
	}
	return sum + x4Dot(group, shift, q)
}

// wordRows is the layout of ternary_u32 for i2_s_x4.
var wordRows = &kernels.Layout{
	Name:        "words",
	RowTile:     4,
	PackedBytes: func(rows, cols int) int { return rows * wordRowBytes(cols) },
	Pack:        packWordRows,
}

func packWordRows(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
	n := wordRowBytes(m.Cols)
	for r := r0; r < r1; r += 4 {
		packWordGroup(m.Data[r*n:][:4*n], t.Data[r/4*m.Cols:][:m.Cols])
	}
	return nil
}

func wordRowBytes(cols int) int { return (cols + 15) / 16 * 4 }

// packWordGroup writes four rows.
func packWordGroup(rows, group []byte) {
	n, done := len(rows)/4, packWordUnits(rows, group)
	for i := range 4 {
		packWordRow(rows[i*n : (i+1)*n][done/4:], group[done:], uint(6-2*i))
	}
}

// packWordRow writes the codes at shift, of four in each byte of group.
// Columns that are not there get code 1, weight 0.
func packWordRow(dst, group []byte, shift uint) {
	for ; len(group) >= 8; dst, group = dst[2:], group[8:] {
		codes := gatherCodes(binary.LittleEndian.Uint64(group) >> shift)
		binary.LittleEndian.PutUint16(dst, codes)
	}
	const zeros = 0x0101010101010101 // code 1 in every byte
	for ; len(dst) > 0; dst, group = dst[2:], nil {
		last := [8]byte(binary.LittleEndian.AppendUint64(nil, zeros<<shift))
		copy(last[:], group)
		binary.LittleEndian.PutUint16(dst, gatherCodes(binary.LittleEndian.Uint64(last[:])>>shift))
	}
}

// gatherCodes brings the low two bits of eight bytes together.
func gatherCodes(w uint64) uint16 {
	w &= 0x0303030303030303
	w = (w | w>>6) & 0x000f000f000f000f
	w = (w | w>>12) & 0x000000ff000000ff
	return uint16(w | w>>24)
}
