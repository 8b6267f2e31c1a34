//go:build goexperiment.simd && !purego

package twobit

import (
	"simd/archsimd"

	"onebit/formats"
	"onebit/kernels"
)

// What Go's own SIMD package gives for a kernel that there is in assembly too:
// i2_s in place, VPMADDUBSW on 4 rows at a time. It is never the best variant.
func init() {
	kernels.Register(&kernels.Variant{
		Name: "avx2-archsimd", Summary: "simd/archsimd: VPMADDUBSW on codes shifted down, 4 rows at a time",
		Format: formats.I2_S, Scheme: kernels.Q8Row, ISA: kernels.AVX2, Layout: kernels.Native, Preference: -1,
		Kernels: []kernels.Kernel{kernels.ByColumn(nil, archsimdMatVec)},
	})
}

const (
	// archsimdRun is the bytes of a row, 128 columns each 32, after which 16-bit
	// sums are widened: they grow by at most 4·2·3·127 = 3048 with each.
	archsimdRun  = 10 * 32
	archsimdTile = 4
)

func archsimdMatVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	n := m.Cols / 4
	q := a.Q[col*a.Stride:][:m.Cols]
	var all int32
	for _, sum := range a.Sums[col*a.Stride/32:][:m.Cols/32] {
		all += sum
	}
	for r := r0; r < r1; r += archsimdTile {
		// Rows that are not there are the last one again.
		var rows [archsimdTile][]byte
		for i := range rows {
			rows[i] = m.Row(min(r+i, r1-1), n)
		}
		for i, sum := range archsimdDots(rows, q) {
			if r+i < r1 {
				dst[r+i] = 0 + kernels.Term(m.Scale, a.Scale(col, 0), sum-all)
			}
		}
	}
}

// archsimdDots returns Σ code·q of each row.
func archsimdDots(rows [archsimdTile][]byte, q []int8) [archsimdTile]int32 {
	var sum0, sum1, sum2, sum3 archsimd.Int32x8
	w0, w1, w2, w3 := rows[0], rows[1], rows[2], rows[3]
	ones, mask := archsimd.BroadcastInt16x16(1), archsimd.BroadcastUint8x32(3)
	for len(w0) > 0 {
		run := min(len(w0), archsimdRun)
		var s0, s1, s2, s3 archsimd.Int16x16
		for i := 0; i < run; i += 32 {
			v := q[4*i:][:128]
			q3, q2 := archsimd.LoadInt8x32Slice(v), archsimd.LoadInt8x32Slice(v[32:])
			q1, q0 := archsimd.LoadInt8x32Slice(v[64:]), archsimd.LoadInt8x32Slice(v[96:])
			s0 = archsimdAdd(s0, archsimd.LoadUint8x32Slice(w0[i:]), mask, q0, q1, q2, q3)
			s1 = archsimdAdd(s1, archsimd.LoadUint8x32Slice(w1[i:]), mask, q0, q1, q2, q3)
			s2 = archsimdAdd(s2, archsimd.LoadUint8x32Slice(w2[i:]), mask, q0, q1, q2, q3)
			s3 = archsimdAdd(s3, archsimd.LoadUint8x32Slice(w3[i:]), mask, q0, q1, q2, q3)
		}
		sum0, sum1 = sum0.Add(s0.DotProductPairs(ones)), sum1.Add(s1.DotProductPairs(ones))
		sum2, sum3 = sum2.Add(s2.DotProductPairs(ones)), sum3.Add(s3.DotProductPairs(ones))
		w0, w1, w2, w3, q = w0[run:], w1[run:], w2[run:], w3[run:], q[4*run:]
	}
	return [...]int32{archsimdTotal(sum0), archsimdTotal(sum1), archsimdTotal(sum2), archsimdTotal(sum3)}
}

// archsimdAdd adds the products of the codes at shifts 0, 2, 4 and 6 with q0 to
// q3.
func archsimdAdd(sum archsimd.Int16x16, w, mask archsimd.Uint8x32, q0, q1, q2, q3 archsimd.Int8x32) archsimd.Int16x16 {
	words := w.AsUint16x16()
	sum = sum.Add(w.And(mask).DotProductPairsSaturated(q0))
	sum = sum.Add(words.ShiftAllRight(2).AsUint8x32().And(mask).DotProductPairsSaturated(q1))
	sum = sum.Add(words.ShiftAllRight(4).AsUint8x32().And(mask).DotProductPairsSaturated(q2))
	return sum.Add(words.ShiftAllRight(6).AsUint8x32().And(mask).DotProductPairsSaturated(q3))
}

func archsimdTotal(v archsimd.Int32x8) int32 {
	x := v.GetLo().Add(v.GetHi())
	x = x.AddPairs(x)
	return x.AddPairs(x).GetElem(0)
}
