package cpu

import (
	"fmt"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/require"
)

func benchmarkVectors(b *testing.B, run func(b *testing.B, v *Vectors)) {
	for _, v := range AllVectors() {
		b.Run("vectors:"+v.Name, func(b *testing.B) {
			if err := v.Available(); err != nil {
				require.Skip(b, cpu.Detected().Missing(v.ISA.Requires).String(), err.Error())
			}
			run(b, v)
		})
	}
}

// A token's update of a block's state, as Bonsai 27B has 48: 48 matrices of 128 ×
// 128 on one thread. Bytes are what is read and written of them.
func BenchmarkDeltaRule(b *testing.B) {
	const heads, dim = 48, 128
	benchmarkVectors(b, func(b *testing.B, v *Vectors) {
		matrices := make([]float32, heads*dim*dim)
		q, k, x, y := make([]float32, dim), make([]float32, dim), make([]float32, dim), make([]float32, dim)
		for i := range k {
			q[i], k[i], x[i] = 0.01*float32(i), 0.05, float32(i)
		}
		b.SetBytes(8 * heads * dim * dim)
		for b.Loop() {
			for at := 0; at < len(matrices); at += dim * slabWidth {
				v.deltaRule(matrices[at:][:dim*slabWidth], q, k, x[:slabWidth], y[:slabWidth], 0.9, 0.5)
			}
		}
	})
}

// The rotation of an input of Bonsai 2's layers, in blocks of 1024, on one thread.
// A token of the 27B takes 64 times those of 5120, 6144, 5120 and 17408 values.
func BenchmarkHadamard(b *testing.B) {
	for _, width := range []int{5120, 17408} {
		b.Run(fmt.Sprintf("width:%d", width), func(b *testing.B) {
			benchmarkVectors(b, func(b *testing.B, v *Vectors) {
				x, signs := make([]float32, width), make([]float32, width)
				for i := range x {
					x[i], signs[i] = float32(i%7), 1
				}
				b.SetBytes(int64(4 * width))
				for b.Loop() {
					v.Mul(x, x, signs)
					for at := 0; at < width; at += 1024 {
						v.Hadamard(x[at:][:1024], 1.0/32)
					}
				}
			})
		})
	}
}
