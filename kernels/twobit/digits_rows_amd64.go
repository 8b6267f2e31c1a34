//go:build !purego

package twobit

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

func init() {
	for _, k := range []struct {
		isa     *kernels.ISA
		summary string
		rows    blocksKernel
	}{
		{kernels.AVX2, "VPMADDUBSW on digits by comparison, 4 rows at a time", digitsRowsAVX2},
		{kernels.AVXVNNI, "VPDPBUSD (VEX) on bytes of five digits, 4 rows at a time", digitsRowsAVXVNNI},
		{kernels.AVX512VNNI, "VPDPBUSD on bytes of five digits, 4 rows at a time", digitsRowsAVX512VNNI},
	} {
		matVec := func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
			blocks := m.Cols / 128
			n := blocks * ptq1Block
			q, scales, _ := a.Columns(digitOrder, col, 1)
			tiles.Multiply(4, dst[r0:r1], m.Span(r0, r1, n), n, func(y *float32, w *byte, stride, tiles int) {
				k.rows(y, w, stride, blocks, &q[0], &scales[0], tiles)
			})
		}
		kernels.Register(&kernels.Variant{
			Name: k.isa.Name + "-native", Summary: k.summary, Format: formats.PTQ1_0, Scheme: kernels.Q8Per128,
			ISA: k.isa, Layout: kernels.Native, Kernels: []kernels.Kernel{kernels.ByColumn(digitOrder, matVec)},
		})
	}
}

// digitOrderBlock is the bytes of a block of 128 activations in digit order.
const digitOrderBlock = 6 * 32

// digitOrder is for ptq1_0 in place. For each block there are five vectors of 32 bytes, of
// which vector n has what belongs to digit n of the block's bytes, and 0 where there is none,
// and -Σq as an int32, with zeros behind it.
var digitOrder = &kernels.Order{
	Name: "digits",
	Size: func(n, stride int) int { return n * stride / 128 * digitOrderBlock },
	Arrange: func(dst, q []int8, n, stride int) {
		for b := range n * stride / 128 {
			arrangeDigits((*[digitOrderBlock]int8)(dst[b*digitOrderBlock:]), (*[128]int8)(q[b*128:]))
		}
	},
}

func arrangeDigits(dst *[digitOrderBlock]int8, q *[128]int8) {
	*dst = [digitOrderBlock]int8{}
	for _, run := range ptq1.runs {
		for n := range 5 {
			from := q[min(run.from+n*run.lanes, len(q)):]
			copy(dst[32*n+run.at:][:run.lanes], from)
		}
	}
	var minus int32
	for _, v := range q {
		minus -= int32(v)
	}
	for i := range 4 {
		dst[5*32+i] = int8(minus >> (8 * i))
	}
}
